"""The entries of a symmetric matrix, such as W, as a vector; and each row's C_c in these unknowns."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..problem.arrays import Array
from ..problem.distances import apart as differences
from ..problem.dual import Dual


class Unknowns:
    """The entries of a symmetric (q, q) matrix on and above the diagonal, as a vector with the same inner product."""

    def __init__(self, rank: int) -> None:
        self.rank = rank
        self.one, self.other = np.triu_indices(rank)
        self.weight = np.where(self.one == self.other, 1.0, 2.0**0.5)

    def vector(self, matrix: Array) -> Array:
        """Of a matrix."""
        return matrix[self.one, self.other] * self.weight

    def matrix(self, vector: Array) -> Array:
        """Of a vector."""
        matrix = np.zeros((self.rank, self.rank))
        matrix[self.one, self.other] = vector / self.weight
        matrix[self.other, self.one] = matrix[self.one, self.other]
        return matrix

    def pairs(self, problem: Dual, images: Array) -> Array:
        """(p, q(q + 1)/2): zzᵀ for the difference z of every pair's images."""
        apart = differences(images, problem.first, problem.second)
        return np.asarray(apart[:, self.one] * apart[:, self.other] * self.weight)


def on_pairs(problem: Dual, rows: Array) -> sparse.csr_array:
    """B of these rows: near_factor at the near pair of each, −far_factor at the far one."""
    m = len(rows)
    factors = np.r_[problem.near_factor[rows], -problem.far_factor[rows]]
    places = np.r_[:m, :m], np.r_[problem.near[rows], problem.far[rows]]
    return sparse.csr_array((factors, places), shape=(m, len(problem.place)))
