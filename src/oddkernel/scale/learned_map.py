"""The learned coordinates of a block of items, with one matrix product."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import DTypeLike, NDArray
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from ..kernels import LowRank
from ..kernels.distances import row_blocks
from ..learning.metric import OUT_OF_REACH, LearnedMetric
from ..support.types import Array, Indices


@dataclass(frozen=True, eq=False)
class LearnedMap:
    """The linear map ``x ↦ φ(x)ᵀG``; G gives the learned coordinates, or a linear function of them.

    Since ``φ(x) = basisᵀ k_x``, one product of the kernel's values with ``basis · G`` suffices.

    Attributes
    ----------
    features : LowRank
        φ.
    product : ndarray of shape (L, p)
        ``basis · G``.
    stretch : float
        The square of G's largest singular value.
    """

    features: LowRank
    product: NDArray[np.floating]
    stretch: float

    @classmethod
    def of(cls, model: LearnedMetric, *, onto: Array | None = None, dtype: DTypeLike = np.float64) -> Self:
        """The map to learned coordinates or, where ``onto`` (p, r) is given, to their products with its rows."""
        check_is_fitted(model)
        G = model.fit_.root if onto is None else model.fit_.root @ onto.T
        squared = G.T @ G if G.shape[1] <= G.shape[0] else G @ G.T
        stretch = float(np.linalg.eigvalsh(squared)[-1]) if squared.size else 0.0
        return cls(model.features_, (model.features_.basis @ G).astype(dtype), stretch)

    @property
    def n_out(self) -> int:
        """p."""
        return int(self.product.shape[1])

    @property
    def n_bytes(self) -> int:
        """Bytes of memory for the map, and for its work on a block of the size of a cache."""
        kernel = self.features.kernel
        held = getattr(kernel, "X_fit_", np.empty(0)).nbytes
        return 2 * held + self.product.nbytes + self.features.basis.nbytes

    def __call__(self, X: Array) -> tuple[NDArray[np.floating], Indices]:
        """The images of checked items, (len(X), p), and the positions of items that φ hardly represents."""
        features, kernel = self.features, self.features.kernel
        images = np.empty((len(X), self.n_out), self.product.dtype)
        far = [np.empty(0, np.intp)]
        for rows in row_blocks(len(X), len(features.landmarks)):
            values = kernel.columns(X[rows], features.landmarks)
            images[rows] = image = values.astype(images.dtype, copy=False) @ self.product
            if get_tags(kernel).input_tags.pairwise:
                continue  # a precomputed kernel doesn't know k₀(x, x)
            # The bound ‖φ‖² ≥ ‖Gᵀφ‖² / stretch clears nearly every item. φ is computed only for the others.
            reached = np.einsum("ij,ij->i", image, image, dtype=np.float64)
            doubtful = np.flatnonzero(reached <= OUT_OF_REACH * self.stretch * kernel.diagonal(X[rows]))
            if len(doubtful):
                reach = features.reach(X[rows][doubtful], values[doubtful] @ features.basis)
                far.append(rows.start + doubtful[np.asarray(reach) < OUT_OF_REACH])
        return images, np.concatenate(far)

    def images(self, X: Array) -> NDArray[np.floating]:
        """The images alone."""
        return self(X)[0]
