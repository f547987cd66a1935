"""What a step costs, in operations of a large matrix product: what the choice between steps rests on."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..problem.arrays import to_numpy
from ..problem.dual import Dual
from ..problem.point import Point

# With more free rows than this, conjugate gradients take the place of the dense Hessian.
DENSE = 3000
# In such operations (benchmarks/solver_costs.py measures them): what a row costs in a pass of ascent beside its matrix
# products; an entry of the Hessian, read off the kernel; and one of those m³ that bound the multipliers.
OVERHEAD, GATHER, FACTOR = 8e5, 200, 1.5
# Products with the Hessian that conjugate gradients take for one direction.
PRODUCTS = 25


# How many times as many steps the primal takes as the dual, where both get there. Chosen by hand.
PRIMAL_STEPS = 5
# A direction that costs less than this needs no cheaper way. Chosen by hand.
SLIGHT = 1e8
# Passes of ascent before Newton's method takes over, unless the rows that pull settle sooner.
PASSES = 4


# Rows up to which the interior-point method forms their matrix: 0.65 GB, and some three minutes for all its steps.
# Chosen by hand: draw(21002557), of 6,185 logistic rows, was solved in no other way.
INSIDE = 9000
# What descent in the primal may take before that method, in its directions: it takes 20 to 35 steps, each a third to a
# fifth of what `rows_cost` counts. By trial: of 14 descents on random problems 8 arrived with 0.1 to 3.9 of them, the
# others did not with 8; on THINGS with 3,000 answers 5 cut off what was about to arrive, and 12 took a fifth less time.
# HOPELESS takes its place where the rows may gain 1,000 times as much as the divergence (`starts.is_gross`): the 8
# that arrived had by then.
DESCENT, HOPELESS = 12, 4


@dataclass
class Budget:
    """Operations that one way may take before another is tried."""

    left: float = np.inf

    def spend(self, operations: float) -> None:
        self.left -= operations

    @property
    def spent(self) -> bool:
        """Whether nothing is left."""
        return self.left <= 0.0


def passes_first(point: Point) -> bool:
    """Whether all passes of ascent together cost less than one Newton step."""
    return PASSES * pass_cost(point) < newton_cost(point)


def fewer_unknowns(point: Point) -> bool:
    """Whether soft rows outnumber the unknowns of W so far that Newton's method in the primal is the cheaper one."""
    problem = point.problem
    if problem.host is not problem or not np.isfinite(problem.loss.upper[problem.loss.walls]).all():
        return False
    return bool(max(PRIMAL_STEPS * unknowns_cost(problem), SLIGHT) < rows_cost(_free(point)))


def unknowns_cost(problem: Dual) -> float:
    """A Newton step in the primal, over the q(q + 1)/2 unknowns of W: its Hessian from p pairs, and its factor."""
    unknowns = problem.rank * (problem.rank + 1) / 2
    return float(unknowns**2 * (2 * len(problem.place) + unknowns))


def least_squares_cost(problem: Dual, m: int) -> float:
    """The direction of a Newton step in the primal by QR factorisations over m rows."""
    unknowns = problem.rank * (problem.rank + 1) / 2
    few, many = min(m, unknowns), max(m, unknowns)
    return float(4 * few**2 * (many + few))


def inside_cost(problem: Dual) -> float:
    """The direction of a step of the interior-point method, over the rows or over the unknowns of W."""
    return min(rows_cost(len(problem)), inside_unknowns_cost(problem))


def inside_unknowns_cost(problem: Dual) -> float:
    """The same over the n unknowns of W alone: a product of 2m·n², and a factor of n³/3."""
    unknowns = problem.rank * (problem.rank + 1) / 2
    return float(FACTOR * unknowns**2 * (6 * len(problem) + unknowns))


def rows_cost(m: int) -> float:
    """The direction of a Newton step over m rows by a dense Hessian."""
    return GATHER * float(m) ** 2 + FACTOR * float(m) ** 3


def pass_cost(point: Point) -> float:
    """A pass of ascent over the free rows: 16q² for each, in products so thin that they take twice as long."""
    return float(_free(point) * (32 * point.problem.rank**2 + OVERHEAD))


def newton_cost(point: Point) -> float:
    """A Newton step: S, its factor and the items' images; then the direction, dense or by conjugate gradients."""
    s, q, m = len(point.problem.items), point.problem.rank, _free(point)
    direction = s**2 * q + rows_cost(m) if m <= DENSE else products_cost(point.problem)
    return float(4 * s * q**2 + q**3 + direction)


def products_cost(problem: Dual) -> float:
    """The direction of a Newton step by conjugate gradients: products with s images, gathers over m rows."""
    s, q = len(problem.items), problem.rank
    return float(PRODUCTS * (4 * s * q**2 + 2 * s**2 * q + GATHER * len(problem)))


def _free(point: Point) -> int:
    return int(np.count_nonzero(to_numpy(point.free)))
