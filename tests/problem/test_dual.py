"""The mathematics, against itself written out plainly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from problems import Problem, divergence, learned_kernel, random_problem, row_matrices, squared_distances

from oddkernel import Comparisons
from oddkernel.problem.dual import Dual
from oddkernel.problem.losses import LOSSES
from oddkernel.problem.point import Point
from oddkernel.solvers import Newton, solve

SEEDS = range(8)
KINDS = [("squared", np.inf), *((loss, 10.0) for loss in LOSSES)]


def somewhere(problem: Dual, seed: int) -> Point:
    """A point inside the domain, with multipliers inside their intervals."""
    alpha = np.minimum(0.05 + 0.1 * np.random.default_rng(seed).random(len(problem)), 0.3 * problem.loss.upper)
    while (point := problem.at(alpha)) is None:
        alpha *= 0.5
    return point


@pytest.fixture(params=[(seed, *kind) for seed in SEEDS for kind in KINDS], ids=str)
def case(request: pytest.FixtureRequest) -> tuple[Problem, Point]:
    seed, loss, penalty = request.param
    problem = random_problem(seed, noisy=True)
    return problem, somewhere(problem.dual(penalty, loss), seed)


def test_the_reductions_change_nothing(case: tuple[Problem, Point]) -> None:
    problem, point = case
    bent = np.eye(problem.features.shape[1]) + np.einsum("c,cij->ij", point.alpha, row_matrices(problem))
    metric = np.linalg.inv(bent)
    rows, delta = problem.rows, squared_distances(problem.features, metric)
    near, far = delta[tuple(rows.near.T)], delta[tuple(rows.far.T)]
    assert point.log_determinant == pytest.approx(np.linalg.slogdet(bent)[1], abs=1e-10)
    assert point.divergence == pytest.approx(divergence(metric), abs=1e-10)
    assert point.violation == pytest.approx(rows.near_factor * near - rows.far_factor * far + rows.offset, abs=1e-10)
    assert point.scale == pytest.approx(
        rows.near_factor * near + rows.far_factor * far + np.abs(rows.offset), abs=1e-10
    )
    assert learned_kernel(problem, point) == pytest.approx(problem.features @ metric @ problem.features.T, abs=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_learned_at_the_origin(seed: int) -> None:
    problem = random_problem(seed, noisy=True).dual(10.0, "squared")
    for each in (problem, problem.relaxed(4.0)):
        there = each.at(np.zeros(len(each)))
        assert there is not None
        for name in ("bent", "factor", "violation", "images"):
            assert getattr(each.origin, name) == pytest.approx(getattr(there, name), abs=1e-12)
        assert each.initial_excess + each.offset == pytest.approx(there.violation, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_another_loss_makes_the_problem_that_has_it(seed: int) -> None:
    problem = random_problem(seed, noisy=True)
    one, other = problem.dual(10.0, "squared"), problem.dual(0.3, "softmax")
    assert one.under(other.loss).at(somewhere(other, seed).alpha).residual == somewhere(other, seed).residual


def test_gradient_is_the_objectives_derivative(case: tuple[Problem, Point]) -> None:
    _, point = case
    h = 1e-5
    for c, step in enumerate(h * np.eye(len(point.alpha))):
        up, down = point.problem.at(point.alpha + step), point.problem.at(point.alpha - step)
        assert up is not None
        assert down is not None
        assert (up.objective - down.objective) / (2 * h) == pytest.approx(point.gradient[c], abs=1e-5, rel=1e-5)


def test_hessian_is_the_gradients_derivative(case: tuple[Problem, Point]) -> None:
    _, point = case
    every, h = np.arange(len(point.alpha)), 1e-5
    hessian = point.hessian(every)
    for c, step in enumerate(h * np.eye(len(every))):
        up, down = point.problem.at(point.alpha + step), point.problem.at(point.alpha - step)
        assert up is not None
        assert down is not None
        assert (down.gradient - up.gradient) / (2 * h) == pytest.approx(hessian[c], abs=1e-4, rel=1e-4)


def test_hessians_of_all_forms_agree(case: tuple[Problem, Point]) -> None:
    _, point = case
    every = np.arange(len(point.alpha))
    hessian = point.hessian(every)
    some = every[::2]
    x = np.random.default_rng(0).normal(size=len(every))
    assert point.hessian(some) == pytest.approx(hessian[np.ix_(some, some)], abs=1e-10)
    assert point.hessian_diagonal == pytest.approx(np.diagonal(hessian), abs=1e-10)
    assert point.hessian_product(x) == pytest.approx(hessian @ x, abs=1e-9)
    differences = replace(point)
    differences.__dict__["_reads_kernel"] = False
    assert differences.hessian(every) == pytest.approx(hessian, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("loss", ["squared", "softmax"])
@pytest.mark.parametrize("seed", SEEDS)
def test_the_preconditioner_leaves_out_only_what_the_kernel_joins(seed: int, loss: str) -> None:
    point = somewhere(random_problem(seed, noisy=True).dual(10.0, loss), seed)
    _, shared = point.problem.loss.bend(point.alpha)
    group = point.problem.loss.group
    rough = np.diag(point.hessian_diagonal - shared) + np.where(group[:, None] == group, shared, 0.0)
    free, x = np.flatnonzero(point.free), np.random.default_rng(0).normal(size=len(point.alpha))
    found = point.preconditioned(x)
    assert found[free] == pytest.approx(np.linalg.solve(rough[np.ix_(free, free)], x[free]), rel=1e-6, abs=1e-9)
    assert not found[~point.free].any()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("seed", SEEDS)
def test_the_gap_is_primal_minus_dual(seed: int, loss: str) -> None:
    point = somewhere(random_problem(seed, noisy=True).dual(10.0, loss), seed)
    conjugate = point.problem.loss
    primal = point.divergence + conjugate.primal(point.violation).sum()
    assert point.gap * (1 + abs(point.objective)) == pytest.approx(primal - point.objective, abs=1e-9, rel=1e-9)


@pytest.mark.parametrize(("loss", "penalty"), KINDS)
@pytest.mark.parametrize("seed", SEEDS)
def test_gap_and_residual_vanish_at_the_optimum(seed: int, loss: str, penalty: float) -> None:
    _, point = solve(random_problem(seed).dual(penalty, loss), Newton(), tol=1e-10)
    assert point.gap <= 1e-10
    assert point.residual <= 1e-10
    assert (point.alpha[~point.problem.rows.equality] >= 0).all()


def test_divergence_is_that_of_the_kernels() -> None:
    rng = np.random.default_rng(0)
    features = rng.normal(size=(5, 5))
    problem = Problem(features, Comparisons.odd_one_out([[0, 1, 2], [1, 3, 4]], [0, -1]), ratio=2.0)
    solution, point = solve(problem.dual(), Newton(), tol=1e-10)
    product = learned_kernel(problem, point) @ np.linalg.inv(features @ features.T)
    assert solution.divergence == pytest.approx(np.trace(product) - np.linalg.slogdet(product)[1] - 5, rel=1e-8)


def test_outside_the_domain_there_is_nothing() -> None:
    problem = Problem(np.eye(3), Comparisons.cannot_link([[0, 1]], 4.0)).dual()
    assert problem.at(np.array([0.4])) is not None
    assert problem.at(np.array([0.6])) is None  # S = I − 0.6·ddᵀ with dᵀd = 2


def test_copies_are_no_distance_apart() -> None:
    features = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 0.0], [0.0, 1.0]]) + 1e3
    problem = Problem(features, Comparisons.must_link([[1, 2]], 0.5) + Comparisons.closer([1], [2], [0])).dual()
    assert problem.void.tolist() == [True, False]
    point = problem.at(np.zeros(2))
    assert point is not None
    assert point.violation.tolist() == pytest.approx([-0.5, -1.0])


def test_small_distances_between_far_items_keep_their_digits() -> None:
    features = np.vstack([np.eye(8), np.eye(8)[0] + 1e-7 * np.eye(8)[1]])
    every = [[i, j] for i in range(9) for j in range(i)]
    point = Problem(1e3 * features, Comparisons.must_link(every, 1.0)).dual().at(np.zeros(len(every)))
    assert point is not None
    delta = dict(zip(map(tuple, point.problem.pairs.tolist()), point.squared_distances, strict=True))
    assert delta[0, 8] == pytest.approx(1e-8, rel=1e-6)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_heavier_barrier_weighs_offsets_and_losses_less(loss: str) -> None:
    problem = random_problem(0, noisy=True).dual(10.0, loss)
    point = somewhere(problem, 0)
    relaxed = problem.relaxed(4.0).at(point.alpha)
    assert relaxed is not None
    rest = point.objective - point.log_determinant
    assert relaxed.objective == pytest.approx(point.log_determinant + rest / 4)


def test_hardened_rows_are_the_ones_named() -> None:
    problem = random_problem(0, noisy=True).dual(10.0)
    hard = problem.hardened(np.arange(len(problem)) < 3)
    assert len(hard) == 3
    assert not hard.loss.curvature.any()


def test_no_rows_leave_the_kernel_as_it_is() -> None:
    solution, point = solve(Problem(np.eye(3), Comparisons.empty()).dual(), Newton())
    assert solution.status.success
    assert (solution.divergence, solution.objective, point.residual, point.gap) == (0.0, 0.0, 0.0, 0.0)
