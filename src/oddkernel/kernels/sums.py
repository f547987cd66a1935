"""Weighted sums of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ..support.types import Array
from .base import Kernel
from .precomputed import Precomputed


class KernelSum(Kernel):
    """Weighted sum of kernels, ``k₀(x, y) = Σ_i weights[i] · kernels[i](x, y)``.

    Written with operators: ``0.5 * Linear() + 0.5 * AdaptiveGaussian() + 0.6 * Identity()``.

    Parameters
    ----------
    kernels : sequence of Kernel
        The parts. None may be `Precomputed`, whose rows aren't features.
    weights : sequence of float
        One finite number ≥ 0 for each.

    Attributes
    ----------
    kernels_ : list of Kernel
        Fitted copies of the parts.

    Examples
    --------
    >>> import numpy as np
    >>> from oddkernel.kernels import Identity, Linear
    >>> kernel = (0.5 * Linear() + 2 * Identity()).fit(np.array([[1.0], [3.0]]))
    >>> kernel([[1.0], [3.0]])
    array([[ 2.5, -0.5],
           [-0.5,  2.5]])
    """

    kernels_: list[Kernel]

    def __init__(self, kernels: Sequence[Kernel], weights: Sequence[float]) -> None:
        self.kernels = kernels
        self.weights = weights

    def diagonal(self, A: ArrayLike) -> Array:
        """k₀(x, x) for every row x of A, shape ``(len(A),)``."""
        A = self.check_items(A)
        return self._weighted([kernel.diagonal(A) for kernel in self.kernels_])

    def columns(self, A: ArrayLike, items: NDArray[np.intp]) -> Array:
        """Matrix of k₀ between the rows of A and the training items with these indices: ``(len(A), len(items))``."""
        A = self.check_items(A)
        return self._weighted([kernel.columns(A, items) for kernel in self.kernels_])

    def _learn(self, X: Array) -> None:
        self._check_parts()
        self.kernels_ = [clone(kernel).fit(X) for kernel in self.kernels]

    def _pairs(self, A: Array, B: Array) -> Array:
        return self._weighted([kernel(A, None if A is B else B) for kernel in self.kernels_])

    def _weighted(self, values: list[Array]) -> Array:
        total = np.zeros_like(values[0])
        for weight, value in zip(self.weights, values, strict=True):
            total += weight * value
        return total

    def _as_sum(self) -> Self:
        return self

    def _check_parts(self) -> None:
        if not len(self.kernels) or len(self.kernels) != len(self.weights):
            raise ValueError(
                f"a sum of kernels needs at least one kernel and as many weights as kernels; got {len(self.kernels)} "
                f"kernels and {len(self.weights)} weights"
            )
        for position, (kernel, weight) in enumerate(zip(self.kernels, self.weights, strict=True)):
            if not isinstance(kernel, Kernel):
                raise TypeError(f"part {position} of the sum is {kernel!r}; give a kernel such as Linear()")
            if isinstance(kernel, Precomputed):
                raise ValueError(
                    f"part {position} of the sum is a precomputed kernel, whose rows aren't features; add the kernel "
                    'matrices yourself and give the result to kernel="precomputed"'
                )
            if not (np.isfinite(weight) and weight >= 0):
                raise ValueError(f"weight {position} of the sum is {weight}; give a finite number that isn't negative")
