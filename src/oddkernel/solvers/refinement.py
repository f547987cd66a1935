"""Newton's method on the metric and the multipliers at once: where S(α) has lost the digits that W still has.

With W = LLᵀ, Z = ΦL and E = LᵀS(α)L − I, the step Δα of the multipliers and X of the metric, W⁺ = L(I + X)Lᵀ, solve

    tr(Z X Zᵀ C_c) + tr(K C_c) + b_c = ψ*_c'(α_c) + ψ*_c''Δα_c,    X = −E − Zᵀ(Σ_c Δα_c C_c)Z.

A row's violation is that of W, and known to the rounding of its own distances. A metric computed from multipliers is
off by the rounding of S(α), which the largest multipliers determine.
"""

from __future__ import annotations

import numpy as np

from ..problem.arrays import Array, cholesky, dot, symmetrised
from ..problem.point import Point
from .costs import DENSE
from .loop import optimal
from .newton import bounded_maximum
from .primal import Primal

# Most steps, and how many may pass without halving E or the residual; the shortest step. By trial: from where Newton's
# method has stalled, two to six steps arrive, or none does.
STEPS, PATIENCE, SHORTEST = 20, 2, 1e-3


def refined(primal: Primal, alpha: Array, tol: float) -> Point | None:
    """The optimum, where steps from a metric and multipliers in NumPy arrive there. For losses without entropy."""
    problem, unit, loss = primal.problem, primal.problem.unit, primal.problem.loss
    least, idle = [np.inf, np.inf], 0
    for _ in range(STEPS):
        found = primal.known(alpha)
        if found is not None and optimal(found, tol):
            return found
        here = Point(problem, alpha, unit, unit).knowing(images=primal.images)
        apart = primal.inner + problem.spread(primal.images, alpha) - unit
        # Its triangles are rounded differently, and Cholesky's factor reads one: on draw(21003528) that left 4e-7 of a
        # violation that a step met to 1e-15 otherwise.
        apart = symmetrised(apart)
        left = [dot(apart, apart) ** 0.5, here.residual]
        nearer = [now < 0.5 * before for now, before in zip(left, least, strict=True)]
        least, idle = [min(pair) for pair in zip(left, least, strict=True)], 0 if any(nearer) else idle + 1
        if idle > PATIENCE:
            return None
        rows = np.flatnonzero(here.free)
        if len(rows) > DENSE:  # their Hessian would be too large
            return None
        lacking = (here.gradient - problem.sandwich(primal.images, apart))[rows]
        step = np.zeros(len(problem))
        step[rows] = bounded_maximum(
            here.hessian(rows), lacking, (loss.lower - alpha)[rows], (loss.upper - alpha)[rows]
        )
        change, length = -apart - problem.spread(primal.images, step), 1.0
        while (turn := cholesky(unit + length * change)) is None and length > SHORTEST:
            length *= 0.5
        if turn is None:
            return None
        alpha, primal = loss.moved(alpha, length * step), primal.turned(turn)
    return None
