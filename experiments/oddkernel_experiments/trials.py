"""One measurement: one method on one draw."""

from __future__ import annotations

import time
import warnings
from dataclasses import asdict, dataclass
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from oddkernel import Comparisons, ContradictionError, KernelKMeans
from oddkernel.cluster import spread

from . import questions, samples
from .methods import CLASSES, METHODS, NOTHING, PAIRS
from .store import Store

Array = NDArray[Any]

FITTED, UNASKED, LEFT_OUT, SPREAD = "fitted", "not asked about", "left out", "left out, by neighbours"
# Smallest number of items for which the index is reported: with fewer it is too noisy. Chosen by hand. With thousands
# of answers, hardly any item of a draw was not asked about.
ENOUGH = 50


@dataclass(frozen=True)
class Trial:
    """One measurement.

    Attributes
    ----------
    dataset, method : str
        Names in `samples.DATASETS` and `methods.METHODS`.
    answers : str
        The classes by which people answer: binary, multiclass or mixed.
    n_answers : int
        Number of answers at each resolution. A classifier is told the classes of the items that they are about, or of
        all items if there are none.
    draw : int
        The random seed.
    noise : float
        Share of wrong answers.
    equalities : int
        Number of additional *can't tell* answers.
    left_out : bool
        Whether to score also the items left out of the draw, and separately those that nobody was asked about.
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
        """The key of a result: the trial, and the settings of its method."""
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
    "seconds": "float64",  # CPU time of fit; NaN for classifiers
    "note": "object",  # warnings, errors
    "version": "object",
}


def results(folder: Any) -> Store:
    """The results stored in a folder."""
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
    chosen = [row in wanted for row in kept[[*WHAT, "settings"]].itertuples(index=False, name=None)]
    return kept[np.array(chosen, dtype=bool)]


def measure(trial: Trial) -> list[dict[str, Any]]:
    """Learn, cluster at each resolution of the answers, and compare with the classes."""
    method = METHODS[trial.method]
    items, left_out = samples.sample(trial.dataset, trial.draw)
    said = _said(items, trial)
    what = asdict(trial)
    scored = {FITTED: items}
    if what.pop("left_out"):
        unasked = np.setdiff1d(np.arange(len(items)), _asked(items, said, trial))
        scored |= {UNASKED: items.take(unasked), LEFT_OUT: left_out}
        if method.asks != CLASSES:
            scored[SPREAD] = left_out
    row = {**what, "settings": method.described(), "version": version("oddkernel")}
    started = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model = None if method.asks == CLASSES else method.fit(items.X, said)
        except ContradictionError as error:
            groups: dict[str, dict[str, Any]] = {}
            note = str(error)
        else:
            row["seconds"] = np.nan if model is None else time.process_time() - started
            new = scored.get(LEFT_OUT)
            groups = _classes(items, new, said, trial) if model is None else _clusters(model, items, new, trial)
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


def _said(items: samples.Items, trial: Trial) -> Comparisons | None:
    """The answers; None for methods that use none."""
    asks = METHODS[trial.method].asks
    if asks == NOTHING or (asks == CLASSES and not trial.n_answers):
        return None
    if asks == PAIRS:
        return questions.pairs(items, trial.answers, trial.n_answers, noise=trial.noise, draw=trial.draw)
    return questions.triples(
        items, trial.answers, trial.n_answers, noise=trial.noise, equalities=trial.equalities, draw=trial.draw
    )


def _asked(items: samples.Items, said: Comparisons | None, trial: Trial) -> Array:
    """The items about which more than features is known: from answers, or because all classes are told."""
    if said is not None:
        return said.constrained
    return np.arange(len(items) if METHODS[trial.method].asks == CLASSES else 0)


def _classes(
    items: samples.Items, left_out: samples.Items | None, said: Comparisons | None, trial: Trial
) -> dict[str, dict[str, Any]]:
    """At each resolution, the classes that were told, and predicted classes for all other items."""
    asked = _asked(items, said, trial)
    groups = {}
    for resolution in questions.RESOLUTIONS[trial.answers]:
        told = items.labels[resolution][asked]
        model = METHODS[trial.method].fit(items.X[asked], told)
        found = model.predict(items.X)
        found[asked] = told
        groups[resolution] = {FITTED: found}
        if left_out is not None:
            groups[resolution][LEFT_OUT] = model.predict(left_out.X)
    return groups


def _clusters(
    model: Any, items: samples.Items, left_out: samples.Items | None, trial: Trial
) -> dict[str, dict[str, Any]]:
    """At each resolution, clusters of the items; for items left out, by nearest centre and by label propagation."""
    matrix = model.kernel_matrix(items.X)
    if left_out is not None:
        to_new = model.kernel_matrix(left_out.X, items.X)
        coordinates = model.transform(np.concatenate([items.X, left_out.X]))
    groups = {}
    for resolution in questions.RESOLUTIONS[trial.answers]:
        clusters = KernelKMeans(n_clusters=len(np.unique(items.labels[resolution])), random_state=trial.draw)
        groups[resolution] = {FITTED: clusters.fit_predict(matrix)}
        if left_out is not None:
            known = np.concatenate([clusters.labels_, np.full(len(left_out), -1)])
            groups[resolution] |= {
                LEFT_OUT: clusters.predict(to_new),
                SPREAD: spread(coordinates, known)[len(items) :],
            }
    return groups
