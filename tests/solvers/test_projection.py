"""The paper's algorithm: faithful, feasible in the end, and not the optimum."""

from __future__ import annotations

import numpy as np
import pytest
from problems import Problem, random_problem

from oddkernel import Comparisons
from oddkernel.problem.dual import Dual
from oddkernel.problem.solution import Status
from oddkernel.solvers import Newton, Projection, solve
from oddkernel.solvers.factored import multiply_by_cholesky
from oddkernel.solvers.feasibility import Verdict, feasible

FACING = Problem(np.eye(3), Comparisons.odd_one_out([[0, 1, 2], [0, 2, 1]], [2, 2]), ratio=2.0)


@pytest.mark.parametrize("seed", range(30))
def test_feasible_answers_hold_in_the_end(seed: int) -> None:
    solution, point = solve(random_problem(seed).dual(), Projection(), tol=1e-4, max_iter=10_000)
    assert solution.status is Status.FEASIBLE
    equality = point.problem.rows.equality
    assert (np.where(equality, np.abs(solution.slack), solution.slack) <= 1e-4 * point.scale).all()


def test_contradicting_answers_use_up_the_passes() -> None:
    solution, _ = solve(FACING.dual(), Projection(), max_iter=40)
    assert solution.status is Status.CONTRADICTORY
    assert solution.n_iter == 40


def test_no_proof_of_a_contradiction_follows_passes_that_still_help(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would take longer than the passes that were asked for."""
    proved: list[Dual] = []

    def proof(problem: Dual) -> Verdict:
        proved.append(problem)
        return feasible(problem)

    monkeypatch.setattr("oddkernel.solvers.solving.feasible", proof)
    for seed in range(10):
        solution, _ = solve(random_problem(seed).dual(), Projection(), tol=1e-12, max_iter=5)
        assert solution.status in (Status.EXHAUSTED, Status.FEASIBLE)
    assert not proved
    assert solve(FACING.dual(), Projection(), max_iter=40)[0].status is Status.CONTRADICTORY
    assert len(proved) == 1


def test_a_row_that_can_never_hold_ends_the_passes() -> None:
    """Its multiplier grows a millionfold a pass; what has grown that far is a certificate."""
    problem = Problem(np.array([[1.0], [0.0], [0.0]]), Comparisons.closer([0], [1], [2]), ratio=4.0)
    solution, _ = solve(problem.dual(), Projection())
    assert solution.status is Status.CONTRADICTORY
    assert solution.n_iter < 10


def test_the_kernel_is_farther_away_than_it_need_be() -> None:
    excess = [
        solve(random_problem(seed).dual(), Projection(), tol=1e-8)[0].divergence
        / solve(random_problem(seed).dual(), Newton(), tol=1e-8)[0].divergence
        for seed in (20, 31, 43)
    ]
    assert min(excess) > 1.1


def test_the_soft_form_drifts_away() -> None:
    """Two answers that contradict each other: D_ld after 1, 10, 50 and 200 passes, and at the optimum."""
    drift = [solve(FACING.dual(10.0), Projection(), tol=0.0, max_iter=n)[0].divergence for n in (1, 10, 50, 200)]
    assert drift == pytest.approx([0.26, 3.6, 5.9, 7.4], rel=0.02)
    assert solve(FACING.dual(10.0), Newton(), tol=1e-10)[0].divergence == pytest.approx(1.99, rel=0.01)


def test_the_soft_form_ends_where_the_slack_settles() -> None:
    problem = Problem(np.eye(3), Comparisons.odd_one_out([[0, 1, 2], [0, 1, 2]], [2, -1]), ratio=2.0)
    solution, _ = solve(problem.dual(0.1), Projection(), tol=1e-3)
    assert solution.status is Status.SETTLED
    assert solution.status.success


def test_a_drawn_order_is_reproducible() -> None:
    dual = random_problem(20).dual()
    first, again, given = (solve(dual, Projection(random_state=seed), tol=1e-8)[0].multipliers for seed in (0, 0, None))
    assert np.array_equal(first, again)
    assert not np.allclose(first, given)


@pytest.mark.parametrize("penalty", [np.inf, 10.0])
@pytest.mark.parametrize("seed", range(20))
def test_the_factored_form_is_the_same_algorithm(seed: int, penalty: float) -> None:
    dual = random_problem(seed, noisy=np.isfinite(penalty)).dual(penalty)
    (plain, here), (factored, there) = (
        solve(dual, Projection(factored=factored), tol=1e-6, max_iter=30) for factored in (False, True)
    )
    assert (plain.status, plain.n_iter) == (factored.status, factored.n_iter)
    assert np.abs(here.metric - there.metric).max() <= 1e-8 * np.abs(here.metric).max()


@pytest.mark.parametrize("seed", range(10))
def test_the_factor_of_identity_plus_rank_two_is_choleskys(seed: int) -> None:
    rng = np.random.default_rng(seed)
    z, middle = rng.normal(size=(6, 2)), rng.normal(size=(2, 2))
    middle += middle.T
    middle *= 0.9 / np.abs(np.linalg.eigvalsh(z @ middle @ z.T)).max()
    expected = np.linalg.cholesky(np.eye(6) + z @ middle @ z.T)
    factor = rng.normal(size=(4, 6))
    product = factor @ expected
    multiply_by_cholesky(factor, z, middle[0, 0], middle[0, 1], middle[1, 1])
    assert factor == pytest.approx(product, abs=1e-12)
