"""Whether hard rows can all hold: each verdict comes with its proof."""

from __future__ import annotations

import numpy as np
import pytest
from oddkernel_benchmarks.problems import draw
from oddkernel_benchmarks.problems.certificate import Rows, room
from problems import Problem, random_problem

from oddkernel import Comparisons
from oddkernel.problem.dual import Dual
from oddkernel.solvers import feasibility
from oddkernel.solvers.feasibility import ROUNDING, feasible


def assert_satisfied(problem: Dual, verdict: feasibility.Verdict) -> None:
    """The metric that comes with the verdict satisfies every row, by distances computed one by one."""
    rows, place = problem.rows, {item: i for i, item in enumerate(problem.items)}

    def squared(pairs: np.ndarray) -> np.ndarray:
        ends = verdict.images[[[place[i], place[j]] for i, j in pairs]]
        return np.square(ends[:, 0] - ends[:, 1]).sum(axis=1)

    near, far = rows.near_factor * squared(rows.near), rows.far_factor * squared(rows.far)
    violation, size = near - far + verdict.unit * rows.offset, near + far + verdict.unit * np.abs(rows.offset)
    excess = np.where(rows.equality, np.abs(violation), violation)
    assert (excess <= 2 * ROUNDING * size + 1e-300).all()
    assert verdict.unit > 0 or not rows.offset.any()


@pytest.mark.parametrize("seed", range(40))
def test_answers_of_one_metric_can_hold(seed: int) -> None:
    problem = random_problem(seed).dual()
    verdict = feasible(problem)
    assert verdict.holds
    assert_satisfied(problem, verdict)


@pytest.mark.parametrize("seed", range(40))
def test_verdicts_on_noisy_answers_agree_with_a_semidefinite_program(seed: int) -> None:
    noisy = random_problem(seed, noisy=True)
    problem = noisy.dual()
    verdict = feasible(problem)
    left = room(noisy.features, Rows.of(noisy.said, noisy.ratio, noisy.margin, (np.nan, np.nan)))
    assert verdict.holds is not None
    if verdict.holds:
        assert_satisfied(problem, verdict)
    elif left is not None:
        assert left < 1e-6


@pytest.mark.parametrize("seed", range(8))
def test_many_rows_are_taken_part_by_part(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for noisy in (False, True):
        problem = random_problem(seed, noisy=noisy).dual()
        whole = feasible(problem).holds
        monkeypatch.setattr(feasibility, "TOGETHER", 4)
        monkeypatch.setattr(feasibility, "PART", 3)
        parts = feasible(problem)
        monkeypatch.undo()
        assert parts.holds is whole
        if parts.holds:
            assert_satisfied(problem, parts)


def test_a_cycle_that_holds_only_with_equal_distances() -> None:
    """δ(0,1) ≤ δ(1,2) ≤ δ(2,0) ≤ δ(0,1): no row can hold strictly, and all do in an equilateral triangle."""
    cycle = Comparisons.closer([1, 2, 0], [0, 1, 2], [2, 0, 1])
    assert feasible(Problem(np.diag([1.0, 2.0, 3.0]), cycle, ratio=1.0).dual()).holds is not False


@pytest.mark.parametrize("number", [0.0, -1.0, np.nan, np.inf])
@pytest.mark.parametrize("equality", [False, True])
def test_a_start_that_is_none_ends_without_a_verdict(number: float, equality: bool) -> None:
    said = Comparisons.odd_one_out([[0, 1, 2]], [-1]) if equality else Comparisons.closer([1, 2], [0, 1], [2, 0])
    problem = Problem(np.diag([1.0, 2.0, 3.0]), said, ratio=1.0).dual()
    start = np.full(len(problem), number)
    found = feasibility._centre(problem.whitened, problem.offset, np.arange(len(problem)), start)
    assert found.holds is (True if equality and number <= 0 else None)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1794866431037, 1794866431048])
def test_directions_of_rounding_decide_nothing(seed: int) -> None:
    """Items extend by 1e-12 of the largest extent in some directions: there, whitened coordinates differ by machine."""
    draw(seed).check()
