"""Squared Euclidean distances that stay accurate for near-duplicates and large offsets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..support.types import Array

BLOCK_ENTRIES = 2**20
"""Entries of a block of rows, where a whole matrix isn't needed at once: 8 MiB of float64, about a cache.
Only speed and memory depend on it."""

NEGLIGIBLE = 1e-75
"""Distances below this count as zero, and values above its inverse are refused. Derived: sums of their squares stay
within float64."""

# Derived: below this ratio of squared distance to squared norms, ‖a‖² + ‖b‖² − 2aᵀb has lost more than three digits.
_CANCELLATION = 1e-3


def squared_distances(A: Array, B: Array) -> Array:
    """``‖a − b‖²`` for all rows a of A and b of B, shape ``(len(A), len(B))``.

    Uses one matrix product. Pairs with cancellation are computed again from their differences. The distance of equal
    rows is exactly 0, and ``squared_distances(A, A)`` is exactly symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> A = 1e9 + np.array([[0.0], [3.0]])
    >>> squared_distances(A, A)
    array([[0., 9.],
           [9., 0.]])
    """
    if A is not B:
        return Reference(B).squared_distances(A)
    a = A - A.mean(axis=0)
    norms = np.einsum("ij,ij->i", a, a)
    squared: Array = (norms[:, None] + norms[None, :]) - 2.0 * (a @ a.T)  # this order of summation is exactly symmetric
    _recompute(squared, A, A, norms, norms)
    return squared


class Reference:
    """Items to which distances are computed repeatedly; their norms are computed once.

    Parameters
    ----------
    B : ndarray of shape (b, d)
    """

    def __init__(self, B: Array) -> None:
        self.items = B
        self._offset = B.mean(axis=0)
        centred = B - self._offset
        self._norms = np.einsum("ij,ij->i", centred, centred)
        centred *= -2.0
        self._double = centred.T

    def squared_distances(self, A: Array) -> Array:
        """``‖a − b‖²`` for all rows a of A and all reference items b, as in `squared_distances`."""
        a = A - self._offset
        norms = np.einsum("ij,ij->i", a, a)
        squared: Array = a @ self._double
        squared += self._norms
        squared += norms[:, None]
        _recompute(squared, A, self.items, norms, self._norms)
        return squared


def _recompute(squared: Array, A: Array, B: Array, norms_a: Array, norms_b: Array) -> None:
    """Recompute the pairs with cancellation from their differences, in place."""
    # Most rows have no such pair. The smallest entry of a row shows that without another matrix.
    smallest = squared.min(axis=1, initial=np.inf)
    suspects = np.flatnonzero(smallest <= _CANCELLATION * (norms_a + norms_b.max(initial=0.0)))
    for batch in row_blocks(len(suspects), len(B)):
        rows = suspects[batch]
        lost, columns = np.nonzero(squared[rows] <= _CANCELLATION * (norms_a[rows, None] + norms_b))
        lost = rows[lost]
        for few in row_blocks(len(lost), A.shape[1]):
            difference = A[lost[few]] - B[columns[few]]
            squared[lost[few], columns[few]] = np.einsum("ij,ij->i", difference, difference)


def row_blocks(n_rows: int, row_length: int) -> Iterator[slice]:
    """Slices that cut ``n_rows`` rows of ``row_length`` entries into blocks of bounded memory."""
    step = max(1, BLOCK_ENTRIES // max(row_length, 1))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
