"""The one loop: steps, stopping, history."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..problem.arrays import Array, cholesky, device_named, namespace, to_numpy
from ..problem.dual import Dual, Point
from ..problem.solution import Solution, Status
from .ascent import Ascent
from .costs import DENSE, fewer_unknowns, passes_first
from .newton import approach
from .primal import descend, held_and_moved
from .threads import fitting_threads

# Multipliers this large (S has grown from the identity to this size) run off along a contradiction.
RUNAWAY = 1e12
# Hard rows whose kernel would have to be this many times farther away than each row needs on its own can't all hold.
HOPELESS = 1e6
# What offsets must cost, for each dimension, for the primal to be the shorter way: where a Newton step on the dual is
# cheap, and where it takes conjugate gradients.
HEAVY, SLIGHT = 2.0, 0.1
# How near to the optimum descent in the primal leads where a Newton step on the dual is cheap.
NEAR = 0.5
# Multiplications in the larger products of the items' coordinates from which first steps in single precision pay.
LARGE = 1e8
# How much a first guess may stretch a squared distance.
STRETCH = 10.0
# How well the relaxed problems on the way to the real one are solved.
APPROACH = 1e-2
# Steps without progress before a solver is stopped.
PATIENCE = 25
# Passes of ascent from where a solver has stalled.
PASSES_TO_RESCUE = 100
# Steps after which a solver that has run into the edge of the domain is led back.
PROBE = 20


class Solver(Protocol):
    """A solver proposes the next α; the loop does the rest.

    ``exact`` says whether it aims at the optimum; an inexact one decides itself when it is done.
    """

    exact: bool
    default_max_iter: int

    def step(self, point: Point) -> Array | Point:
        """The next α, or the point there if it is known. It need not keep S(α) ≻ 0: the loop shortens a long step."""
        ...

    def finished(self, before: Point, after: Point, tol: float) -> Status | None:
        """For an inexact solver: whether it is done."""
        ...


def solve(
    problem: Dual,
    solver: Solver,
    *,
    start: Array | None = None,
    tol: float = 1e-6,
    max_iter: int | None = None,
    progress: Callable[[int, Point], None] | None = None,
    device: str | None = None,
) -> tuple[Solution, Point]:
    """Run a solver from α = 0, or from ``start`` where S(start) ≻ 0, until it is done.

    ``device`` says where the arrays are meanwhile, as in `SKLR`; what is returned is in NumPy.
    """
    check_device(solver, device)
    # Without rows there is nothing to compute, there or here.
    problem = problem.on(device_named(device) if len(problem) else None)
    with fitting_threads(problem):
        return _solve(problem, solver, start, tol, max_iter, progress)


def _solve(
    problem: Dual,
    solver: Solver,
    start: Array | None,
    tol: float,
    max_iter: int | None,
    progress: Callable[[int, Point], None] | None,
) -> tuple[Solution, Point]:
    limit = solver.default_max_iter if max_iter is None else max_iter
    if not solver.exact:
        run = _run(_first(problem, start), solver, tol, limit, progress)
        return _solution(run, [run]), run.point.host

    runs: list[_Run] = []

    def left() -> int:
        return limit - sum(len(run.history) - 1 for run in runs)

    def go(point: Point, tol: float, most: int) -> Array:
        runs.append(_run(point, solver, tol, max(min(left(), most), 0), progress))
        return runs[-1].point.alpha

    alpha = go(_guessed(_first(problem, start), solver, tol), tol, PROBE)
    if runs[-1].status is Status.EXHAUSTED and not _soft(problem):
        for barrier in _barriers(runs[-1].point):
            alpha = go(_first(problem.relaxed(barrier), alpha), APPROACH, PROBE)
        go(problem.at(alpha) or _first(problem, alpha), tol, limit)
    if runs[-1].status in (Status.STALLED, Status.EXHAUSTED) and left() > 0:
        go(_rescued(runs[-1].point, tol), tol, limit)
    return _solution(runs[-1], runs), runs[-1].point.host


def _guessed(point: Point, solver: Solver, tol: float) -> Point:
    """Where the solver's steps had better start: the primal's minimum, or where single precision leads, or here."""
    problem, many = point.problem, len(point.problem) > DENSE
    if fewer_unknowns(point):
        met = _met(point, 0.1 * tol, tol)
        return point if met is None else met
    if _outweighed(point) or (many and problem.loss.has_entropy and _soft(problem)):
        for close in (10.0 * tol, tol) if many else (NEAR,):
            guess = problem.at(descend(point, close))
            if guess is None or guess.residual >= point.residual:
                break
            point = guess
            if _optimal(point, tol):
                break
    elif getattr(solver, "second_order", False) and _approachable(point):
        guess = problem.at(approach(point))
        point = guess if guess is not None and guess.objective > point.objective else point
    return point


def _met(point: Point, close: float, tol: float) -> Point | None:
    """The optimum as the primal has it, if it has it."""
    if point.problem.loss.walls.any():
        return held_and_moved(point, tol)
    return point.problem.at(descend(point, close))


def _rescued(point: Point, tol: float) -> Point:
    """Another way where the solver's own led nowhere: through the primal, or by passes of exact one-row steps."""
    here = point.host
    met = _met(here, 0.1 * tol, tol)
    if met is not None and met.residual < here.residual:
        here = met
    if not _optimal(here, tol):
        passed = _run(here, Ascent(), tol, PASSES_TO_RESCUE, None).point
        here = passed if better(passed, here) else here
    return point.problem.at(point.problem.put(here.alpha)) or point


