"""Label propagation over a neighbour graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_array, check_consistent_length

from ..comparisons.labels import labelled_items
from ..kernels.base import refuse_extreme_values
from ..kernels.distances import NEGLIGIBLE
from ..support.checks import is_count, is_real, require
from ..support.types import Array

SETTLED = 1e-6
"""The iteration has converged when no share changes by more than this, relative to the item's largest share. Chosen by
hand: a smaller change can hardly alter which share is the largest."""


def spread(Z: ArrayLike, labels: ArrayLike, *, neighbors: int = 5, alpha: float = 0.95) -> NDArray[Any]:
    """Label propagation: labels for unlabelled items, from their neighbours' labels.

    Two items are joined if either is among the other's nearest, with the weight ``w_ij = exp(−d_ij² / (s_i s_j))``.
    Here d is their distance, and s_i the distance of i to the farthest of its neighbours, or s_j if all of them are
    copies of i. The shares F of the labels solve ``F = alpha · P F + (1 − alpha) · Y``: P takes the weighted mean over
    an item's neighbours, and Y is 1 at the label of a labelled item and 0 elsewhere. An item gets the label of its
    largest share.

    Assigning each item to the nearest cluster centre treats it alone. Label propagation follows dense regions, so that
    many new items help to label each other.

    Parameters
    ----------
    Z : array-like of shape (n, d)
        Coordinates of all items, ``model.transform(X)``: their distances are the learned ones.
    labels : array-like of shape (n,)
        The label of each item, a cluster or a class, number or text; the number -1 for unlabelled.
    neighbors : int, default=5
        Number of nearest items that each is joined with; all others if there are fewer.
    alpha : float, default=0.95
        How far labels reach: the share that comes from neighbours, above 0 and below 1. Values near 1 take long.

    Returns
    -------
    ndarray of shape (n,)
        The given labels, with every -1 replaced by the label found. An item with no path to a labelled item, or only
        paths of hundreds of steps, gets the label of the nearest labelled item.

    Notes
    -----
    This is label spreading [1]_ in its random-walk form, with the weights of [2]_. All pairs of items are compared, so
    it suits tens of thousands of items, not millions. The defaults were chosen by trial on six data sets of letters,
    digits, pictures and textures. There, 3 to 10 neighbours made no clear difference. An alpha of 0.98 did better where
    people had answered at two resolutions, and made no difference elsewhere.

    References
    ----------
    .. [1] Zhou, Bousquet, Lal, Weston, Schölkopf (2004). Learning with local and global consistency. NIPS 16.
    .. [2] Zelnik-Manor, Perona (2004). Self-tuning spectral clustering. NIPS 17.

    Examples
    --------
    A chain of items with labels at both ends:

    >>> import numpy as np
    >>> Z = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> spread(Z, [7, -1, -1, -1, -1, 3], neighbors=2)
    array([7, 7, 7, 3, 3, 3])
    """
    points: Array = check_array(Z, dtype=np.float64)
    refuse_extreme_values(points)
    check_consistent_length(points, labels)
    require(neighbors is not None and is_count(neighbors), "neighbors", neighbors, "a whole number, 1 or more")
    require(is_real(alpha) and 0 < alpha < 1, "alpha", alpha, "a number above 0 and below 1")
    known, classes, of_known = labelled_items(labels, "labels")
    if not len(known):
        raise ValueError("labels are all -1; expected at least one item with a label")

    own = np.zeros((len(points), len(classes)))
    own[known, of_known] = 1.0
    if len(known) == len(points):
        shares = own
    else:
        shares = _settled(_mean_of_neighbours(points, min(int(neighbors), len(points) - 1)), own, float(alpha))
    found = shares.argmax(axis=1)
    lost = ~shares.any(axis=1)
    if lost.any():
        nearest = NearestNeighbors(n_neighbors=1).fit(points[known]).kneighbors(points[lost], return_distance=False)
        found[lost] = of_known[nearest[:, 0]]
    found[known] = of_known
    if classes.dtype == object:  # text mixed with the number -1
        classes = np.asarray(classes.tolist())
    return np.asarray(classes[found])


def _mean_of_neighbours(points: Array, n_neighbors: int) -> csr_array:
    """The matrix that takes the weighted mean over each item's neighbours."""
    distance, neighbour = NearestNeighbors(n_neighbors=n_neighbors).fit(points).kneighbors()
    scale = np.maximum(distance[:, -1:], NEGLIGIBLE)
    others = scale[neighbour, 0]
    others = np.where(others > NEGLIGIBLE, others, scale)
    # Divided by one scale and then by the other: their product may underflow.
    weight = np.exp(-(distance / scale) * (distance / others))
    row_starts = np.arange(0, weight.size + 1, n_neighbors)
    joined = csr_array((weight.ravel(), neighbour.ravel(), row_starts), shape=(len(points),) * 2)
    joined = joined.maximum(joined.T)
    total = np.asarray(joined.sum(axis=1)).ravel()
    # All weights may underflow to 0 for an item far from neighbours that have nearer ones.
    inverse = np.divide(1.0, total, out=np.zeros_like(total), where=total > NEGLIGIBLE)
    return csr_array(joined.multiply(inverse[:, None]))


def _settled(mean: csr_array, own: Array, alpha: float) -> Array:
    """The shares that satisfy ``shares = alpha · mean of the neighbours' + (1 − alpha) · own``."""
    shares, settled = own, False
    while not settled:
        shares, last = alpha * (mean @ shares) + (1 - alpha) * own, shares
        shares[shares < NEGLIGIBLE] = 0.0  # below this, denormal numbers lose digits
        # Relative to each item's largest share, which is small far from all labels.
        settled = bool(np.all(np.abs(shares - last) <= SETTLED * shares.max(axis=1, keepdims=True)))
    return shares
