"""The diffusion kernel over a neighbour graph."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array
from sklearn.utils.validation import check_scalar

from ..support.interruptible import interruptible
from ..support.types import Array
from .base import Kernel
from .distances import NEGLIGIBLE, squared_distances
from .identity import equal_rows

GRAPH_ITEMS = 5000
"""The graph has at most this many nodes: training items, evenly spaced. The others are treated as new items. Chosen by
hand: the eigendecomposition takes O(N³) time, and `LowRank` has the same limit."""
TIED = 1.0 + 1e-9
"""Relative tolerance, far above float64's rounding, within which items at equal distance all count as neighbours, so
that the order of the items does not matter."""


class Diffusion(Kernel):
    """Diffusion (heat) kernel over the items' neighbour graph: ``K₀ = s · exp(−time · L)``.

    The distinct training items are the nodes. Two are joined if either is among the other's `neighbors` nearest (ties
    included), with the weight ``w_ij = exp(−‖x_i − x_j‖² / bandwidth²)``, and each with itself, ``w_ii = 1``.
    ``L = I − D^(−1/2) W D^(−1/2)`` is the normalised Laplacian, D the diagonal matrix of W's row sums, and s gives K₀ a
    mean diagonal of 1. K₀ is positive semidefinite.

    Any other item x is a weighted mean of its nearest nodes. With ``f(x_i)ᵀf(x_j) = K₀_ij``,
    ``f(x) = c Σ_j a_j f(x_j)`` over the `neighbors` nearest, with ``Σ_j a_j = 1`` and

        ``a_j ∝ exp(−‖x − x_j‖² / bandwidth²) / ‖x − x_j‖²``.

    A copy of a node thus gets the node's row. The factor ``c = min(1, bandwidth² / ‖x − x_1‖²)`` shrinks items farther
    than the bandwidth from the nearest node x_1. Then ``k₀(x, y) = f(x)ᵀf(y)`` and ``k₀(x, x) = Σ_j a_j K₀_jj``; the
    difference between the latter and ``‖f(x)‖²`` is the part of x that the graph does not represent.

    Parameters
    ----------
    neighbors : int, default=10
        How many others each node is joined with; all of them if there are fewer.
    time : float, default=6.0
        Diffusion time, a positive number. Near 0 every item is similar to itself only. The longer the time, the more
        similar are all items that the graph connects. The default was chosen by trial on two sets of handwritten
        digits, using their labels.

    Attributes
    ----------
    nodes_ : ndarray of shape (N, d)
        The distinct training items in their order; if there are more than 5000, 5000 of them, evenly spaced.
    heat_ : ndarray of shape (N, N)
        K₀ between the nodes.
    bandwidth_ : float
        The median over the nodes of the distance to the farthest of the `neighbors`; 1 if that is 0.

    Notes
    -----
    Fitting takes O(N³) time and O(N²) memory.

    Examples
    --------
    A chain of three items, and two more far away:

    >>> import numpy as np
    >>> kernel = Diffusion(neighbors=1).fit(np.array([[0.0], [1.0], [2.0], [9.0], [10.0]]))
    >>> kernel([[0.0]], [[0.0], [1.0], [2.0], [9.0]]).round(2)
    array([[0.91, 0.75, 0.46, 0.  ]])
    """

    nodes_: Array
    heat_: Array
    bandwidth_: float

    def __init__(self, neighbors: int = 10, time: float = 6.0) -> None:
        self.neighbors = neighbors
        self.time = time

    def diagonal(self, A: ArrayLike) -> Array:
        """``k₀(x, x) = Σ_j a_j K₀_jj`` for every row x of A."""
        average, _ = self._average(self.check_items(A))
        return np.asarray(average @ self.heat_.diagonal())

    def _learn(self, X: Array) -> None:
        check_scalar(self.neighbors, "neighbors", Integral, min_val=1)
        if not (isinstance(self.time, Real) and 0 < self.time < np.inf):
            raise ValueError(f"time={self.time!r}; give a positive, finite number")
        self.nodes_ = _distinct(X)
        squared = squared_distances(self.nodes_, self.nodes_)
        k = min(int(self.neighbors), len(self.nodes_) - 1)
        farthest = np.partition(squared, k, axis=1)[:, k]
        bandwidth = float(np.median(np.sqrt(farthest)))
        self.bandwidth_ = bandwidth if bandwidth >= NEGLIGIBLE else 1.0
        joined = squared <= TIED * np.maximum(farthest[:, None], farthest[None, :])
        self.heat_ = _heat(np.where(joined, np.exp(-squared / self.bandwidth_**2), 0.0), float(self.time))

    def _pairs(self, A: Array, B: Array) -> Array:
        average, fade = self._average(A)
        rows = fade[:, None] * (average @ self.heat_)
        known = fade * np.asarray(average.multiply(rows).sum(axis=1))
        unknown = np.maximum(average @ self.heat_.diagonal() - known, 0.0)
        if A is not B:
            average, fade = self._average(B)
        values = fade * (average @ rows.T).T
        if A is B:
            values = (values + values.T) / 2  # the two products round differently
        return np.asarray(values + unknown[:, None] * equal_rows(A, B))

    def _average(self, A: Array) -> tuple[csr_array, Array]:
        """The a_j of every row of A, shape (len(A), N), and its c."""
        squared = squared_distances(A, self.nodes_)
        k = min(int(self.neighbors), len(self.nodes_))
        farthest = TIED * np.partition(squared, k - 1, axis=1)[:, k - 1 : k]
        first = squared.min(axis=1, keepdims=True)
        # Relative to the nearest node, whose weight is then 1: nothing underflows, and for a copy of a node all other
        # weights are 0.
        part = np.where(squared <= farthest, np.exp((first - squared) / self.bandwidth_**2), 0.0)
        part *= np.divide(first, squared, out=np.ones_like(squared), where=squared > 0)
        part /= part.sum(axis=1, keepdims=True)
        average = csr_array(part)
        fade = self.bandwidth_**2 / np.maximum(first.ravel(), self.bandwidth_**2)
        return average, fade


def _distinct(X: Array) -> Array:
    """Distinct rows in the order of their first appearance, thinned evenly to at most GRAPH_ITEMS."""
    _, first = np.unique(X, axis=0, return_index=True)
    first = np.sort(first)
    return X[first[np.linspace(0, len(first) - 1, min(len(first), GRAPH_ITEMS)).astype(np.intp)]]


def _heat(weight: Array, time: float) -> Array:
    """``exp(−time · L)`` of the graph with these weights, scaled to a mean diagonal of 1."""
    root = np.sqrt(weight.sum(axis=1))
    walk = weight / root[:, None] / root[None, :]
    values, vectors = interruptible(lambda: np.linalg.eigh(walk))
    # The largest eigenvalue of I − L is exactly 1. Subtracting the computed one keeps a long time from amplifying its
    # rounding error.
    factor = vectors * np.exp(time / 2 * (values - values[-1]))
    heat: Array = factor @ factor.T
    heat /= heat.diagonal().mean()
    return heat
