"""A kernel of standardised features."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ..support.types import Array
from .base import Kernel
from .distances import NEGLIGIBLE
from .precomputed import Precomputed


class Standardised(Kernel):
    """A kernel of features with mean 0 and standard deviation 1: ``k₀(x, y) = kernel((x − μ)/s, (y − μ)/s)``.

    For columns of unlike units, of which the one with the largest numbers would count for nearly everything. Columns
    that are constant among the training items are centred only.

    Parameters
    ----------
    kernel : Kernel
        What to apply to the standardised features. A `Precomputed` one can't be: its columns aren't features.

    Attributes
    ----------
    mean_, scale_ : ndarray of shape (d,)
        μ and s above: mean and standard deviation of every column of the training items.
    kernel_ : Kernel
        The kernel, fitted to the standardised training items.

    Examples
    --------
    >>> import numpy as np
    >>> from oddkernel.kernels import Linear
    >>> kernel = Standardised(Linear()).fit(np.array([[1.0, 3000.0], [3.0, 1000.0]]))
    >>> kernel([[1.0, 3000.0]], [[1.0, 3000.0], [3.0, 1000.0]]).round(3)
    array([[ 1., -1.]])
    """

    mean_: Array
    scale_: Array
    kernel_: Kernel

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def diagonal(self, A: ArrayLike) -> Array:
        """k₀(x, x) for every row x of A, shape ``(len(A),)``."""
        return self.kernel_.diagonal(self._standardise(self.check_items(A)))

    def explicit(self, A: ArrayLike) -> Array | None:
        """Features of every row of A whose inner products are k₀, or None where that would take too many."""
        return self.kernel_.explicit(self._standardise(self.check_items(A)))

    def columns(self, A: ArrayLike, items: NDArray[np.intp]) -> Array:
        """Matrix of k₀ between the rows of A and the training items with these indices: ``(len(A), len(items))``."""
        return self.kernel_.columns(self._standardise(self.check_items(A)), items)

    def _learn(self, X: Array) -> None:
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"kernel={self.kernel!r}; give a kernel such as Linear()")
        if isinstance(self.kernel, Precomputed):
            raise ValueError("kernel=Precomputed(), whose columns aren't features; give a kernel of features")
        varies = np.ptp(X, axis=0) > 0
        self.mean_ = np.where(varies, X.mean(axis=0), X[0])
        scale = X.std(axis=0)
        self.scale_ = np.where(varies & (scale > 0), scale, 1.0)
        self.kernel_ = clone(self.kernel).fit(self._standardise(X))

    def _pairs(self, A: Array, B: Array) -> Array:
        return self.kernel_(self._standardise(A), None if A is B else self._standardise(B))

    def _standardise(self, A: Array) -> Array:
        # Squares of larger values would overflow. At this limit an item is as good as infinitely far from the others.
        with np.errstate(over="ignore"):
            return np.clip((A - self.mean_) / self.scale_, -1 / NEGLIGIBLE, 1 / NEGLIGIBLE)
