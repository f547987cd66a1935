"""The linear kernel, centred and scaled."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..support.types import Array
from .base import Kernel
from .distances import NEGLIGIBLE


class Linear(Kernel):
    """Linear kernel, centred and scaled: ``k₀(x, y) = (x − μ)ᵀ(y − μ) / s²``.

    μ is the mean of the training items and s² their mean squared distance to it. So k₀(x, x) is 1 on average, and
    penalty and margin do not depend on the unit of the features. If all training items are identical, ``s = 1``.

    Attributes
    ----------
    mean_ : ndarray of shape (d,)
        μ above.
    scale_ : float
        s above.

    Examples
    --------
    >>> import numpy as np
    >>> kernel = Linear().fit(np.array([[1.0], [3.0]]))
    >>> kernel([[1.0], [4.0]])
    array([[ 1., -2.],
           [-2.,  4.]])
    """

    mean_: Array
    scale_: float

    def diagonal(self, A: ArrayLike) -> Array:
        """``k₀(x, x) = ‖x − μ‖² / s²`` for every row x of A."""
        a = self._standardise(self.check_items(A))
        squared_norms: Array = np.einsum("ij,ij->i", a, a)
        return squared_norms

    def explicit(self, A: ArrayLike) -> Array:
        """``(x − μ) / s`` for every row x of A."""
        return self._standardise(self.check_items(A))

    def _learn(self, X: Array) -> None:
        # The mean of equal numbers may have a rounding error, which scaling would amplify to a kernel of noise.
        self.mean_ = np.where(np.ptp(X, axis=0) > 0, X.mean(axis=0), X[0])
        centred = X - self.mean_
        scale = float(np.sqrt(np.einsum("ij,ij->", centred, centred) / len(X)))
        self.scale_ = scale if scale >= NEGLIGIBLE else 1.0

    def _pairs(self, A: Array, B: Array) -> Array:
        a = self._standardise(A)
        b = a if A is B else self._standardise(B)  # the same object keeps a @ b.T exactly symmetric
        return a @ b.T

    def _standardise(self, A: Array) -> Array:
        return (A - self.mean_) / self.scale_
