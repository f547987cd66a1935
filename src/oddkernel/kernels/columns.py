"""A kernel of some of the features."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from numbers import Integral

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from ..support.types import Array
from .base import Kernel
from .precomputed import Precomputed


class Columns(Kernel):
    """A kernel of some columns of the features: ``k₀(x, y) = kernel(x[features], y[features])``.

    For features that come in groups: ``Columns(range(64), Linear()) + 0.5 * Columns([64, 65], Gaussian())``.

    Parameters
    ----------
    features : sequence of int
        The columns, counted from 0, each at most once.
    kernel : Kernel
        The kernel of these columns. It can't be `Precomputed`, whose columns aren't features.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel, fitted to these columns of the training items.

    Examples
    --------
    >>> import numpy as np
    >>> from oddkernel.kernels import Identity, Linear
    >>> kernel = (Columns([0], Linear()) + 2 * Columns([1], Identity())).fit(np.array([[1.0, 7.0], [3.0, 7.0]]))
    >>> kernel([[1.0, 7.0]], [[3.0, 7.0], [1.0, 8.0]])
    array([[1., 1.]])
    """

    kernel_: Kernel

    def __init__(self, features: Sequence[int], kernel: Kernel) -> None:
        self.features = features
        self.kernel = kernel

    def diagonal(self, A: ArrayLike) -> Array:
        """k₀(x, x) for every row x of A, shape ``(len(A),)``."""
        return self.kernel_.diagonal(self._select(self.check_items(A)))

    def columns(self, A: ArrayLike, items: NDArray[np.intp]) -> Array:
        """Matrix of k₀ between the rows of A and the training items with these indices: ``(len(A), len(items))``."""
        return self.kernel_.columns(self._select(self.check_items(A)), items)

    def _learn(self, X: Array) -> None:
        if not isinstance(self.kernel, Kernel):
            raise TypeError(f"kernel={self.kernel!r}; give a kernel such as Linear()")
        if isinstance(self.kernel, Precomputed):
            raise ValueError("kernel=Precomputed(), whose columns aren't features; give a kernel of features")
        self._check_features(X.shape[1])
        self.kernel_ = clone(self.kernel).fit(self._select(X))

    def _pairs(self, A: Array, B: Array) -> Array:
        return self.kernel_(self._select(A), None if A is B else self._select(B))

    def _select(self, A: Array) -> Array:
        return A[:, np.asarray(self.features, dtype=np.intp)]

    def _check_features(self, n_features: int) -> None:
        accepted = f"columns 0 to {n_features - 1}, as the items have {n_features} features"
        if not isinstance(self.features, Iterable) or not len(self.features):
            raise ValueError(f"features={self.features!r}; expected at least one of {accepted}")
        for place, feature in enumerate(self.features):
            if not isinstance(feature, Integral) or isinstance(feature, bool) or not 0 <= feature < n_features:
                raise ValueError(f"features[{place}] is {feature!r}; expected {accepted}")
            if feature in self.features[:place]:
                raise ValueError(f"features[{place}] repeats column {feature}; expected each at most once")
