"""Objects that nobody was asked about, on THINGS: a fifth of the objects is left out of all learning."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oddkernel import SKLR, Comparisons

from .means import Means, drawn, facts, lead, mean_of
from .outcome import Outcome, Table
from .people import EVERYTHING, recorded, split
from .rivals import Predict, agreement, by_dot_products, embedding, linear_probe
from .store import Store

Array = np.ndarray[Any, Any]

METHODS = {
    "cosine": "Features, cosine",
    "before": "Features, adaptive kernel",
    "probe_dot": "Linear probe, dot products",
    "probe_distance": "Linear probe, distances",
    "embedding": "Embedding without features",
    "adaptive": "SKLR, adaptive kernel alone",
    "sklr": "SKLR, defaults",
}
GROUPS = {"none": (0,), "one": (1,), "two": (2,), "three": (3,), "any": (1, 2, 3)}
"""Groups of held-out answers by the number of unseen objects among the three."""

COLUMNS = {
    "method": "str", "n_answers": "int64", "draw": "int64", **dict.fromkeys(GROUPS, "float64"), "learned_from": "int64",
    **{f"n_{group}": "int64" for group in GROUPS}, "added": "float64", "needed": "float64",
    "seconds": "float64", "chosen": "str",
}  # fmt: skip
IDENTITY = ["method", "n_answers", "draw"]


@dataclass(frozen=True)
class Parts:
    """The answers of one draw.

    Attributes
    ----------
    seen : array of int
        The objects that are learned from.
    known : Comparisons
        Answers to learn from, about rows of ``seen``.
    held_out : dict
        Answers about all objects by the number of unseen ones.
    """

    seen: Array
    known: Comparisons
    held_out: dict[int, Comparisons]


def divide(said: Comparisons, n_objects: int, n_answers: int, draw: int) -> Parts:
    """Leave out a fifth of the objects, and a twentieth of the triples that show none of them."""
    unseen = np.random.default_rng(draw).permutation(n_objects)[: n_objects // 5]
    count = np.isin(said.shown, unseen).sum(axis=1)
    known, none = split(said[count == 0], 20, draw)
    if n_answers != EVERYTHING:
        known = known[np.sort(np.random.default_rng(1000 + draw).permutation(len(known))[:n_answers])]
    seen = np.setdiff1d(np.arange(n_objects), unseen)
    about = Comparisons.odd_one_out(np.searchsorted(seen, known.shown), known.odd)
    return Parts(seen, about, {0: none, **{number: said[count == number] for number in (1, 2, 3)}})


def measure(method: str, n_answers: int, draw: int) -> dict[str, Any]:
    """Learn with a method, and score it on every group of answers."""
    X, said = recorded("things")
    parts = divide(said, len(X), n_answers, draw)
    started = time.perf_counter()
    learned = _learned(method, X, parts, draw)
    groups = {group: _together([parts.held_out[number] for number in numbers]) for group, numbers in GROUPS.items()}
    reached = {"none"} if method == "embedding" else set(GROUPS)  # it can't place unseen objects
    shares = {
        group: learned.score(answers) if group in reached and len(answers) else np.nan
        for group, answers in groups.items()
    }
    return {
        "method": method, "n_answers": n_answers, "draw": draw, **shares, "learned_from": len(parts.known),
        **{f"n_{group}": len(answers) for group, answers in groups.items()},
        "added": learned.added, "needed": learned.needed, "seconds": time.perf_counter() - started,
        "chosen": learned.chosen,
    }  # fmt: skip


@dataclass(frozen=True)
class Learned:
    """What a method learned.

    Attributes
    ----------
    score : callable
        Answers about all objects to the share of them that it predicts.
    chosen : str
        The settings that were chosen.
    added, needed : float
        What SKLR adds to the squared distance between a seen and an unseen object for what coordinates lack, on
        average; and what would make the mean of these distances that between seen objects.
    """

    score: Callable[[Comparisons], float]
    chosen: str = ""
    added: float = np.nan
    needed: float = np.nan


def _learned(method: str, X: Array, parts: Parts, draw: int) -> Learned:
    """Learn with a method."""
    if method in ("cosine", "probe_dot", "probe_distance", "embedding"):
        predict, chosen = _rival(method, X, parts, draw)
        return Learned(lambda answers: agreement(predict, answers), chosen)
    given: dict[str, dict[str, Any]] = {"before": {"penalty": 0}, "adaptive": {"kernel": "adaptive"}, "sklr": {}}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The answers don't support a change", UserWarning)
        device = os.environ.get("ODDKERNEL_DEVICE")
        model = SKLR(random_state=draw, device=device, **given[method]).fit(X[parts.seen], parts.known)
    seen = np.isin(np.arange(len(X)), parts.seen)
    squared, z = np.square(model.distance(X[seen], X)), model.transform(X)
    plain = np.square(z[seen]).sum(axis=1).mean() + np.square(z[~seen]).sum(axis=1).mean()
    plain -= 2.0 * z[seen].mean(axis=0) @ z[~seen].mean(axis=0)
    n_seen = int(seen.sum())
    added = float(squared[:, ~seen].mean() - plain)
    needed = float(squared[:, seen].sum() / (n_seen * (n_seen - 1)) - plain)
    if model.tuning_ is None:
        return Learned(lambda answers: model.score(X, answers), "", added, needed)
    recipe, penalties = model.tuning_.recipe, " then ".join(f"{penalty:.2g}" for penalty in model.tuning_.penalties)
    chosen = (
        f"{recipe.kernel}, {recipe.loss}, softness {recipe.softness:g}, penalty {penalties}, {model.rank_} dimensions"
    )
    return Learned(lambda answers: model.score(X, answers), chosen, added, needed)


def _rival(method: str, X: Array, parts: Parts, draw: int) -> tuple[Predict, str]:
    """How a rival predicts triples of all objects."""
    if method == "cosine":
        return by_dot_products(X / np.linalg.norm(X, axis=1, keepdims=True)), ""
    inner = split(parts.known, 10, draw)
    if method != "embedding":
        found = linear_probe(X, parts.seen, parts.known, method == "probe_distance", inner)
        return found.predict, found.chosen
    found = embedding(len(parts.seen), parts.known, inner, draw)
    return lambda shown: found.predict(np.searchsorted(parts.seen, shown)), found.chosen


def _together(parts: list[Comparisons]) -> Comparisons:
    whole = parts[0]
    for part in parts[1:]:
        whole = whole + part
    return whole


@dataclass(frozen=True)
class Unseen:
    """The experiment; ``n_answers`` bounds the answers learned from."""

    n_answers: int = EVERYTHING

    def _store(self, folder: Path) -> Store:
        return Store(folder / "unseen", COLUMNS, IDENTITY)

    def compute(self, folder: Path, *, draws: int, jobs: int, tell: Callable[[str], None]) -> int:
        """Measure what the folder doesn't hold yet; return the number of measurements."""
        from joblib import Parallel, delayed

        store = self._store(folder)
        have = {tuple(row) for row in store.read()[IDENTITY].itertuples(index=False)}
        wanted = [(method, self.n_answers, draw) for draw in range(draws) for method in reversed(METHODS)]
        todo = [each for each in wanted if each not in have]
        found = Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(measure)(*each) for each in todo)
        for number, row in enumerate(found, 1):
            store.append([row])
            tell(f"{number} of {len(todo)}: {row['method']}, draw {row['draw']}")
        store.merge()
        return len(todo)

    def show(self, folder: Path, *, draws: int) -> Outcome:
        """Tables and remarks from the results in the folder."""
        rows = self._store(folder).read()
        return outcome(rows[(rows["n_answers"] == self.n_answers) & (rows["draw"] < draws)])


