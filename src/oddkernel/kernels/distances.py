"""Squared Euclidean distances that stay accurate for near-duplicates and large offsets."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

BLOCK_ENTRIES = 2**24
"""Entries (128 MiB of float64) that a block of rows may fill when a whole matrix isn't needed at once."""

NEGLIGIBLE = 1e-75
"""Distances below this count as zero, and values above its inverse are refused: squares then stay within float64."""

# Below this ratio of squared distance to squared norms, ‖a‖² + ‖b‖² − 2aᵀb has lost more than three digits.
_CANCELLATION = 1e-3


def squared_distances(A: Array, B: Array) -> Array:
    """``‖a − b‖²`` for all rows a of A and b of B, shape ``(len(A), len(B))``.

    One matrix product; the pairs where that cancels are computed again from their differences. Equal rows are at
    exactly 0, and ``squared_distances(A, A)`` is exactly symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> A = 1e9 + np.array([[0.0], [3.0]])
    >>> squared_distances(A, A)
    array([[0., 9.],
           [9., 0.]])
    """
    offset = B.mean(axis=0)
    a = A - offset
    b = a if A is B else B - offset  # the same object keeps a @ b.T exactly symmetric
    norms = np.einsum("ij,ij->i", a, a)[:, None] + np.einsum("ij,ij->i", b, b)[None, :]
    squared: Array = norms - 2.0 * (a @ b.T)
    rows, columns = np.nonzero(squared <= _CANCELLATION * norms)
    for batch in row_blocks(len(rows), A.shape[1]):
        difference = A[rows[batch]] - B[columns[batch]]
        squared[rows[batch], columns[batch]] = np.einsum("ij,ij->i", difference, difference)
    return squared


def row_blocks(n_rows: int, row_length: int) -> Iterator[slice]:
    """Slices that cut ``n_rows`` rows of ``row_length`` entries into blocks of bounded memory."""
    step = max(1, BLOCK_ENTRIES // max(row_length, 1))
    for start in range(0, n_rows, step):
        yield slice(start, min(start + step, n_rows))
