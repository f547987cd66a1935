"""Whether hard rows can all hold: a metric that satisfies them, or multipliers that prove that there is none.

The question doesn't depend on the initial kernel, so the items' coordinates are whitened, and offsets are made
homogeneous: rows ask for W ≻ 0 and h > 0 with tr(W C_c) + b_c·h ≤ 0. Newton's method looks for the analytic centre

    maximise  logdet(I + P(α)) + log(1 + bᵀα) + Σ_c log α_c,    P(α) = Σ_c α_c C_c,

without a logarithm where a row is an equality. There, W = (I + P)⁻¹ and h = 1/(1 + bᵀα) satisfy every row, inequalities
strictly; and a Newton step that changes nothing by more than its size finds such a metric before the centre is reached.
If there is none, α grows without bound, and P(α)/tr P(α) becomes positive semidefinite: no metric has tr(W P) ≤ 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..problem.arrays import Array, cholesky, lapack, plus_diagonal
from ..problem.dual import Dual
from ..problem.point import Point
from .interior import interior

# Rows contradict one another if no metric of trace 1 that satisfies them has its smallest eigenvalue above this.
# Chosen by hand: below, distances differ by more than double precision can tell.
SINGULAR = 1e-7
# Most Newton steps. By trial on some hundred random problems: all but one needed at most 25.
STEPS = 50
# A Newton step that changes W, h and slacks by less than this share leads to a metric that satisfies the rows. Derived:
# 1 would do, were it not for rounding.
CLOSE = 0.9
# A row whose multiplier outgrows P(α) and bᵀα by this factor can hold only as an equality, such as one of a
# cycle of rows. Chosen by hand.
TIGHT = 1e6
# Rows up to which all are taken at once, the number in the first part of more, and rows up to which larger parts follow
# one that can't be told. Chosen by hand, to bound the time.
TOGETHER, PART, WHOLE = 1000, 150, 2000
# How far an equality may be off, relative to the distances compared, in a metric that satisfies it. Derived: the
# rounding of some thousand sums.
ROUNDING = 1e-9
# The longest step, in Newton steps: multipliers of a contradiction grow for ever. Chosen by hand.
LONGEST = 1e3
# The share of every dimension and multiplier that a step must leave: nearer to the edge, later steps are short. By
# trial of 0 and 0.3 on some hundred random problems.
EDGE = 0.3
# The residual to which the interior-point method solves what is not told otherwise. Chosen by hand.
CENTRED = 1e-6
# A step below this length leads nowhere. Relative to the diagonal, what makes a singular Hessian invertible. Derived:
# a few hundred times float64's precision.
SHORTEST, SHIFT = 1e-10, 1e-13


@dataclass(frozen=True, eq=False)
class Verdict:
    """Whether rows can all hold.

    Attributes
    ----------
    holds : bool or None
        None if neither was proved.
    weight : (m,) array
        How much each row takes part in the contradiction: its multiplier in units of the row.
    images : (s, q) array
        The constrained items under a metric that satisfies the rows, in units in which ``unit`` multiplies offsets.
    unit : float
    """

    holds: bool | None
    weight: Array
    images: Array
    unit: float


def feasible(problem: Dual, *, patient: bool = True) -> Verdict:
    """Whether the rows of a problem in NumPy, taken as hard constraints, can all hold.

    ``patient``: whether to spend several times as long on rows that barely hold or barely don't.
    """
    white = problem.whitened
    if len(problem) <= TOGETHER:
        return _told(problem, white, np.arange(len(problem)), patient)
    # The most violated rows first: if a part contradicts itself, so does the whole.
    images, unit, holds = white.coordinates, 0.0, None
    chosen = np.zeros(len(problem), bool)
    while True:
        excess = _excess(white, problem.offset, images, unit)
        waiting = np.flatnonzero((excess > ROUNDING) & ~chosen)
        if holds and not len(waiting):
            return Verdict(True, np.zeros(len(problem)), images, unit)
        # Where a part can't be told and no other row is violated, only the whole is left.
        more = waiting[np.argsort(-excess[waiting], kind="stable")[: max(PART, int(chosen.sum()))]]
        chosen[more if len(waiting) else slice(None if chosen.any() else PART)] = True
        rows = np.flatnonzero(chosen)
        found = _told(problem, white, rows, patient)
        weight = np.zeros(len(problem))
        weight[rows] = found.weight
        hidden = found.holds is None and len(problem) > WHOLE
        if found.holds is False or hidden or len(rows) == len(problem):
            return Verdict(found.holds, weight, found.images, found.unit)
        images, unit, holds = found.images, found.unit, found.holds


def _excess(white: Dual, offset: Array, images: Array, unit: float) -> Array:
    """By how much each row is violated, relative to the distances that it compares."""
    squared = white.squared_distances(images)
    near, far = white.near_factor * squared[white.near], white.far_factor * squared[white.far]
    violation = near - far + unit * offset
    size = near + far + unit * np.abs(offset)
    return np.asarray(np.where(white.equality, np.abs(violation), violation) / np.where(size > 0, size, 1.0))


def _told(problem: Dual, white: Dual, rows: Array, patient: bool) -> Verdict:
    """The verdict on these rows."""
    found = _centre(white, problem.offset, rows)
    if found.holds is not None or not patient or len(rows) > WHOLE:
        return found
    # Where rows barely hold, or barely don't, steps towards the centre are short. Those of the interior-point method
    # are not: its multipliers grow threefold a step where rows contradict one another.
    inside = interior(problem.hardened(rows).whitened, CENTRED)
    if inside is None:
        return found
    start = np.zeros(len(problem))
    start[rows] = inside.alpha
    return _centre(white, problem.offset, rows, start)


def _centre(white: Dual, whole: Array, rows: Array, start: Array | None = None) -> Verdict:
    """The verdict on these rows, with all rows' offsets, and multipliers of all rows to start from."""
    size = np.sqrt(white.origin.own_products[rows])
    # Rows between copies consist of their offset alone, and say nothing without one.
    said = (size > 0) | (whole[rows] != 0)
    rows, size = rows[said], np.where(size > 0, size, 1.0)[said]
    if not len(rows):
        return Verdict(True, np.zeros(len(said)), white.coordinates, 0.0)
    largest = float(np.abs(whole[rows] / size).max(initial=0.0)) or 1.0
    offset = whole[rows] / largest  # the unit of h is free
    inequality = ~white.equality[rows]
    barrier = inequality.copy()

    def point(alpha: Array) -> Point | None:
        inside = 1.0 + offset @ alpha > 0 and (alpha[barrier] > 0).all()
        return white.at(_placed(alpha, rows, len(white))) if inside else None

    def verdict(holds: bool | None, images: Array, unit: float) -> Verdict:
        return Verdict(holds, _placed(np.abs(alpha) * size, said, len(said)), images, unit / largest)

    # Multipliers in units of their rows weigh alike.
    alpha = np.where(inequality, 1.0 / np.sqrt(len(rows)), 0.0) / size if start is None else start[rows]
    if not (np.isfinite(alpha).all() and (alpha[barrier] > 0).all()):  # no share of it would be inside
        return verdict(None, white.coordinates, 0.0)
    here = point(alpha)
    while here is None:
        alpha = 0.5 * alpha
        here = point(alpha)
    for _ in range(STEPS):
        one = 1.0 + float(offset @ alpha)
        pull = here.bent - np.eye(white.rank)
        if (alpha[inequality] >= 0).all() and _contradicts(pull, one - 1.0):
            return verdict(False, here.images, 1.0 / one)
        barrier &= alpha * size < TIGHT * (one + np.abs(pull).max(initial=0.0))
        slack = np.where(barrier, 1.0 / np.where(barrier, alpha, 1.0), 0.0)
        gradient = here.violation[rows] + offset / one + slack
        hessian = here.hessian(rows) + np.outer(offset / one, offset / one)
        hessian[np.diag_indices_from(hessian)] += np.square(slack)
        step = _solved(hessian, gradient, ~barrier)
        change = white.spread(here.images, _placed(step, rows, len(white)))
        values = np.linalg.eigvalsh(change)
        growth = float(offset @ step) / one
        rates = np.concatenate([values, [growth], (step * slack)[barrier]])
        if rates.max() < CLOSE:
            # The metric at the centre to first order, W − W·P(step)·W, and h likewise: but for rounding it satisfies
            # every row.
            root, unit = cholesky(np.eye(white.rank) - change), (1.0 - growth) / one
            images = here.images if root is None else here.images @ root
            if root is not None and _excess(white, whole, images, unit / largest)[rows].max() <= ROUNDING:
                return verdict(True, images, unit)
        length = _longest(rates)
        moved = point(alpha + length * step)
        while moved is None and length > SHORTEST:
            length *= 0.5
            moved = point(alpha + length * step)
        if moved is None:
            break
        alpha, here = alpha + length * step, moved
    return verdict(None, here.images, 0.0)


