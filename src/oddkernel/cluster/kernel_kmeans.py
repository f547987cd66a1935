"""k-means in the feature space of a kernel."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, check_scalar, validate_data

from ..kernels.distances import row_blocks
from ..kernels.matrix_checks import check_symmetric
from ..support.checks import refuse_masked
from ..support.types import Array
from . import seeding

Labels = NDArray[np.intp]
Seeding = Callable[[Array, int, int, np.random.RandomState], Labels]

INITS: dict[str, Seeding] = {
    "k-means++": seeding.plus_plus,
    "farthest": seeding.farthest,
    "random": seeding.random_items,
}


class KernelKMeans(ClusterMixin, BaseEstimator):
    """Kernel k-means: Lloyd's algorithm in the feature space of a kernel.

    A cluster's centre is the mean of its items' features, ``m_c = Σ_{j∈c} φ(x_j) / |c|``. It is never formed: its
    squared distance to an item is ``K_ii − 2 Σ_{j∈c} K_ij / |c| + Σ_{j,l∈c} K_jl / |c|²``. The algorithm alternates
    between assigning items to their nearest centres and updating the centres; ``inertia_``, the sum of the squared
    distances, never increases. An empty cluster gets the item farthest from its centre. The start with the lowest
    inertia of ``n_init`` is kept.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters.
    init : {"k-means++", "farthest", "random"}, default="k-means++"
        How to choose the items that are the first centres. "k-means++": each is drawn with probability proportional to
        its squared distance to the nearest one drawn before. "farthest": the first is drawn at random; each of the
        others is the item farthest, by rank of distance, from all centres so far, as in the code published with the
        paper. "random": all are drawn at random.
    n_init : int, default=20
        Number of starts.
    max_iter : int, default=300
        Maximum number of iterations of one start.
    tol : float, default=1e-6
        A start ends when the relative decrease of the inertia is at most this.
    random_state : int, RandomState or None, default=None
        Draws the first centres.

    Attributes
    ----------
    labels_ : ndarray of shape (n,)
        Cluster of each item.
    inertia_ : float
        Sum of the items' squared distances to their nearest centres.
    n_iter_ : int
        Iterations of the best start.
    centers_ : ndarray of shape (n_clusters, n)
        Centres as weights on the training items.
    n_features_in_ : int
        Number of training items, n.

    See Also
    --------
    KernelMeanShift : finds the number of clusters by itself.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> model = KernelKMeans(n_clusters=2, random_state=0).fit(X @ X.T)
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3])
    True
    >>> model.inertia_
    1.0
    >>> bool(model.predict([[9.0]] @ X.T)[0] == model.labels_[3])
    True
    """

    labels_: Labels
    inertia_: float
    n_iter_: int
    centers_: Array
    n_features_in_: int

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        init: str = "k-means++",
        n_init: int = 20,
        max_iter: int = 300,
        tol: float = 1e-6,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.init = init
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, K: ArrayLike, y: object = None) -> Self:
        """Cluster the items.

        Parameters
        ----------
        K : array-like of shape (n, n)
            Kernel matrix of the items.
        y : ignored
            Present by scikit-learn's convention.

        Returns
        -------
        self
        """
        refuse_masked(K, "K")
        matrix: Array = validate_data(self, K, dtype=np.float64)
        check_symmetric(matrix)
        self._check_parameters(len(matrix))
        seeds = INITS[self.init](matrix, self.n_clusters, self.n_init, check_random_state(self.random_state))

        # The starts of a block are iterated together, so that their distances are one matrix product.
        blocks = row_blocks(self.n_init, self.n_clusters * len(matrix))
        runs = [run for block in blocks for run in _lloyd(matrix, seeds[block], int(self.max_iter), float(self.tol))]
        best = min(runs, key=lambda run: run.inertia)
        self.labels_, self.inertia_, self.n_iter_ = best.labels, best.inertia, best.n_iter
        self.centers_ = best.centers
        self._squared_norms = np.einsum("ij,ij->i", best.centers @ matrix, best.centers)

        found = len(np.unique(best.labels))
        if found < self.n_clusters:
            warnings.warn(
                f"found {found} clusters where n_clusters={self.n_clusters}: there are no more distinct items",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def predict(self, K: ArrayLike) -> Labels:
        """Nearest centre of each item.

        Parameters
        ----------
        K : array-like of shape (a, n)
            Kernel between these items and the training items.

        Returns
        -------
        ndarray of shape (a,)
        """
        check_is_fitted(self, "labels_")
        refuse_masked(K, "K")
        matrix: Array = validate_data(self, K, dtype=np.float64, reset=False)
        nearest: Labels = np.argmin(self._squared_norms - 2 * (matrix @ self.centers_.T), axis=1)
        return nearest

    def _check_parameters(self, n: int) -> None:
        for name in ("n_clusters", "n_init", "max_iter"):
            check_scalar(getattr(self, name), name, Integral, min_val=1)
        check_scalar(self.tol, "tol", Real, min_val=0)
        if self.n_clusters > n:
            raise ValueError(f"n_clusters={self.n_clusters} is more than the number of items, n_samples={n}")
        if self.init not in INITS:
            raise ValueError(f"init={self.init!r}; give one of {', '.join(map(repr, INITS))}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = True
        return tags


@dataclass(frozen=True)
class _Run:
    """The result of one start."""

    labels: Labels
    inertia: float
    n_iter: int
    centers: Array


def _lloyd(K: Array, seeds: Labels, max_iter: int, tol: float) -> list[_Run]:
    """Run Lloyd's algorithm from each row of ``seeds``, the first centres as items."""
    n_clusters = seeds.shape[1]
    active = np.arange(len(seeds))
    centers = np.zeros((*seeds.shape, len(K)))
    np.put_along_axis(centers, seeds[:, :, None], 1.0, axis=2)
    labels = np.full((len(seeds), len(K)), -1)
    inertia = np.full(len(seeds), np.inf)
    runs: dict[int, _Run] = {}
    for n_iter in range(1, max_iter + 1):
        new_labels, nearest = _assign(K, centers)
        new_inertia = nearest.sum(axis=1)
        empty = np.stack([np.bincount(row, minlength=n_clusters) == 0 for row in new_labels])
        settled = inertia - new_inertia <= tol * np.abs(new_inertia)
        exhausted = nearest.max(axis=1) <= np.finfo(float).eps * len(K) * np.abs(K.diagonal()).max()
        done = np.all(new_labels == labels, axis=1) | exhausted | (settled & ~empty.any(axis=1)) | (n_iter == max_iter)
        for i in np.flatnonzero(done):
            runs[active[i]] = _Run(new_labels[i], float(new_inertia[i]), n_iter, centers[i].copy())
        if done.all():
            break
        active, inertia, labels = active[~done], new_inertia[~done], new_labels[~done]
        _refill(labels, nearest[~done], empty[~done])
        one_hot = labels[:, None, :] == np.arange(n_clusters)[None, :, None]
        centers = one_hot / one_hot.sum(axis=2, keepdims=True)
    return [runs[start] for start in range(len(seeds))]


def _assign(K: Array, centers: Array) -> tuple[Labels, Array]:
    """Nearest centre of every item and the squared distance to it, both ``(starts, items)``."""
    products = (centers.reshape(-1, len(K)) @ K).reshape(centers.shape)
    squared = np.einsum("rcj,rcj->rc", products, centers)[:, :, None] - 2 * products
    labels: Labels = np.argmin(squared, axis=1)
    nearest = np.take_along_axis(squared, labels[:, None, :], axis=1)[:, 0, :] + K.diagonal()
    return labels, nearest


def _refill(labels: Labels, nearest: Array, empty: NDArray[np.bool_]) -> None:
    """Move into every empty cluster, in place, the item farthest from its centre among clusters of two or more."""
    for start, cluster in np.argwhere(empty):
        alone = np.bincount(labels[start])[labels[start]] == 1
        labels[start, np.argmax(np.where(alone, -np.inf, nearest[start]))] = cluster
