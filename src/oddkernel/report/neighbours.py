"""Nearest neighbours before and after learning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.distances import row_blocks
from ..support.types import Array, Indices

COUNT = 12
"""Neighbours shown for each item. Chosen by hand."""


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The nearest items of every item, nearest first.

    Attributes
    ----------
    before, after : ndarray of shape (n, c)
        Neighbours by the initial and by the learned distance; c is 12, or n − 1 if that is smaller.
    kept : ndarray of shape (n,)
        Number of an item's neighbours that it has both before and after.
    """

    before: Indices
    after: Indices
    kept: Indices


def find_neighbours(before: Array, after: Array, count: int = COUNT) -> Neighbours:
    """Find the nearest neighbours of every item in two sets of coordinates.

    Examples
    --------
    >>> import numpy as np
    >>> found = find_neighbours(np.array([[0.0], [1.0], [5.0]]), np.array([[0.0], [4.0], [1.0]]), 1)
    >>> found.before.ravel().tolist(), found.after.ravel().tolist(), found.kept.tolist()
    ([1, 0, 1], [2, 2, 0], [0, 0, 0])
    """
    first, then = (nearest(points, count) for points in (before, after))
    kept = (first[:, :, None] == then[:, None, :]).any(axis=2).sum(axis=1)
    return Neighbours(first, then, kept)


def nearest(points: Array, count: int) -> Indices:
    """(n, count): the nearest other items of each; ties are broken arbitrarily."""
    n = len(points)
    count = min(count, n - 1)
    centred = points - points.mean(axis=0)
    half_norms = np.einsum("ij,ij->i", centred, centred) / 2
    found = np.empty((n, count), dtype=np.intp)
    for rows in row_blocks(n, n):
        # Half the squared distance, minus a constant for each row, which doesn't change the order.
        distance = half_norms - centred[rows] @ centred.T
        distance[np.arange(len(distance)), np.arange(n)[rows]] = np.inf
        if count < n - 1:
            part = np.sort(np.argpartition(distance, count, axis=1)[:, :count], axis=1)
        else:
            part = np.tile(np.arange(n), (len(distance), 1))
        order = np.argsort(np.take_along_axis(distance, part, axis=1), axis=1, kind="stable")[:, :count]
        found[rows] = np.take_along_axis(part, order, axis=1)
    return found
