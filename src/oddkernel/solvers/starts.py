"""Where to start, and where to go on when a solver's own steps lead nowhere."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..problem.arrays import Array, cholesky, namespace
from ..problem.dual import Dual
from ..problem.point import Point
from ..problem.solution import Status
from .ascent import Ascent
from .costs import (
    DENSE,
    DESCENT,
    HOPELESS,
    INSIDE,
    Budget,
    fewer_unknowns,
    inside_cost,
    passes_first,
    products_cost,
    rows_cost,
    unknowns_cost,
)
from .descent import descend, held_and_moved, polished
from .feasibility import feasible
from .interior import interior
from .loop import better, optimal, pulls, run
from .newton import Newton, approach
from .primal import Primal
from .protocol import Solver, declares
from .refinement import refined

# What offsets must cost, for each dimension, for the primal to be the shorter way: where a Newton step on the dual is
# cheap, and where it takes conjugate gradients.
HEAVY, SLIGHT = 2.0, 0.1
# How near to the optimum descent in the primal leads where a Newton step on the dual is cheap.
NEAR = 0.5
# Operations of a direction up to which the interior-point method comes first even where the primal's products are
# fewer, and ten times as many where the rows may gain GROSS times as much as the divergence. By trial on random
# problems: it then takes a tenth of a second, and a second; descent in the primal once took twelve, in vain.
PROMPT, GROSS = 5e8, 1e3
# Multiplications in the larger products of the items' coordinates from which single precision pays.
LARGE = 1e8
# How much a first guess may stretch a squared distance.
STRETCH = 10.0
# Hard rows from which they are taken up cut by cut; answers in the first cut, which each later one doubles; the
# violation, relative to the distances compared, from which a row counts; how exactly a part is solved; after how many
# steps it is asked whether it contradicts itself, and how many more there may be.
CUTTING, CUTS, VIOLATED, ROUGH, FEW, STEPS = 2000, 50, 1e-3, 1e-3, 20, 80
# The residual at which Newton's method is near the optimum. By trial on random problems with hinge loss.
CLOSE = 0.1
# Passes of ascent from where a solver has stalled.
RESCUE = 100


def first(problem: Dual, start: Array | None) -> Point:
    """The point to start from: ``start``, or what K₀'s violations ask for; nearer to 0 if S is not ready for it."""
    xp = namespace(problem.offset)
    natural = problem.loss.start(problem.initial_excess + problem.offset)
    given = natural if start is None else problem.put(start)
    wanted = problem.loss.inside(xp.where(given == 0, natural, given))
    if not pulls(wanted):
        return problem.origin
    point = problem.at(wanted)
    while point is None or (start is None and cholesky(STRETCH * point.bent - problem.unit) is None):
        wanted = 0.5 * wanted
        point = problem.at(wanted)
    return point


def guessed(point: Point, solver: Solver, tol: float, *, warm: bool = False) -> Point:
    """Where the solver's steps had better start: the primal's minimum, or where single precision leads, or here.

    ``warm``: the point is the optimum of a similar problem.
    """
    problem, many = point.problem, len(point.problem) > DENSE
    # Where a direction in the primal costs as much as one in the dual, few of the latter remain from a warm start.
    near = warm and rows_cost(len(problem)) <= unknowns_cost(problem)
    outweighed = not near and _outweighed(point)
    fewer = fewer_unknowns(point)
    # A descent that takes longer than the interior-point method would hardly ever arrives.
    most = (HOPELESS if is_gross(point) else DESCENT) * inside_cost(problem) if interior_pays(problem) else np.inf
    budget = Budget(most)
    if fewer:
        met = through_primal(point, 0.1 * tol, tol, budget)
        point = point if met is None else met
        # Over few unknowns of W most soft losses are met at once.
        if optimal(point, tol) or not (budget.spent or (outweighed and is_soft(problem) and interior_pays(problem))):
            return point
        return from_inside(point, tol)
    if outweighed and interior_pays(problem):
        prompt = 10.0 * PROMPT if is_gross(point) else PROMPT
        if inside_cost(problem) <= max(products_cost(problem), prompt):
            inside = from_inside(point, tol)
            if inside is not point:
                return inside
    if (many and is_soft(problem)) or outweighed:
        for nearer in descend(point, (10.0 * tol, tol) if many else (NEAR,), warm=warm, budget=budget):
            # From a warm start, the first of them may be no nearer than that, and the next one all the same.
            point = nearer if nearer.residual < point.residual else point
            if optimal(point, tol):
                break
        if budget.spent and not optimal(point, tol):
            return from_inside(point, tol)
    elif declares(solver, "second_order") and _approachable(point):
        guess = problem.at(approach(point))
        point = guess if guess is not None and guess.objective > point.objective else point
    return point


