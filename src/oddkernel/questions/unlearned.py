"""Policies that don't use answers: uniformly at random, and the items shown least often."""

from __future__ import annotations

import numpy as np

from ..support.types import Indices
from .history import History


def random(history: History, n: int, rng: np.random.Generator) -> Indices:
    """Three different items, drawn uniformly at random.

    Examples
    --------
    >>> from oddkernel import Comparisons
    >>> history = History(5, np.zeros(5, dtype=np.intp), Comparisons.empty)
    >>> random(history, 2, np.random.default_rng(0)).shape
    (2, 3)
    """
    return history.draw(n, rng)


def least_answered(history: History, n: int, rng: np.random.Generator) -> Indices:
    """The items shown least often so far; ties are broken at random.

    Examples
    --------
    >>> from oddkernel import Comparisons
    >>> history = History(5, np.array([2, 0, 1, 0, 0]), Comparisons.empty)
    >>> np.sort(least_answered(history, 1, np.random.default_rng(0)))
    array([[1, 3, 4]])
    """
    times = history.times_shown.copy()
    chosen = np.empty((n, 3), dtype=np.intp)
    left = None if history.allowed is None else rng.permutation(history.allowed)
    for row in range(n):
        if left is None:
            least = np.lexsort((rng.random(len(times)), times))[:3]
        else:
            best = int(times[left].sum(axis=1).argmin())
            least = left[best]
            left = np.delete(left, best, axis=0) if len(left) > 1 else left
        chosen[row] = rng.permutation(least)
        times[chosen[row]] += 1
    return chosen
