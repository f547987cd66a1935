"""Learning with given settings, in one round or several: each later round starts halfway to what was learned."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..problem.constraints import Constraints
from ..problem.dual import Dual, Point
from ..problem.losses import LOSSES
from ..problem.solution import Solution
from ..solvers import Solver, solve
from ..support.types import Array

# A logistic or softmax answer is a matter of taste within this share of the mean initial squared distance.
SOFTNESS = 0.3


@dataclass(frozen=True, eq=False)
class Learned:
    """What the last round found.

    Attributes
    ----------
    solution : Solution
        Of the last round; its divergence is from where that round started.
    point : Point
    prior : (r, r) array
        A root of the metric that the last round started from; the identity in the first round.
    metric, root : (r, r) arrays
        W, and a root of it; the symmetric one after a single round.
    multipliers : tuple of arrays
        Of every round.
    """

    solution: Solution
    point: Point
    prior: Array
    metric: Array
    root: Array
    multipliers: tuple[Array, ...]


def learn(
    phi: Array,
    rows: Constraints,
    loss: str,
    penalties: Sequence[float],
    *,
    solver: Solver,
    starts: Sequence[Array | None],
    tol: float,
    max_iter: int | None = None,
    progress: Callable[[int, Point], None] | None = None,
    device: str | None = None,
    first: Dual | None = None,
    softness: float = SOFTNESS,
) -> Learned:
    """Learn the metric on features, round after round.

    Parameters
    ----------
    phi : (s, r) array
        Features of the constrained items.
    rows : Constraints
        Over the rows of ``phi``.
    loss : str
    penalties : sequence of float
        One for each round.
    starts : sequence of arrays or None
        Multipliers to start from; rounds beyond their number start from nothing.
    device : str, optional
        Where to solve, as in `SKLR`.
    first : Dual, optional
        The first round's problem, where it is known.
    softness : float
        As in `SKLR`.
    """
    prior = np.eye(phi.shape[1])
    found: list[tuple[Solution, Point]] = []
    for number, penalty in enumerate(penalties):
        if number:
            prior = halfway(phi, prior @ found[-1][1].root)
        problem = problem_of(phi @ prior, rows, loss, penalty, softness) if number or first is None else first
        start = starts[number] if number < len(starts) else None
        found.append(solve(problem, solver, start=start, tol=tol, max_iter=max_iter, progress=progress, device=device))
    solution, point = found[-1]
    metric, root = point.whole_metric()
    if len(found) > 1:
        root = prior @ root
        metric = root @ root.T
    return Learned(solution, point, prior, metric, root, tuple(each.multipliers for each, _ in found))


def unit_of(phi: Array) -> float:
    """The mean squared distance between two items, the unit of penalties and temperatures; 1 if all are copies."""
    return float(2.0 * np.square(phi - phi.mean(axis=0)).sum(axis=1).mean()) or 1.0 if phi.size else 1.0


def problem_of(phi: Array, rows: Constraints, loss: str, penalty: float, softness: float = SOFTNESS) -> Dual:
    """The dual of rows under a loss; a logistic or softmax penalty counts log-likelihoods."""
    scale = softness * unit_of(phi)
    if LOSSES[loss].entropic:
        penalty = penalty / scale
    return Dual(phi, rows, LOSSES[loss].conjugate(rows.weight, rows.equality, penalty, scale=scale, answer=rows.answer))


def halfway(phi: Array, root: Array) -> Array:
    """Where a second round starts: the root of the metric halfway between W = root·rootᵀ and the identity.

    W counts at the size at which the items are as far apart, on the whole, as they were. What the answers have found
    unimportant is then cheaper to leave out, and what they have found important cheaper to stretch: repeated, the
    divergence would become a penalty on the kernel's rank (Fazel, Hindi and Boyd 2003).
    """
    size = unit_of(phi) / unit_of(phi @ root)
    middle = 0.5 * (size * root @ root.T + np.eye(len(root)))
    return np.asarray(np.linalg.cholesky(middle))