def takes_cuts(problem: Dual) -> bool:
    """Whether rows are so many, and hard, that few of them pull in the end."""
    return len(problem) > CUTTING and problem.host is problem and is_hard(problem)


def cut_by_cut(point: Point) -> tuple[Point, Array | None]:
    """Where hard rows lead, the most violated answers first: a cutting-plane method.

    Few of many hard rows pull in the end. If some of them can't all hold, how much each row takes part in the proof
    stands beside the point.
    """
    problem, answer = point.problem, point.problem.rows.answer
    chosen = np.zeros(int(answer.max()) + 1, bool)
    while True:
        worst = np.zeros(len(chosen))
        np.maximum.at(worst, answer, point.excess)
        waiting = np.flatnonzero((worst > VIOLATED) & ~chosen)
        size = max(int(np.count_nonzero(chosen)), CUTS)
        if not len(waiting) or 3 * size > len(chosen):
            return point, None
        chosen[waiting[np.argsort(-worst[waiting], kind="stable")[:size]]] = True
        part = np.flatnonzero(chosen[answer])
        cut = problem.hardened(part)
        found = run(first(cut, point.alpha[part]), Newton(), ROUGH, FEW, None)
        if not found.status.success:
            verdict = feasible(cut)
            if verdict.holds is False:
                proof = np.zeros(len(problem))
                proof[part] = verdict.weight
                return point, proof
            found = run(found.point, Newton(), ROUGH, STEPS, None)
        alpha = np.zeros(len(problem))
        alpha[part] = found.point.alpha
        there = problem.at(alpha)
        if there is None or found.status is Status.STALLED:
            return point, None
        point = there


def through_primal(point: Point, close: float, tol: float, budget: Budget | None = None) -> Point | None:
    """The optimum as the primal has it, if it has it."""
    if point.problem.loss.walls.any():
        return held_and_moved(point, tol, budget)
    return next(descend(point, (close,), budget=budget), None)


def interior_pays(problem: Dual) -> bool:
    """Whether the interior-point method may come first: no row must hold, and rows or unknowns are few enough."""
    return fits_inside(problem) and bool(np.isfinite(problem.loss.upper[problem.loss.walls]).all())


def fits_inside(problem: Dual) -> bool:
    """Whether rows or unknowns are few enough for the interior-point method."""
    return problem.host is problem and len(problem) > 0 and inside_cost(problem) <= rows_cost(INSIDE)


def only_inside(problem: Dual) -> bool:
    """Whether the interior-point method will probably be needed, so that single precision first would be in vain.

    What a soft loss costs at the initial metric bounds what any metric gains; it is known at once.
    """
    if not interior_pays(problem):
        return False
    cost = problem.loss.primal(problem.initial_excess + problem.offset)
    return float(cost.sum()) >= GROSS * (1.0 + problem.rank) and is_gross(first(problem, None))


def from_inside(point: Point, tol: float) -> Point:
    """Where the interior-point method leads; the point itself where that is no nearer to the optimum."""
    problem = point.problem
    # Where only the gap is too large, Newton's steps have come as near as the rounding of S lets them.
    found = interior(problem, tol, whole=point.residual <= tol)
    if found is None:
        return point
    ways: list[Callable[[], Point | None]] = [lambda: found.snapped_point, lambda: found.as_known]
    if is_soft(problem):
        ways.append(lambda: polished(found.primal, 0.1 * tol))
    elif not problem.loss.has_entropy:
        ways.append(lambda: refined(found.primal, found.snapped, tol))
    for way in ways:
        each = way()
        if each is not None and optimal(each, tol):  # whatever rounding makes of its objective
            return each
        # Not by the residual: a row with hardly any weight may have a large one.
        point = each if each is not None and better(each, point) else point
    return point