def outcome(rows: pd.DataFrame) -> Outcome:
    """The tables of results."""
    found: Means = {}
    for (method, group), values in rows.melt(["method"], list(GROUPS), "group").groupby(["method", "group"])["value"]:
        if (mean := mean_of(values.to_numpy())) is not None:
            found[str(method), str(group)] = mean
    sizes = rows[[f"n_{group}" for group in GROUPS]].mean()
    table = Table(
        f"Answers predicted right by the number of unseen objects among the three, mean ± standard error over "
        f"{drawn(found)}.",
        ["", *(f"{group} ({sizes[f'n_{group}']:,.0f} answers)" for group in GROUPS)],
        [
            [title, *(str(found[method, group]) if (method, group) in found else "–" for group in GROUPS)]
            for method, title in METHODS.items()
            if any((method, group) in found for group in GROUPS)
        ],
    )
    notes = [
        f"{METHODS['sklr']} minus {METHODS[other]}, paired by draw: {'; '.join(lines)}."
        for other in METHODS
        if other != "sklr"
        and (lines := [f"{ahead:+} ({group})" for group in GROUPS if (ahead := lead(rows, "sklr", other, group))])
    ]
    lacking = [
        f"{METHODS[method]}: what an unseen object's coordinates lack adds {added} to its squared distance from a seen "
        f"one; {needed} would make the mean of these distances that between seen objects."
        for method in METHODS
        if (added := mean_of(rows.loc[rows["method"] == method, "added"].to_numpy()))
        and (needed := mean_of(rows.loc[rows["method"] == method, "needed"].to_numpy()))
    ]
    chosen = rows[rows["chosen"] != ""].sort_values(["method", "draw"])
    settings = Table(
        "What held-out answers chose.",
        ["", "draw", "chosen"],
        [
            [METHODS[method], str(draw), setting]
            for method, draw, setting in zip(
                chosen["method"].tolist(), chosen["draw"].tolist(), chosen["chosen"].tolist(), strict=True
            )
        ],
    )
    learned_from = f"Answers learned from: {rows['learned_from'].mean():,.0f} on average." if len(rows) else ""
    return Outcome(
        "Objects that nobody was asked about", QUESTION, [table, settings], {}, [learned_from, *notes, *lacking],
        {"means": facts(found)},
    )  # fmt: skip


QUESTION = """\
THINGS again ([the data](things.md)), but here a fifth of the *objects* is left out of all learning, a different fifth
in each draw: no method sees their features or any answer about them while it learns. It learns from the answers about
the other objects, without those about a twentieth of their triples, which are held out. Then it predicts the held-out
answers, and all answers that show one, two or three of the unseen objects.

*Features, cosine* is the cosine similarity of the features; *adaptive kernel* is where SKLR starts. The *linear probe*
maps the features linearly, by the likelihood of a softmax over the three pairs' dot products or negative squared
distances, with a ridge to the nearest multiple of the identity (Muttenthaler et al. 2023). The *embedding* has no
features: non-negative loadings by the likelihood of a softmax over dot products with an ℓ₁ penalty, SPoSE's objective
(Zheng et al. 2019). It can't place unseen objects. A tenth of the triples to learn from chooses ridge and ℓ₁ penalty.
New objects are at [their expected distance](mathematics.md#new-items-at-their-expected-distance) in all kernels.
`oddkernel reproduce unseen --draws 5 --results experiments/results --out docs` writes this page."""

EXPERIMENT = Unseen()
