"""Projections on K of the constrained items: the same as on the metric, and as far as its digits reach."""

from __future__ import annotations

import numpy as np
import pytest
from problems import Problem, random_problem

from oddkernel import SKLR, Comparisons
from oddkernel.problem.dual import Dual
from oddkernel.problem.point import Point
from oddkernel.solvers import Projection
from oddkernel.solvers import gathered as module
from oddkernel.solvers.gathered import gathered_pass
from oddkernel.solvers.sweep import sweep


def first(dual: Dual) -> Point:
    point = dual.at(np.zeros(len(dual)))
    assert point is not None
    return point


@pytest.mark.parametrize("waiting", [2, 6, 64])
@pytest.mark.parametrize("penalty", [np.inf, 10.0])
@pytest.mark.parametrize("seed", range(8))
def test_a_pass_is_that_on_the_metric(monkeypatch, seed: int, penalty: float, waiting: int) -> None:
    monkeypatch.setattr(module, "WAITING", waiting)
    monkeypatch.setattr(module, "_project", module._project.py_func)
    dual = random_problem(seed, noisy=np.isfinite(penalty)).dual(penalty)
    order = np.random.default_rng(seed).permutation(len(dual))
    expected = sweep(first(dual), order, remember=False)
    assert gathered_pass(first(dual), order)[0] == pytest.approx(expected, rel=1e-8, abs=1e-10)


def line_of_items(gap: float) -> Dual:
    """Two items ``gap`` apart, far from two others."""
    points = np.array([[0.0, 0.0], [gap, gap], [1.0, 0.0], [3.0, 3.0]])
    said = Comparisons.odd_one_out([[2, 3, 0], [0, 2, 1], [1, 2, 0], [0, 1, 3]], [2, 2, 2, 2])
    return Problem(points, said, ratio=2.0).dual(10.0)


@pytest.mark.parametrize("gap", [1e-1, 1e-6])
def test_items_too_close_for_the_kernel_are_left_to_the_metric(gap: float) -> None:
    dual = line_of_items(gap)
    point, order = first(dual), np.arange(len(dual))
    assert point.readable(dual.near, dual.far) == (gap > 1e-3)
    assert gathered_pass(point, order)[0] == pytest.approx(sweep(point, order, remember=False), rel=1e-8, abs=1e-12)


def test_the_rest_of_a_pass_is_left_to_the_metric_once_items_come_too_close(monkeypatch) -> None:
    dual = random_problem(3).dual()
    point, order = first(dual), np.arange(len(dual))
    expected = sweep(point, order, remember=False)
    monkeypatch.setattr(module, "CANCELLATION", 0.5)
    monkeypatch.setattr(module, "_project", module._project.py_func)
    assert gathered_pass(point, order)[0] == pytest.approx(expected, rel=1e-8, abs=1e-10)


def test_the_kernel_that_passes_leave_is_the_kernel() -> None:
    dual = random_problem(5).dual()
    point, solver = first(dual), Projection()
    for _ in range(8):
        moved = solver.step(point)
        point = moved if isinstance(moved, Point) else dual.at(moved)
    fresh = dual.at(point.alpha)
    assert point.kernel == pytest.approx(fresh.kernel, rel=1e-9, abs=1e-12)
    assert point.violation == pytest.approx(fresh.violation, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("apart", range(3))
def test_steps_on_a_row_about_copies_do_not_amplify_rounding(apart: int) -> None:
    """Items a and b are copies, so that the second row asks for 49 ≤ 0 and its multiplier grows with every pass."""
    X = np.zeros((4, 2))
    X[apart, 1] = 1.0
    a, b = sorted({0, 1, 2} - {apart})
    said = Comparisons.most_central([a], [[b, apart]]) + Comparisons.must_link([[a, apart]])
    model = SKLR("adaptive", ratio=1.0, margin=49.0, penalty=10.0, solver="projection").fit(X, said)
    near, far = (np.square(model.distance(X))[pair] for pair in ((a, b), (apart, b)))
    assert sorted(model.solution_.slack[:2]) == pytest.approx([near - far + 49.0, 49.0], rel=1e-12)
