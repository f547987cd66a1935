"""What solvers do, counted: steps, points, factorisations and memory on fixed problems."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from oddkernel import Comparisons
from oddkernel.problem.constraints import Constraints
from oddkernel.problem.dual import Dual
from oddkernel.problem.losses import LOSSES
from oddkernel.problem.solution import Status
from oddkernel.solvers import Newton, Projection, gathered, newton, solve, sweep
from oddkernel.solvers.auto import Auto
from oddkernel.solvers.costs import PASSES, newton_cost, pass_cost


def classes(items: int, dimensions: int, answers: int, penalty: float = np.inf, *, margin: float = 0.0) -> Dual:
    """Answers by class about random items."""
    rng = np.random.default_rng(0)
    features = rng.normal(size=(items, dimensions)) / np.sqrt(dimensions)
    said = Comparisons.from_labels(np.arange(items) % 5, answers, random_state=0)
    rows = Constraints.from_comparisons(said, ratio=2.0 if margin == 0 else 1.0, margin=margin)
    return Dual(features, rows, LOSSES["squared"].conjugate(rows.weight, rows.equality, penalty))


class Counts:
    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.points = self.systems = self.passes = 0
        at, system, one_pass = Dual.at, newton._solve, sweep.sweep

        def counted_at(problem, alpha):
            self.points += 1
            return at(problem, alpha)

        def counted_system(*args):
            self.systems += 1
            return system(*args)

        def counted_pass(*args, **kwargs):
            self.passes += 1
            return one_pass(*args, **kwargs)

        monkeypatch.setattr(Dual, "at", counted_at)
        monkeypatch.setattr(newton, "_solve", counted_system)
        monkeypatch.setattr(newton, "sweep", counted_pass)
        monkeypatch.setattr("oddkernel.solvers.ascent.sweep", counted_pass)


@pytest.mark.parametrize("penalty", [np.inf, 10.0])
def test_first_steps_in_single_precision_save_others_and_change_nothing(
    monkeypatch: pytest.MonkeyPatch, penalty: float
) -> None:
    problem = classes(200, 120, 100, penalty)
    slowly, point = solve(problem, Newton(), tol=1e-9)
    monkeypatch.setattr("oddkernel.solvers.starts.LARGE", 1.0)
    solution, there = solve(problem, Newton(), tol=1e-9)
    assert solution.status is Status.OPTIMAL
    assert solution.n_iter <= 3 < slowly.n_iter
    assert there.bent.dtype == there.root.dtype == np.float64
    assert there.root @ there.root.T == pytest.approx(point.root @ point.root.T, abs=1e-7)


def test_contradictions_are_found_out_after_first_steps_in_single_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oddkernel.solvers.starts.LARGE", 1.0)
    features = np.random.default_rng(0).normal(size=(6, 3))
    said = Comparisons.odd_one_out([[0, 1, 2]] * 3 + [[3, 4, 5]], [0, 1, 2, 0])
    rows = Constraints.from_comparisons(said, ratio=2.0, margin=0.0)
    problem = Dual(features, rows, LOSSES["squared"].conjugate(rows.weight, rows.equality, np.inf))
    assert solve(problem, Newton(), tol=1e-8)[0].status is Status.CONTRADICTORY


def test_hard_answers_take_few_steps_points_and_factorisations(monkeypatch: pytest.MonkeyPatch) -> None:
    counts = Counts(monkeypatch)
    solution, _ = solve(classes(120, 80, 60), Newton(), tol=1e-8)
    assert solution.status is Status.OPTIMAL
    assert solution.n_iter <= 9
    assert counts.points <= 2 * solution.n_iter  # one a step, and what shortened steps tried
    assert counts.systems <= 4 * solution.n_iter
    assert counts.passes == 0


def test_passes_come_first_only_where_they_are_cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    few_dimensions, many_dimensions = classes(200, 4, 1200, 0.1), classes(120, 80, 60)
    for problem, passes_first in ((few_dimensions, True), (many_dimensions, False)):
        point = problem.at(np.zeros(len(problem)))
        assert point is not None
        assert (PASSES * pass_cost(point) < newton_cost(point)) == passes_first
        counts = Counts(monkeypatch)
        Auto().step(point)
        assert (counts.passes > 0) == passes_first
        monkeypatch.undo()


@pytest.mark.slow
def test_a_pass_of_the_papers_algorithm_makes_few_products(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows that hold are only read, and 32 steps wait for one another."""
    visits: list[int] = []
    project = gathered._project

    def counted(*args):
        done = project(*args)
        visits.append(int(np.count_nonzero(done[2])))
        return done

    monkeypatch.setattr(gathered, "_project", counted)
    problem = classes(120, 80, 60)
    solve(problem, Projection(), max_iter=1)
    assert max(visits) <= 32
    assert len(visits) <= 1 + sum(visits) // 32
    assert 0 < sum(visits) <= len(problem)


def test_memory_grows_with_the_answers_by_columns_only() -> None:
    peaks = []
    for answers in (5_000, 20_000):
        problem = classes(100, 40, answers, 0.01, margin=0.1)
        tracemalloc.start()
        solution, _ = solve(problem, Newton(), tol=1e-3)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert solution.status is Status.OPTIMAL
        assert peaks[-1] < problem.memory
    rows = 2 * 15_000
    assert peaks[1] - peaks[0] < 60 * 8 * rows  # a matrix of m rows and q = 40 columns, and another, would not fit
