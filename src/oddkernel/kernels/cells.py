"""Approximate distances to the k-th nearest of very many items, which are sorted into cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..support.types import Array
from .distances import Reference

# FAISS asks for at least 39 items to place a cell.
SAMPLE_PER_CELL = 64
# Of the cells, a query looks into this share, and into as many as hold so many times k items on average.
PROBED, PROBED_ITEMS = 1 / 32, 8
# Beyond so many times the items' own extent, float32 has no digits left for their distances.
FAR = 1e3


class Cells:
    """Items sorted into √n cells by their nearest of √n centres (FAISS's IVF).

    Parameters
    ----------
    X : ndarray of shape (n, d)
        The items.
    """

    def __init__(self, X: Array) -> None:
        faiss = _faiss()
        self.items = X
        self._offset = X.mean(axis=0)
        # float32 overflows soon; the cells are the same in any unit.
        self._unit = float(np.abs(X - self._offset).max()) or 1.0
        n, d = X.shape
        n_cells = max(1, round(n**0.5))
        scaled = self._scaled(X)
        self._index = faiss.IndexIVFFlat(faiss.IndexFlatL2(d), d, n_cells)
        sample = np.linspace(0, n - 1, min(n, SAMPLE_PER_CELL * n_cells)).astype(np.intp)
        # Too few items for so many cells would be worth a line on the terminal to FAISS, which isn't ours to write.
        self._index.cp.min_points_per_centroid = 1
        self._index.train(scaled[sample])
        self._index.add(scaled)

    def distance(self, A: Array, k: int) -> Array:
        """The distance from each row of A to the k-th nearest of the items found near it, shape ``(len(A),)``."""
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
        # FAISS says which item it is; how far it is, float64 knows better.
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
            'so many training items need FAISS to find neighbours: pip install "oddkernel[faiss]", or '
            'kernel=AdaptiveGaussian(search="exact"), which takes long'
        ) from None
    return faiss
