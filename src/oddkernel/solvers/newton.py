"""Newton's method on the rows that pull: exact, second order."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg

from ..dual import Point, cholesky
from ..solution import Status
from .sweep import sweep

Array = npt.NDArray[Any]

# Relative to the Hessian's diagonal. Redundant equalities and repeated answers make the Hessian singular; the shift
# picks one of the equivalent steps and vanishes from the kernel.
SHIFT = 1e-11
# A step may not stretch a squared distance by more than this: the quadratic model says nothing that far away.
STRETCH = 4.0
# With more rows than this, conjugate gradients take the place of the dense Hessian.
DENSE = 3000
# Most products with the Hessian for one direction.
CG_STEPS = 50
# A step that leaves more than this share of the residual is slow.
SLOW = 0.9
# While the residual is larger, the quadratic model is crude: its maximum need not be exact...
CRUDE = 0.01
# ...and this share of the rows may be on the wrong side of their bounds.
WRONG = 0.02


class Newton:
    """One step maximises the dual's quadratic model within the multipliers' intervals.

    Up to a few thousand rows the model is solved by block principal pivoting: rows are guessed to be free or held, the
    free ones follow from a Cholesky factorisation, and whichever rows contradict the guess change sides. Beyond, by
    conjugate gradients on the free rows, to which the number of rows is only a matter of gathers. The step is shortened
    until the dual grows. Where that leads nowhere, the quadratic model says little, and a pass of ascent follows, whose
    steps are exact however far they go.
    """

    exact = True
    default_max_iter = 500

    def step(self, point: Point) -> Array | Point:
        """The point after one step."""
        rows = np.flatnonzero(point.free)
        moved = climb(point, rows)
        # A first step may well raise the residual: it is the first to see how the rows bear on one another.
        if moved and (moved.residual <= SLOW * point.residual or not point.alpha.any()):
            return moved
        point = moved or point
        return sweep(point, np.flatnonzero(point.free), remember=True)

    def finished(self, before: Point, after: Point, tol: float) -> Status | None:
        """Never: the loop stops an exact solver."""
        return None


def climb(point: Point, rows: Array) -> Point | None:
    """The point that a Newton step on these rows leads to, shortened until the dual grows; None if it doesn't."""
    loss = point.problem.loss
    alpha, lower, upper = point.alpha[rows], loss.lower[rows], loss.upper[rows]
    if len(rows) <= DENSE:
        # An entropy needs no walls: its own slope is infinite there.
        walls = loss.temperature[rows] == 0
        low, high = np.where(walls, lower - alpha, -np.inf), np.where(walls, upper - alpha, np.inf)
        wrong = WRONG if point.residual > CRUDE else 0.0
        direction = bounded_maximum(point.hessian(rows), point.gradient[rows], low, high, wrong=wrong)
    else:
        direction = conjugate_gradients(point, rows)
    rounding = 1e-13 * (1.0 + abs(point.objective))
    length = 1.0
    while length > 1e-8:
        step = np.zeros(len(point.alpha))
        step[rows] = length * direction
        target = loss.moved(point.alpha, step)
        # Not along the direction itself: conjugate gradients know no bounds, and the clipped step bends.
        slope = float(point.gradient @ (target - point.alpha))
        if not slope > 0:
            return None
        moved = point.problem.at(target)
        if (
            moved is not None
            and moved.objective >= point.objective + 1e-4 * slope - rounding
            and cholesky(STRETCH * moved.bent - point.bent) is not None
        ):
            return moved
        length *= 0.5
    return None


def conjugate_gradients(point: Point, rows: Array) -> Array:
    """Roughly H⁻¹g on these rows, the better the nearer the optimum is (so that convergence stays superlinear)."""
    gradient = point.gradient[rows]
    scale = 1.0 / np.maximum(point.hessian_diagonal[rows], np.finfo(float).tiny)
    direction, rest = np.zeros(len(rows)), gradient.copy()
    towards = scale * rest
    product = float(rest @ towards)
    goal = min(0.1, point.residual) ** 2 * product
    whole = np.zeros(len(point.alpha))
    for _ in range(CG_STEPS):
        whole[rows] = towards
        bent = point.hessian_product(whole)[rows]
        curvature = float(towards @ bent)
        if curvature <= 0:
            break
        length = product / curvature
        direction += length * towards
        rest -= length * bent
        scaled = scale * rest
        before, product = product, float(rest @ scaled)
        if product <= goal:
            break
        towards = scaled + (product / before) * towards
    return direction


def bounded_maximum(hessian: Array, gradient: Array, lower: Array, upper: Array, *, wrong: float = 0.0) -> Array:
    """argmax of gᵀx − ½xᵀHx over lower ≤ x ≤ upper, with H positive semidefinite (Júdice & Pires 1994).

    It ends once no more than a share ``wrong`` of the rows are on the wrong side of their bounds.
    """
    size = np.sqrt(np.diagonal(hessian))
    size = np.where(size > 0, size, 1.0)
    hessian = hessian / np.outer(size, size)
    hessian[np.diag_indices_from(hessian)] += SHIFT
    allowed = wrong * len(size)
    gradient, lower, upper = gradient / size, lower * size, upper * size

    held_low, held_high = np.zeros(len(size), bool), np.zeros(len(size), bool)
    x = np.zeros(len(size))
    fewest, patience = len(size) + 1, 10
    for _ in range(100 + len(size)):
        held = held_low | held_high
        x[held_low], x[held_high] = lower[held_low], upper[held_high]
        free = np.flatnonzero(~held)
        if len(free):
            known = gradient[free] - hessian[np.ix_(free, np.flatnonzero(held))] @ x[held]
            x[free] = _solve(hessian[np.ix_(free, free)].T, known)
        slope = gradient - hessian @ x
        below, above = ~held & (x < lower), ~held & (x > upper)
        released = (held_low & (slope > 1e-14)) | (held_high & (slope < -1e-14))
        misplaced = below | above | released
        count = int(misplaced.sum())
        if count <= allowed:
            break
        # All such rows change sides while that helps; then one at a time (Murty's rule), which can't cycle.
        if count < fewest:
            fewest, patience = count, 10
        elif patience > 0:
            patience -= 1
        else:
            last = np.flatnonzero(misplaced)[-1]
            keep = np.zeros_like(misplaced)
            keep[last] = True
            below, above, released = below & keep, above & keep, released & keep
        held_low = (held_low & ~released) | below
        held_high = (held_high & ~released) | above
    return np.asarray(np.clip(x, lower, upper) / size)


def _solve(matrix: Array, right: Array) -> Array:
    shift = SHIFT
    while True:
        try:
            factor = linalg.cho_factor(matrix, check_finite=False)
            return np.asarray(linalg.cho_solve(factor, right, check_finite=False))
        except linalg.LinAlgError:
            matrix = matrix + shift * np.eye(len(right))
            shift *= 10.0
