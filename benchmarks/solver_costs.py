"""CPU time of a pass of ascent and of a Newton step, compared with the costs that `auto` assumes.

    python benchmarks/solver_costs.py

Random items in q dimensions, random answers. The last two columns should have the same order of magnitude in all rows:
`auto` chooses between steps whose costs differ by more than that.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from oddkernel import Comparisons
from oddkernel.problem.constraints import Constraints
from oddkernel.problem.dual import Dual
from oddkernel.problem.losses import Squared
from oddkernel.problem.point import Point
from oddkernel.solvers import Ascent, Newton
from oddkernel.solvers.costs import newton_cost, pass_cost

# items, dimensions, answers
SIZES = [(100, 20, 100), (100, 20, 1000), (300, 100, 300), (800, 400, 500), (1000, 20, 1400), (400, 50, 2500)]


def first_point(items: int, dimensions: int, answers: int) -> Point:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(items, dimensions)) / np.sqrt(dimensions)
    shown = np.array([rng.choice(items, 3, replace=False) for _ in range(answers)])
    rows = Constraints.from_comparisons(Comparisons.odd_one_out(shown, np.full(answers, 2)), ratio=2.0)
    point = Dual(features, rows, Squared().conjugate(rows.weight, rows.equality, 0.1)).at(np.zeros(len(rows)))
    assert point is not None
    return point


def seconds(step: Callable[[Point], object], *sizes: int) -> float:
    """CPU time of a step, including the evaluation of the new point, from a point without cached results."""
    best = np.inf
    for _ in range(3):
        point = first_point(*sizes)
        start = time.process_time()
        step(point)
        best = min(best, time.process_time() - start)
    return best


def main() -> None:
    print("items  q    free rows  pass, s  step, s  pass, Gflop/s  step, Gflop/s")
    for sizes in SIZES:
        point = first_point(*sizes)
        ascent, newton = (seconds(solver().step, *sizes) for solver in (Ascent, Newton))
        print(
            f"{sizes[0]:5d}  {sizes[1]:3d}  {int(point.free.sum()):9d}  {ascent:7.3f}  {newton:7.3f}  "
            f"{pass_cost(point) / ascent / 1e9:13.1f}  {newton_cost(point) / newton / 1e9:13.1f}"
        )


if __name__ == "__main__":
    main()
