"""How sure the learned distances are: Laplace's approximation at the optimum.

Read as a posterior, exp(−objective) has a covariance at its peak that the dual's Hessian gives. With the learned
squared distance of a pair q written as tr(W C_q),

    cov(q, q′) = tr(W C_q W C_q′) − M_qᵀ H⁻¹ M_q′,    M_qc = tr(W C_q W C_c),

where H is the dual's Hessian on the rows that are at work: what the initial kernel leaves open, less what the answers
say.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import LinearOperator, cg

from ..problem.point import Point
from ..support.types import Array

# With more rows at work than this, conjugate gradients take the place of a factorisation.
DENSE = 3000
# How well they are solved: a standard deviation needs no more digits.
ENOUGH = 1e-3
# Entries of the matrix between questions and rows that are formed at a time.
BLOCK = 10_000_000


class Uncertainty:
    """Variances of learned squared distances.

    Parameters
    ----------
    point : Point
        The optimum.
    dispersion : float
        What the covariance is multiplied by: the penalty, where that counts log-likelihoods.
    """

    def __init__(self, point: Point, dispersion: float = 1.0) -> None:
        self.point, self.dispersion = point, dispersion
        self.rows = np.flatnonzero(point.free)
        self.images = point.problem.features[point.problem.items] @ point.root
        self._factor = None
        if 0 < len(self.rows) <= DENSE:
            hessian = point.hessian(self.rows)
            # Repeated answers make it singular; the shift vanishes from what is asked of it.
            hessian[np.diag_indices_from(hessian)] *= 1.0 + 1e-10
            self._factor = linalg.cho_factor(hessian, check_finite=False)

    def covariance(self, differences: Array, beyond: Array | None = None) -> Array:
        """Covariances between the squared distances of a few pairs at a time.

        Parameters
        ----------
        differences : (k, g, r) array
            φ(x) − φ(y) of every pair in the problem's features, k groups of g.
        beyond : (k, g, g) array, optional
            Inner products between what φ leaves out of the pairs' differences. No answer says anything about it.

        Returns
        -------
        (k, g, g) array
        """
        k, g, _ = differences.shape
        step = max(BLOCK // max(g * len(self.rows), 1), 1)
        beyond = np.zeros((k, 1, 1)) if beyond is None else beyond
        blocks = [self._block(differences[i : i + step], beyond[i : i + step]) for i in range(0, k, step)]
        return np.concatenate(blocks) if blocks else np.empty((0, g, g))

    def _block(self, differences: Array, beyond: Array) -> Array:
        k, g, r = differences.shape
        moved = differences @ self.point.root
        open_ = np.square(moved @ moved.transpose(0, 2, 1) + beyond)
        if not len(self.rows):
            return np.asarray(self.dispersion * open_)
        problem, rows = self.point.problem, self.rows
        across = moved.reshape(k * g, r) @ self.images.T
        (i, j), (p, q) = problem.pairs[problem.near[rows]].T, problem.pairs[problem.far[rows]].T
        meeting = problem.near_factor[rows] * np.square(across[:, i] - across[:, j])
        meeting -= problem.far_factor[rows] * np.square(across[:, p] - across[:, q])
        told = (meeting.reshape(k, g, -1) @ self._solved(meeting).reshape(k, g, -1).transpose(0, 2, 1)).reshape(k, g, g)
        left = open_ - 0.5 * (told + told.transpose(0, 2, 1))
        # Where answers say nearly all, rounding may leave a variance below zero.
        each = np.arange(g)
        left[:, each, each] = np.maximum(left[:, each, each], 0.0)
        return np.asarray(self.dispersion * left)

    def _solved(self, right: Array) -> Array:
        """Every row of ``right`` times H⁻¹."""
        if self._factor is not None:
            return np.asarray(linalg.cho_solve(self._factor, right.T, check_finite=False).T)
        point, rows = self.point, self.rows
        whole = np.zeros(len(point.alpha))

        def product(x: Array) -> Array:
            whole[rows] = x.ravel()
            return np.asarray(point.hessian_product(whole)[rows])

        shape = (len(rows), len(rows))
        diagonal = point.hessian_diagonal[rows]
        operator = LinearOperator(shape, matvec=product, dtype=float)
        scaling = LinearOperator(shape, matvec=lambda x: x.ravel() / diagonal, dtype=float)
        return np.array([cg(operator, each, rtol=ENOUGH, M=scaling, maxiter=200)[0] for each in right])
