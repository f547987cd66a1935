"""Nearest neighbours among items, known or new."""

from __future__ import annotations

import numpy as np

from ..kernels.distances import row_blocks, squared_distances
from ..support.types import Array, Indices
from .remainder import WIDEST, Remainder


def nearest_others(coordinates: Array, remainder: Remainder, k: int) -> Indices:
    """(n, k): for each item the k others nearest to it, nearest first, equally near ones in the order of items."""
    n = len(coordinates)
    k = min(k, n - 1)
    nearest = np.empty((n, k), dtype=np.intp)
    for rows in row_blocks(n, min(n, WIDEST)):
        squared = squared_distances(coordinates[rows], coordinates) + remainder[rows].between(remainder)
        own = np.arange(n)[rows]
        squared[own - own[0], own] = np.inf
        nearest[rows] = np.argsort(squared, axis=1, kind="stable")[:, :k]
    return nearest
