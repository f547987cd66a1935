"""``oddkernel fit``: a model from items and answers."""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from .answers import add_answers, read_answers, require_answers
from .items import MODEL_SUFFIX, Given, add_items, add_study, check_there, home_of, is_study, read_items, study_data_of
from .model import check_kept, chosen, is_learned, settings_of, study_facts, told_of
from .outputs import add_output
from .summary import Summary, number, working

if TYPE_CHECKING:
    from ..comparisons import Comparisons
    from ..learning.sklr import SKLR

    _Fitted: TypeAlias = tuple[SKLR, Given, Comparisons, Sequence[str], dict[str, int]]

SETTINGS = (
    *("kernel", "rank", "ratio", "margin", "loss", "penalty", "softness", "scaling", "solver", "tol", "max_iter"),
    "random_state",
)
"""Options that are parameters of the learner."""


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "fit",
        help="learn a model from items and answers",
        description="Learns from people's answers which items are alike, and writes the model to a file.\n\n"
        "A study's folder is enough: its answers, all but those held out, are learned from, and the model is kept in\n"
        "the folder. Otherwise ANSWERS is a file. Items are joined by name if both have names, and by row number if\n"
        "neither has.",
        epilog="examples:\n"
        "  oddkernel fit photos/\n"
        "  oddkernel fit animals.csv answers.csv --out animals.oddkernel\n"
        "  oddkernel fit pixels.npy answers.jsonl --penalty inf --out strict.oddkernel   (every answer must hold)",
    )
    add_items(parser)
    add_answers(parser)
    add_output(parser, "--out", metavar="MODEL", help="file to write the model to; a study keeps it in its folder, too")
    learning = parser.add_argument_group("learning")
    learning.add_argument(
        "--kernel", default="auto", help="auto, adaptive, gaussian, linear, identity, diffusion or precomputed"
    )
    learning.add_argument(
        "--rank", type=_rank, default=0.9, help="0.9: a share of the initial kernel; 50: so many dimensions; all"
    )
    learning.add_argument(
        "--ratio", type=_number_or_auto, default="auto", help="how many times farther, squared, the odd one is (auto)"
    )
    learning.add_argument("--margin", type=float, default=0.0, help="how much farther in addition (0)")
    learning.add_argument("--loss", default="auto", help="auto, squared, hinge, logistic or softmax")
    learning.add_argument(
        "--penalty",
        type=_number_or_auto,
        default="auto",
        help="weight of a violated answer; inf: all must hold; auto, the default: held-out answers choose",
    )
    learning.add_argument(
        "--softness",
        type=_number_or_auto,
        default="auto",
        help="logistic and softmax: how unlike distances leave no doubt, in mean initial ones (auto)",
    )
    learning.add_argument(
        "--scaling",
        type=_scaling,
        default="auto",
        metavar="{auto,standard,none}",
        help="standard: features of unlike units count alike; auto, the default: if their spreads differ tenfold",
    )
    learning.add_argument("--solver", default="auto", help="auto, newton, ascent or projection")
    learning.add_argument("--tol", type=float, default=1e-6, help="how close to the optimum to come (1e-6)")
    learning.add_argument("--max-iter", type=int, metavar="N", help="most passes or steps")
    add_random_state(learning)
    add_study(parser)
    parser.set_defaults(run=run, usual={name: parser.get_default(name) for name in SETTINGS})
    return parser


def add_random_state(parser: argparse._ActionsContainer) -> None:
    """Describe the option that makes random draws repeatable."""
    parser.add_argument("--random-state", type=int, default=0, metavar="SEED", help="seed of random draws (0)")


