"""A kernel matrix computed by the user."""

from __future__ import annotations

from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..support.types import Array
from .base import Kernel
from .matrix_checks import check_semidefinite, check_symmetric


class Precomputed(Kernel):
    """A kernel known only through its values against the training items.

    ``fit`` takes the n × n matrix of k₀ between the training items. It must be symmetric and positive semidefinite up
    to rounding, and is neither centred nor scaled. Every other method takes rows of k₀ between items and the training
    items, shape ``(a, n)``. Values between two sets of new items are unknown, so ``kernel(A, B)`` and ``diagonal(A)``
    raise.

    Examples
    --------
    >>> import numpy as np
    >>> K = np.array([[2.0, 1.0], [1.0, 2.0]])
    >>> kernel = Precomputed().fit(K)
    >>> kernel.columns([[0.5, 0.25]], np.array([1]))
    array([[0.25]])
    """

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Check the kernel matrix.

        Parameters
        ----------
        X : array-like of shape (n, n)
            k₀ between the training items.
        y : ignored
            Present by scikit-learn's convention.

        Returns
        -------
        self
        """
        K = self._validate(X, reset=True)
        check_symmetric(K)
        check_semidefinite(K)
        return self

    def diagonal(self, A: ArrayLike) -> NoReturn:
        """Raise: k₀(x, x) is unknown for rows that hold only k₀ against the training items."""
        raise ValueError("a precomputed kernel doesn't know k₀(x, x) of new items; use a kernel of the items' features")

    def columns(self, A: ArrayLike, items: NDArray[np.intp]) -> Array:
        """The columns ``A[:, items]`` of rows of k₀ against the training items."""
        return self.check_items(A)[:, items]

    def _pairs(self, A: Array, B: Array) -> NoReturn:
        raise ValueError(
            "a precomputed kernel is known only against the training items, not between two sets of new ones; "
            "use columns(A, items), or a kernel of the items' features"
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags
