"""Drawing must-links and cannot-links from class labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from ..comparisons import Comparisons
from ..support.checks import as_labels, is_count, is_real, require
from ..support.types import Indices

# Up to this many labelled items, all their pairs are listed; beyond, pairs are drawn until there are enough.
LISTED = 2000


def links_from_labels(
    y: ArrayLike, n: int | None = None, *, noise: float = 0.0, random_state: Any = None
) -> Comparisons:
    """Must-links between items of one class and as many cannot-links between items of different ones.

    The paper links all pairs of a few labelled items: with ℓ items of each of C classes, ℓ(ℓ−1)·C links.

    Parameters
    ----------
    y : array-like of shape (n_items,)
        Class of each item; -1 marks an unlabelled item, which is never linked.
    n : int, optional
        How many must-links to draw; by default, and if there are fewer, all pairs of one class.
    noise : float, default=0.0
        Share of the links, rounded to a whole number of them, that say the opposite.
    random_state : int, RandomState instance or None, default=None
        As in scikit-learn.

    Returns
    -------
    Comparisons
        Must-links, then cannot-links, without bounds; no pair is there twice.

    Examples
    --------
    >>> links_from_labels([0, 0, 0, 1, 1, -1], random_state=0)
    Comparisons: 4 must-links, 4 cannot-links over 5 items
    """
    require(is_count(n), "n", n, "a whole number of at least 1, or None")
    require(is_real(noise) and 0 <= noise <= 1, "noise", noise, "a share between 0 and 1")
    random = check_random_state(random_state)
    labels = as_labels(y)
    labelled = np.flatnonzero(labels != -1)
    kind = np.unique(labels[labelled], return_inverse=True)[1]
    if n is None or len(labelled) <= LISTED:
        first, second = np.triu_indices(len(labelled), 1)
        alike = kind[first] == kind[second]
        pairs = np.column_stack([first, second])
        must = pairs[alike] if n is None else random.permutation(pairs[alike])[:n]
        cannot = random.permutation(pairs[~alike])[: len(must)]
    else:
        must = _drawn(lambda pair: kind[pair[:, 0]] == kind[pair[:, 1]], len(kind), n, random)
        cannot = _drawn(lambda pair: kind[pair[:, 0]] != kind[pair[:, 1]], len(kind), n, random)
    linked = labelled[np.concatenate([must, cannot])]
    is_must = np.arange(len(linked)) < len(must)
    wrong = random.permutation(len(linked))[: round(noise * len(linked))]
    is_must[wrong] ^= True
    return Comparisons.must_link(linked[is_must]) + Comparisons.cannot_link(linked[~is_must])


def _drawn(
    fits: Callable[[Indices], NDArray[np.bool_]], size: int, wanted: int, random: np.random.RandomState
) -> Indices:
    """Distinct pairs that fit, drawn until there are enough or a round of draws brings no new ones."""
    pairs = np.empty((0, 2), dtype=np.intp)
    while len(pairs) < wanted:
        drawn = np.sort(random.randint(size, size=(max(20 * wanted, 10_000), 2)), axis=1)
        drawn = drawn[(drawn[:, 0] != drawn[:, 1]) & fits(drawn)]
        together = np.unique(np.concatenate([pairs, drawn]), axis=0)
        if len(together) == len(pairs):
            break
        pairs = together
    return random.permutation(pairs)[:wanted]
