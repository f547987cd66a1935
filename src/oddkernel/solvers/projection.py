"""The paper's Algorithm 1: Bregman projections that forget their multipliers."""

from __future__ import annotations

import numpy as np

from ..problem.arrays import Array
from ..problem.point import Point
from ..problem.solution import Status
from .factored import factored_pass
from .gathered import gathered_pass

# Passes after which K is computed anew: what they change in it adds up, and so does rounding.
FRESH = 10


class Projection:
    """Project onto one violated row after another until all hold (SKLR) or the slack settles (sSKLR).

    Faithful to the paper, for comparison: it ends at *a* kernel that satisfies the answers, in general not the closest
    one, and with a finite penalty the passes drift away from the optimum.

    Parameters
    ----------
    factored : bool
        Update a factor W = GGᵀ by the Cholesky factor of identity plus rank two, one row at a time (section 4.1 and
        Appendix C of the paper), and not W itself.
    random_state : int or None
        Rows are visited in an order drawn anew for each pass; ``None`` keeps the order given.
    """

    exact = False
    host_only = True  # its passes are compiled for the CPU
    default_max_iter = 1000

    def __init__(self, *, factored: bool = False, random_state: int | None = None) -> None:
        self.factored = factored
        self._rng = None if random_state is None else np.random.default_rng(random_state)
        self._passes = 0

    def step(self, point: Point) -> Array | Point:
        """α, summed over all projections, after one pass."""
        order = np.arange(len(point.problem))
        if self._rng is not None:
            order = self._rng.permutation(order)
        if self.factored:
            return factored_pass(point, order)
        self._passes += 1
        alpha, kernel = gathered_pass(point, order)
        moved = point.problem.at(alpha)
        if moved is None or kernel is None or self._passes % FRESH == 0:
            return alpha if moved is None else moved
        return moved.knowing(kernel=kernel)

    def finished(self, before: Point, after: Point, tol: float) -> Status | None:
        """All rows hold, or, with soft rows, the slack has stopped changing."""
        if (after.excess <= tol).all():
            return Status.FEASIBLE
        soft = after.problem.loss.curvature > 0
        if soft.any() and (np.abs(after.violation - before.violation) <= tol * after.scale).all():
            return Status.SETTLED
        return None