def run(arguments: argparse.Namespace) -> Summary:
    """Read, learn, write."""
    started = time.perf_counter()
    _check_out(arguments.out)
    study = arguments.answers is None and is_study(arguments.items)
    if study and arguments.out is None:
        check_kept(home_of(arguments.items), "model.oddkernel")
    model, given, said, notes, counted = (_from_study if study else _from_files)(arguments)
    items = given.items
    with working("scoring"):
        from ..learning import models
        from ..problem import choices

        score = model.score(items.X, said) if choices.decided(said).any() else None
    seconds = time.perf_counter() - started
    if arguments.out is not None:
        models.save(model, arguments.out)
    written = arguments.out or home_of(arguments.items) / ".oddkernel" / "model.oddkernel"

    solution, tuning = model.solution_, model.tuning_
    conflicts = said.conflicts()
    sentences = [
        *([] if is_learned(model) else ["Nothing was learned: the model is the initial kernel."]),
        *given.sentences,
        f"{said}.",
        *notes,
        *([f"{len(conflicts)} groups of answers contradict one another on their face."] if conflicts else []),
        *(["The features were standardised."] if model.scaling_ else []),
        f"{solution}",
        *([] if tuning is None else [f"Chosen: {chosen(model)}. {tuning.sentence}"]),
        *([] if score is None else [f"The learned distances agree with {score:.1%} of the answers learned from."]),
        f"Model: {written} ({model.rank_} dimensions, {seconds:.1f} s)",
    ]
    facts = {
        "model": str(written),
        **given.facts,
        "n_answers": len(said),
        **counted,
        "n_asked": len(said.constrained),
        "n_conflicts": len(conflicts),
        "notes": list(notes),
        "status": solution.status.name.lower(),
        "sentence": str(solution.status),
        "n_iter": solution.n_iter,
        "residual": number(solution.residual),
        "gap": number(solution.gap),
        "divergence": number(solution.divergence),
        **settings_of(model),
        "score": score,
        "seconds": round(seconds, 3),
    }
    return Summary(sentences, facts)


def _check_out(out: Path | None) -> None:
    if out is not None and out.suffix.lower() not in ("", MODEL_SUFFIX):  # a table given twice by mistake would be lost
        raise ValueError(f"{out}: expected the name of a model's file, such as {out.stem}{MODEL_SUFFIX}")


def _from_study(arguments: argparse.Namespace) -> _Fitted:
    """The model of a study, learned with these settings unless it is there already."""
    data, given = study_data_of(arguments)
    settings = {name: getattr(arguments, name) for name in SETTINGS}
    # What wasn't given stays open: without features the learner is another.
    model, is_new = data.model({name: to for name, to in settings.items() if to != arguments.usual[name]})
    return model, given, data.said, told_of(data, model, is_new), study_facts(data)


def _from_files(arguments: argparse.Namespace) -> _Fitted:
    """A model of items and a file of answers."""
    with working("reading"):
        import numpy as np

        from ..learning.sklr import SKLR

        check_there(arguments.items)
        require_answers(arguments)
        if arguments.out is None:
            raise ValueError(f"where to? expected --out {arguments.items.stem}.oddkernel")
    given = read_items(arguments)
    said, notes, n_simulated = read_answers(arguments.answers, arguments, given.items)
    model = SKLR(**{name: getattr(arguments, name) for name in SETTINGS})
    if given.kept is not None and given.kept.option == "none":
        model.set_params(kernel="identity", rank=None)
    model.fit(given.items.X, said)
    if given.items.columns is not None:
        model.feature_names_in_ = np.array(given.items.columns, dtype=object)
    return model, given, said, notes, {"n_simulated": n_simulated}


def _number_or_auto(text: str) -> float | str:
    try:
        return text if text == "auto" else float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r}; expected a number or auto") from None


def _scaling(text: str) -> str | None:
    if text not in ("auto", "standard", "none"):
        raise argparse.ArgumentTypeError(f"{text!r}; expected auto, standard or none")
    return None if text == "none" else text


def _rank(text: str) -> float | int | None:
    if text == "all":
        return None
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"{text!r}; expected a share such as 0.9, a number such as 50, or all"
        ) from None
