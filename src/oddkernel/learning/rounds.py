"""Learning with given settings, in one round or several: each later round starts halfway to what was learned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..comparisons import Comparisons
from ..problem.constraints import Constraints
from ..problem.dual import Dual
from ..problem.point import Point
from ..problem.solution import Solution
from ..solvers import Newton, Solver, solve
from ..solvers.costs import DENSE
from ..solvers.starts import is_large, is_soft, only_inside
from ..support.types import Array
from .recipe import Recipe, unit_of

# The tolerance and the most steps of a solution in single precision, and the tolerance where double precision goes on
# from there. Chosen by hand.
ROUGH, ROUGH_STEPS, NEAR = 1e-2, 60, 1e-3


@dataclass(frozen=True, eq=False)
class Learned:
    """What the last round found.

    Attributes
    ----------
    solution : Solution
        Of the last round; its divergence is from where that round started.
    point : Point
        The optimum; its problem is ``point.problem`` with the rows ``point.problem.rows``.
    prior : (r, r) array
        A root of the metric that the last round started from; the identity in the first round.
    multipliers : tuple of arrays
        Of every round.
    """

    solution: Solution
    point: Point
    prior: Array
    multipliers: tuple[Array, ...]

    @property
    def metric(self) -> Array:
        """(r, r): W."""
        return self._whole[0]

    @property
    def root(self) -> Array:
        """(r, r): a root of W; the symmetric one after a single round."""
        return self._whole[1]

    def matched(self, rows: Constraints) -> list[Array]:
        """Every round's multipliers for rows about the same items, 0 for those that were not there."""
        return [rows.matched(self.point.problem.rows, multipliers) for multipliers in self.multipliers]

    @cached_property
    def _whole(self) -> tuple[Array, Array]:
        if len(self.multipliers) == 1:
            return self.point.whole_metric()
        root = self.prior @ self.point.root
        return root @ root.T, root


def learn(
    phi: Array,
    said: Comparisons | Constraints,
    recipe: Recipe,
    penalties: Sequence[float],
    *,
    solver: Solver,
    tol: float,
    max_iter: int | None = None,
    starts: Sequence[Array | None] = (),
    like: Dual | None = None,
    check: Callable[[Dual], None] | None = None,
    progress: Callable[[int, Point], None] | None = None,
    rough: bool = False,
    device: str | None = None,
) -> Learned:
    """Learn the metric on features from answers, round after round.

    Parameters
    ----------
    phi : (s, r) array
        Features of the items under the initial kernel.
    said : Comparisons or Constraints
        Answers, or the rows that ``recipe.rows`` makes of them; item i is row i of ``phi``. Every link must have a
        bound.
    recipe : Recipe
        What a violated answer costs.
    penalties : sequence of float
        One for each round. If the last is 0, nothing is learned.
    starts : sequence of arrays or None
        Multipliers of the rows to start from, for each round; rounds without them start from zero.
    like : Dual, optional
        The first round's problem with another penalty, if it is known already.
    check : callable, optional
        Called with the first round's problem before it is solved.
    progress : callable, optional
        Called with the number of the pass and the point reached.
    rough : bool
        Whether a solution in single precision is enough; where none is found, the solution is in double precision.
    device : str, optional
        Where to solve, as in `SKLR`.
    """
    rows = said if isinstance(said, Constraints) else recipe.rows(said)
    if not penalties[-1]:
        rows, penalties, starts = rows[:0], [1.0], ()
    prior = np.eye(phi.shape[1])
    found: list[tuple[Solution, Point]] = []
    for number, penalty in enumerate(penalties):
        if number:
            prior = halfway(phi, prior @ found[-1][1].root)
        problem = recipe.problem(phi @ prior if number else phi, rows, penalty, like=None if number else like)
        if check and not number:
            check(problem)
        start = starts[number] if number < len(starts) else None
        pays = device is None and solver.exact and is_soft(problem) and is_large(problem)
        if pays and (rough or len(problem) > DENSE) and not only_inside(problem):
            # Half the time. Where double precision is wanted, a few steps are left from there.
            near_tol = max(tol, ROUGH if rough else NEAR)
            near = solve(problem.single, Newton(), start=start, tol=near_tol, max_iter=ROUGH_STEPS)
            if rough and near[0].status.success:
                found.append(near)
                continue
            start = near[0].multipliers if near[0].residual <= max(tol, ROUGH) else start
        found.append(solve(problem, solver, start=start, tol=tol, max_iter=max_iter, progress=progress, device=device))
    solution, point = found[-1]
    return Learned(solution, point, prior, tuple(each.multipliers for each, _ in found))


def halfway(phi: Array, root: Array) -> Array:
    """Where a second round starts: a root of the metric halfway between W = root·rootᵀ and the identity.

    W is first scaled so that the items' mean squared distance is the initial one. What the answers have found
    unimportant is then cheaper to leave out, and what they have found important cheaper to stretch: repeated, the
    divergence would become a penalty on the kernel's rank (Fazel, Hindi and Boyd 2003).
    """
    size = unit_of(phi) / unit_of(phi @ root)
    middle = 0.5 * (size * root @ root.T + np.eye(len(root)))
    return np.asarray(np.linalg.cholesky(middle))
