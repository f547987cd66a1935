"""The bandwidth of mean shift, estimated from comparisons, from labels or from the kernel alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..comparisons import Comparisons
from ..comparisons.kinds import pairs
from ..support.types import Array

WINDOW = 4
"""The bandwidth is the distance threshold between near and far pairs, divided by this. By trial on one draw each of
digits, wine, iris and blobs; see `from_comparisons`."""

NEIGHBOR_SHARE = 0.3
"""Without comparisons, the threshold is the distance to the farthest of the nearest 30% of the items: the default of
scikit-learn's ``estimate_bandwidth``."""

Pairs = tuple[NDArray[np.intp], Array]  # items (m, 2), weights (m,)


def from_comparisons(K: Array, said: Comparisons) -> float:
    """A quarter of the distance threshold that best separates near pairs from far pairs.

    An odd-one-out answer (i, j | k) says that (i, j) is near and that (i, k) and (j, k) are far. A most-central answer
    c of a, b, c says that (a, c) and (b, c) are near and that (a, b) is far. ``closer`` and links name their pairs.
    *Can't tell* names none.

    Let N(t) and F(t) be the weighted shares of near and far pairs within distance t. The threshold t is the distance of
    a near pair that maximises N(t) − F(t), the smallest if several do, and the bandwidth is t/4. The factor 1/4 is
    empirical: of 0.1 to 0.5, tried on one draw each of digits, wine, iris and blobs, 0.2 to 0.3 found the classes
    best, and 0.5 mostly merged them.

    If there are no near pairs, or only pairs of copies, `from_kernel` is used.

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
    """As `from_comparisons`: pairs of the same class are near, pairs of different classes far; -1 is unlabelled."""
    labelled = np.flatnonzero(y != -1)
    every = labelled[np.column_stack(np.triu_indices(len(labelled), k=1))]
    same = y[every[:, 0]] == y[every[:, 1]]
    near, far = every[same], every[~same]
    return _from_pairs(K, near, np.ones(len(near)), far, np.ones(len(far)))


def from_kernel(K: Array) -> float:
    """A quarter of the items' mean distance to their ⌈0.3 n⌉-th nearest item, counting themselves; 1 if that is 0."""
    diagonal = K.diagonal()
    squared = diagonal[:, None] + diagonal[None, :] - 2 * K
    k = int(np.ceil(NEIGHBOR_SHARE * len(K)))
    reach = np.sqrt(np.partition(_rounded(K, squared), k - 1, axis=1)[:, k - 1]).mean()
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
    """The pairs' distances, ascending, and the cumulative share of the weight within 0, 1, 2, … of them."""
    i, j = pairs.T
    diagonal = K.diagonal()
    distance = np.sqrt(_rounded(K, diagonal[i] + diagonal[j] - 2 * K[i, j]))
    order = np.argsort(distance)
    within = np.concatenate([[0.0], np.cumsum(weight[order])])
    return distance[order], within / max(within[-1], np.finfo(float).tiny)


def _rounded(K: Array, squared: Array) -> Array:
    """Squared distances, 0 where they are below the rounding of the largest k₀(x, x): such items count as copies."""
    return np.where(squared > np.finfo(float).eps * K.diagonal().max(), squared, 0.0)


def _pairs(said: Comparisons, *, near: bool) -> Pairs:
    row, positions = pairs(said.kind, said.odd, near=near)
    return said.shown[row[:, None], positions], said.weight[row]
