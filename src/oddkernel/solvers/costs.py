"""What a step costs, in operations of a large matrix product: what the choice between steps rests on."""

from __future__ import annotations

import numpy as np

from ..problem.arrays import to_numpy
from ..problem.dual import Point

# With more free rows than this, conjugate gradients take the place of the dense Hessian.
DENSE = 3000
# In such operations (benchmarks/solver_costs.py measures them): what a row costs in a pass of ascent beside its matrix
# products; an entry of the Hessian, read off the kernel; and one of those m³ that bound the multipliers.
OVERHEAD, GATHER, FACTOR = 8e5, 200, 1.5
# Products with the Hessian that conjugate gradients take for one direction.
PRODUCTS = 25


# Passes of ascent before Newton's method takes over, unless the rows that pull settle sooner.
PASSES = 4


def passes_first(point: Point) -> bool:
    """Whether all passes of ascent together cost less than one Newton step."""
    return PASSES * pass_cost(point) < newton_cost(point)


def pass_cost(point: Point) -> float:
    """A pass of ascent over the free rows: 16q² for each, in products so thin that they take twice as long."""
    return float(_free(point) * (32 * point.problem.rank**2 + OVERHEAD))


def newton_cost(point: Point) -> float:
    """A Newton step: S, its factor and the items' images; then the direction, dense or by conjugate gradients."""
    s, q, m = len(point.problem.items), point.problem.rank, _free(point)
    dense = s**2 * q + GATHER * m**2 + FACTOR * m**3
    direction = dense if m <= DENSE else PRODUCTS * (4 * s * q**2 + 2 * s**2 * q)
    return float(4 * s * q**2 + q**3 + direction)


def _free(point: Point) -> int:
    return int(np.count_nonzero(to_numpy(point.free)))
