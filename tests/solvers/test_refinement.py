"""Newton's method on the metric and the multipliers at once."""

import numpy as np
import pytest
from oddkernel_benchmarks.problems import draw
from problems import Problem, random_problem

from oddkernel import Comparisons
from oddkernel.solvers.auto import Auto
from oddkernel.solvers.loop import optimal
from oddkernel.solvers.primal import Primal
from oddkernel.solvers.refinement import refined
from oddkernel.solvers.solving import solve


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("loss", "penalty"), [("squared", np.inf), ("squared", 10.0), ("hinge", 1.0)])
def test_a_metric_and_multipliers_that_do_not_belong_together_meet_in_the_optimum(
    seed: int, loss: str, penalty: float
) -> None:
    problem = random_problem(seed).dual(penalty, loss)
    _, point = solve(problem, Auto(), tol=1e-10)
    rng = np.random.default_rng(seed)
    off = 0.01 * rng.normal(size=(problem.rank, problem.rank))
    start = Primal.of(point).turned(np.linalg.cholesky(problem.unit + off + off.T))
    alpha = np.clip(point.alpha * rng.uniform(0.98, 1.02, size=len(problem)), problem.loss.lower, problem.loss.upper)
    assert start.known(alpha) is None
    found = refined(start, alpha, 1e-9)
    assert found is not None
    assert optimal(found, 1e-9)
    assert found.divergence == pytest.approx(point.divergence, rel=1e-7, abs=1e-9)


def test_rows_that_contradict_one_another_lead_nowhere() -> None:
    """Each of two items as close again to a third as the other."""
    problem = Problem(np.eye(3), Comparisons.closer([0, 0], [1, 2], [2, 1]), ratio=2.0).dual()
    assert refined(Primal.of(problem.origin), np.zeros(len(problem)), 1e-6) is None


def test_more_free_rows_than_a_hessian_may_have_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = random_problem(0).dual(10.0, "squared")
    assert refined(Primal.of(problem.origin), np.zeros(len(problem)), 1e-9) is not None
    monkeypatch.setattr("oddkernel.solvers.refinement.DENSE", 0)
    assert refined(Primal.of(problem.origin), np.zeros(len(problem)), 1e-9) is None


# Hard rows that barely hold: a metric computed from multipliers of 1e10 and more is off by more than the tolerance.
@pytest.mark.slow
@pytest.mark.parametrize("seed", [21003528, 21003205])
def test_rows_that_barely_hold_are_solved(seed: int) -> None:
    draw(seed).check()
