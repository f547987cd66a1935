"""Learning curves: a learner's score as a function of the number of answers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ..comparisons import Comparisons
from ..learning.sklr import SKLR
from ..support.checks import require


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Scores as a function of the number of answers.

    Attributes
    ----------
    n_answers : ndarray of shape (k,)
        Number of answers learned from, in the order asked.
    score : ndarray of shape (k,)
        Score after as many answers.
    """

    n_answers: NDArray[np.intp]
    score: NDArray[np.float64]

    def reaches(self, score: float) -> int | None:
        """Number of answers at which the linearly interpolated curve first reaches a score, or None.

        Examples
        --------
        >>> LearningCurve(np.array([10, 20, 40]), np.array([0.2, 0.4, 0.5])).reaches(0.45)
        30
        """
        above = np.flatnonzero(self.score >= score)
        if not len(above):
            return None
        after = int(above[0])
        if after == 0:
            return int(self.n_answers[0])
        (n, m), (low, high) = self.n_answers[after - 1 : after + 1], self.score[after - 1 : after + 1]
        return int(np.ceil(n + (m - n) * (score - low) / (high - low)))


def learning_curve(
    X: ArrayLike,
    said: Comparisons,
    score: Callable[[Any], float],
    *,
    at: Sequence[int],
    learner: Any = None,
) -> LearningCurve:
    """Score a learner after increasing numbers of answers.

    Parameters
    ----------
    X : array-like of shape (n_items, d)
        The items' features.
    said : Comparisons
        Answers in the order asked, as `simulate` returns them.
    score : callable
        ``score(model)`` of a fitted learner: for example the share of held-out answers that it agrees with.
    at : sequence of int
        The numbers of answers.
    learner : estimator, optional
        The learner, which is cloned; by default `SKLR()`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from oddkernel.questions import ByLabels, simulate
    >>> X, y = load_iris(return_X_y=True)
    >>> said = simulate(X, ByLabels(y), policy="random", n=60, random_state=0)
    >>> held_out = simulate(X, ByLabels(y), policy="random", n=200, random_state=1)
    >>> curve = learning_curve(X, said, lambda model: model.score(X, held_out), at=[20, 40], learner=SKLR(penalty=10))
    >>> curve.score.round(2)
    array([0.87, 0.88])
    """
    for n in at:
        require(1 <= n <= len(said), "at", n, f"numbers from 1 to {len(said)}, the answers there are")
    template = SKLR() if learner is None else learner
    scores = [float(score(clone(template).fit(X, said[:n]))) for n in at]
    return LearningCurve(np.array(at, dtype=np.intp), np.array(scores))
