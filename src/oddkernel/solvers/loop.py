"""The one loop: steps, stopping, history. It knows no solver."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..problem.arrays import Array, namespace
from ..problem.point import Point
from ..problem.solution import Status
from .protocol import Solver

# Steps without progress before a solver is stopped, and the share by which the residual must fall to count as progress
# where rounding hides whether the dual rises: with rounding errors alone it was seen to fall by 1e-4 of itself a step.
PATIENCE, PROGRESS = 25, 0.01
# Multipliers of hard rows this large, in units of their rows, end a run: the rows contradict one another, or nearly so.
# Chosen by hand; optima with 1e10 were seen.
RUNAWAY = 1e15


@dataclass
class Run:
    """Where a solver's steps led, why they ended, and what was measured after each."""

    point: Point
    status: Status
    history: list[dict[str, float]]

    @property
    def n_iter(self) -> int:
        """How many steps were taken."""
        return len(self.history) - 1


def run(
    point: Point,
    solver: Solver,
    tol: float,
    limit: int,
    progress: Callable[[int, Point], None] | None,
) -> Run:
    best, mark, idle = point, point, 0
    history = [_record(point)]
    for n_iter in range(limit + 1):
        if solver.exact and optimal(point, tol):
            return Run(point, Status.OPTIMAL, history)
        if _grown(point):
            return Run(point, Status.STALLED, history)
        if n_iter == limit:
            break
        moved = towards(point, solver.step(point), uphill=solver.exact)
        before, point = point, moved or point
        history.append(_record(point))
        if progress is not None:
            progress(n_iter + 1, point)
        if not solver.exact and (ended := solver.finished(before, point, tol)):
            return Run(point, ended, history)
        if solver.exact:
            best = point if better(point, best) else best
            mark, idle = (best, 0) if better(best, mark, by=PROGRESS) else (mark, idle + 1)
            if moved is None or idle >= PATIENCE:
                return Run(best, Status.STALLED, history)
    return Run(point, Status.EXHAUSTED, history)


def optimal(point: Point, tol: float) -> bool:
    """Whether residual and gap are within the tolerance."""
    return point.residual <= tol and point.gap <= tol


def _grown(point: Point) -> bool:
    """Whether multipliers of hard rows have run away."""
    problem, xp = point.problem, namespace(point.alpha)
    hard = problem.loss.walls & xp.isinf(problem.loss.upper)
    return bool(xp.any(xp.where(hard, abs(point.alpha) * problem.initial_scale, 0.0) > RUNAWAY))


def towards(point: Point, proposed: Array | Point, *, uphill: bool) -> Point | None:
    """The point proposed, or as far towards it as S stays positive definite (and the dual doesn't fall)."""
    known = proposed if isinstance(proposed, Point) else None
    alpha = proposed.alpha if isinstance(proposed, Point) else point.problem.put(proposed)
    direction = alpha - point.alpha
    if not pulls(direction):
        return None
    length = 1.0
    for _ in range(60):
        moved = known or point.problem.at(point.alpha + length * direction if length < 1.0 else alpha)
        known = None
        if moved is not None and not (uphill and _falls(point, moved)):
            return moved
        length *= 0.5
    return None


def pulls(alpha: Array) -> bool:
    return bool(namespace(alpha).any(alpha != 0))


def _falls(before: Point, after: Point) -> bool:
    return after.objective < before.objective - _rounding(before)


def better(point: Point, other: Point, *, by: float = 0.0) -> bool:
    """Whether the dual is higher, or, where rounding hides that, the residual lower, by more than this share of it."""
    rise = point.objective - other.objective
    return rise > _rounding(other) or (rise >= -_rounding(other) and point.residual < (1.0 - by) * other.residual)


def _rounding(point: Point) -> float:
    return 1e-13 * (1.0 + abs(point.objective))


def _record(point: Point) -> dict[str, float]:
    return {name: getattr(point, name) for name in ("objective", "residual", "gap", "divergence")}