def _contradicts(pull: Array, offsets: float) -> bool:
    """Whether no metric of trace 1 (and h) with smallest eigenvalue above SINGULAR has tr(W P) + h·bᵀα ≤ 0.

    With W = τI + W′ and h = τ + h′, where tr W′ + h′ ≤ 1 − (q + 1)τ, that is at least τ(tr P + bᵀα) − e(1 − (q + 1)τ),
    for −e the smaller of bᵀα and P's smallest eigenvalue.
    """
    total, share = float(np.trace(pull)) + offsets, SINGULAR * (len(pull) + 1)
    # Positive for every e up to this; and a Cholesky factor tells sooner than eigenvalues whether e is larger.
    most = SINGULAR * total / (1.0 - share)
    if not (total > 0 and offsets >= -most):
        return False
    return cholesky(plus_diagonal(pull.copy(), np.full(len(pull), most))) is not None


def _longest(rates: Array) -> float:
    """The length of the best step, argmax Σ log(1 + length·rate), up to where EDGE is left of what it diminishes."""
    low, high = 0.0, min(LONGEST, (1.0 - EDGE) / max(-float(rates.min()), 1.0 / LONGEST))
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if (rates / (1.0 + middle * rates)).sum() > 0 else (low, middle)
    return low


def _solved(hessian: Array, gradient: Array, redundant: Array) -> Array:
    """H⁻¹g, in units in which H has a unit diagonal, with one step of iterative refinement.

    Some equalities may be redundant and H singular; a shift picks one of the equivalent steps.
    """
    diagonal = np.diagonal(hessian)
    unit = 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0))
    scaled, wanted = hessian * unit[:, None] * unit, unit * gradient
    shift = SHIFT * np.where(redundant, 1.0, 1e-3)
    while True:
        matrix = plus_diagonal(scaled.copy(), shift)
        factor, failed = lapack("potrf", matrix)(matrix.T, lower=1, clean=0, overwrite_a=1)
        if not failed:
            break
        shift = 10.0 * shift
    solve = lapack("potrs", factor)
    found = solve(factor, wanted, lower=1)[0]
    return np.asarray(unit * (found + solve(factor, wanted - scaled @ found, lower=1)[0]))


def _placed(values: Array, at: Array, size: int) -> Array:
    """These values at their places, 0 elsewhere."""
    whole = np.zeros(size)
    whole[at] = values
    return whole
