"""What a policy can use to choose the next questions."""

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
    """The questions asked, the answers, and what was learned from them.

    Attributes
    ----------
    n_items : int
        Number of items.
    times_shown : ndarray of shape (n_items,)
        Number of questions that showed each item.
    said : callable
        Returns the answers so far, without those held out, as `Comparisons`; it may read a database.
    features : ndarray of shape (n_items, d), or None
        The items' features.
    open : set of tuple
        The open questions, as sorted items: shown and not yet answered.
    belief : callable
        Returns the latest `Belief`, or None if nothing was learned yet. It never waits for a fit.
    space : callable
        Returns the items before learning, a `Space`, or None if not computed yet.
    allowed : ndarray of shape (m, 3), or None
        The questions that can be asked, such as recorded ones; None if all can.
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
        """Record that three items were shown."""
        self.times_shown[list(items)] += 1
        self.asked.add(key(items))

    def forget(self) -> None:
        """Reset the record of shown items."""
        self.times_shown[:] = 0
        self.asked.clear()

    def draw(self, n: int, rng: np.random.Generator) -> Indices:
        """Draw n questions uniformly at random; recorded ones without replacement, unless there are fewer than n."""
        if self.allowed is None:
            return draw_triples(self.n_items, n, rng)
        rows = rng.choice(len(self.allowed), n, replace=len(self.allowed) < n)
        return rng.permuted(self.allowed[rows], axis=1)


def draw_triples(n_items: int, n: int, rng: np.random.Generator) -> Indices:
    """(n, 3): three different numbers below ``n_items``, in random order, drawn uniformly.

    Examples
    --------
    >>> draw_triples(3, 2, np.random.default_rng(0)).sum(axis=1)
    array([3, 3])
    """
    first, second, third = (rng.integers(n_items - taken, size=n) for taken in range(3))
    second += second >= first  # drawn from the numbers without `first`
    third += third >= np.minimum(first, second)
    third += third >= np.maximum(first, second)
    return np.column_stack([first, second, third]).astype(np.intp)


def as_triple(items: Indices, n_items: int) -> Triple:
    """Three items as a tuple; raises a ValueError unless they are different and below ``n_items``."""
    first, second, third = (int(item) for item in items)
    if len({first, second, third}) < 3 or min(first, second, third) < 0 or max(first, second, third) >= n_items:
        raise ValueError(f"the policy chose {[first, second, third]}; expected three different items below {n_items}")
    return first, second, third


def key(items: Triple) -> Triple:
    """The items sorted: a key that does not depend on their order."""
    first, second, third = sorted(items)
    return first, second, third
