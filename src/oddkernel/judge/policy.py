"""Which three items to ask about next.

A policy is a plain function ``policy(history, n, rng)`` that returns the items of ``n`` questions, shape (n, 3), as
numbers from 0. A further one is a function and a line in `POLICIES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from ..comparisons import Comparisons

Indices = NDArray[np.intp]
Triple = tuple[int, int, int]

# A policy's choice that someone is being asked already is drawn again so many times at most.
TRIES = 20

# Among so few items, all questions can be looked through for one that nobody is being asked.
FEW = 30


@dataclass(eq=False)
class History:
    """What a policy may look at.

    Attributes
    ----------
    n_items : int
        How many items there are.
    times_shown : ndarray of shape (n_items,)
        How often each of them was part of a question.
    said : callable
        Returns the answers so far, without those held out, as `Comparisons`; it reads the database.
    features : ndarray of shape (n_items, d), or None
        What is known about the items.
    open : set of tuple
        The questions, as sorted items, that someone is being asked at this moment.
    """

    n_items: int
    times_shown: Indices
    said: Callable[[], Comparisons]
    features: NDArray[np.float64] | None = None
    open: set[Triple] = field(default_factory=set)

    def shown(self, items: Triple, times: int = 1) -> None:
        """Note that three items were shown."""
        self.times_shown[list(items)] += times


Policy = Callable[[History, int, np.random.Generator], Indices]


def random(history: History, n: int, rng: np.random.Generator) -> Indices:
    """Three different items, each choice as likely as any other.

    Examples
    --------
    >>> history = History(5, np.zeros(5, dtype=np.intp), Comparisons.empty)
    >>> random(history, 2, np.random.default_rng(0)).shape
    (2, 3)
    """
    return np.array([rng.choice(history.n_items, 3, replace=False) for _ in range(n)], dtype=np.intp).reshape(n, 3)


def least_answered(history: History, n: int, rng: np.random.Generator) -> Indices:
    """The items that were shown least often so far; chance decides among equals.

    Examples
    --------
    >>> history = History(5, np.array([2, 0, 1, 0, 0]), Comparisons.empty)
    >>> np.sort(least_answered(history, 1, np.random.default_rng(0)))
    array([[1, 3, 4]])
    """
    times = history.times_shown.copy()
    chosen = np.empty((n, 3), dtype=np.intp)
    for row in range(n):
        chosen[row] = rng.permutation(np.lexsort((rng.random(len(times)), times))[:3])
        times[chosen[row]] += 1
    return chosen


POLICIES: dict[str, Policy] = {"random": random, "least_answered": least_answered}
"""The policies that a study can name."""


def choose(policy: Policy, history: History, rng: np.random.Generator) -> Triple:
    """One question by a policy, in random order, that nobody is being asked at this moment if that can be had."""
    for _ in range(TRIES):
        found = as_triple(policy(history, 1, rng)[0], history.n_items)
        if key(found) not in history.open:
            break
    else:
        every = combinations(range(history.n_items), 3) if history.n_items <= FEW else ()
        free = [triple for triple in every if triple not in history.open]
        found = free[int(rng.integers(len(free)))] if free else found
    first, second, third = rng.permutation(found).tolist()
    return first, second, third


def as_triple(items: Indices, n_items: int) -> Triple:
    """Three different items, or a ValueError."""
    first, second, third = (int(item) for item in items)
    if len({first, second, third}) < 3 or min(first, second, third) < 0 or max(first, second, third) >= n_items:
        raise ValueError(f"the policy chose {[first, second, third]}; expected three different items below {n_items}")
    return first, second, third


def key(items: Triple) -> Triple:
    """The same for the same three items in any order."""
    first, second, third = sorted(items)
    return first, second, third
