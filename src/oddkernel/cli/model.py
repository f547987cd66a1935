"""The model, for every command that uses one: the one in a file, or the one that a study keeps."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Any

from ..support.files import is_read_only
from .items import Given, add_items, add_study, check_there, home_of, is_study, read_items, study_data_of
from .outputs import check_not_read
from .summary import number

if TYPE_CHECKING:
    from ..judge.study_data import StudyData
    from ..learning.sklr import SKLR
    from ..support.types import Array


def add_learned(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of all commands that use a model."""
    add_items(parser)
    parser.add_argument(
        "--model",
        metavar="MODEL",
        type=Path,
        help="a model that oddkernel fit wrote; by default the one that is kept with the study, learned anew if there "
        "are new answers",
    )
    add_study(parser)


@dataclass(frozen=True)
class Learned:
    """A model, and the items that a command is about.

    Attributes
    ----------
    model : SKLR
    given : Given
        The items.
    X : ndarray of shape (n, d)
        Their features in the model's order.
    data : StudyData or None
        What the study found out, if the model was learned from it.
    sentences : list of str
        How the model and the features came about.
    notes : sequence of str
        Those of them about the answers.
    n_simulated : int
        How many answers of a file are of simulated people.
    """

    model: SKLR
    given: Given
    X: Array
    data: StudyData | None
    sentences: list[str]
    notes: Sequence[str] = ()
    n_simulated: int = 0

    @property
    def facts(self) -> dict[str, Any]:
        """The same, for programs, and whether anything was learned."""
        of_study = {} if self.data is None else {"n_answers": len(self.data.said), **study_facts(self.data)}
        return {**self.given.facts, "learned": is_learned(self.model), **of_study, "notes": list(self.notes)}


def read_learned(arguments: argparse.Namespace) -> Learned:
    """The model and the items; features are made, and the model is learned, if they aren't there."""
    if arguments.model is None and is_study(arguments.items):
        return _of_study(arguments)
    from ..learning import models

    model = models.load(require_model(arguments))
    given = read_items(arguments)
    wanted = getattr(model, "feature_names_in_", None)
    told = given.sentences if given.kept is not None else []
    return Learned(model, given, given.items.features(wanted), None, told)


def require_model(arguments: argparse.Namespace) -> Path:
    """The model's file, or an error that says how to get one."""
    check_there(arguments.items)
    if arguments.model is None:
        raise ValueError(which_model(arguments))
    model: Path = arguments.model
    return model


def which_model(arguments: argparse.Namespace) -> str:
    """The question after the model, and how to get one."""
    items = quote(str(arguments.items))
    return (
        f"{arguments.items}: which model? oddkernel fit {items} ANSWERS --out model.oddkernel learns one, then "
        "--model model.oddkernel; in a study's folder (oddkernel judge) no model need be named"
    )


def default_out(arguments: argparse.Namespace, name: str) -> Path:
    """The file to write: what --out says, or one in the study's folder."""
    out: Path | None = arguments.out
    if out is not None:
        return out
    check_there(arguments.items)
    if not is_study(arguments.items):
        answers = getattr(arguments, "answers", None)  # oddkernel report learns from them
        also = f"{which_model(arguments)}. And " if arguments.model is None and answers is None else ""
        raise ValueError(f"{also}where to? expected --out {name}; only a study's folder has a place for it")
    home = home_of(arguments.items)
    check_kept(home, name)
    check_not_read(arguments, home / name)
    return home / name


def check_kept(home: Path, name: str) -> None:
    """Raise unless a file can be kept in a study's folder."""
    if is_read_only(home):
        raise ValueError(f"{home}: the folder can't be written to; expected --out {name} in another one")


def is_learned(model: SKLR) -> bool:
    """Whether the kernel is another than the initial one."""
    return bool(model.penalty_ > 0)


def unlearned(model: SKLR, what: str) -> list[str]:
    """The sentence that says so if nothing was learned."""
    return [] if is_learned(model) else [f"Nothing was learned: {what} are by the initial distances."]


def chosen(model: SKLR) -> str:
    """What held-out answers chose, in words."""
    from ..problem.losses import LOSSES

    recipe, penalties = model.fit_.recipe, model.fit_.penalties
    features = "standardised features" if model.scaling_ else "features as they are"
    kernel = f"{recipe.kernel.removeprefix('standardised ')} kernel of {features}"
    if not penalties[-1]:
        return f"{kernel}, penalty 0, {model.rank_} dimensions"
    entropic = LOSSES[recipe.loss].entropic
    terms = f", softness {recipe.softness:g}" if entropic else ""
    terms += f", ratio {recipe.ratio:g}" if not entropic or recipe.ratio != LOSSES[recipe.loss].ratio else ""
    rounds = "one round" if len(penalties) == 1 else f"{len(penalties)} rounds"
    penalty = " then ".join(f"{each:.3g}" for each in penalties)
    return f"{kernel}, {recipe.loss} loss{terms}, penalty {penalty} ({rounds}), {model.rank_} dimensions"


def settings_of(model: SKLR) -> dict[str, Any]:
    """The same for programs, and what learning gains."""
    from ..problem.losses import LOSSES

    recipe, penalties, tuning = model.fit_.recipe, model.fit_.penalties, model.tuning_
    return {
        "learned": is_learned(model),
        "kernel": recipe.kernel,
        "rank": model.rank_,
        "scaling": model.scaling_,
        "loss": recipe.loss,
        "ratio": recipe.ratio,
        "softness": recipe.softness if LOSSES[recipe.loss].entropic else None,
        "penalty": number(penalties[-1]),
        "penalties": [number(penalty) for penalty in penalties],
        "rounds": len(penalties),
        "gain": None if tuning is None else tuning.gain,
        "gain_interval": None if tuning is None else list(tuning.gain_interval),
    }


def _of_study(arguments: argparse.Namespace) -> Learned:
    data, given = study_data_of(arguments)
    model, is_new = data.model()
    notes = told_of(data, model, is_new)
    return Learned(model, given, given.items.X, data, [*given.sentences, *notes], notes)


def study_facts(data: StudyData) -> dict[str, int]:
    """What `told_of` says of a study's answers, for programs."""
    return {
        "n_people": data.n_people,
        "n_held_out": len(data.held_out),
        "n_simulated": data.n_simulated,
        "n_gone": data.n_gone,
        "n_dropped": data.n_dropped,
    }


def told_of(data: StudyData, model: SKLR, is_new: bool) -> list[str]:
    """Sentences about a study's answers and the model learned from them."""
    from ..report.wording import plural

    n, kept = len(data.said), len(data.held_out)
    how = ("Learned" if is_new else "Learned before") if is_learned(model) else "Nothing was learned"
    held = f"; {kept} more {'is' if kept == 1 else 'are'} held out" if kept else ""
    sentences = [f"{how} from {plural(n, 'answer')} of {plural(data.n_people, 'person')}{held}."]
    if data.n_simulated:
        are = "is" if data.n_simulated == 1 else "are"
        sentences.append(f"{data.n_simulated} of these {n + kept} answers {are} of simulated people.")
    if data.n_gone:
        are = "is" if data.n_gone == 1 else "are"
        sentences.append(
            f"{plural(data.n_gone, 'answer')} {are} about items that are gone or have no features: left out."
        )
    if data.n_dropped:
        sentences.append(
            f"{plural(data.n_dropped, 'answer')} {'was' if data.n_dropped == 1 else 'were'} left out, as asked."
        )
    return sentences
