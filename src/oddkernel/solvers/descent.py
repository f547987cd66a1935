"""Newton's method in the primal: where soft answers are many, or outweigh the divergence.

The dual's steps must keep S(α) positive definite, and far from the optimum they are short for it. A smooth loss can be
met in the primal, f(W) = tr W − logdet W + Σψ(tr(K C_c) + b_c), which knows no such edge. With W = LLᵀ moved to
L(I + X)Lᵀ the Newton step solves

    X + Zᵀ(Σ_c ψ''_c tr(Z X Zᵀ C_c) C_c)Z = −gradient,    Z = ΦL.

A loss with a kink (hinge, or rows that must hold) is made smooth around the multipliers so far, and these are moved on:
the proximal point method on the dual, which is the method of multipliers on the primal.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..problem.arrays import (
    Array,
    cholesky,
    dot,
    eigenvalues,
    inverse_lower,
    largest_entry,
    namespace,
    plus_diagonal,
)
from ..problem.point import Point
from .costs import Budget
from .directions import direction, usual_change
from .primal import Primal

# How many times as hard as the divergence a loss without entropy may pull for steps without a path to be tried first,
# and how many. By trial: on THINGS with 140,177 answers under a squared loss, which pulls 270 times as hard, 11 steps
# without a path take 3 seconds, and 24 on a path 11. Under softmax 15 steps did not arrive.
GENTLE, ATTEMPT = 1e3, 15
# Products for the largest eigenvalue of the gradient, which is known to a few per cent then: a path starts from it.
POWERS = 20
# Most steps at the end of a path and for one of its points.
STEPS, STAGE = 150, 40
# What a full step leaves of the damping.
RELIEF = 0.1
# A step ends where this share of the slope is left. It may be that long, and must leave this share of each of W's
# dimensions.
FLAT, LONGEST, EDGE = 0.3, 8.0, 0.3
# What may be left of the slope's terms when they cancel, where they are known to single precision. Derived: that has
# seven digits, and a slope is needed to one.
DIGITS = 1e-4
# Steps that may pass without halving a gradient that is small already.
PATIENCE = 4
# On a path: by how much it advances each time, and the squared Newton decrement at which it does. By trial of the path
# of growing losses on digits with 300 to 100,000 random answers: at 2.0 in place of 0.5 some of them never arrive.
FALL, NEAR = 10.0, 0.5
# The method of multipliers, by trial on 1,500 random answers about 12 to 60 digits: how strongly K's own curvature
# outweighs what holds a row, at first, how much more each time, and at most; how often; and how exactly the first
# smooth problems are solved.
HOLD, TIGHTER, TIGHTEST, TIMES, ROUGHLY = 10.0, 10.0, 1e5, 40, 1e-2


def descend(
    point: Point, closes: Sequence[float], *, warm: bool = False, budget: Budget | None = None
) -> Iterator[Point]:
    """Points ever nearer to the optimum of a problem whose loss is soft, found from a point's metric.

    At the multipliers α that the violations ask for, LᵀS(α)L is the identity plus the gradient: once that is within one
    of ``closes``, α is as near to the optimum. ``warm``: the point is the optimum of a similar problem. ``budget``: how
    much its steps may cost; they end where it is spent.
    """
    primal = Primal.of(point)
    for close in closes:
        primal = minimised(primal, close, warm=warm, budget=budget)
        found = primal.known(primal.wanted) or point.problem.at(primal.wanted)
        if found is None:
            return
        yield found
        warm = True


def polished(primal: Primal, close: float) -> Point | None:
    """The optimum of a problem whose loss is soft, from a metric near it; None if its multipliers leave the domain."""
    found, _ = _newton(primal, close, STEPS, Budget())
    return found.known(found.wanted) or found.problem.at(found.wanted)


def held_and_moved(point: Point, tol: float, budget: Budget | None = None) -> Point | None:
    """The best point that the method of multipliers leads to from here; None if it leads nowhere.

    Rows whose loss has a kink are held near their multipliers so far by ½·ε(α′ − α)², with ε a share of the curvature
    that K gives them; the smooth problem is solved, α moves to its multipliers, and the share shrinks.
    """
    problem, primal, best = point.problem, Primal.of(point), None
    xp, alpha, hold, tightest, close = namespace(point.alpha), point.alpha, HOLD, TIGHTEST, ROUGHLY
    for _ in range(TIMES):
        held = problem.proximal(alpha, xp.where(problem.loss.walls, primal.own_products / hold, 0.0))
        found = minimised(primal.under(held), close, budget=budget)
        if budget is not None and budget.spent:
            break
        primal = found.under(problem)
        if dot(found.gradient, found.gradient) > close**2:  # held too little to be smooth
            hold = tightest = max(hold / TIGHTER, HOLD)
            continue
        alpha = found.wanted
        there = problem.at(alpha)
        if there is not None and (best is None or there.residual < best.residual):
            best, close = there, max(min(ROUGHLY, 0.1 * there.residual), 0.01 * tol)
            if best.residual <= tol and best.gap <= tol:
                break
        hold = min(TIGHTER * hold, tightest)
    return best


def minimised(primal: Primal, close: float, *, warm: bool = False, budget: Budget | None = None) -> Primal:
    """The metric that minimises f, its gradient within ``close``, or as near as rounding allows.

    Where the loss outweighs the divergence by far, Newton's steps from a cold start lead to the edge where W is nearly
    singular, and stay there. So a path of easier problems comes first, each near the last one's minimum; from a warm
    start only where steps without a path don't arrive.
    """
    budget = budget or Budget()
    if warm:
        found, arrived = _newton(primal, close, STAGE, budget)
        if arrived:
            return found
    pull = _norm(primal.gradient) if primal.problem.rank else 0.0
    if 1.0 < pull <= GENTLE and not primal.problem.loss.has_entropy:
        found, arrived = _newton(primal, close, ATTEMPT, budget)
        if arrived:
            return found
    if pull > 1.0:
        # Where rows are few, most dimensions need not move, and the second path would move them all.
        crowded = 2 * len(primal.problem) > primal.problem.rank**2
        for path in (_central, _strengthened) if crowded else (_strengthened, _central):
            near = path(primal, pull, budget)
            if near is not None:
                primal = near
                break
    return _newton(primal, close, STEPS, budget)[0]


def _strengthened(primal: Primal, pull: float, budget: Budget) -> Primal | None:
    """The minimum for ever stronger losses: at first the loss pulls no harder than the divergence does.

    None if one of them was not found.
    """
    problem, weakness = primal.problem, pull
    while weakness > 1.0:
        found, arrived = _newton(primal.under(problem.weakened(weakness)), None, STAGE, budget)
        if not arrived:
            return None
        primal, weakness = found.under(problem), weakness / FALL
    return primal


def _central(primal: Primal, pull: float, budget: Budget) -> Primal | None:
    """The central path of interior-point methods: logdet W has a weight that falls to 1 and keeps W from the edge.

    None if one of its points was not found.
    """
    problem, barrier = primal.problem, pull
    while barrier > 1.0:
        # The problem relaxed by μ has its minimum at W/μ.
        relaxed = problem.relaxed(barrier)
        found, arrived = _newton(primal.scaled(barrier**-0.5).under(relaxed), None, STAGE, budget)
        if not arrived:
            return None
        primal, barrier = found.scaled(barrier**0.5).under(problem), barrier / FALL
    return primal


def _newton(primal: Primal, close: float | None, steps: int, budget: Budget) -> tuple[Primal, bool]:
    """Newton's method on f until the gradient is within ``close``, or, if that is None, until steps are small.

    Beside the metric stands whether it got there.
    """
    unit, xp = primal.problem.unit, namespace(primal.images)
    change, damping, least, idle = usual_change(primal.problem), 0.0, float("inf"), 0
    for _ in range(steps):
        size = dot(primal.gradient, primal.gradient)
        # Once rounding hides whether f falls, its gradient stays as large as it is.
        idle, least = (0, size) if size < 0.5 * least else (idle + 1, least)
        if (close is not None and size <= close**2) or (idle > PATIENCE and size <= 1.0):
            return primal, True
        if budget.spent or not np.isfinite(size):
            break
        step, moved = direction(primal, change, damping, budget)
        fall = -dot(primal.gradient, step)
        if not fall > 0:  # there is nothing left to gain, or rounding left no direction
            return primal, not size > 0
        if close is None and fall <= NEAR:
            return primal, True
        length = _length(primal, step, moved)
        turn = cholesky(unit + length * step) if length > 0 else None
        if turn is None or not xp.all(xp.linalg.diagonal(turn) > 0):
            break
        primal = primal.turned(turn)
        # As much damping as would have made the step so short, but only where the loss does not.
        damping = (1.0 + damping) / length - 1.0 if length < 1.0 else RELIEF * damping
    return primal, False


def _length(primal: Primal, step: Array, change: Array | None) -> float:
    """How far to go along a direction X: 1, unless f is far from flat there; then to where it nearly is.

    ``change``: tr(Z X Zᵀ C_c) of every row c to single precision, if known.

    Along l, f is tr W(I + lX) − logdet W − Σ log(1 + lξ) + Σψ(t + l·t′), with the eigenvalues ξ of X and the change t′
    of the violations, so that its slope, which grows, costs no matrix product. At l = 1, Σ ξ/(1 + ξ) is q less the
    squares of the inverse of a Cholesky factor of I + X, in a tenth of the time of the eigenvalues.
    """
    problem, xp = primal.problem, namespace(step)
    known = problem.sandwich(primal.images, step) if change is None else change
    linear, trace = dot(primal.inner, step), float(xp.sum(xp.linalg.diagonal(step)))

    def slope(length: float, bent: float) -> float:
        wanted = problem.loss.wanted(primal.violation + length * known)
        return float(linear - bent + wanted @ known)

    first = slope(0.0, trace)
    terms = abs(linear) + abs(trace) + float(xp.sum(xp.abs(primal.wanted * known)))
    if change is not None and primal.images.dtype != xp.float32 and not abs(first) > DIGITS * terms:
        known = problem.sandwich(primal.images, step)
        first = slope(0.0, trace)
    if not first < 0:
        return 0.0
    # Single precision has no numbers above 3e38; dividing by a power of two loses no digits.
    size = 2.0 ** float(np.frexp(float(xp.max(xp.abs(step))))[1])
    slim = xp.astype(step / size, xp.float32)
    bent = _bent_at_one(size, slim)
    if bent is not None and abs(slope(1.0, bent)) <= FLAT * -first:
        return 1.0
    bends = size * xp.astype(eigenvalues(slim), step.dtype)
    most = min(LONGEST, (1.0 - EDGE) / max(-float(xp.min(bends)), 1e-300))
    low, high, length = 0.0, most, min(1.0, most)
    for _ in range(40):
        there = slope(length, float(xp.sum(bends / (1.0 + length * bends))))
        if abs(there) <= FLAT * -first or (there < 0 and length == most):
            return length
        low, high = (length, high) if there < 0 else (low, length)
        length = min(2.0 * low, most) if high == most and there < 0 else 0.5 * (low + high)
    return low


def _bent_at_one(size: float, slim: Array) -> float | None:
    """Σ ξ/(1 + ξ) for the eigenvalues ξ of size·slim; None if one of them is below EDGE − 1."""
    if not size < 1.0 / float(np.finfo(np.float32).eps):  # a number of NumPy would compare in single precision
        return None
    xp = namespace(slim)
    grown = size * slim + xp.eye(slim.shape[0], dtype=slim.dtype, device=slim.device)
    factor, least = cholesky(grown), xp.full(slim.shape[:1], EDGE, dtype=slim.dtype, device=slim.device)
    if factor is None or cholesky(plus_diagonal(grown, -least)) is None:
        return None
    return float(slim.shape[0] - xp.sum(xp.square(inverse_lower(factor))))


def _norm(matrix: Array) -> float:
    """About the largest size of an eigenvalue of a symmetric matrix, by power iteration from its longest row."""
    xp, unit = namespace(matrix), largest_entry(matrix)
    slim = matrix / unit
    vector, norm = slim[int(xp.argmax(xp.sum(xp.square(slim), axis=1))), :], 0.0
    for _ in range(POWERS):
        length = dot(vector, vector) ** 0.5
        if not length > 0:
            break
        vector = slim @ (vector / length)
        norm = dot(vector, vector) ** 0.5
    return float(unit) * norm
