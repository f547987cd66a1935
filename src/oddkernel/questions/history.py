"""What a policy may look at when it chooses the next questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..comparisons import Comparisons

if TYPE_CHECKING:
    from .belief import Belief, Space

Indices = NDArray[np.intp]
Triple = tuple[int, int, int]
Said = Callable[[], Comparisons]


def nothing_learned() -> None:
    """No belief yet."""
    return


@dataclass(eq=False)
class History:
    """What was asked, what was said, and what has been learned from it.

    Attributes
    ----------
    n_items : int
        How many items there are.
    times_shown : ndarray of shape (n_items,)
        How often each of them was part of a question.
    said : callable
        Returns the answers so far, without those held out, as `Comparisons`; it may read a database.
    features : ndarray of shape (n_items, d), or None
        What is known about the items.
    open : set of tuple
        The questions, as sorted items, that someone is being asked at this moment.
    belief : callable
        Returns what was last learned from the answers, or None if nothing was yet. It never waits for a fit.
    space : callable
        Returns the items as they are before anything is learned, or None as long as that isn't known.
    allowed : ndarray of shape (m, 3), or None
        The only questions that can be asked, where not all can: those that were recorded.
    asked : set of tuple
        The questions, as sorted items, that were asked before.
    """

    n_items: int
    times_shown: Indices
    said: Said
    features: NDArray[np.float64] | None = None
    open: set[Triple] = field(default_factory=set)
    belief: Callable[[], Belief | None] = nothing_learned
    space: Callable[[], Space | None] = nothing_learned
    allowed: Indices | None = None
    asked: set[Triple] = field(default_factory=set)

    def shown(self, items: Triple) -> None:
        """Note that three items were shown."""
        self.times_shown[list(items)] += 1
        self.asked.add(key(items))

    def forget(self) -> None:
        """As if nothing had been shown."""
        self.times_shown[:] = 0
        self.asked.clear()

    def draw(self, n: int, rng: np.random.Generator) -> Indices:
        """So many questions by chance, each as likely as any other; recorded ones at most once, while there are any."""
        if self.allowed is None:
            return draw_triples(self.n_items, n, rng)
        rows = rng.choice(len(self.allowed), n, replace=len(self.allowed) < n)
        return rng.permuted(self.allowed[rows], axis=1)


def draw_triples(n_items: int, n: int, rng: np.random.Generator) -> Indices:
    """(n, 3): three different numbers below ``n_items``, in any order, each choice as likely as any other.

    Examples
    --------
    >>> draw_triples(3, 2, np.random.default_rng(0)).sum(axis=1)
    array([3, 3])
    """
    first, second, third = (rng.integers(n_items - taken, size=n) for taken in range(3))
    second += second >= first  # a draw from fewer places steps over those that are taken
    third += third >= np.minimum(first, second)
    third += third >= np.maximum(first, second)
    return np.column_stack([first, second, third]).astype(np.intp)


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
