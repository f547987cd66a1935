"""Mean shift in the feature space of a kernel."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import logsumexp, softmax
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, check_scalar, validate_data

from ..comparisons import Comparisons
from ..items.frames import join
from ..kernels.matrix_checks import check_symmetric
from ..support.checks import refuse_masked
from ..support.types import Array
from .bandwidth import from_comparisons, from_kernel, from_labels


class KernelMeanShift(ClusterMixin, BaseEstimator):
    """Kernel mean shift: items that move to the same mode of the density form a cluster.

    The density at a point z of the feature space is ``Σ_j exp(−‖z − φ(x_j)‖² / (2 h²))``, with the bandwidth h. Each
    item starts at its own position z and moves uphill: z becomes the mean of all items, weighted by their terms of that
    sum, until it converges (Anand et al. 2014). Modes closer to each other than h are merged. The number of clusters
    follows from h.

    Parameters
    ----------
    bandwidth : float or None, default=None
        h. None: a quarter of the distance threshold that best separates near pairs from far pairs in the comparisons
        given to `fit`. Without comparisons: a quarter of the mean distance of an item to the farthest of its nearest
        30%.
    max_iter : int, default=300
        Maximum number of steps for an item.
    tol : float, default=1e-4
        An item has converged when a step is shorter than this times h.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each item; the densest mode is cluster 0.
    n_clusters_ : int
        Number of clusters.
    bandwidth_ : float
        The bandwidth in use.
    modes_ : ndarray of shape (k, n)
        The k modes, as weights on the training items.
    n_iter_ : int
        Largest number of steps of an item.
    n_features_in_ : int
        Number of training items, n.

    See Also
    --------
    KernelKMeans : for a given number of clusters.

    References
    ----------
    S. Anand, S. Mittal, O. Tuzel, P. Meer: Semi-supervised kernel mean shift clustering. IEEE TPAMI 36 (2014).

    Examples
    --------
    >>> import numpy as np
    >>> from oddkernel.comparisons import Comparisons
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [10.0], [11.0], [12.0]])
    >>> said = Comparisons.odd_one_out([[0, 3, 4], [5, 1, 6]], [2, 1])
    >>> model = KernelMeanShift().fit(X @ X.T, said)
    >>> model.bandwidth_
    0.75
    >>> model.labels_
    array([0, 0, 0, 0, 1, 1, 1])
    >>> model.predict([[8.0]] @ X.T)
    array([1])
    """

    labels_: NDArray[np.intp]
    n_clusters_: int
    bandwidth_: float
    modes_: Array
    n_iter_: int
    n_features_in_: int

    def __init__(self, bandwidth: float | None = None, *, max_iter: int = 300, tol: float = 1e-4) -> None:
        self.bandwidth = bandwidth
        self.max_iter = max_iter
        self.tol = tol

    def fit(self, K: ArrayLike, y: Comparisons | ArrayLike | None = None) -> Self:
        """Cluster the items.

        Parameters
        ----------
        K : array-like of shape (n, n)
            Kernel matrix of the items.
        y : Comparisons, or array-like of shape (n,), optional
            Answers about the items, or their classes with -1 for unlabelled; used only to estimate the bandwidth. Where
            K is a pandas frame with names in its index and the answers name their items, they are joined by name.

        Returns
        -------
        self
        """
        refuse_masked(K, "K")
        matrix: Array = validate_data(self, K, dtype=np.float64)
        check_symmetric(matrix)
        self._check_parameters()
        self.bandwidth_ = self._choose_bandwidth(matrix, join(y, K, len(matrix)) if isinstance(y, Comparisons) else y)
        self._K = matrix.copy()
        ends, self.n_iter_ = self._shift(matrix)
        self.modes_ = self._merge(ends)
        self.n_clusters_ = len(self.modes_)
        self.labels_ = self._nearest_mode(ends)
        return self

    def predict(self, K: ArrayLike) -> NDArray[np.intp]:
        """Cluster whose mode each item moves to.

        Parameters
        ----------
        K : array-like of shape (a, n)
            Kernel between these items and the training items.

        Returns
        -------
        ndarray of shape (a,)
        """
        check_is_fitted(self, "labels_")
        ends, _ = self._shift(validate_data(self, K, dtype=np.float64, reset=False))
        return self._nearest_mode(ends)

    def _shift(self, K: Array) -> tuple[_Points, int]:
        """End points of items with these kernel rows, and the largest number of steps."""
        # The first step needs only the kernel rows: k(x, x) is a common factor of an item's weights.
        points = self._step(K)
        moving = np.arange(len(K))
        for n_iter in range(2, self.max_iter + 1):
            moved = self._step(points.products[moving])
            change = _Points(moved.weights - points.weights[moving], moved.products - points.products[moving])
            points.weights[moving], points.products[moving] = moved.weights, moved.products
            moving = moving[change.squared_norms() > (self.tol * self.bandwidth_) ** 2]
            if not len(moving):
                return points, n_iter
        warnings.warn(
            f"{len(moving)} of {len(K)} items hadn't reached a mode after max_iter={self.max_iter} steps; raise "
            "max_iter or tol",
            ConvergenceWarning,
            stacklevel=3,
        )
        return points, int(self.max_iter)

    def _step(self, products: Array) -> _Points:
        weights: Array = softmax(self._log_terms(products), axis=1)
        return _Points(weights, weights @ self._K)

    def _log_terms(self, products: Array) -> Array:
        """Logarithms of the terms of the density, without ``−‖z‖² / (2 h²)``, which all terms of a point z share."""
        return (products - self._K.diagonal() / 2) / self.bandwidth_**2

    def _merge(self, ends: _Points) -> Array:
        """The modes among the end points: the densest, then the densest farther than h from it, and so on."""
        log_density = logsumexp(self._log_terms(ends.products), axis=1)
        log_density -= ends.squared_norms() / (2 * self.bandwidth_**2)
        modes = []
        left = np.argsort(-log_density, kind="stable")
        while len(left):
            modes.append(left[0])
            squared = ends[left].squared_distances(ends[left[:1]])[:, 0]
            left = left[1:][squared[1:] > self.bandwidth_**2]
        return ends.weights[modes]

    def _nearest_mode(self, ends: _Points) -> NDArray[np.intp]:
        modes = _Points(self.modes_, self.modes_ @ self._K)
        nearest: NDArray[np.intp] = np.argmin(ends.squared_distances(modes), axis=1)
        return nearest

    def _choose_bandwidth(self, K: Array, y: Comparisons | ArrayLike | None) -> float:
        if self.bandwidth is not None:
            return float(self.bandwidth)
        if y is None:
            return from_kernel(K)
        if isinstance(y, Comparisons):
            return from_comparisons(K, y)
        if np.ndim(y) != 1 or len(labels := np.asarray(y)) != len(K):
            raise ValueError(
                f"y must be Comparisons, or one class label for each of the {len(K)} items; got an array of shape "
                f"{np.shape(y)}"
            )
        return from_labels(K, labels)

    def _check_parameters(self) -> None:
        check_scalar(self.max_iter, "max_iter", Integral, min_val=1)
        check_scalar(self.tol, "tol", Real, min_val=0)
        if self.bandwidth is not None:
            check_scalar(self.bandwidth, "bandwidth", Real, min_val=0, include_boundaries="neither")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags


@dataclass(frozen=True)
class _Points:
    """Points of the feature space: weights on the training items, and kernel with the training items; both (a, n)."""

    weights: Array
    products: Array

    def __getitem__(self, rows: NDArray[np.intp]) -> _Points:
        return _Points(self.weights[rows], self.products[rows])

    def squared_norms(self) -> Array:
        squared: Array = np.einsum("ij,ij->i", self.weights, self.products)
        return squared

    def squared_distances(self, others: _Points) -> Array:
        products = self.products @ others.weights.T
        return np.asarray(self.squared_norms()[:, None] + others.squared_norms()[None, :] - 2 * products)
