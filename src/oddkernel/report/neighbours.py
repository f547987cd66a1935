"""Who is nearest to whom, before and after learning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels.distances import row_blocks
from ..support.types import Array, Indices

COUNT = 12
"""Neighbours that are kept for each item."""


@dataclass(frozen=True, eq=False)
class Neighbours:
    """The nearest items of every item, nearest first.

    Attributes
    ----------
    before, after : ndarray of shape (n, c)
        Rows of items by the initial and by the learned distance; c is 12, or one less than there are items.
    kept : ndarray of shape (n,)
        How many of an item's neighbours are among them both before and after.
    """

    before: Indices
    after: Indices
    kept: Indices


def find_neighbours(before: Array, after: Array, count: int = COUNT) -> Neighbours:
    """Find every item's nearest ones by two sets of coordinates.

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
    """The ``count`` nearest other items of each, (n, count); of items equally far, any."""
    n = len(points)
    count = min(count, n - 1)
    centred = points - points.mean(axis=0)
    half_norms = np.einsum("ij,ij->i", centred, centred) / 2
    found = np.empty((n, count), dtype=np.intp)
    for rows in row_blocks(n, n):
        # Half the squared distance less a number that is the same along a row: it puts the others in the same order.
        distance = half_norms - centred[rows] @ centred.T
        distance[np.arange(len(distance)), np.arange(n)[rows]] = np.inf
        if count < n - 1:
            part = np.sort(np.argpartition(distance, count, axis=1)[:, :count], axis=1)
        else:
            part = np.tile(np.arange(n), (len(distance), 1))
        order = np.argsort(np.take_along_axis(distance, part, axis=1), axis=1, kind="stable")[:, :count]
        found[rows] = np.take_along_axis(part, order, axis=1)
    return found
