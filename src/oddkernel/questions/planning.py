"""Before anybody is asked: how many answers reach which agreement, by simulation."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from ..comparisons import Comparisons
from ..learning.sklr import SKLR
from ..support.checks import is_count, require
from ..support.types import Array, Indices
from .curve import LearningCurve
from .history import draw_triples
from .policies import DEFAULT, LEARNING
from .simulated_people import CANT_TELL, ByLabels, ByMetric
from .simulation import simulate

SIZES = (50, 100, 200, 400, 800, 1600, 3200)
"""The numbers of answers that are tried, while there is time. Chosen by hand."""

DRAWS = 5
"""How often all is drawn anew: what people go by, the questions, the guesses. Chosen by hand."""

NOISE = 0.25
"""Share of answers that are guesses. Chosen by hand: of two such people, 71% of the answers agree."""

DIMENSIONS = 5
"""How many mixtures of the features people go by. Chosen by hand."""

N_ASKED = 1000
"""Number of random questions on which a model is compared with people. Chosen by hand."""

KEPT = 0.99
"""People go by mixtures of the principal components that hold this share of the variance. Chosen by hand."""

BATCH = 50
"""Number of questions that a policy chooses at a time. Chosen by hand."""

GROWTH = 1.5
"""The expected time of a fit grows with this power of the number of answers. Chosen by hand, to keep to the time."""


@dataclass(frozen=True)
class Row:
    """What a number of answers reaches.

    Attributes
    ----------
    n_answers, n_people : int
        Number of answers to learn from, and of people who give them.
    agreement : float
        Share of people's answers to new random questions that the model gives too; the mean over the draws.
    low, high : float
        The smallest and the largest share among the draws.
    n_draws : int
        How often it was simulated.
    """

    n_answers: int
    n_people: int
    agreement: float
    low: float
    high: float
    n_draws: int


@dataclass(frozen=True)
class Plan:
    """How many answers of how many people reach which agreement.

    Attributes
    ----------
    rows : tuple of Row
        From few answers to many.
    before : float
        The agreement without any answer: by the distances of the features.
    ceiling : float
        The agreement of a model that knows what people go by; their guesses are in the way of more.
    assumed : tuple of str
        What the simulation assumes, in sentences.
    """

    rows: tuple[Row, ...]
    before: float
    ceiling: float
    assumed: tuple[str, ...]

    @property
    def facts(self) -> dict[str, Any]:
        """The same, for programs."""
        told = {"before": self.before, "ceiling": self.ceiling, "assumed": list(self.assumed)}
        return {"rows": [asdict(row) for row in self.rows], **told}

    def reaches(self, agreement: float) -> int | None:
        """The number of answers at which the interpolated agreement first reaches a share; None if it never does.

        0 if the features alone reach it.
        """
        if self.before >= agreement:
            return 0
        sizes = np.array([row.n_answers for row in self.rows], dtype=np.intp)
        return LearningCurve(sizes, np.array([row.agreement for row in self.rows])).reaches(agreement)

    def __str__(self) -> str:
        lines = ["answers  people  agreement"]
        lines.append(f"{0:7}  {'':6}  {self.before:.0%}")
        for row in self.rows:
            spread = "" if row.n_draws == 1 else f" ({row.low:.0%} to {row.high:.0%})"
            lines.append(f"{row.n_answers:7}  {row.n_people:6}  {row.agreement:.0%}{spread}")
        lines.append(f"No model can agree with more than {self.ceiling:.0%}, because of the guesses.")
        return "\n".join([*lines, "Assumed:", *(f"- {sentence}" for sentence in self.assumed)])


def plan(
    X: ArrayLike | None,
    *,
    per_person: int,
    n_items: int | None = None,
    labels: ArrayLike | None = None,
    dimensions: int = DIMENSIONS,
    noise: float = NOISE,
    policy: str = DEFAULT,
    sizes: tuple[int, ...] = SIZES,
    draws: int = DRAWS,
    seconds: float = 60.0,
    learner: Any = None,
    random_state: int = 0,
    progress: Callable[[str], None] | None = None,
) -> Plan:
    """Simulate studies with increasing numbers of answers.

    Parameters
    ----------
    X : array-like of shape (n_items, d), or None
        The items' features; None for items without. Then people go by random coordinates, a policy that needs features
        becomes "random", and the identity kernel learns from answers alone.
    per_person : int
        How many answers to learn from each person gives.
    n_items : int, optional
        The number of items, if there are no features.
    labels : array-like of shape (n_items,), optional
        The items' classes, if people go by these.
    dimensions : int, default=5
        Without labels, people go by the distances in so many random mixtures of the features.
    noise : float, default=0.25
        Share of answers that are a guess among the three.
    policy : str, default="prototypes"
        How questions are chosen.
    sizes : tuple of int
        The numbers of answers; those for which there is no time are left out.
    draws : int, default=5
        How often all is drawn anew, while there is time.
    seconds : float, default=60
        About how long it may take: what would end later, by what the fit before took, is not begun.
    learner : estimator, optional
        The learner; by default `SKLR()`.
    random_state : int, default=0
        Seed of everything that is drawn.
    progress : callable, optional
        Called with a sentence before each fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> found = plan(X, per_person=20, policy="random", sizes=(20, 40), draws=1)
    >>> [(row.n_answers, row.n_people) for row in found.rows]
    [(20, 1), (40, 2)]
    """
    has_features = X is not None
    if X is None:
        require(
            n_items is not None and is_count(n_items),
            "n_items",
            n_items,
            "the number of items, as there are no features",
        )
        X = np.eye(n_items or 0)
        policy = "random" if policy in LEARNING else policy
        learner = SKLR("identity", rank=None, verbose=0, random_state=0) if learner is None else learner
    X = np.asarray(X, dtype=np.float64)
    require(len(X) >= 3, "X", X.shape, "at least 3 items")
    require(is_count(per_person), "per_person", per_person, "a whole number of at least 1")
    require(is_count(dimensions), "dimensions", dimensions, "a whole number of at least 1")
    require(0 <= noise < 1, "noise", noise, "a share of at least 0 and below 1")
    require(bool(sizes) and min(sizes) >= 1, "sizes", sizes, "whole numbers of at least 1")
    require(is_count(draws), "draws", draws, "a whole number of at least 1")
    require(seconds > 0, "seconds", seconds, "a number above 0")
    until = time.monotonic() + seconds
    template = SKLR(verbose=0, random_state=0) if learner is None else learner
    simulated: list[_Draw] = []
    while len(simulated) < draws and (not simulated or time.monotonic() < until):
        where = f"draw {len(simulated) + 1} of {draws}"
        rng = np.random.default_rng([random_state, len(simulated)])
        one = _Draw(X, _truth(X, labels, dimensions, rng), noise, sizes, template, until, progress, where, rng)
        simulated.append(one)
        with suppress(_TimeIsUpError), warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that few answers teach little is what the plan says
            simulate(X, one, policy=policy, n=max(sizes), batch=BATCH, random_state=rng)
    rows = []
    for n in sorted(set(sizes)):
        reached = [one.reached[n] for one in simulated if n in one.reached]
        if reached:
            mean = float(np.mean(reached))
            rows.append(Row(n, -(-n // per_person), mean, min(reached), max(reached), len(reached)))
    before = float(np.mean([one.before for one in simulated]))
    return Plan(
        tuple(rows), before, 1 - 2 * noise / 3, _assumed(labels is not None, has_features, dimensions, noise, policy)
    )


def _truth(X: Array, labels: ArrayLike | None, dimensions: int, rng: np.random.Generator) -> ByLabels | ByMetric:
    """What people go by: the classes, or random mixtures of the features' principal components."""
    if labels is not None:
        return ByLabels(labels)
    left, values, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    share = np.cumsum(values**2) / max(float((values**2).sum()), np.finfo(float).tiny)
    components = (left * values)[:, : int(np.searchsorted(share, KEPT)) + 1]
    return ByMetric(components @ rng.standard_normal((components.shape[1], dimensions)))


