"""The experiments of the paper, reproduced: one module for each table or figure.

`oddkernel reproduce` runs them. They use the package's public names only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from . import (
    curves,
    encoders,
    equalities,
    forms,
    generalization,
    map,
    next_question,
    noise,
    people,
    running_time,
    table1,
    things_dimensions,
    unseen,
)
from .experiment import TRIALS
from .methods import METHODS
from .outcome import Outcome
from .page import page
from .trials import results


class Reproducible(Protocol):
    """The interface of an experiment."""

    def compute(self, folder: Path, *, draws: int, jobs: int, tell: Callable[[str], None]) -> int:
        """Measure what the folder doesn't hold yet; return the number of measurements."""

    def show(self, folder: Path, *, draws: int) -> Outcome:
        """Tables, figures and remarks from the results in the folder."""


EXPERIMENTS: dict[str, Reproducible] = {
    "table1": table1.EXPERIMENT,
    "curves": curves.EXPERIMENT,
    "generalization": generalization.EXPERIMENT,
    "noise": noise.EXPERIMENT,
    "equalities": equalities.EXPERIMENT,
    "map": map.EXPERIMENT,
    "running_time": running_time.EXPERIMENT,
    "things": people.THINGS_EXPERIMENT,
    "cars60": people.CARS_EXPERIMENT,
    "encoders": encoders.EXPERIMENT,
    "unseen": unseen.EXPERIMENT,
    "next_question": next_question.EXPERIMENT,
    "forms": forms.EXPERIMENT,
    "things_dimensions": things_dimensions.EXPERIMENT,
}


def with_options(name: str, n_answers: int | None = None, encoder: str | None = None) -> Reproducible:
    """An experiment, with the options that only it takes.

    Parameters
    ----------
    name : str
    n_answers : int, optional
        Learn from this many recorded answers (unseen).
    encoder : str, optional
        Measure the features of this encoder (encoders).
    """
    for option, value, takes in (("answers", n_answers, "unseen"), ("with", encoder, "encoders")):
        if value is not None and name != takes:
            raise ValueError(f"--{option} {value}; only the experiment {takes} takes it")
    if n_answers is not None:
        return unseen.Unseen(n_answers)
    return EXPERIMENTS[name] if encoder is None else encoders.Encoders(encoder)


def forget(folder: Path, methods: Sequence[str]) -> None:
    """Delete the results of methods, or of policies of the next question, so that they are measured again."""
    for method in methods:
        if method not in METHODS and method not in next_question.TITLES:
            raise ValueError(f"--again {method}; expected one of {', '.join([*METHODS, *next_question.TITLES])}")
    stores = {"method": (results(folder / TRIALS), map.results(folder)), "policy": (next_question.results(folder),)}
    for column, kept in stores.items():
        for store in kept:
            if not (methods and store.folder.exists()):
                continue
            rows = store.read()[column].isin(methods)
            if rows.any():
                store.drop(rows)


def write(folder: Path, name: str, outcomes: Mapping[str, Outcome]) -> Path:
    """Write a page with the outcomes of experiments, and its figures in a folder next to it."""
    figures = folder / name
    for outcome in outcomes.values():
        for file, content in outcome.figures.items():
            figures.mkdir(parents=True, exist_ok=True)
            (figures / file).write_bytes(content)
    folder.mkdir(parents=True, exist_ok=True)
    written = folder / f"{name}.md"
    written.write_text(page(outcomes, name), encoding="utf-8")
    return written
