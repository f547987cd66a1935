"""``oddkernel questions``: the next questions as a file, for a study with a list or for a page of one's own."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from .items import Given, add_items, add_study, filter_of, is_study, of_study, open_study, read_items
from .outputs import add_output
from .summary import Summary, working

if TYPE_CHECKING:
    from ..comparisons import Comparisons

TARGETS = ("list", "jspsych")
MOST = 100_000
"""Largest number of questions. Chosen by hand."""


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "questions",
        help="write the next questions to a file",
        description="Chooses the next questions about the items and writes them to a file. If people have answered\n"
        "in a study about these items, the choice depends on what they said. No server is needed.",
        epilog="examples:\n"
        "  oddkernel questions photos/ --n 200 --policy prototypes --out list.csv\n"
        "  oddkernel questions photos/ --n 200 --to jspsych --out questions.json",
    )
    add_items(parser)
    parser.add_argument("--n", type=int, required=True, metavar="N", help="how many questions")
    parser.add_argument("--policy", default="random", metavar="POLICY", help="how they are chosen (random)")
    add_output(parser, "--out", required=True, metavar="FILE", help="the file to write")
    parser.add_argument(
        "--to",
        choices=TARGETS,
        default=TARGETS[0],
        help="list: a CSV file with the columns a, b and c (default); jspsych: a JSON list of timeline variables",
    )
    parser.add_argument("--random-state", type=int, default=0, metavar="SEED", help="seed of the choice (0)")
    add_study(parser)
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Choose, write."""
    from ..questions import next_questions
    from ..questions.policies import POLICIES
    from ..support.files import replace
    from ..support.spelling import did_you_mean

    if arguments.policy not in POLICIES:
        known = f"expected {', '.join(POLICIES)}{did_you_mean(arguments.policy, POLICIES)}"
        raise ValueError(f"--policy {arguments.policy}: {known}")
    if not 1 <= arguments.n <= MOST:
        raise ValueError(f"--n {arguments.n}; expected a number from 1 to {MOST}")
    ending = {"list": ".csv", "jspsych": ".json"}[arguments.to]
    if arguments.out.suffix.lower() != ending:
        raise ValueError(f"{arguments.out}: expected a name that ends with {ending} for --to {arguments.to}")
    given, said = _given(arguments)
    names = given.items.names
    if names is None:
        raise ValueError(
            f"{arguments.items}: the items have no names; expected a column called item, or --names COLUMN"
        )
    if len(names) < 3:
        raise ValueError(f"{arguments.items}: {len(names)} items; expected at least 3")
    with working("choosing questions"):
        chosen = next_questions(
            given.items.X, said, policy=arguments.policy, n=arguments.n, random_state=arguments.random_state
        )
    rows = [[names[item] for item in row] for row in chosen]
    n_different = len({frozenset(row) for row in rows})
    replace(arguments.out, _as_list(rows) if arguments.to == "list" else _as_jspsych(rows))
    n_said = 0 if said is None else said.n_answers
    sentences = [
        *given.sentences,
        f"{arguments.out}: {len(rows)} questions by {arguments.policy}, after {n_said} answers.",
        *([f"Only {n_different} of them are different: there are no more."] if n_different < len(rows) else []),
    ]
    facts = {"out": str(arguments.out), "n_questions": len(rows), "n_different": n_different, "n_answers": n_said}
    return Summary(sentences, {**given.facts, **facts, "policy": arguments.policy})


def _given(arguments: argparse.Namespace) -> tuple[Given, Comparisons | None]:
    """The items with their features, and what was said about them."""
    if not is_study(arguments.items):
        return read_items(arguments), None
    study = open_study(arguments.items)
    given = of_study(arguments, study)
    from ..judge.study_data import about_known, shared

    database = study.connect(arguments.database, reads=True)
    try:
        answers = database.read(lambda records: records.answers())
    finally:
        database.close()
    said, _ = shared(answers, study, filter_of(arguments, study))
    return given, about_known(said, given.items.names or ())


def _as_list(rows: list[list[str]]) -> bytes:
    from ..items.tables import WRITERS

    return WRITERS[".csv"]({letter: [row[place] for row in rows] for place, letter in enumerate("abc")})


def _as_jspsych(rows: list[list[str]]) -> bytes:
    """What ``timeline_variables`` takes; the data that jsPsych writes can be read with ``--from jspsych``."""
    variables = [{"choices": row, "data": {"task": "odd-one-out"}} for row in rows]
    return json.dumps(variables, ensure_ascii=False, indent=1).encode()
