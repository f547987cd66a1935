"""The low-rank feature map of an initial kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral, Real
from typing import Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state, get_tags

from ..support.interruptible import interruptible
from ..support.types import Array
from .base import Kernel
from .distances import row_blocks

Result = TypeVar("Result")

SPANNING = 1000
"""Least number of landmarks: above ``max_items`` items, random items are added to the constrained ones up to this
number. Chosen by hand: an eigendecomposition of this size takes less than a second."""

# From this many items on, Ctrl-C can interrupt the eigendecomposition. Chosen by hand: smaller ones end soon enough.
LONG = 1000
# Eigenvalues that differ by less than this, relatively, count as equal. Derived: well above their rounding error. The
# eigenvectors of equal eigenvalues are defined only as a subspace, so that all or none of them are kept.
_TIE = 1e-9


@dataclass(frozen=True, eq=False)
class LowRank:
    """Nyström feature map φ with ``φ(x)ᵀφ(y) ≈ k₀(x, y)``, defined by the kernel on the landmarks, some training items.

    Let ``K₀ ≈ V Λ Vᵀ`` be the kernel matrix of the landmarks with its r largest eigenvalues, and ``k_x`` the values of
    k₀ between x and the landmarks. Then ``φ(x) = Λ^(−1/2) Vᵀ k_x``. On the landmarks this is ``Φ = V Λ^(1/2)``, and
    ``ΦΦᵀ`` is the best approximation of K₀ of rank r; elsewhere it is ``Φ⁺ k_x``.

    Attributes
    ----------
    kernel : Kernel
        The fitted kernel.
    landmarks : ndarray of shape (L,)
        Indices, ascending, of the training items that define φ.
    basis : ndarray of shape (L, r)
        ``V Λ^(−1/2)``; each column's largest entry in magnitude is positive.
    share : float
        The share of the positive trace of K₀ in the r eigenvalues.
    full_rank : int
        Number of eigenvalues of K₀ that are positive beyond rounding, ``λ > ε L λ_max``; ``rank=None`` keeps these.

    Examples
    --------
    >>> import numpy as np
    >>> from oddkernel.kernels import Linear
    >>> X = np.array([[0.0, 0.0], [2.0, 0.0], [0.0, 1.0]])
    >>> features = LowRank.fit(Linear().fit(X), X, rank=1)
    >>> features.transform(X).shape
    (3, 1)
    >>> round(features.share, 2)
    0.86
    """

    kernel: Kernel
    landmarks: NDArray[np.intp]
    basis: Array
    share: float
    full_rank: int

    @classmethod
    def fit(
        cls,
        kernel: Kernel,
        X: ArrayLike,
        *,
        rank: float | int | None,
        constrained: ArrayLike | None = None,
        max_items: int = 5000,
        random_state: int | np.random.RandomState | None = None,
    ) -> Self:
        """Find the feature map of a kernel on its training items.

        Parameters
        ----------
        kernel : Kernel
            Fitted to X.
        X : array-like of shape (n, d), or (n, n) for a precomputed kernel
            The training items.
        rank : float, int or None
            A float in (0, 1]: keep the fewest eigenvalues whose share of K₀'s positive trace is at least this; equal
            ones are kept or dropped together. An int ≥ 1: keep this many, or all positive ones if there are fewer.
            None: keep all positive ones. So ``1`` is one dimension and ``1.0`` the whole trace.
        constrained : array-like of int, optional
            Indices of the constrained items, which some answer is about.
        max_items : int, default=5000
            Up to this many items, all are landmarks. Above, the landmarks are the constrained items, with random other
            items added up to 1000. If more than ``max_items`` items are constrained, ``max_items`` of them are drawn at
            random. No matrix larger than ``max_items`` × ``max_items`` is formed.
        random_state : int, RandomState or None
            Draws the random landmarks.
        """
        _check_rank(rank)
        X = kernel.check_items(X)
        landmarks = _choose_landmarks(len(X), constrained, max_items, check_random_state(random_state))
        values, vectors = _eigenpairs(kernel, X[landmarks], landmarks)
        full_rank = int(np.sum(values > np.finfo(float).eps * len(landmarks) * max(values[0], 0.0)))
        values, vectors = values[:full_rank], vectors[:, :full_rank]

        r = _count(values, rank)
        largest = np.take_along_axis(vectors[:, :r], np.argmax(np.abs(vectors[:, :r]), axis=0)[None, :], axis=0)
        basis = np.ascontiguousarray(vectors[:, :r] * (np.sign(largest) / np.sqrt(values[:r])))
        share = float(values[:r].sum() / values.sum()) if full_rank else 1.0
        return cls(kernel, landmarks, basis, share, full_rank)

    @property
    def rank(self) -> int:
        """Dimension r of the features."""
        return int(self.basis.shape[1])

    def transform(self, A: ArrayLike) -> Array:
        """φ of every row of A, shape ``(len(A), r)``."""
        A = self.kernel.check_items(A)
        features = np.empty((len(A), self.rank))
        for rows in row_blocks(len(A), len(self.landmarks)):
            features[rows] = self.kernel.columns(A[rows], self.landmarks) @ self.basis
        return features

    def reach(self, A: ArrayLike, features: Array | None = None) -> Array | None:
        """The share of every item that φ represents: ``‖φ(x)‖² / k₀(x, x)``, shape ``(len(A),)``.

        Near 1 for items similar to the landmarks, near 0 for items far from all landmarks. Where k₀(x, x) is below the
        landmarks' mean k, as in the middle of a linear kernel, what φ lacks is compared with that:
        ``1 − (k₀(x, x) − ‖φ(x)‖²) / k``. None for a precomputed kernel, which doesn't know k₀(x, x).

        Parameters
        ----------
        A : array-like of shape (a, d)
            Items.
        features : ndarray of shape (a, r), optional
            Their φ, if already computed.
        """
        if not self.knows_diagonal:
            return None
        if features is None:
            features = self.transform(A)
        whole = self.kernel.diagonal(A)
        missing = whole - np.einsum("ij,ij->i", features, features)
        size = np.maximum(whole, self._mean_size)
        return np.asarray(1.0 - np.divide(missing, size, out=np.zeros_like(whole), where=size > 0))

    @property
    def knows_diagonal(self) -> bool:
        """Whether k₀(x, x) of new items can be computed; not by a precomputed kernel."""
        return not get_tags(self.kernel).input_tags.pairwise

    @property
    def eigenvalues(self) -> Array:
        """The r eigenvalues of K₀ that were kept, largest first."""
        return np.asarray(1.0 / np.square(self.basis).sum(axis=0))

    def outside(self) -> Array:
        """The share of every landmark's unit vector that is outside the kept eigenvectors, shape ``(L,)``.

        A centred kernel lacks the constant vector, which plays no part in distances: it is not counted.
        """
        if self.rank == len(self.landmarks):
            return np.zeros(self.rank)
        vectors = self.basis * np.sqrt(self.eigenvalues)
        share = 1.0 - np.square(vectors).sum(axis=1)
        if self._centred:
            share -= 1.0 / len(share)
        return np.where(share < _TIE, 0.0, share)

    def own(self) -> Array:
        """The part of every landmark's k₀(x, x) that the other landmarks can't predict, shape ``(L,)``.

        It is ``1 / (K₀⁻¹)_xx``, the conditional variance of a Gaussian process. Dropped eigenvalues count as equal to
        their mean. It is 0 for a landmark with a copy among the others.
        """
        outside = self.outside()
        dropped = max(len(self.landmarks) - self.rank - self._centred, 1)
        mean = max(len(self.landmarks) * self._mean_size - float(self.eigenvalues.sum()), 0.0) / dropped
        inverse = np.square(self.basis).sum(axis=1)
        # 1 / (inverse + outside/mean), also for a mean of 0.
        scale = np.where(outside > 0, mean, 1.0)
        precision = scale * inverse + outside  # 0 for a single landmark, whose only direction is the constant vector
        own: Array = np.divide(scale, precision, out=np.zeros_like(inverse), where=precision > 0)
        return own

    @cached_property
    def _mean_size(self) -> float:
        """The mean k₀(x, x) of the landmarks."""
        return float(self.kernel.diagonal(self.kernel.X_fit_[self.landmarks]).mean())

    @property
    def _centred(self) -> bool:
        """Whether K₀ has the constant vector for an eigenvector of eigenvalue 0."""
        along = np.sqrt(self.eigenvalues) * self.basis.sum(axis=0)
        return bool(np.square(along).sum() < _TIE * len(self.landmarks))


def _eigenpairs(kernel: Kernel, X: Array, landmarks: NDArray[np.intp]) -> tuple[Array, Array]:
    """Eigenvalues of K₀, largest first, and eigenvectors as columns; eigenvalues of 0 may be missing."""
    features = kernel.explicit(X)
    if features is None or 2 * features.shape[1] > len(X):
        K = kernel.columns(X, landmarks)
        # eigh reads one triangle only, so that rounding errors in symmetry don't matter.
        values, vectors = _computed(lambda: np.linalg.eigh(K), len(X))
        return values[::-1], vectors[:, ::-1]
    vectors, sizes, _ = _computed(lambda: np.linalg.svd(features, full_matrices=False), len(X))
    return np.square(sizes), vectors


def _computed(compute: Callable[[], Result], n: int) -> Result:
    return compute() if n < LONG else interruptible(compute)


def _check_rank(rank: float | int | None) -> None:
    if rank is None:
        return
    is_number = isinstance(rank, Real) and not isinstance(rank, bool)
    if not is_number or rank <= 0 or not (isinstance(rank, Integral) or rank <= 1):
        raise ValueError(
            f"rank={rank!r}; give a share of the trace as a float in (0, 1], a number of dimensions as an int of at "
            "least 1, or None for all"
        )


def _choose_landmarks(
    n: int, constrained: ArrayLike | None, max_items: int, random: np.random.RandomState
) -> NDArray[np.intp]:
    everything = np.arange(n)
    if n <= max_items:
        return everything
    chosen = np.unique(np.asarray([] if constrained is None else constrained, dtype=np.intp))
    if len(chosen) > max_items:
        return np.sort(random.choice(chosen, max_items, replace=False))
    missing = min(SPANNING, max_items) - len(chosen)
    if missing > 0:
        others = np.setdiff1d(everything, chosen, assume_unique=True)
        chosen = np.union1d(chosen, random.choice(others, missing, replace=False))
    return chosen


def _count(values: Array, rank: float | int | None) -> int:
    """Number of the positive eigenvalues, largest first, that ``rank`` asks for."""
    if rank is None or not len(values):
        return len(values)
    if isinstance(rank, Integral):
        return min(int(rank), len(values))
    kept = np.cumsum(values)
    r = int(np.searchsorted(kept, rank * kept[-1])) + 1
    return int(np.sum(values >= values[min(r, len(values)) - 1] * (1 - _TIE)))
