"""``oddkernel fit``: a model from a file of features and a file of answers."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .answers import ENDINGS, add_reading, read_answers
from .summary import Summary, number, working

if TYPE_CHECKING:
    from ..learning.sklr import SKLR


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "fit",
        help="learn a model from a file of features and a file of answers",
        description="Learns from people's answers which items are alike, and writes the model to a file.\n\n"
        "Items are joined by name if both files have names, and by row number if neither has.",
        epilog="examples:\n"
        "  oddkernel fit animals.csv answers.csv --out animals.oddkernel\n"
        "  oddkernel fit pixels.npy answers.jsonl --penalty inf --out strict.oddkernel   (every answer must hold)",
    )
    parser.add_argument("features", metavar="FEATURES", type=Path, help="features: .npy, .npz, .csv or .parquet")
    parser.add_argument("answers", metavar="ANSWERS", type=Path, help=f"answers: {ENDINGS}")
    add_reading(parser)
    parser.add_argument("--out", metavar="MODEL", type=Path, required=True, help="file to write the model to")
    add_names(parser)
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
    parser.set_defaults(run=run)
    return parser


def add_names(parser: argparse.ArgumentParser) -> None:
    """Describe the option that says where the items' names are."""
    parser.add_argument(
        "--names", metavar="COLUMN", help="column with the items' names (item or name, if there is one)"
    )


def add_random_state(parser: argparse._ActionsContainer) -> None:
    """Describe the option that makes random draws repeatable."""
    parser.add_argument("--random-state", type=int, default=0, metavar="SEED", help="seed of random draws (0)")


def run(arguments: argparse.Namespace) -> Summary:
    """Read, learn, write."""
    with working("reading"):
        import numpy as np

        from ..items import tables
        from ..learning import models
        from ..learning.sklr import SKLR
        from ..problem import choices
        from ..problem.losses import LOSSES

        if not arguments.out.resolve().parent.is_dir():
            raise ValueError(f"{arguments.out}: the folder doesn't exist")
        items = tables.read(arguments.features, names=arguments.names)
        said, notes = read_answers(arguments.answers, arguments, items)
    model = SKLR(
        arguments.kernel,
        rank=arguments.rank,
        ratio=arguments.ratio,
        margin=arguments.margin,
        loss=arguments.loss,
        penalty=arguments.penalty,
        softness=arguments.softness,
        scaling=arguments.scaling,
        solver=arguments.solver,
        tol=arguments.tol,
        max_iter=arguments.max_iter,
        random_state=arguments.random_state,
    )
    started = time.perf_counter()
    model.fit(items.X, said)
    score = model.score(items.X, said) if choices.decided(said).any() else None
    if items.columns is not None:
        model.feature_names_in_ = np.array(items.columns, dtype=object)
    seconds = time.perf_counter() - started
    models.save(model, arguments.out)

    solution, tuning = model.solution_, model.tuning_
    conflicts = said.conflicts()
    recipe, penalties = model.fit_.recipe, model.fit_.penalties
    entropic = LOSSES[recipe.loss].entropic
    sentences = [
        *([] if penalties[-1] else ["Nothing was learned: the model is the initial kernel."]),
        f"{len(items.X)} items with {items.X.shape[1]} features{'' if items.names is None else ', joined by name'}.",
        f"{said}.",
        *notes,
        *([f"{len(conflicts)} groups of answers contradict one another on their face."] if conflicts else []),
        *(["The features were standardised."] if model.scaling_ else []),
        f"{solution}",
        *([] if tuning is None else [f"Chosen: {_chosen(model)}. {tuning.sentence}"]),
        *([] if score is None else [f"The learned distances agree with {score:.1%} of the answers learned from."]),
        f"Model: {arguments.out} ({model.rank_} dimensions, {seconds:.1f} s)",
    ]
    facts = {
        "model": str(arguments.out),
        "n_items": len(items.X),
        "n_features": items.X.shape[1],
        "joined_by": "position" if items.names is None else "name",
        "n_answers": len(said),
        "n_asked": len(said.constrained),
        "n_conflicts": len(conflicts),
        "notes": list(notes),
        "status": solution.status.name.lower(),
        "sentence": str(solution.status),
        "n_iter": solution.n_iter,
        "residual": number(solution.residual),
        "gap": number(solution.gap),
        "divergence": number(solution.divergence),
        "learned": penalties[-1] > 0,
        "kernel": recipe.kernel,
        "rank": model.rank_,
        "scaling": model.scaling_,
        "loss": recipe.loss,
        "ratio": recipe.ratio,
        "softness": recipe.softness if entropic else None,
        "penalty": number(penalties[-1]),
        "penalties": [number(penalty) for penalty in penalties],
        "rounds": len(penalties),
        "gain": None if tuning is None else tuning.gain,
        "gain_interval": None if tuning is None else list(tuning.gain_interval),
        "score": score,
        "seconds": round(seconds, 3),
    }
    return Summary(sentences, facts)


def _chosen(model: SKLR) -> str:
    """What held-out answers chose, in words."""
    from ..problem.losses import LOSSES

    recipe, penalties = model.fit_.recipe, model.fit_.penalties
    features = "standardised features" if model.scaling_ else "features as they are"
    kernel = f"{recipe.kernel.removeprefix('standardised ')} kernel of {features}"
    if not penalties[-1]:
        return f"{kernel}, penalty 0, {model.rank_} dimensions"
    softness = f", softness {recipe.softness:g}" if LOSSES[recipe.loss].entropic else f", ratio {recipe.ratio:g}"
    rounds = "one round" if len(penalties) == 1 else f"{len(penalties)} rounds"
    penalty = " then ".join(f"{each:.3g}" for each in penalties)
    return f"{kernel}, {recipe.loss} loss{softness}, penalty {penalty} ({rounds}), {model.rank_} dimensions"


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
