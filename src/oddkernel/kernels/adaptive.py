"""The paper's initial kernel: a Gaussian whose width follows the density of the items."""

from __future__ import annotations

import threading
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_scalar

from ..support.types import Array
from .base import Kernel
from .distances import NEGLIGIBLE, Reference, row_blocks, squared_distances
from .inverted_file import Cells

EXACT = 100_000
"""``search="auto"`` is exact up to this many training items. Chosen by hand; `scale.index` uses the same limit."""

SEARCHES = ("auto", "exact", "approximate")
_LOCK = threading.Lock()


class AdaptiveGaussian(Kernel):
    """Gaussian kernel with a width of its own for every item: ``k₀(x, y) = exp(−‖x − y‖² / (σ_x σ_y))``.

    ``σ_x`` is the k-th smallest distance from x to the training items, ``k = min(neighbors, n)``, for training and new
    items alike. A training item's distance to itself, 0, counts as the first. Where that gives ``σ_x = 0`` (k or more
    copies of x), the smallest positive training σ replaces it, or 1 if there is none.

    The kernel matrix may have negative eigenvalues; `LowRank` drops them.

    Parameters
    ----------
    neighbors : int, default=100
        k above.
    search : {"auto", "exact", "approximate"}, default="auto"
        How to find the k nearest training items. ``"approximate"`` searches only the cells of items near x, with FAISS
        (``pip install "oddkernel[faiss]"``), and may overestimate σ slightly. ``"auto"`` is exact up to 100,000
        training items and approximate above.

    Attributes
    ----------
    sigma_ : ndarray of shape (n,)
        σ of the training items.
    sigma_floor_ : float
        The value that replaces σ = 0.

    Notes
    -----
    Exact fitting takes O(n² d) time; approximate fitting takes O(n^1.5 d). Memory holds one block of rows of the
    distance matrix at a time.

    Examples
    --------
    >>> import numpy as np
    >>> kernel = AdaptiveGaussian(neighbors=2).fit(np.array([[0.0], [1.0], [3.0]]))
    >>> kernel.sigma_
    array([1., 1., 2.])
    >>> kernel([[0.0]], [[1.0], [3.0]]).round(3)
    array([[0.368, 0.011]])
    """

    sigma_: Array
    sigma_floor_: float
    _cells: Cells | None = None  # a cache: it is not pickled, and is rebuilt when missing

    def __init__(self, neighbors: int = 100, search: str = "auto") -> None:
        self.neighbors = neighbors
        self.search = search

    def diagonal(self, A: ArrayLike) -> Array:
        """k₀(x, x) = 1 for every row x of A."""
        return np.ones(len(self.check_items(A)))

    def columns(self, A: ArrayLike, items: NDArray[np.intp]) -> Array:
        """Matrix of k₀ between the rows of A and the training items with these indices: ``(len(A), len(items))``."""
        A = self.check_items(A)
        if self._approximates(len(self.X_fit_)):
            sigma = self._sigma(A)
            return _gaussian(squared_distances(A, self.X_fit_[items]), sigma, self.sigma_[items])
        whole = len(items) == len(self.X_fit_) and bool((np.diff(items) == 1).all())
        values = np.empty((len(A), len(items)))
        training = Reference(self.X_fit_)
        for rows in row_blocks(len(A), len(self.X_fit_)):
            # One matrix of distances serves the bandwidths and the kernel.
            squared = training.squared_distances(A[rows])
            sigma = self._floored(self._kth_distance(squared))
            values[rows] = _gaussian(squared if whole else squared[:, items], sigma, self.sigma_[items])
        return values

    def _learn(self, X: Array) -> None:
        check_scalar(self.neighbors, "neighbors", Integral, min_val=1)
        if self.search not in SEARCHES:
            raise ValueError(f"search={self.search!r}; expected one of {', '.join(map(repr, SEARCHES))}")
        sigma = self._distance_to_neighbor(X, X)
        positive = sigma[sigma > 0]
        self.sigma_floor_ = float(positive.min()) if len(positive) else 1.0
        self.sigma_ = self._floored(sigma)

    def _approximates(self, n_items: int) -> bool:
        return self.search == "approximate" or (self.search == "auto" and n_items > EXACT)

    def _pairs(self, A: Array, B: Array) -> Array:
        sigma = self._sigma(A)
        return _gaussian(squared_distances(A, B), sigma, sigma if A is B else self._sigma(B))

    def _sigma(self, A: Array) -> Array:
        return self._floored(self._distance_to_neighbor(A, self.X_fit_))

    def _floored(self, sigma: Array) -> Array:
        return np.where(sigma > 0, sigma, self.sigma_floor_)

    def _distance_to_neighbor(self, A: Array, X: Array) -> Array:
        if self._approximates(len(X)):
            distance = self._cells_of(X).distance(A, min(int(self.neighbors), len(X)))
            return np.where(distance < NEGLIGIBLE, 0.0, distance)
        training = Reference(X)
        distance = np.empty(len(A))
        for rows in row_blocks(len(A), len(X)):
            distance[rows] = self._kth_distance(training.squared_distances(A[rows]))
        return distance

    def _cells_of(self, X: Array) -> Cells:
        with _LOCK:
            if self._cells is None or self._cells.items is not X:
                self._cells = Cells(X)
            return self._cells

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in super().__getstate__().items() if name != "_cells"}

    def _kth_distance(self, squared: Array) -> Array:
        k = min(int(self.neighbors), squared.shape[1])
        distance: Array = np.sqrt(np.partition(squared, k - 1, axis=1)[:, k - 1])
        distance[distance < NEGLIGIBLE] = 0.0
        return distance


def _gaussian(squared: Array, sigma_a: Array, sigma_b: Array) -> Array:
    """exp(−squared / (σ_a σ_b)), computed in place of ``squared``."""
    squared /= -np.outer(sigma_a, sigma_b)
    return np.exp(squared, out=squared)