def check_device(solver: Solver, device: str | None) -> None:
    """Raise unless the device is there and the solver works on it."""
    if device_named(device) is not None and getattr(solver, "host_only", False):
        name = type(solver).__name__.lower()
        raise ValueError(f"solver={name!r} works on the CPU only; set device=None, or solver='auto'")


@dataclass
class _Run:
    point: Point
    status: Status
    history: list[dict[str, float]]


def _run(
    point: Point,
    solver: Solver,
    tol: float,
    limit: int,
    progress: Callable[[int, Point], None] | None,
) -> _Run:
    best, idle = point, 0
    history = [_record(point)]
    for n_iter in range(limit + 1):
        if solver.exact and _optimal(point, tol):
            return _Run(point, Status.OPTIMAL, history)
        if _runs_away(point):
            return _Run(point, Status.CONTRADICTORY, history)
        if n_iter == limit:
            break
        moved = _towards(point, solver.step(point), uphill=solver.exact)
        before, point = point, moved or point
        history.append(_record(point))
        if progress is not None:
            progress(n_iter + 1, point)
        if not solver.exact and (ended := solver.finished(before, point, tol)):
            return _Run(point, ended, history)
        if solver.exact:
            best, idle = (point, 0) if better(point, best) else (best, idle + 1)
            if moved is None or idle >= PATIENCE:
                # Multipliers so large that rounding ends the climb need not grow further to be a certificate.
                return _Run(best, Status.CONTRADICTORY if _runs_away(best, 0.1 * RUNAWAY) else Status.STALLED, history)
    return _Run(point, Status.EXHAUSTED, history)


def _barriers(point: Point) -> list[float]:
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
    if not _soft(problem):
        return False
    if problem.loss.has_entropy:
        return _far(point)
    least = SLIGHT if len(problem) > DENSE else HEAVY
    return _offset_cost(problem) > least and (not _pulls(point.alpha) or _far(point))


def _approachable(point: Point) -> bool:
    """Whether first steps in single precision save time: from a cold start, on the CPU, where Newton's come first."""
    problem = point.problem
    s, q = len(problem.items), problem.rank
    large = problem.host is problem and len(problem) <= DENSE and s * q * max(s, q) >= LARGE
    return large and not _pulls(point.alpha) and not passes_first(point)


def _soft(problem: Dual) -> bool:
    """Whether no row is a wall."""
    xp = namespace(problem.offset)
    return bool(xp.all(problem.loss.curvature + problem.loss.temperature > 0))


def _far(point: Point) -> bool:
    return bool(4.0 * point.gap * (1.0 + abs(point.objective)) > 1.0 + point.problem.rank)


def _offset_cost(problem: Dual) -> float:
    """What the offsets alone cost at the start, for each dimension: rows without one ask only for ratios."""
    xp = namespace(problem.offset)
    wanted = xp.where(problem.equality | (problem.offset < 0), 0.0, problem.offset)
    cost = problem.loss.primal(wanted) - problem.loss.primal(xp.zeros_like(wanted))
    return float(xp.sum(cost) / (1.0 + problem.rank))


