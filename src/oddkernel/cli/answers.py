"""Reading answers, for every command that takes a file of them."""

from __future__ import annotations

import argparse
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ..comparisons import Comparisons
    from ..items.tables import Items

ENDINGS = ".csv, .tsv, .txt, .xlsx, .jsonl or .parquet"
"""What the name of a file of answers may end with."""


def add_answers(parser: argparse.ArgumentParser) -> None:
    """Describe the argument that says which answers are meant."""
    parser.add_argument(
        "answers",
        metavar="ANSWERS",
        type=Path,
        nargs="?",
        help=f"answers: {ENDINGS}; without it, those of the study in the folder",
    )
    add_reading(parser)


def require_answers(arguments: argparse.Namespace) -> None:
    """Raise unless there is a file of answers: say how to get one."""
    if arguments.answers is None:
        items = arguments.items
        raise ValueError(
            f"{items}: nobody was asked about these items; oddkernel judge {quote(str(items))} asks people, or name a "
            f"file of answers after it ({ENDINGS})"
        )


def add_reading(parser: argparse._ActionsContainer) -> None:
    """Describe the options that say how a file of answers is meant."""
    parser.add_argument(
        "--columns",
        metavar="OURS=THEIRS,...",
        type=_columns,
        help="what a table of answers calls its columns, if not a, b, c, answer, rater, weight: "
        "a=left,b=mid,c=right,answer=chosen",
    )
    parser.add_argument(
        "--count-from",
        type=int,
        choices=(0, 1),
        help="number of the first item in the answers or, where items have names, of the first position; if in doubt",
    )


class Answers(NamedTuple):
    """Answers about the items of a command.

    Attributes
    ----------
    said : Comparisons
        What a file says, about rows of the features.
    notes : tuple of str
        What became of the file, and how many answers are of simulated people.
    n_simulated : int
        How many of the answers are of simulated people.
    """

    said: Comparisons
    notes: tuple[str, ...]
    n_simulated: int


def read_answers(path: Path, arguments: argparse.Namespace, items: Items) -> Answers:
    """Read a file of answers about these items, and refuse one without any."""
    from .. import formats

    options = {"columns": arguments.columns, "count_from": arguments.count_from}
    said, notes = formats.examine(path, **options)
    if not len(said):
        raise ValueError(f"{path}: no answers")
    try:
        joined = items.join(said)
    except ValueError as error:
        if said.items is not None and items.names is not None:
            formats.read(path, **options, items=items.names)  # its error tells the line
        raise ValueError(f"{path}: {error}") from None
    n_simulated = _n_simulated(path, arguments, said)
    if n_simulated:
        are = "is" if n_simulated == 1 else "are"
        notes = (*notes, f"{n_simulated} of {said.n_answers} answers {are} of simulated people.")
    return Answers(joined, notes, n_simulated)


def _n_simulated(path: Path, arguments: argparse.Namespace, said: Comparisons) -> int:
    """How many answers are of simulated people, as a column of the judging page's exports says."""
    from .. import formats

    if path.suffix.lower().removeprefix(".") not in formats.OWN:
        return 0
    try:
        marks = formats.details(path, columns=arguments.columns).get("simulated", [])
    except ValueError:  # columns of others that are called like those of exports
        return 0
    return said[[row for row, mark in enumerate(marks) if mark]].n_answers


def _columns(text: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in text.split(",")]
    columns = {ours.strip(): theirs.strip() for ours, _, theirs in pairs}
    if len(columns) < len(pairs) or not all(columns) or not all(columns.values()):
        raise argparse.ArgumentTypeError(f"{text!r}; expected pairs such as a=left,b=mid,c=right,answer=chosen")
    return columns
