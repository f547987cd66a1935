"""Whole numbers that occur, without sorting."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# A table of all numbers that could occur may have so many entries for each one that does; a larger one is dearer than
# sorting.
SPARSE = 16


def numbered(values: NDArray[Any], size: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The numbers that occur among values from 0 to ``size`` − 1, ascending, and the place of each value among them.

    Examples
    --------
    >>> numbered(np.array([[7, 2], [2, 9]]), 10)
    (array([2, 7, 9]), array([[1, 0],
           [0, 2]]))
    """
    if size > SPARSE * values.size:
        found, place = np.unique(values, return_inverse=True)
        return found, place.reshape(values.shape)
    occurs = np.zeros(size, dtype=bool)
    occurs[values] = True
    found = np.flatnonzero(occurs)
    return found, places(found, values)


def places(ascending: NDArray[Any], values: NDArray[Any]) -> NDArray[np.intp]:
    """The place of each value among ascending whole numbers, which hold them all.

    Examples
    --------
    >>> places(np.array([2, 7, 9]), np.array([9, 2, 2]))
    array([2, 0, 0])
    """
    if not len(ascending) or ascending[-1] > SPARSE * values.size:
        return np.searchsorted(ascending, values)
    place = np.full(ascending[-1] + 1, len(ascending))
    place[ascending] = np.arange(len(ascending))
    return np.asarray(place[values])
