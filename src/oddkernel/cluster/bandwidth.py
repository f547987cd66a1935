"""How far mean shift looks: from what people said, or from the kernel alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..comparisons import Comparisons
from ..comparisons.kinds import pairs
from ..support.types import Array

WINDOW = 4
"""Bandwidths that go into the distance at which items stop being near."""

NEIGHBOR_SHARE = 0.3
"""Without comparisons, an item's surroundings reach to its nearest 30% of the items, as in scikit-learn."""

Pairs = tuple[NDArray[np.intp], Array]  # items (m, 2), weights (m,)


def from_comparisons(K: Array, said: Comparisons) -> float:
    """A quarter of the distance that best tells pairs said to be near from pairs said to be far.

    An odd-one-out answer (i, j | k) says that (i, j) is near and (i, k), (j, k) are far, a most-central one c of a,
    b, c that (a, c), (b, c) are near and (a, b) is far; ``closer`` and links likewise; *can't tell* says nothing.
    With N(t) and F(t) the shares, by weight, of near and far pairs within distance t, the bandwidth is t/4 for the t,
    among the near distances, with the largest N(t) − F(t), the smallest if there are several. The quarter is
    empirical: of 0.1 to 0.5, tried on one draw each of digits, wine, iris and blobs, 0.2 to 0.3 found the classes
    best, and 0.5 mostly merged them.

    Where nothing is said to be near, or only copies are, `from_kernel` decides.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [2.0], [10.0]])
    >>> from_comparisons(X @ X.T, Comparisons.odd_one_out([[0, 1, 2]], [2]))
    0.5
    """
    near, near_weight = _pairs(said, near=True)
    far, far_weight = _pairs(said, near=False)
    return _from_pairs(K, near, near_weight, far, far_weight)


def from_labels(K: Array, y: NDArray[np.generic]) -> float:
    """`from_comparisons` with all pairs of one class near and all of two classes far; -1 is no class."""
    labelled = np.flatnonzero(y != -1)
    every = labelled[np.column_stack(np.triu_indices(len(labelled), k=1))]
    same = y[every[:, 0]] == y[every[:, 1]]
    near, far = every[same], every[~same]
    return _from_pairs(K, near, np.ones(len(near)), far, np.ones(len(far)))


def from_kernel(K: Array) -> float:
    """A quarter of the items' mean distance to their ⌈0.3 n⌉-th nearest item, themselves counted; 1 if that is 0."""
    diagonal = K.diagonal()
    squared = diagonal[:, None] + diagonal[None, :] - 2 * K
    k = int(np.ceil(NEIGHBOR_SHARE * len(K)))
    reach = np.sqrt(np.partition(squared.clip(min=0.0), k - 1, axis=1)[:, k - 1]).mean()
    return float(reach / WINDOW) if reach > 0 else 1.0


def _from_pairs(
    K: Array, near: NDArray[np.intp], near_weight: Array, far: NDArray[np.intp], far_weight: Array
) -> float:
    near_distance, near_within = _distribution(K, near, near_weight)
    far_distance, far_within = _distribution(K, far, far_weight)
    if not len(near_distance):
        return from_kernel(K)
    advantage = near_within[1:] - far_within[np.searchsorted(far_distance, near_distance, side="right")]
    threshold = near_distance[np.argmax(advantage)]
    return float(threshold / WINDOW) if threshold > 0 else from_kernel(K)


def _distribution(K: Array, pairs: NDArray[np.intp], weight: Array) -> tuple[Array, Array]:
    """The pairs' distances, ascending, and the share of the weight within none, the first, the first two, …."""
    i, j = pairs.T
    diagonal = K.diagonal()
    distance = np.sqrt((diagonal[i] + diagonal[j] - 2 * K[i, j]).clip(min=0.0))
    order = np.argsort(distance)
    within = np.concatenate([[0.0], np.cumsum(weight[order])])
    return distance[order], within / max(within[-1], np.finfo(float).tiny)


def _pairs(said: Comparisons, *, near: bool) -> Pairs:
    row, positions = pairs(said.kind, said.odd, near=near)
    return said.shown[row[:, None], positions], said.weight[row]
