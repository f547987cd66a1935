"""One pass of projections on a factor of the metric: section 4.1 and Appendix C of the paper.

With W = GGᵀ and Z = [Gᵀu, Gᵀv] (q × 2), a step on a row makes W⁺ = G(I + ZMZᵀ)Gᵀ for a symmetric 2 × 2 matrix M. The
Cholesky factor L of I + ZMZᵀ follows column by column, and G⁺ = GL in O(q²):

    τ_j = 1 + z_jᵀM_j z_j,   L_jj = √τ_j,   L_ij = z_iᵀM_j z_j / √τ_j  (i > j),   M_{j+1} = M_j − M_j z_j z_jᵀM_j / τ_j.

The paper's blocks below the diagonal lack the factor 1/√τ.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from scipy import linalg

from ..problem.arrays import Array
from ..problem.point import Point
from .sweep import one_row, two_by_two, woodbury


def factored_pass(point: Point, order: Array) -> Array:
    """α, summed over all projections, after one projection on each violated row in ``order``, one after another."""
    problem, loss = point.problem, point.problem.loss
    factor = linalg.solve_triangular(point.factor, np.eye(problem.rank), lower=True, trans="T", check_finite=False)
    alpha = point.alpha.copy()
    alpha[order] += _project(
        np.ascontiguousarray(factor),
        problem.differences(problem.near[order]),
        problem.differences(problem.far[order]),
        problem.near_factor[order],
        problem.far_factor[order],
        problem.offset[order],
        loss.curvature[order],
        loss.lower[order],
        loss.upper[order],
        loss.temperature[order],
    )
    return alpha


@njit(cache=True, error_model="numpy")
def _project(
    factor: Array,
    near: Array,
    far: Array,
    near_factor: Array,
    far_factor: Array,
    offset: Array,
    curvature: Array,
    lower: Array,
    upper: Array,
    temperature: Array,
) -> Array:
    """The step on each row; keeps ``factor`` = G up to date."""
    m = near.shape[0]
    steps = np.zeros(m)
    z = np.empty((near.shape[1], 2))
    for c in range(m):
        z[:, 0] = factor.T @ near[c]
        z[:, 1] = factor.T @ far[c]
        uu, uv, vv = (z[:, 0] ** 2).sum(), (z[:, 0] * z[:, 1]).sum(), (z[:, 1] ** 2).sum()
        trace, determinant = two_by_two(near_factor[c], far_factor[c], uu, uv, vv)
        if lower[c] == 0.0 and trace + offset[c] <= 0.0:
            continue
        steps[c] = one_row(trace, determinant, offset[c], curvature[c], temperature[c], lower[c], upper[c], 0.0)
        first, cross, second = woodbury(steps[c], near_factor[c], far_factor[c], uu, uv, vv)
        multiply_by_cholesky(factor, z, -first, -cross, -second)
    return steps


@njit(cache=True, error_model="numpy")
def multiply_by_cholesky(factor: Array, z: Array, first: float, cross: float, second: float) -> None:
    """G ← GL in place, where LLᵀ = I + ZMZᵀ and M = [[first, cross], [cross, second]]."""
    q = z.shape[0]
    pivot, pull = np.empty(q), np.empty((q, 2))  # √τ_j and M_j z_j / √τ_j
    for j in range(q):
        a = first * z[j, 0] + cross * z[j, 1]
        b = cross * z[j, 0] + second * z[j, 1]
        tau = 1.0 + z[j, 0] * a + z[j, 1] * b
        pivot[j] = math.sqrt(tau)
        pull[j, 0], pull[j, 1] = a / pivot[j], b / pivot[j]
        first -= a * a / tau
        cross -= a * b / tau
        second -= b * b / tau
    for i in range(factor.shape[0]):
        later_u, later_v = 0.0, 0.0  # Σ_{k>j} G_ik z_k
        for j in range(q - 1, -1, -1):
            here = factor[i, j]
            factor[i, j] = pivot[j] * here + later_u * pull[j, 0] + later_v * pull[j, 1]
            later_u += here * z[j, 0]
            later_v += here * z[j, 1]
