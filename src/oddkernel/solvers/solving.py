"""Solving a problem: a start, the solver's steps, and other ways where these end too soon."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..problem.arrays import Array, device_named, to_numpy
from ..problem.dual import Dual
from ..problem.point import Point
from ..problem.solution import Solution, Status
from .feasibility import feasible
from .loop import PATIENCE, Run, run
from .protocol import Solver, declares
from .starts import (
    barriers,
    cut_by_cut,
    first,
    fits_inside,
    from_inside,
    guessed,
    interior_pays,
    is_bounded,
    is_hard,
    is_near,
    is_soft,
    rescued,
    settled,
    takes_cuts,
)
from .threads import fitting_threads

# How well the relaxed problems on the way to the real one are solved.
APPROACH = 1e-2
# Steps after which a solver that has run into the edge of the domain is led back, and after which one is where rows
# with a kink need not hold: by then Newton's steps have come near, or take hundreds. By trial on random problems.
PROBE, GLANCE = 20, 4
# Steps after which it is checked whether hard rows contradict one another. By trial: with 20 it took twice the time on
# draw(22000128), of 1,447 dimensions.
EARLY = 8


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
    # Steps that are tried far out may overflow. They are rejected, and residual and gap vouch for what is returned.
    with fitting_threads(problem), np.errstate(all="ignore"):
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
        only, proof = _passed(first(problem, start), solver, tol, limit, progress)
        return _solution(only, [only], proof), only.point.host

    runs: list[Run] = []

    def left() -> int:
        return limit - sum(each.n_iter for each in runs)

    def go(point: Point, tol: float, most: int) -> Array:
        runs.append(run(point, solver, tol, max(min(left(), most), 0), progress))
        if runs[-1].status is Status.STALLED:
            near = settled(runs[-1].point, tol)
            if near is not None:
                runs.append(run(near, solver, tol, 0, progress))
        return runs[-1].point.alpha

    point, yielding = first(problem, start), interior_pays(problem)
    proof = None
    if takes_cuts(problem):
        near, proof = cut_by_cut(point)
    else:
        near = guessed(point, solver, tol, warm=start is not None)
    if proof is not None:
        only = run(point, solver, tol, 0, None)
        return _solution(only, [only], proof), point.host
    strict = is_hard(problem.host)
    alpha = go(near, tol, EARLY if strict else GLANCE if yielding and not is_soft(problem) else PROBE)
    if strict and runs[-1].status is Status.EXHAUSTED and is_bounded(runs[-1].point):
        alpha = go(runs[-1].point, tol, PROBE - EARLY)
    early = strict and runs[-1].status is Status.EXHAUSTED and sum(each.n_iter for each in runs) < PROBE
    if runs[-1].status is Status.EXHAUSTED and (is_near if yielding else is_bounded)(runs[-1].point):
        alpha = go(runs[-1].point, tol, PROBE)
    if not runs[-1].status.success:
        proof = _contradicting(problem)
        if proof is not None:
            return _solution(runs[-1], runs, proof), runs[-1].point.host
    if early and runs[-1].status is Status.EXHAUSTED:
        alpha = go(runs[-1].point, tol, PROBE - EARLY)
    # Newton's steps would be few from near the optimum; those of ascent are many, and lead there all the same.
    astray = declares(solver, "second_order") or (yielding and not is_near(runs[-1].point))
    if runs[-1].status in (Status.STALLED, Status.EXHAUSTED) and astray and fits_inside(problem) and left() > 0:
        alpha = go(from_inside(runs[-1].point, tol), tol, limit // 2 if yielding else PROBE)
    if runs[-1].status is Status.EXHAUSTED and not is_soft(problem):
        for barrier in barriers(runs[-1].point):
            alpha = go(first(problem.relaxed(barrier), alpha), APPROACH, PROBE)
        go(problem.at(alpha) or first(problem, alpha), tol, limit)
    elif runs[-1].status is Status.EXHAUSTED and not declares(solver, "second_order"):
        go(runs[-1].point, tol, limit // 2)  # many small steps are its way
    if runs[-1].status in (Status.STALLED, Status.EXHAUSTED) and left() > 0:
        go(rescued(runs[-1].point, tol), tol, limit)
    return _solution(runs[-1], runs), runs[-1].point.host


def _passed(
    point: Point, solver: Solver, tol: float, limit: int, progress: Callable[[int, Point], None] | None
) -> tuple[Run, Array | None]:
    """The run of a solver that does not aim at the optimum, and what `_contradicting` says of its rows.

    A proof that the rows contradict one another costs as much as some fifty passes. It follows where more passes would
    not help: not where the limit ended passes that still diminished the largest violation.
    """
    worst: list[float] = []

    def told(n_iter: int, point: Point) -> None:
        worst.append(float(point.excess.max(initial=0.0)))
        if progress is not None:
            progress(n_iter, point)

    only = run(point, solver, tol, limit, told)
    settled = len(worst) > PATIENCE and worst[-1] > 0.5 * worst[-1 - PATIENCE]
    asked = (settled or only.status is Status.STALLED) and not only.status.success
    return only, _contradicting(point.problem) if asked else None


def _contradicting(problem: Dual) -> Array | None:
    """How much each row takes part in a contradiction; None if not every row must hold, or none is proved."""
    verdict = feasible(problem.host) if is_hard(problem.host) else None
    return verdict.weight if verdict is not None and verdict.holds is False else None


def check_device(solver: Solver, device: str | None) -> None:
    """Raise unless the device is there and the solver works on it."""
    if device_named(device) is not None and declares(solver, "host_only"):
        name = type(solver).__name__.lower()
        raise ValueError(f"solver={name!r} works on the CPU only; set device=None, or solver='auto'")


def _solution(last: Run, runs: list[Run], proof: Array | None = None) -> Solution:
    point = last.point
    history = runs[0].history + [entry for part in runs[1:] for entry in part.history[1:]]
    return Solution(
        status=last.status if proof is None else Status.CONTRADICTORY,
        n_iter=sum(part.n_iter for part in runs),
        residual=point.residual,
        gap=point.gap,
        divergence=point.divergence,
        objective=point.objective,
        multipliers=to_numpy(point.alpha) if proof is None else proof,
        slack=to_numpy(point.violation),
        answer=point.problem.rows.answer,
        history={name: np.array([entry[name] for entry in history]) for name in history[0]},
    )
