"""Newton's method on the rows that pull: exact, second order."""

from __future__ import annotations

import numpy as np

from ..problem.arrays import Array, cholesky, lapack, namespace, plus_diagonal, to_numpy
from ..problem.point import Point
from ..problem.solution import Status
from .costs import DENSE, newton_cost, pass_cost
from .sweep import sweep

# Relative to the Hessian's diagonal, in units of its rounding. Redundant equalities and repeated answers make the
# Hessian singular; the shift picks one of the equivalent steps and vanishes from the kernel.
SHIFT = 5e4
# A step may not stretch a squared distance by more than this: the quadratic model says nothing that far away.
STRETCH = 4.0
# Most products with the Hessian for one direction.
CG_STEPS = 50
# A step that leaves more than this share of the residual is slow.
SLOW = 0.9
# Operations that a pass may take in any case.
AFFORDABLE = 1e9
# Rows up to which pivoting may go on one row at a time, and rounds that it may take with more. Chosen by hand: in the
# few problems looked at it took 5 to 16 rounds where H is not singular.
FEW, PIVOTS = 300, 40
# As far as single precision leads, and in how many steps it must.
NEAR, STEPS = 5e-3, 20


class Newton:
    """One step maximises the dual's quadratic model within the multipliers' intervals.

    Up to a few thousand rows the model is solved by block principal pivoting: rows are guessed to be free or held, the
    free ones follow from a Cholesky factorisation, and whichever rows contradict the guess change sides. Beyond, by
    conjugate gradients on the free rows, to which the number of rows is only a matter of gathers. The step is shortened
    until the dual grows. Where that leads nowhere, the quadratic model says little, and a pass of ascent follows, whose
    steps are exact however far they go, unless there are so many rows that it would cost more than further steps.
    """

    exact = True
    second_order = True
    default_max_iter = 500

    def step(self, point: Point) -> Array | Point:
        """The point after one step."""
        moved = climb(point, np.flatnonzero(to_numpy(point.free)))
        # A first step may well raise the residual: it is the first to see how the rows bear on one another.
        if moved and (moved.residual <= SLOW * point.residual or not to_numpy(point.alpha).any()):
            return moved
        if moved and pass_cost(moved) > newton_cost(moved) + AFFORDABLE:
            return moved
        point = (moved or point).host
        return sweep(point, np.flatnonzero(point.free), remember=True)

    def finished(self, before: Point, after: Point, tol: float) -> Status | None:
        """Never: the loop stops an exact solver."""
        return None


def approach(point: Point) -> Array:
    """Multipliers near the optimum, or as near as Newton's steps in single precision lead."""
    there = point.problem.single.at(to_numpy(point.alpha))
    for _ in range(STEPS):
        if there is None or there.residual <= NEAR:
            break
        moved = climb(there, np.flatnonzero(there.free))
        if moved is None or (moved.residual > SLOW * there.residual and there.alpha.any()):
            break
        there = moved
    return point.alpha if there is None else point.problem.put(there.alpha)


def climb(point: Point, rows: Array) -> Point | None:
    """The point that a Newton step on these rows leads to, shortened until the dual grows; None if it doesn't."""
    problem, loss = point.problem, point.problem.loss
    direction = problem.put(_bounded(point, rows)) if len(rows) <= DENSE else conjugate_gradients(point)
    rounding = 1e-13 * (1.0 + abs(point.objective))
    length = 1.0
    while length > 1e-8:
        target = loss.moved(point.alpha, length * direction)
        # Not along the direction itself: conjugate gradients know no bounds, and the clipped step bends.
        slope = float(point.gradient @ (target - point.alpha))
        if not slope > 0:
            return None
        moved = problem.at(target)
        if (
            moved is not None
            and moved.objective >= point.objective + 1e-4 * slope - rounding
            and cholesky(STRETCH * moved.bent - point.bent) is not None
        ):
            return moved
        length *= 0.5
    return None


