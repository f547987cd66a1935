"""The identity kernel, for items without features."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..support.types import Array
from .base import Kernel


class Identity(Kernel):
    """Identity kernel: ``k₀(x, y) = 1`` if the rows are exactly equal, else 0.

    For items without features give ``np.arange(n)[:, None]``. In a sum of kernels it lets an item move independently of
    its features. A new item has k₀ = 0 with all others.

    Examples
    --------
    >>> import numpy as np
    >>> kernel = Identity().fit(np.arange(3)[:, None])
    >>> kernel([[0], [7]], [[0], [1], [7]])
    array([[1., 0., 0.],
           [0., 0., 1.]])
    """

    def diagonal(self, A: ArrayLike) -> Array:
        """k₀(x, x) = 1 for every row x of A."""
        return np.ones(len(self.check_items(A)))

    def _pairs(self, A: Array, B: Array) -> Array:
        return equal_rows(A, B)


def equal_rows(A: Array, B: Array) -> Array:
    """1 where a row of A equals a row of B, else 0, shape ``(len(A), len(B))``."""
    _, code = np.unique(_row_bytes(np.concatenate([A, B])), return_inverse=True)
    equal: Array = (code[: len(A), None] == code[None, len(A) :]).astype(np.float64)
    return equal


def rows_among(A: Array, B: Array) -> NDArray[np.bool_]:
    """Whether each row of A equals some row of B, shape ``(len(A),)``."""
    return np.isin(_row_bytes(A), _row_bytes(B))


def _row_bytes(A: Array) -> NDArray[np.void]:
    positive_zeros = np.ascontiguousarray(A + 0.0)  # −0.0 equals 0.0 but has other bytes
    return positive_zeros.view(np.dtype((np.void, positive_zeros.itemsize * A.shape[1]))).ravel()
