"""One pass of projections on K of the constrained items: a row is checked by reading a few of its entries.

A step on a row with the differences u and v makes K⁺ = K − [Ku, Kv] N [Ku, Kv]ᵀ for a symmetric 2 × 2 matrix N. K
is not updated after each step: the columns [Ku, Kv] are collected, and their effect is added to every entry that is
read. Once there are enough of them, one matrix product updates K.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from ..problem.arrays import Array
from ..problem.distances import CANCELLATION
from ..problem.point import Point
from .sweep import one_row, sweep, two_by_two, woodbury

# Columns that wait, two for each step.
WAITING = 64


def gathered_pass(point: Point, order: Array) -> tuple[Array, Array | None]:
    """α, summed over all projections, after one projection on each violated row in ``order``, one after another.

    Beside it stands K there, if it is known.
    """
    problem, loss = point.problem, point.problem.loss
    near, far = problem.near[order], problem.far[order]
    near_factor, far_factor = problem.near_factor[order], problem.far_factor[order]
    if loss.has_entropy or not point.readable(near[near_factor > 0], far[far_factor > 0]):
        return sweep(point, order, remember=False), None
    kernel, alpha = point.kernel.copy(), point.alpha.copy()
    peak = np.diagonal(kernel).copy()
    done, worn = 0, False
    while done < len(order) and not worn:
        left = slice(done, None)
        taken, worn, steps, columns, turned = _project(
            kernel,
            peak,
            np.stack([problem.first[near[left]], problem.second[near[left]]]),
            np.stack([problem.first[far[left]], problem.second[far[left]]]),
            near_factor[left],
            far_factor[left],
            problem.offset[order[left]],
            loss.curvature[order[left]],
            loss.lower[order[left]],
            loss.upper[order[left]],
        )
        alpha[order[done : done + taken]] += steps[:taken]
        done += taken
        kernel -= columns @ turned.T
    if done < len(order):
        fresh = problem.at(alpha)
        return alpha if fresh is None else sweep(fresh, order[done:], remember=False), None
    return alpha, kernel


@njit(cache=True, error_model="numpy")
def _project(
    kernel: Array,
    peak: Array,
    near: Array,
    far: Array,
    near_factor: Array,
    far_factor: Array,
    offset: Array,
    curvature: Array,
    lower: Array,
    upper: Array,
) -> tuple[int, bool, Array, Array, Array]:
    """Steps until enough columns wait.

    Returns how many rows were seen to; whether it stopped since a distance has become so small beside K that the next
    row can't be read off it (``peak`` is the largest that each K_ii has been), or since that row's pairs hardly differ;
    the steps; the columns; these times N.
    """
    m, s = len(offset), len(kernel)
    steps = np.zeros(m)
    columns, turned = np.zeros((s, WAITING)), np.zeros((s, WAITING))
    norm = np.diag(kernel).copy()
    n = 0
    for c in range(m):
        if n == WAITING:
            return c, False, steps, columns[:, :n], turned[:, :n]
        i, j, k, h = near[0, c], near[1, c], far[0, c], far[1, c]
        uu = kernel[i, i] - 2.0 * kernel[i, j] + kernel[j, j]
        vv = kernel[k, k] - 2.0 * kernel[k, h] + kernel[h, h]
        for t in range(n):
            uu -= (columns[i, t] - columns[j, t]) * (turned[i, t] - turned[j, t])
            vv -= (columns[k, t] - columns[h, t]) * (turned[k, t] - turned[h, t])
        close = near_factor[c] > 0.0 and uu < CANCELLATION * (peak[i] + peak[j])
        if close or (far_factor[c] > 0.0 and vv < CANCELLATION * (peak[k] + peak[h])):
            return c, True, steps, columns[:, :n], turned[:, :n]
        if lower[c] == 0.0 and near_factor[c] * uu - far_factor[c] * vv + offset[c] <= 0.0:
            continue
        uv = kernel[i, k] - kernel[i, h] - kernel[j, k] + kernel[j, h]
        for t in range(n):
            uv -= (columns[i, t] - columns[j, t]) * (turned[k, t] - turned[h, t])
        # Copies among the items: C_c = uuᵀ − vvᵀ with u = ±v is 0 but for rounding, which steps on such a row amplify.
        if near_factor[c] == far_factor[c] and uu - 2.0 * abs(uv) + vv < CANCELLATION * (uu + vv):
            return c, True, steps, columns[:, :n], turned[:, :n]
        trace, determinant = two_by_two(near_factor[c], far_factor[c], uu, uv, vv)
        steps[c] = one_row(trace, determinant, offset[c], curvature[c], 0.0, lower[c], upper[c], 0.0)
        if steps[c] == 0.0:
            continue
        first, cross, second = woodbury(steps[c], near_factor[c], far_factor[c], uu, uv, vv)
        across_near, across_far = turned[i] - turned[j], turned[k] - turned[h]
        for item in range(s):
            u, v = kernel[i, item] - kernel[j, item], kernel[k, item] - kernel[h, item]
            for t in range(n):
                u -= columns[item, t] * across_near[t]
                v -= columns[item, t] * across_far[t]
            columns[item, n], columns[item, n + 1] = u, v
            turned[item, n], turned[item, n + 1] = first * u + cross * v, cross * u + second * v
            norm[item] -= u * turned[item, n] + v * turned[item, n + 1]
            peak[item] = max(peak[item], norm[item])
        n += 2
    return m, False, steps, columns[:, :n], turned[:, :n]
