"""The base class of initial kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from ..support.checks import refuse_masked
from ..support.types import Array
from .distances import NEGLIGIBLE

if TYPE_CHECKING:
    from .sums import KernelSum


class Kernel(BaseEstimator, ABC):
    """An initial kernel k₀: similarity before learning.

    ``fit`` estimates the kernel's parameters (bandwidths, a mean) and keeps the training items. A fitted kernel is a
    function: ``kernel(A, B)`` is the matrix of k₀ between the rows of A and the rows of B. Kernels can be added and
    multiplied by positive weights: ``0.5 * Linear() + 0.5 * AdaptiveGaussian()`` is a `KernelSum`.

    A subclass implements ``_pairs`` and ``diagonal``. It also implements ``_learn`` if it estimates anything from the
    training items, and ``explicit`` if it has a finite-dimensional feature map.

    Attributes
    ----------
    X_fit_ : ndarray of shape (n, d)
        The training items.
    n_features_in_ : int
        Their number of features, d.
    """

    X_fit_: Array
    n_features_in_: int

    __array_ufunc__ = None  # so that numpy_number * kernel is left to __rmul__

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn the kernel's data-dependent parameters from the training items.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The items' features: finite numbers.
        y : ignored
            Present by scikit-learn's convention.

        Returns
        -------
        self
        """
        X_fit = self._validate(X, reset=True, copy=True)
        self._learn(X_fit)
        self.X_fit_ = X_fit
        return self

    def __call__(self, A: ArrayLike, B: ArrayLike | None = None) -> Array:
        """Matrix of k₀ between the rows of A and of B (of A, if B is None), shape ``(len(A), len(B))``."""
        A = self.check_items(A)
        return self._pairs(A, A if B is None else self.check_items(B))

    @abstractmethod
    def diagonal(self, A: ArrayLike) -> Array:
        """k₀(x, x) for every row x of A, shape ``(len(A),)``."""

    def explicit(self, A: ArrayLike) -> Array | None:
        """Features of every row of A whose inner products are k₀, or None if there is no small set of them."""
        return None

    def columns(self, A: ArrayLike, items: NDArray[np.intp]) -> Array:
        """Matrix of k₀ between the rows of A and the training items with these indices: ``(len(A), len(items))``."""
        return self._pairs(self.check_items(A), self.X_fit_[items])

    def check_items(self, A: ArrayLike) -> Array:
        """Return A as a float64 array; raise an error if it does not fit the fitted kernel."""
        check_is_fitted(self, "n_features_in_")
        return self._validate(A, reset=False)

    def __add__(self, other: Kernel) -> KernelSum:
        if not isinstance(other, Kernel):
            return NotImplemented
        left, right = self._as_sum(), other._as_sum()
        return type(left)([*left.kernels, *right.kernels], [*left.weights, *right.weights])

    def __mul__(self, weight: float) -> KernelSum:
        if not isinstance(weight, Real):
            return NotImplemented
        plain = self._as_sum()
        return type(plain)(list(plain.kernels), [float(weight) * own for own in plain.weights])

    __rmul__ = __mul__

    def _as_sum(self) -> KernelSum:
        from .sums import KernelSum  # not at the top: a sum is itself a Kernel

        return KernelSum([self], [1.0])

    def _learn(self, X: Array) -> None:
        """Set the fitted parameters from validated training items."""

    @abstractmethod
    def _pairs(self, A: Array, B: Array) -> Array:
        """k₀ between validated rows."""

    def _validate(self, A: ArrayLike, **options: Any) -> Array:
        refuse_masked(A, "X")
        array: Array = validate_data(self, A, dtype=np.float64, **options)
        refuse_extreme_values(array)
        return array


def refuse_extreme_values(array: Array) -> None:
    """Raise a ValueError if the square of a value would overflow float64."""
    row, column = np.unravel_index(np.argmax(np.abs(array)), array.shape)
    if abs(array[row, column]) > 1 / NEGLIGIBLE:
        raise ValueError(
            f"row {row}, column {column} holds {array[row, column]:g}; values beyond ±{1 / NEGLIGIBLE:g} overflow "
            "when they are squared. Rescale the features."
        )