class _TimeIsUpError(Exception):
    """The rest is not simulated."""


class _Draw:
    """Simulated people, who are asked one question after another; at some numbers of answers a model is learned.

    Parameters
    ----------
    X, noise, sizes, progress :
        As `plan` takes them.
    truth : ByLabels or ByMetric
        What people go by, without guesses.
    template : estimator
        The learner.
    until : float
        The time at which to stop; the first size is always measured.
    where : str
        Which draw it is, in words.
    rng : Generator
        Of the guesses and of the questions on which models are compared with people.

    Attributes
    ----------
    before : float
        The agreement of the features' distances with people.
    reached : dict
        The agreement of the model, by number of answers.
    """

    def __init__(
        self,
        X: Array,
        truth: ByLabels | ByMetric,
        noise: float,
        sizes: tuple[int, ...],
        template: Any,
        until: float,
        progress: Callable[[str], None] | None,
        where: str,
        rng: np.random.Generator,
    ) -> None:
        self._X, self._truth, self._noise, self._sizes, self._template = X, truth, noise, sizes, template
        self._until, self._progress, self._where, self._rng = until, progress, where, rng
        self._shown: list[Indices] = []
        self._odd: list[int] = []
        self._took = 0.0
        asked = draw_triples(len(X), N_ASKED, rng)
        opinion = np.array([truth(row) for row in asked])
        decided = opinion != CANT_TELL
        if not decided.any():
            raise ValueError("the odd one of three is never clear by these labels; expected at least two classes")
        self._asked, self._opinion = asked[decided], opinion[decided]
        first, second, third = (X[self._asked[:, place]] for place in range(3))
        pairs = ((second, third), (first, third), (first, second))
        self.before = self._agreement(np.argmin([np.linalg.norm(a - b, axis=1) for a, b in pairs], axis=0))
        self.reached: dict[int, float] = {}

    def __call__(self, shown: Indices) -> int:
        """Answer a question."""
        if self.reached and time.monotonic() > self._until:
            raise _TimeIsUpError
        guesses = self._rng.random() < self._noise
        self._odd.append(int(self._rng.integers(3)) if guesses else self._truth(shown))
        self._shown.append(shown)
        if len(self._odd) in self._sizes:
            self._measure()
        return self._odd[-1]

    def _measure(self) -> None:
        n, began = len(self._odd), time.monotonic()
        if self.reached and began + self._took * (n / max(self.reached)) ** GROWTH > self._until:
            raise _TimeIsUpError
        if self._progress is not None:
            self._progress(f"{n} answers, {self._where}; about {max(0.0, self._until - began):.0f} s more")
        said = Comparisons.odd_one_out(np.array(self._shown), self._odd)
        model = clone(self._template).fit(self._X, said)
        self.reached[n] = self._agreement(model.odd_one(self._X, self._asked))
        self._took = time.monotonic() - began

    def _agreement(self, odd: Indices) -> float:
        """The expected share of answers, guesses included, that equal the model's."""
        return float((1 - self._noise) * np.mean(odd == self._opinion) + self._noise / 3)


def _assumed(by_labels: bool, has_features: bool, dimensions: int, noise: float, policy: str) -> tuple[str, ...]:
    basis = f"{dimensions} random mixtures of the features, and nothing that these don't show"
    if by_labels:
        basis = "classes"
    elif not has_features:
        basis = f"{dimensions} random coordinates of the items"
    same = (1 - 2 * noise / 3) ** 2 + 2 * (noise / 3) ** 2
    return (
        f"Everybody goes by the same {basis}.",
        f"{noise:.0%} of the answers are guesses, so two people agree about {same:.0%} of the questions.",
        f'The policy "{policy}" chooses the questions; the agreement is on random ones.',
    )