def _bounded(point: Point, rows: Array) -> Array:
    """The maximum of the quadratic model on these rows, within the multipliers' intervals; 0 on the others."""
    loss = point.problem.loss
    alpha, gradient, lower, upper, temperature = (
        to_numpy(column)[rows] for column in (point.alpha, point.gradient, loss.lower, loss.upper, loss.temperature)
    )
    # An entropy needs no walls: its own slope is infinite there.
    walls = temperature == 0
    low, high = np.where(walls, lower - alpha, -np.inf), np.where(walls, upper - alpha, np.inf)
    hessian = to_numpy(point.hessian(point.problem.put(rows)))
    direction = np.zeros(len(point.problem))
    direction[rows] = bounded_maximum(hessian, gradient, low, high)
    return direction


def conjugate_gradients(point: Point) -> Array:
    """Roughly H⁻¹g on the free rows, the better the nearer the optimum is (so that convergence stays superlinear)."""
    xp = namespace(point.alpha)
    direction, rest = xp.zeros_like(point.alpha), xp.where(point.free, point.gradient, 0.0)
    towards = point.preconditioned(rest)
    product = float(rest @ towards)
    goal = min(0.1, point.residual) ** 2 * product
    for _ in range(CG_STEPS):
        bent = xp.where(point.free, point.hessian_product(towards), 0.0)
        curvature = float(towards @ bent)
        if curvature <= 0:
            break
        length = product / curvature
        direction = direction + length * towards
        rest = rest - length * bent
        scaled = point.preconditioned(rest)
        before, product = product, float(rest @ scaled)
        if product <= goal:
            break
        towards = scaled + (product / before) * towards
    return direction


def bounded_maximum(hessian: Array, gradient: Array, lower: Array, upper: Array) -> Array:
    """argmax of gᵀx − ½xᵀHx over lower ≤ x ≤ upper, with H positive semidefinite (Júdice & Pires 1994).

    With many rows and a singular H, block pivoting may cycle. It then ends after 40 rounds, near the maximum.
    """
    size = np.sqrt(np.diagonal(hessian))
    rounding = 1e-14 * np.where(size > 0, size, 1.0)
    # A row that another step has left at its bound is likely to stay there. Where all are, nothing is known yet.
    held_low, held_high = (lower == 0) & (upper > 0), (upper == 0) & (lower < 0)
    if (held_low | held_high).all():
        held_low, held_high = np.zeros(len(size), bool), np.zeros(len(size), bool)
    x = np.zeros(len(size))
    fewest, patience = len(size) + 1, 10
    for _ in range(100 + len(size) if len(size) <= FEW else PIVOTS):
        held = held_low | held_high
        x[held_low], x[held_high] = lower[held_low], upper[held_high]
        free = np.flatnonzero(~held)
        if len(free):
            fixed = np.where(held, x, 0.0)
            known = gradient - hessian @ fixed.astype(hessian.dtype) if fixed.any() else gradient
            x[free] = _solve(hessian, free, known[free])
        slope = gradient - hessian @ x.astype(hessian.dtype)
        below, above = ~held & (x < lower), ~held & (x > upper)
        released = (held_low & (slope > rounding)) | (held_high & (slope < -rounding))
        misplaced = below | above | released
        count = int(misplaced.sum())
        if not count:
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
    return np.asarray(np.clip(x, lower, upper))


def _solve(hessian: Array, free: Array, known: Array) -> Array:
    """x with Hx = known on the free rows."""
    shift = SHIFT * float(np.finfo(hessian.dtype).eps)
    while True:
        matrix = hessian.take(free, axis=0).take(free, axis=1)  # several times as fast as both at once
        diagonal = np.diagonal(matrix)
        matrix = plus_diagonal(matrix, shift * np.where(diagonal > 0, diagonal, 1.0))
        # Symmetric, and so its own transpose, which lies in memory as LAPACK has it.
        factor, failed = lapack("potrf", matrix)(matrix.T, lower=1, clean=0, overwrite_a=1)
        if not failed:
            return np.asarray(lapack("potrs", factor)(factor, known, lower=1)[0])
        shift *= 10.0
