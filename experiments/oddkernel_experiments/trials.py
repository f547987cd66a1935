"""One measurement: one method on one draw."""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from oddkernel import ContradictionError, KernelKMeans
from oddkernel.cluster import spread

from . import questions, samples
from .methods import CLASSES, METHODS, NOTHING, PAIRS
from .store import Store

FITTED, UNASKED, LEFT_OUT, SPREAD = "fitted", "not asked about", "left out", "left out, by neighbours"
# The index of fewer items says next to nothing: where thousands are asked about, hardly any of a draw is left.
ENOUGH = 50


@dataclass(frozen=True)
class Trial:
    """What is measured.

    Attributes
    ----------
    dataset, method : str
        Of `samples.DATASETS` and `methods.METHODS`.
    answers : str
        By which classes people answer: binary, multiclass or mixed.
    n_answers : int
        How many answers, at each resolution; 0 for a method that is told all classes.
    draw : int
        The seed of all that is random.
    noise : float
        Share of wrong answers.
    equalities : int
        *Can't tell* answers beside the others.
    left_out : bool
        Whether to score the items left out of the draw, too, and apart those that nobody was asked about.
    """

    dataset: str
    method: str
    answers: str
    n_answers: int
    draw: int
    noise: float = 0.0
    equalities: int = 0
    left_out: bool = False

    def identity(self) -> tuple[Any, ...]:
        """What tells results apart: the trial, and the settings of its method."""
        return (*(getattr(self, name) for name in WHAT), METHODS[self.method].described())


WHAT = ("dataset", "method", "answers", "n_answers", "draw", "noise", "equalities")
COLUMNS = {
    "dataset": "object",
    "method": "object",
    "answers": "object",
    "n_answers": "int64",
    "draw": "int64",
    "noise": "float64",
    "equalities": "int64",
    "settings": "object",
    "resolution": "object",  # of the clustering
    "items": "object",  # fitted; of these, not asked about; left out, by the nearest centre or by neighbours
    "rand": "float64",  # Adjusted Rand index; NaN where answers that must can't all hold, or for too few items
    "seconds": "float64",  # CPU time of fit
    "note": "object",  # warnings, errors
    "version": "object",
}


def results(folder: Any) -> Store:
    """The results kept in a folder."""
    return Store(folder, COLUMNS, [*WHAT, "settings", "resolution", "items"])


def missing(trials: list[Trial], kept: pd.DataFrame) -> list[Trial]:
    """Trials without results."""
    known = set(kept[[*WHAT, "settings", "items"]].itertuples(index=False, name=None))
    return [trial for trial in dict.fromkeys(trials) if (*trial.identity(), _last(trial)) not in known]


def _last(trial: Trial) -> str:
    """The items whose result shows that everything was measured."""
    if not trial.left_out:
        return FITTED
    return LEFT_OUT if METHODS[trial.method].asks == CLASSES else SPREAD


def select(trials: list[Trial], kept: pd.DataFrame) -> pd.DataFrame:
    """Results of the trials."""
    wanted = {trial.identity() for trial in trials}
    return kept[[row in wanted for row in kept[[*WHAT, "settings"]].itertuples(index=False, name=None)]]


def measure(trial: Trial) -> list[dict[str, Any]]:
    """Learn, cluster at each resolution that the answers speak of, and compare with the classes."""
    method = METHODS[trial.method]
    items, left_out = samples.sample(trial.dataset, trial.draw)
    said: Any
    if method.asks == NOTHING:
        said = None
    elif method.asks == CLASSES:
        said = items.labels[trial.answers]
    elif method.asks == PAIRS:
        said = questions.pairs(items, trial.answers, trial.n_answers, noise=trial.noise, draw=trial.draw)
    else:
        said = questions.triples(
            items, trial.answers, trial.n_answers, noise=trial.noise, equalities=trial.equalities, draw=trial.draw
        )

    what = asdict(trial)
    scored = {FITTED: items}
    if what.pop("left_out"):
        unasked = np.arange(len(items))
        if method.asks == CLASSES:
            unasked = unasked[:0]
        elif said is not None:
            unasked = np.setdiff1d(unasked, said.constrained)
        scored |= {UNASKED: items.take(unasked), LEFT_OUT: left_out}
        if method.asks != CLASSES:
            scored[SPREAD] = left_out
    row = {**what, "settings": method.described(), "version": version("oddkernel")}
    started = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = method.fit(items.X, said)
        except ContradictionError as error:
            groups: dict[str, dict[str, Any]] = {}
            note = str(error)
        else:
            row["seconds"] = time.process_time() - started
            groups = _groups(model, {name: scored[name] for name in (FITTED, LEFT_OUT) if name in scored}, trial)
            if UNASKED in scored:
                for found in groups.values():
                    found[UNASKED] = found[FITTED][unasked]
            note = " ".join(dict.fromkeys(str(warning.message) for warning in caught))
    return [
        {
            **row,
            "resolution": resolution,
            "items": place,
            "rand": adjusted_rand_score(there.labels[resolution], groups[resolution][place])
            if groups and (place == FITTED or len(there) >= ENOUGH)
            else np.nan,
            "note": note,
        }
        for resolution in questions.RESOLUTIONS[trial.answers]
        for place, there in scored.items()
    ]


def _groups(model: Any, scored: dict[str, samples.Items], trial: Trial) -> dict[str, dict[str, Any]]:
    """At each resolution, clusters of the items, and for items left out the nearest of their centres and, apart, the
    one that spreads to them from their neighbours; or classes."""
    if METHODS[trial.method].asks == CLASSES:
        return {trial.answers: {place: model.predict(there.X) for place, there in scored.items()}}
    items = scored[FITTED]
    matrices = {
        place: model.kernel_matrix(items.X) if place == FITTED else model.kernel_matrix(there.X, items.X)
        for place, there in scored.items()
    }
    if LEFT_OUT in scored:
        coordinates = model.transform(np.concatenate([items.X, scored[LEFT_OUT].X]))
    groups = {}
    for resolution in questions.RESOLUTIONS[trial.answers]:
        clusters = KernelKMeans(n_clusters=len(np.unique(items.labels[resolution])), random_state=trial.draw)
        groups[resolution] = {FITTED: clusters.fit_predict(matrices[FITTED])}
        if LEFT_OUT in matrices:
            groups[resolution][LEFT_OUT] = clusters.predict(matrices[LEFT_OUT])
            known = np.concatenate([clusters.labels_, np.full(len(scored[LEFT_OUT]), -1)])
            groups[resolution][SPREAD] = spread(coordinates, known)[len(items) :]
    return groups
