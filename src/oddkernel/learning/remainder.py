"""What the features φ leave out of new items, and how much it adds to their expected squared distances.

A new item has no coordinates for the part of it that no known item shares: its identity part, and whatever φ doesn't
reach. Under the initial kernel this remainder has the covariance

    r(x, y) = k₀(x, y) − φ(x)ᵀφ(y)

between new items, and none with known ones. The expected squared distance of two items is that of their coordinates
plus ``c (r(x, x) + r(y, y) − 2 r(x, y))``, with r = 0 for known items. The factor c says what learning made of such a
part: the mean over known items of what they would lose if they were new, in learned squared distance, divided by the
mean of r(x, x) that they would then have.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from ..kernels import LowRank
from ..kernels.distances import row_blocks
from ..kernels.identity import equal_rows, rows_among
from ..support.types import Array, Indices

WIDEST = 4096
"""Blocks of rows are as high as if they had at most this many columns: the adaptive kernel computes the bandwidths of
all columns anew for each block. Chosen by hand."""


@dataclass(frozen=True, eq=False)
class Remainder:
    """The remainder of some items.

    Attributes
    ----------
    features : LowRank
        φ.
    factor : float
        c above.
    items : (a, d) array
        The items.
    phi : (a, r) array
        Their φ.
    variance : (a,) array
        c·r(x, x); 0 for known items.
    """

    features: LowRank
    factor: float
    items: Array
    phi: Array
    variance: Array

    @classmethod
    def of(cls, features: LowRank, factor: float, known: Indices, items: Array, phi: Array) -> Self:
        """The remainder of items; those equal to a training item with an index in ``known`` have none."""
        variance = np.zeros(len(items))
        if factor > 0:
            new = np.flatnonzero(~rows_among(items, features.kernel.X_fit_[known]))
            if len(new):
                whole = features.kernel.diagonal(items[new])
                variance[new] = factor * np.maximum(whole - np.einsum("ij,ij->i", phi[new], phi[new]), 0.0)
        return cls(features, factor, items, phi, variance)

    def __getitem__(self, rows: Indices | slice) -> Self:
        return type(self)(self.features, self.factor, self.items[rows], self.phi[rows], self.variance[rows])

    @property
    def new(self) -> Indices:
        """Positions of the items that have a remainder."""
        return np.flatnonzero(self.variance)

    def between(self, other: Self) -> Array:
        """What to add to the squared distances between these items and others, shape (a, b)."""
        added = self.variance[:, None] + other.variance[None, :]
        here, there = self.new, other.new
        if len(here) and len(there):
            one, two = self[here], self[here] if other is self else other[there]
            shared = self.features.kernel(one.items, None if other is self else two.items)
            shared -= one.phi @ two.phi.T
            shared *= -2.0 * self.factor
            shared += one.variance[:, None] + two.variance[None, :]
            np.maximum(shared, 0.0, out=shared)
            shared[equal_rows(one.items, two.items) > 0] = 0.0  # rounding would leave an item a distance to its copies
            added[np.ix_(here, there)] = shared
        return np.asarray(added)

    def of_pairs(self, first: Indices, second: Indices) -> Array:
        """What to add to the squared distances of pairs of these items, shape (p,)."""
        added = self.variance[first] + self.variance[second]
        pairs = np.flatnonzero((self.variance[first] > 0) & (self.variance[second] > 0))
        if len(pairs):
            new, place = np.unique(np.stack([first[pairs], second[pairs]]), return_inverse=True)
            rows, columns = place.reshape(2, -1)
            among = self[new]
            for block in row_blocks(len(new), min(len(new), WIDEST)):
                inside = np.flatnonzero((rows >= block.start) & (rows < block.stop))
                if len(inside):
                    values = among[block].between(among)
                    added[pairs[inside]] = values[rows[inside] - block.start, columns[inside]]
        return np.asarray(added)

    def of_triples(self, shown: Indices) -> Array:
        """What to add to the squared distance of the pair opposite each position, shape (m, 3)."""
        first, second = shown[:, [1, 2, 0]], shown[:, [2, 0, 1]]
        return self.of_pairs(first.ravel(), second.ravel()).reshape(-1, 3)

    def products(self, shown: Indices) -> Array:
        """Inner products between the remainders of the three differences of each triple, shape (m, 3, 3)."""
        added = self.of_triples(shown)
        # The differences sum to zero, so that their lengths give their products.
        found = 0.5 * added.sum(axis=1)[:, None, None] - (added[:, :, None] + added[:, None, :])
        found[:, range(3), range(3)] = added
        return np.asarray(found)


def learned_factor(features: LowRank, root: Array, asked: Indices) -> float:
    """The factor c of the remainder, from known items taken for new ones, one at a time.

    A landmark x whose own part o = 1/(K₀⁻¹)_xx is unknown has the features φ(x) − o·b, where b is its row of ``basis``.
    What it loses is the mean over the other items of the difference of squared distances, with φ(x) and without.

    Parameters
    ----------
    features : LowRank
        φ.
    root : (r, k) array
        The learned metric is root·rootᵀ.
    asked : array of int
        Indices of the training items that people were asked about. The mean is over these; over all landmarks if fewer
        than two of them were asked about.

    Returns
    -------
    float
        0 for a precomputed kernel, which doesn't know k₀(x, x) of new items.
    """
    if not features.knows_diagonal:
        return 0.0
    chosen = np.flatnonzero(np.isin(features.landmarks, asked))
    if len(chosen) < 2:
        chosen = np.arange(len(features.landmarks))
    basis = features.basis[chosen]
    phi, own = basis * features.eigenvalues, features.own()[chosen]
    lost = basis * own[:, None]
    whole = features.kernel.diagonal(features.kernel.X_fit_[features.landmarks[chosen]])
    # k₀(x, x) − ‖φ(x) − lost‖², written with φ(x)ᵀb = 1 − outside, which holds for centred kernels as well.
    dropped = whole.sum() - np.square(phi).sum()
    unexplained = dropped + 2.0 * own @ (1.0 - features.outside()[chosen]) - np.square(lost).sum()
    z, e = phi @ root, lost @ root
    from_others = z - (z.sum(axis=0) - z) / max(len(z) - 1, 1)
    farther = 2.0 * np.einsum("ij,ij->", from_others, e) - np.square(e).sum()
    return float(farther / unexplained) if farther > 0 and unexplained > 0 else 0.0