def _first(problem: Dual, start: Array | None) -> Point:
    """The point to start from: ``start``, or what K₀'s violations ask for; nearer to 0 if S is not ready for it."""
    xp = namespace(problem.offset)
    origin = problem.at(xp.zeros_like(problem.offset))
    assert origin is not None  # S(0) = I
    natural = problem.loss.start(origin.violation)
    given = natural if start is None else problem.put(start)
    wanted = problem.loss.inside(xp.where(given == 0, natural, given))
    if not _pulls(wanted):
        return origin
    point = problem.at(wanted)
    while point is None or (start is None and cholesky(STRETCH * point.bent - origin.bent) is None):
        wanted = 0.5 * wanted
        point = problem.at(wanted)
    return point


def _optimal(point: Point, tol: float) -> bool:
    return point.residual <= tol and point.gap <= tol


def _runs_away(point: Point, least: float = RUNAWAY) -> bool:
    """Whether α has become a certificate that its hard rows can't all hold (soft losses hold their multipliers back).

    S = I + P(α) ≻ 0 makes P(α) positive semidefinite up to the share 1/size, where size is what α would weigh if its
    rows didn't cancel. The rows exclude one another if then P stays or bᵀα is positive, and bᵀα isn't negative.
    So they do where the dual, which no kernel's divergence is below, is out of proportion to what offsets ask for.
    """
    problem, xp = point.problem, namespace(point.alpha)
    hard = (problem.loss.curvature == 0) & xp.isinf(problem.loss.upper)
    if not xp.any(hard):
        return False
    if xp.any(hard & problem.void & point.free & (point.gradient != 0)):
        return True
    if xp.all(hard) and point.objective > HOPELESS * (1.0 + problem.rank) * (1.0 + problem.growth):
        return True
    share = xp.where(hard, abs(point.alpha) * problem.initial_scale, 0.0)
    size = float(xp.sum(share))
    if size < least:
        return False
    # Rows that pull little are no part of the certificate; their offsets would hide that it holds.
    pull = xp.where(share > 1e-8 * size, problem.offset * point.alpha, 0.0)
    stretched = float(xp.max(xp.sum(xp.square(point.factor), axis=1))) if problem.rank else 0.0
    total = float(xp.sum(pull))
    return bool(total >= -1e-6 * float(xp.sum(abs(pull))) and stretched + total > 1e-6 * size)


def _towards(point: Point, proposed: Array | Point, *, uphill: bool) -> Point | None:
    """The point proposed, or as far towards it as S stays positive definite (and the dual doesn't fall)."""
    known = proposed if isinstance(proposed, Point) else None
    alpha = proposed.alpha if isinstance(proposed, Point) else point.problem.put(proposed)
    direction = alpha - point.alpha
    if not _pulls(direction):
        return None
    length = 1.0
    for _ in range(60):
        moved = known or point.problem.at(point.alpha + length * direction if length < 1.0 else alpha)
        known = None
        if moved is not None and not (uphill and _falls(point, moved)):
            return moved
        length *= 0.5
    return None


def _pulls(alpha: Array) -> bool:
    return bool(namespace(alpha).any(alpha != 0))


def _falls(before: Point, after: Point) -> bool:
    return after.objective < before.objective - _rounding(before)


def better(point: Point, other: Point) -> bool:
    """Whether the dual is higher, or, where rounding hides that, the residual lower."""
    rise = point.objective - other.objective
    return rise > _rounding(other) or (rise >= -_rounding(other) and point.residual < other.residual)


def _rounding(point: Point) -> float:
    return 1e-13 * (1.0 + abs(point.objective))


def _record(point: Point) -> dict[str, float]:
    return {name: getattr(point, name) for name in ("objective", "residual", "gap", "divergence")}


def _solution(run: _Run, runs: list[_Run]) -> Solution:
    point = run.point
    history = runs[0].history + [entry for part in runs[1:] for entry in part.history[1:]]
    return Solution(
        status=run.status,
        n_iter=sum(len(part.history) - 1 for part in runs),
        residual=point.residual,
        gap=point.gap,
        divergence=point.divergence,
        objective=point.objective,
        multipliers=to_numpy(point.alpha),
        slack=to_numpy(point.violation),
        answer=point.problem.rows.answer,
        history={name: np.array([entry[name] for entry in history]) for name in history[0]},
    )
