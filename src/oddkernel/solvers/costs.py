"""What a step costs, in floating-point operations: what the choice between steps rests on."""

from __future__ import annotations

import numpy as np

from .._arrays import to_numpy
from ..dual import Point

# With more free rows than this, conjugate gradients take the place of the dense Hessian.
DENSE = 3000
# What a row costs in a pass of ascent beside its matrix products (benchmarks/solver_costs.py measures it).
OVERHEAD = 4e5
# Products with the Hessian that conjugate gradients take for one direction.
PRODUCTS = 25


def pass_cost(point: Point) -> float:
    """A pass of ascent over the free rows: 16q² for each, in thin products, and what is not a matrix product."""
    return float(_free(point) * (16 * point.problem.rank**2 + OVERHEAD))


def newton_cost(point: Point) -> float:
    """A Newton step: S, its factor and the items' images; then the direction, dense or by conjugate gradients."""
    s, q, m = len(point.problem.items), point.problem.rank, _free(point)
    direction = 8 * m**2 * q + m**3 if m <= DENSE else PRODUCTS * (4 * s * q**2 + 2 * s**2 * q)
    return float(4 * s * q**2 + q**3 + direction)


def _free(point: Point) -> int:
    return int(np.count_nonzero(to_numpy(point.free)))
