"""Where learning starts: an initial kernel, its feature map φ, and φ of the items that people were asked about."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..kernels import Kernel, LowRank
from ..kernels.distances import squared_distances
from ..support.checks import refuse_extreme_kernel
from ..support.types import Array, Indices

# Number of items whose pairs give the default bounds of links, and of items whose φ is computed at a time, to bound the
# memory. Chosen by hand.
SAMPLE = 1000
# The covariance of φ is computed from at most this many items. Chosen by hand.
COVARIANCE_ITEMS = 5000


@dataclass(frozen=True, eq=False)
class Start:
    """An initial kernel with its features.

    Attributes
    ----------
    features : LowRank
        The feature map φ of the fitted kernel.
    phi : (s, r) array
        φ of the items asked about; no others take part in the learning.
    """

    features: LowRank
    phi: Array

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        X: Array,
        items: Indices,
        *,
        rank: float | int | None,
        random: np.random.RandomState,
    ) -> Start:
        """Fit a kernel to X and take its features of these items."""
        kernel = kernel.fit(X)
        features = LowRank.fit(kernel, X, rank=rank, constrained=items, random_state=random)
        phi = features.transform(X[items]) if len(items) else np.empty((0, features.rank))
        refuse_extreme_kernel(phi)
        return cls(features, phi)

    def covariance(self, X: Array) -> Array:
        """(r, r): the covariance of φ over the items, or over 5,000 of them at equal intervals if there are more."""
        some = X[:: -(-len(X) // COVARIANCE_ITEMS)]
        phi = np.concatenate([self.features.transform(some[i : i + SAMPLE]) for i in range(0, len(some), SAMPLE)])
        phi -= phi.mean(axis=0)
        return np.asarray(phi.T @ phi / len(phi))

    def squared_distances(self, X: Array, random: np.random.RandomState) -> Array:
        """The initial squared distances of all pairs of items, or of 1,000 drawn ones if there are more."""
        phi = self.features.transform(X[random.permutation(len(X))[:SAMPLE]])
        return np.asarray(squared_distances(phi, phi)[np.triu_indices(len(phi), 1)])
