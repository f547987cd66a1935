"""Initial centres of kernel k-means, for several starts at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..support.types import Array

Items = NDArray[np.intp]


def plus_plus(K: Array, n_clusters: int, n_init: int, random: np.random.RandomState) -> Items:
    """k-means++: draw each centre with probability proportional to its squared distance to the nearest drawn before.

    Returns
    -------
    ndarray of shape (n_init, n_clusters)
    """
    centers = np.empty((n_init, n_clusters), dtype=np.intp)
    centers[:, 0] = random.randint(len(K), size=n_init)
    nearest = _squared_distances(K, centers[:, 0])
    for c in range(1, n_clusters):
        threshold = random.uniform(size=n_init) * nearest.sum(axis=1)
        passed = np.cumsum(nearest, axis=1) > threshold[:, None]
        centers[:, c] = np.argmax(passed, axis=1)  # item 0 where all distances are 0: any item is as good
        np.minimum(nearest, _squared_distances(K, centers[:, c]), out=nearest)
    return centers


def farthest(K: Array, n_clusters: int, n_init: int, random: np.random.RandomState) -> Items:
    """Farthest-first traversal by rank, as in the code published with the paper; the first centre is random.

    An item's rank with respect to a centre is its position in the order of distance from it. The next centre is the
    item whose lowest rank is the highest; among equals, the one farthest from the first centre.

    Returns
    -------
    ndarray of shape (n_init, n_clusters)
    """
    centers = np.empty((n_init, n_clusters), dtype=np.intp)
    centers[:, 0] = random.randint(len(K), size=n_init)
    first = lowest = _ranks(K, centers[:, 0])
    for c in range(1, n_clusters):
        centers[:, c] = np.argmax(lowest * len(K) + first, axis=1)
        lowest = np.minimum(lowest, _ranks(K, centers[:, c]))
    return centers


def random_items(K: Array, n_clusters: int, n_init: int, random: np.random.RandomState) -> Items:
    """Distinct items drawn at random.

    Returns
    -------
    ndarray of shape (n_init, n_clusters)
    """
    return np.stack([random.choice(len(K), n_clusters, replace=False) for _ in range(n_init)])


def _squared_distances(K: Array, items: Items) -> Array:
    """Squared distances from one item of each start to all items, ``(starts, n)``."""
    diagonal = K.diagonal()
    squared = diagonal[items][:, None] + diagonal - 2 * K[items]
    squared[np.arange(len(items)), items] = 0.0
    return np.asarray(squared.clip(min=0.0))


def _ranks(K: Array, items: Items) -> Items:
    order = np.argsort(_squared_distances(K, items), axis=1, kind="stable")
    ranks: Items = np.argsort(order, axis=1)
    return ranks
