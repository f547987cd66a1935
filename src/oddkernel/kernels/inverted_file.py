"""Approximate distance to the k-th nearest item, by an inverted-file index of cells (FAISS's IVF)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..support.types import Array
from .distances import Reference

# Training items for each cell centre. FAISS recommends at least 39; the margin above that was chosen by hand.
SAMPLE_PER_CELL = 64
# A query searches this share of the cells, and at least enough cells to hold 8k items on average. Chosen by hand; in
# trials σ was then overestimated by a few percent at most (docs/scale.md).
PROBED, PROBED_ITEMS = 1 / 32, 8
# Queries farther away than this many times the items' extent are compared exactly. Derived: float32 rounds a squared
# distance of 1e6 squared extents by 6% of a squared extent.
FAR = 1e3


class Cells:
    """Items assigned to √n cells, each item to the nearest of √n centres (FAISS's IVF).

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The items.
    """

    def __init__(self, X: Array) -> None:
        faiss = _faiss()
        self.items = X
        self._offset = X.mean(axis=0)
        # Scaled, because float32 overflows at 1e38. The scale does not change the cells.
        self._unit = float(np.abs(X - self._offset).max()) or 1.0
        n, d = X.shape
        n_cells = max(1, round(n**0.5))
        scaled = self._scaled(X)
        self._index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, n_cells)
        sample = np.linspace(0, n - 1, min(n, SAMPLE_PER_CELL * n_cells)).astype(np.intp)
        # FAISS would otherwise print a warning to the terminal where there are few items for each cell.
        self._index.cp.min_points_per_centroid = 1
        self._index.train(scaled[sample])
        self._index.add(scaled)

    def distance(self, A: Array, k: int) -> Array:
        """Approximate distance from each row of A to its k-th nearest item, shape ``(len(A),)``."""
        n_cells = self._index.nlist
        probed = min(n_cells, max(round(PROBED * n_cells), -(-PROBED_ITEMS * k * n_cells // len(self.items))))
        near = np.abs(A - self._offset).max(axis=1) <= FAR * self._unit
        kth = np.full(len(A), -1, np.intp)
        if near.any():
            parameters = _faiss().SearchParametersIVF(nprobe=probed)
            _, found = self._index.search(self._scaled(A[near]), k, params=parameters)
            kth[near] = found[:, -1]
        known = kth >= 0
        distance = np.empty(len(A))
        # FAISS only finds the item, in float32; its distance is computed again in float64.
        difference = A[known] - self.items[kth[known]]
        distance[known] = np.sqrt(np.einsum("ij,ij->i", difference, difference))
        if not known.all():
            squared = Reference(self.items).squared_distances(A[~known])
            distance[~known] = np.sqrt(np.partition(squared, k - 1, axis=1)[:, k - 1])
        return distance

    def _scaled(self, A: Array) -> NDArray[np.float32]:
        return np.ascontiguousarray((A - self._offset) / self._unit, dtype=np.float32)


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise ImportError(
            'an approximate search for neighbours needs FAISS: pip install "oddkernel[faiss]", or use '
            'kernel=AdaptiveGaussian(search="exact"), which is slow with many training items'
        ) from None
    return faiss