def rescued(point: Point, tol: float) -> Point:
    """Another way where the solver's own led nowhere: through the primal, or by passes of exact one-row steps."""
    here = point.host
    met = through_primal(here, 0.1 * tol, tol)
    if met is not None and met.residual < here.residual:
        here = met
    if not optimal(here, tol):
        passed = run(here, Ascent(), tol, RESCUE, None).point
        here = passed if better(passed, here) else here
    if here.problem is point.problem:
        return here
    return point.problem.at(point.problem.put(here.alpha)) or point


def settled(point: Point, tol: float) -> Point | None:
    """The optimum near a point where the rounding of S(α) has stalled a solver; None if it is not reached."""
    problem = point.problem
    if problem.host is not problem or problem.loss.has_entropy:
        return None
    return refined(Primal.of(point), point.alpha, tol)


def barriers(point: Point) -> list[float]:
    """Weights for logdet S, falling to 1: a path that stays clear of the edge of the domain.

    Where offsets ask for much more than the rows can have together, bᵀα outweighs logdet S and first steps run into the
    edge, S nearly singular and the gap large. Weighting logdet S by the gap for each dimension keeps α in the middle.
    """
    excess = point.gap * (1.0 + abs(point.objective)) / (1.0 + point.problem.rank)
    if excess <= 100.0:
        return []
    return list(4.0 ** np.arange(np.ceil(np.log(min(excess, 1e9)) / np.log(4.0)), 0, -1))


def _outweighed(point: Point) -> bool:
    """Whether soft answers outweigh the divergence by far, so that first steps from here lead nowhere in the dual."""
    problem = point.problem
    if not is_soft(problem):
        return False
    if problem.loss.has_entropy:
        return _far(point)
    least = SLIGHT if len(problem) > DENSE else HEAVY
    return _offset_cost(problem) > least and (not pulls(point.alpha) or _far(point))


def _approachable(point: Point) -> bool:
    """Whether first steps in single precision save time: from a cold start, on the CPU, where Newton's come first."""
    problem = point.problem
    few = problem.host is problem and len(problem) <= DENSE
    return few and is_large(problem) and not pulls(point.alpha) and not passes_first(point)


def is_large(problem: Dual) -> bool:
    """Whether single precision saves time: in products of the items' coordinates."""
    s, q = len(problem.items), problem.rank
    return bool(s * q * max(s, q) >= LARGE)


def is_soft(problem: Dual) -> bool:
    """Whether no row is a wall."""
    xp = namespace(problem.offset)
    return bool(xp.all(problem.loss.curvature + problem.loss.temperature > 0))


def is_hard(problem: Dual) -> bool:
    """Whether every row must hold."""
    return bool(problem.loss.walls.all() and np.isinf(problem.loss.upper).all())


def is_near(point: Point) -> bool:
    """Whether Newton's steps from here are likely to be few."""
    return not _far(point) or point.residual <= CLOSE


def is_gross(point: Point) -> bool:
    """Whether what the rows may gain outweighs the divergence so far that descents in the primal seldom arrive."""
    return _gain(point) >= GROSS


def is_bounded(point: Point) -> bool:
    """Whether the dual seems to have a maximum not far above: with rows that contradict one another it has none."""
    return _gain(point) <= 1.0


def _far(point: Point) -> bool:
    """Whether what the rows may still gain outweighs the divergence of every dimension."""
    return 4.0 * _gain(point) > 1.0


def _gain(point: Point) -> float:
    """What the rows may still gain, for each dimension."""
    return float(point.gap * (1.0 + abs(point.objective)) / (1.0 + point.problem.rank))


def _offset_cost(problem: Dual) -> float:
    """What the offsets alone cost at the start, for each dimension: rows without one ask only for ratios."""
    xp = namespace(problem.offset)
    wanted = xp.where(problem.equality | (problem.offset < 0), 0.0, problem.offset)
    cost = problem.loss.primal(wanted) - problem.loss.primal(xp.zeros_like(wanted))
    return float(xp.sum(cost) / (1.0 + problem.rank))
