"""The Gaussian kernel with one bandwidth."""

from __future__ import annotations

from numbers import Real

import numpy as np
from numpy.typing import ArrayLike

from ..support.types import Array
from .base import Kernel
from .distances import NEGLIGIBLE, squared_distances

MEDIAN_ITEMS = 1000
"""The median is over the pairs of at most this many training items. Chosen by hand, to bound the cost of fitting."""


class Gaussian(Kernel):
    """Gaussian kernel ``k₀(x, y) = exp(−‖x − y‖² / bandwidth²)``.

    Parameters
    ----------
    bandwidth : float or "median", default="median"
        A positive number, or the median distance between training items (without pairs at distance 0; 1 if there are
        no others). The median is over the pairs of at most 1000 training items, evenly spaced in the order given.

    Attributes
    ----------
    bandwidth_ : float
        The bandwidth in use.

    Examples
    --------
    >>> import numpy as np
    >>> kernel = Gaussian().fit(np.array([[0.0], [1.0], [3.0]]))
    >>> kernel.bandwidth_
    2.0
    >>> kernel([[0.0]], [[1.0], [3.0]]).round(3)
    array([[0.779, 0.105]])
    """

    bandwidth_: float

    def __init__(self, bandwidth: float | str = "median") -> None:
        self.bandwidth = bandwidth

    def diagonal(self, A: ArrayLike) -> Array:
        """k₀(x, x) = 1 for every row x of A."""
        return np.ones(len(self.check_items(A)))

    def _learn(self, X: Array) -> None:
        if self.bandwidth == "median":
            self.bandwidth_ = _median_distance(X)
        elif isinstance(self.bandwidth, Real) and NEGLIGIBLE <= self.bandwidth <= 1 / NEGLIGIBLE:
            self.bandwidth_ = float(self.bandwidth)
        else:
            raise ValueError(
                f"bandwidth={self.bandwidth!r}; give a number between {NEGLIGIBLE:g} and {1 / NEGLIGIBLE:g}, or "
                '"median"'
            )

    def _pairs(self, A: Array, B: Array) -> Array:
        exponent = squared_distances(A, B)
        exponent /= -(self.bandwidth_**2)
        return np.exp(exponent, out=exponent)


def _median_distance(X: Array) -> float:
    sample = X[np.linspace(0, len(X) - 1, min(len(X), MEDIAN_ITEMS)).astype(np.intp)]
    distances = np.sqrt(squared_distances(sample, sample)[np.triu_indices(len(sample), k=1)])
    distances = distances[distances >= NEGLIGIBLE]
    return float(np.median(distances)) if len(distances) else 1.0
