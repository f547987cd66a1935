"""One pass of one-row steps, the sequential inner loop that ascent and projection share.

A row's step is exact: with the two difference vectors u (near) and v (far), a = near_factor·uᵀWu, d = far_factor·vᵀWv
and g² = near_factor·far_factor·(uᵀWv)², the dual along that row is log(1 + Δτ + Δ²θ) + bΔ − ψ*(α + Δ) with τ = a − d
and θ = −(ad − g²). Steps are taken in blocks of rows: within a block only the small Gram matrix of its pairs is kept
up to date, then W takes all of the block's steps at once as a matrix product: the result of one row after another.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from ..problem.arrays import Array
from ..problem.point import Point

BLOCK = 32
# A single step may not shrink or stretch the metric by more than this: what wants more is taken up again in the next
# pass, or is a contradiction.
LONGEST = 1e6
# Once a block of steps has stretched and shrunk a squared distance by more than this, what is left of it is rounding.
WORN = 1e8


def sweep(point: Point, order: Array, *, remember: bool) -> Array:
    """α after one exact step on each of the rows in ``order``, one after another.

    ``remember=True`` is coordinate ascent on the dual: the multiplier so far belongs to the equation. ``False`` is the
    paper's projection, which forgets it: only violated rows step, and always by a fresh multiplier.
    """
    problem, loss = point.problem, point.problem.loss
    metric, alpha = point.metric.copy(), point.alpha.copy()
    for start in range(0, len(order), BLOCK):
        rows = order[start : start + BLOCK]
        pairs, local = np.unique(np.r_[problem.near[rows], problem.far[rows]], return_inverse=True)
        vectors = problem.differences(pairs)
        moved = vectors @ metric
        before = alpha[rows]
        after, pair_weight, worn = _steps(
            moved @ vectors.T,
            local[: len(rows)],
            local[len(rows) :],
            problem.near_factor[rows],
            problem.far_factor[rows],
            problem.offset[rows],
            loss.curvature[rows],
            loss.lower[rows],
            loss.upper[rows],
            loss.temperature[rows],
            *_shared(loss.group, loss.temperature, alpha, rows),
            before,
            remember,
        )
        alpha[rows] = after
        active = np.flatnonzero(pair_weight)
        worn = worn or (len(active) > 0 and not _apply(metric, vectors[active], moved[active], pair_weight[active]))
        if worn:  # W afresh; where not even that can be had, the pass ends before the block
            fresh = problem.at(alpha)
            if fresh is None:
                alpha[rows] = before
                return alpha
            metric = fresh.metric.copy()
    return alpha


def _shared(group: Array, temperature: Array, alpha: Array, rows: Array) -> tuple[Array, Array]:
    """Which rows of a block share an entropy, numbered from 0, and how much α there is in each of these groups."""
    if not temperature[rows].any():
        return np.arange(len(rows)), np.zeros(len(rows))
    names, local = np.unique(group[rows], return_inverse=True)
    everywhere = np.bincount(group, np.where(temperature > 0, alpha, 0.0), minlength=names[-1] + 1)
    return local, everywhere[names]


def _apply(metric: Array, vectors: Array, moved: Array, weight: Array) -> bool:
    """W ← (W⁻¹ + Σ_p weight_p d_p d_pᵀ)⁻¹, in place; ``moved`` is dᵀW. False where rounding leaves nothing to solve."""
    gram = moved @ vectors.T
    try:
        inner = np.linalg.solve(np.eye(len(weight)) + weight[:, None] * gram, weight[:, None] * moved)
    except np.linalg.LinAlgError:
        return False
    metric -= moved.T @ inner
    metric += metric.T
    metric *= 0.5
    return True


@njit(cache=True, error_model="numpy")
def _steps(
    gram: Array,
    near: Array,
    far: Array,
    near_factor: Array,
    far_factor: Array,
    offset: Array,
    curvature: Array,
    lower: Array,
    upper: Array,
    temperature: Array,
    group: Array,
    used: Array,
    alpha: Array,
    remember: bool,
) -> tuple[Array, Array, bool]:
    """One step on each row of a block; keeps ``gram`` = D W Dᵀ up to date.

    Returns α, the change in Bᵀα, and whether the block was left early, its Gram matrix worn out.
    """
    p = gram.shape[0]
    shortest, longest = np.diag(gram).copy(), np.diag(gram).copy()
    weight = np.zeros(p)
    alpha = alpha.copy()
    column_u, column_v = np.empty(p), np.empty(p)
    worn = False
    for c in range(alpha.shape[0]):
        u, v = near[c], far[c]
        fu, fv = near_factor[c], far_factor[c]
        trace, determinant = two_by_two(fu, fv, gram[u, u], gram[u, v], gram[v, v])
        known = alpha[c] if remember else 0.0
        if not remember and lower[c] == 0.0 and trace + offset[c] <= 0.0:
            continue
        top = upper[c]
        if temperature[c] > 0.0:
            top = max(top - (used[group[c]] - alpha[c]), known)
        step = one_row(trace, determinant, offset[c], curvature[c], temperature[c], lower[c], top, known)
        if step == 0.0:
            continue
        used[group[c]] += step
        alpha[c] += step
        weight[u] += step * fu
        weight[v] -= step * fv
        uu, uv, vv = woodbury(step, fu, fv, gram[u, u], gram[u, v], gram[v, v])
        for k in range(p):
            column_u[k] = gram[k, u]
            column_v[k] = gram[k, v]
        for k in range(p):
            left = uu * column_u[k] + uv * column_v[k]
            right = uv * column_u[k] + vv * column_v[k]
            for h in range(p):
                gram[k, h] -= left * column_u[h] + right * column_v[h]
            shortest[k] = min(shortest[k], gram[k, k])
            longest[k] = max(longest[k], gram[k, k])
            worn |= shortest[k] * WORN < longest[k]
        if worn:
            break
    return alpha, weight, worn


@njit(cache=True, error_model="numpy")
def two_by_two(near_factor: float, far_factor: float, uu: float, uv: float, vv: float) -> tuple[float, float]:
    """τ and θ of a row, from uᵀWu, uᵀWv and vᵀWv."""
    a, d = near_factor * uu, far_factor * vv
    return a - d, -max(a * d - near_factor * far_factor * uv * uv, 0.0)


@njit(cache=True, error_model="numpy")
def woodbury(
    step: float, near_factor: float, far_factor: float, uu: float, uv: float, vv: float
) -> tuple[float, float, float]:
    """N₁₁, N₁₂ and N₂₂ of the symmetric N in W⁺ = W − [Wu, Wv] N [Wu, Wv]ᵀ after a step Δ on a row.

    1 + Δτ + Δ²θ is the determinant of the system that N inverts.
    """
    trace, determinant = two_by_two(near_factor, far_factor, uu, uv, vv)
    below = 1.0 + step * trace + step * step * determinant
    return (
        step * near_factor * (1.0 - step * far_factor * vv) / below,
        step * step * near_factor * far_factor * uv / below,
        -step * far_factor * (1.0 + step * near_factor * uu) / below,
    )


@njit(cache=True, error_model="numpy")
def one_row(
    trace: float,
    determinant: float,
    offset: float,
    curvature: float,
    temperature: float,
    lower: float,
    upper: float,
    alpha: float,
) -> float:
    """The Δ that maximises log(1 + Δτ + Δ²θ) + bΔ − ψ*(α + Δ) where lower ≤ α + Δ ≤ upper.

    The derivative falls throughout the interval where the determinant is positive, so that the root is unique and a
    bracketed Newton iteration finds it. It looks for Δ, not α + Δ: the metric may be so stretched that it feels a step
    that hardly shows in α.
    """
    # The eigenvalues of the 2 × 2 problem, η₂ ≤ 0 ≤ η₁, each without cancellation.
    root = math.sqrt(trace * trace - 4.0 * determinant)
    if trace >= 0.0:
        high = 0.5 * (trace + root)
        low = determinant / high if high > 0.0 else 0.0
    else:
        low = 0.5 * (trace - root)
        high = determinant / low
    left, right = lower - alpha, upper - alpha
    size = max(high, -low)
    if size > 0.0:
        back = 1.0 / high if high * LONGEST > size else LONGEST / size
        forth = -1.0 / low if -low * LONGEST > size else LONGEST / size
        left, right = max(left, -back * (1.0 - 1e-9)), min(right, forth * (1.0 - 1e-9))
    elif curvature == 0.0 and temperature == 0.0:  # a line, which may have no top
        return left if offset < 0.0 else 0.0
    if temperature > 0.0:  # neither end of the interval belongs to it
        left, right = max(left, 1e-290 - alpha * (1.0 - 1e-15)), min(right, upper * (1.0 - 1e-15) - alpha)
    left, right = max(left, -1e300), min(right, 1e300)
    if left >= right or _slope(left, alpha, high, low, offset, curvature, temperature, upper)[0] <= 0.0:
        return left
    if _slope(right, alpha, high, low, offset, curvature, temperature, upper)[0] >= 0.0:
        return right
    step = 0.0 if left <= 0.0 <= right else 0.5 * (left + right)
    for _ in range(300):
        slope, bend = _slope(step, alpha, high, low, offset, curvature, temperature, upper)
        if slope > 0.0:
            left = step
        else:
            right = step
        wanted = step + slope / bend if bend > 0.0 else left
        if abs(wanted - step) <= 1e-15 * abs(wanted):
            return wanted
        if not left < wanted < right:
            # Halfway in digits of α + Δ where the ends differ by orders of magnitude, in value otherwise.
            least, most = alpha + left, alpha + right
            wanted = math.sqrt(least * most) - alpha if least > 0.0 and most > 4.0 * least else 0.5 * (left + right)
            if not left < wanted < right:
                return step
        step = wanted
    return step


@njit(cache=True, error_model="numpy")
def _slope(
    step: float,
    alpha: float,
    high: float,
    low: float,
    offset: float,
    curvature: float,
    temperature: float,
    upper: float,
) -> tuple[float, float]:
    """Derivative and minus second derivative; in the eigenvalues, not τ and θ: no cancellation near the ends."""
    beta = alpha + step
    first, second = high / (1.0 + step * high), low / (1.0 + step * low)
    slope = offset + first + second - curvature * beta
    bend = first * first + second * second + curvature
    if temperature > 0.0:
        slope -= temperature * (math.log(beta) - math.log(upper - beta))
        bend += temperature * (1.0 / beta + 1.0 / (upper - beta))
    return slope, bend
