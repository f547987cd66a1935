"""Solvers × problems: every exact solver finds CVXPY's answer, and the others'."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from problems import Problem, learned_kernel, random_problem, reference_divergence, seeds

from oddkernel import Comparisons
from oddkernel.comparisons import Kind
from oddkernel.problem.losses import LOSSES
from oddkernel.problem.solution import Solution, Status
from oddkernel.solvers import SOLVERS, descent, directions, solve, starts
from oddkernel.solvers.costs import DENSE

EXACT = [name for name, solver in SOLVERS.items() if solver().exact]
PENALTIES = [np.inf, 0.1, 10.0, 1e3, 1e5]
OTHERS = [loss for loss in LOSSES if loss != "squared"]
KINDS = [*(("squared", penalty) for penalty in PENALTIES), *((loss, p) for loss in OTHERS for p in (0.1, 10.0, 1e3))]

each_exact_solver = pytest.mark.parametrize("solver", EXACT)
each_kind = pytest.mark.parametrize(("loss", "penalty"), KINDS)

FACING = Comparisons.odd_one_out([[0, 1, 2], [0, 2, 1]], [2, 2])
IMPOSSIBLE = Problem(np.eye(3), FACING, ratio=2.0)


def draw(seed: int, penalty: float) -> Problem:
    """Hard answers can all hold; soft ones need not."""
    return random_problem(seed, noisy=np.isfinite(penalty))


def solutions(problem: Problem, penalty: float, loss: str = "squared") -> dict[str, Solution]:
    return {name: solve(problem.dual(penalty, loss), SOLVERS[name](), tol=1e-10)[0] for name in EXACT}


def assert_solved(solution: Solution) -> None:
    # Answers that contradict one another under a penalty of 1e5 have multipliers of 1e5 and more that cancel in S:
    # rounding them is felt in the ninth digit of the residual.
    assert solution.status is Status.OPTIMAL or (
        solution.status is Status.STALLED and solution.residual <= 1e-8 and solution.gap <= 1e-10
    ), str(solution)


def assert_close(one: float, other: float, tol: float) -> None:
    assert abs(one - other) <= tol * (1 + min(one, other))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("seed", "loss", "penalty"),
    [
        *((seed, "squared", penalty) for seed in range(60) for penalty in PENALTIES),
        *((seed, loss, penalty) for seed in range(15) for loss in OTHERS for penalty in (0.1, 3.0, 100.0)),
    ],
)
def test_exact_solvers_agree_with_cvxpy_and_one_another(seed: int, loss: str, penalty: float) -> None:
    problem = draw(seed, penalty)
    reference = reference_divergence(problem, penalty, loss)
    assert reference is not None
    found = solutions(problem, penalty, loss)
    for solution in found.values():
        assert_solved(solution)
        assert_close(solution.divergence, reference, 1e-6)
        assert_close(solution.divergence, found["auto"].divergence, 1e-8)


@pytest.mark.parametrize(("loss", "penalty"), [("squared", 10.0), *((loss, 3.0) for loss in OTHERS)])
@pytest.mark.parametrize("seed", seeds(5))
def test_most_central_answers_have_the_optimum_of_cvxpy(seed: int, loss: str, penalty: float) -> None:
    problem, rng = draw(seed, penalty), np.random.default_rng(seed)
    shown = np.array([rng.permutation(len(problem.features))[:3] for _ in range(6)])
    problem = problem.saying(problem.said + Comparisons.most_central(shown[:, 0], shown[:, 1:], weight=0.5))
    reference = reference_divergence(problem, penalty, loss)
    assert reference is not None
    for solution in solutions(problem, penalty, loss).values():
        assert_solved(solution)
        assert_close(solution.divergence, reference, 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("apart", [8.0, 9.0, 10.0, 11.0, 12.0, 25.0])
def test_an_answer_overruled_beyond_precision_is_still_shared_out(
    apart: float, dense: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Links hold 0 and 1 so far apart that e^(−t/temperature), what is left for the answer given, nears rounding or is
    # below; how the other two share the rest still matters.
    if not dense:
        monkeypatch.setattr("oddkernel.solvers.newton.DENSE", 0)
    said = Comparisons.odd_one_out([[0, 1, 2], [0, 1, 3], [0, 2, 3]], [2, 2, 0], weight=[1.0, 1.0, 0.5])
    said += Comparisons.cannot_link([[0, 1]], apart, weight=100.0) + Comparisons.must_link([[1, 3]], 2.0)
    problem = Problem(np.eye(4) + 0.3 * np.eye(4, k=1), said)
    reference = reference_divergence(problem, 3.0, "softmax")
    assert reference is not None
    for solution in solutions(problem, 3.0, "softmax").values():
        assert_solved(solution)
        assert_close(solution.divergence, reference, 1e-6)


@pytest.mark.slow
@settings(max_examples=150, derandomize=True)
@given(seed=st.integers(1_000, 1_000_000), kind=st.sampled_from(KINDS))
def test_exact_solvers_agree_with_one_another(seed: int, kind: tuple[str, float]) -> None:
    loss, penalty = kind
    found = solutions(draw(seed, penalty), penalty, loss)
    for solution in found.values():
        assert_solved(solution)
        assert_close(solution.divergence, found["auto"].divergence, 1e-8)


def shown_otherwise(said: Comparisons, rng: np.random.Generator) -> Comparisons:
    """The same answers in another order, their items listed in another order."""
    shown, odd = said.shown.copy(), said.odd.copy()
    for row, kind in enumerate(said.kind):
        if kind == Kind.ODD_ONE_OUT:
            order = rng.permutation(3)
            shown[row] = shown[row, order]
            odd[row] = -1 if odd[row] < 0 else np.flatnonzero(order == odd[row])[0]
        elif kind == Kind.MOST_CENTRAL:
            shown[row, 1:] = shown[row, 1 + rng.permutation(2)]
        elif kind != Kind.CLOSER:
            shown[row, :2] = shown[row, rng.permutation(2)]
    return Comparisons(said.kind, shown, odd, said.bound, said.weight)[rng.permutation(len(said))]


@pytest.mark.slow
@each_exact_solver
@each_kind
@pytest.mark.parametrize("seed", range(6))
def test_the_order_of_answers_and_items_plays_no_part(seed: int, loss: str, penalty: float, solver: str) -> None:
    problem = draw(seed, penalty)
    other = problem.saying(shown_otherwise(problem.said, np.random.default_rng(seed)))
    one, two = (
        learned_kernel(problem, solve(p.dual(penalty, loss), SOLVERS[solver](), tol=1e-12)[1]) for p in (problem, other)
    )
    assert np.abs(one - two).max() <= 1e-8 * np.abs(one).max()


@each_exact_solver
@each_kind
@pytest.mark.parametrize("seed", seeds(6))
def test_the_kernel_stays_positive_semidefinite_and_keeps_its_rank(seed, loss, penalty, solver) -> None:
    problem = draw(seed, penalty)
    _, point = solve(problem.dual(penalty, loss), SOLVERS[solver](), tol=1e-10)
    assert (np.linalg.eigvalsh(point.metric) > 0).all()
    kernel = learned_kernel(problem, point)
    assert np.linalg.eigvalsh(kernel)[0] >= -1e-12 * np.abs(problem.features @ problem.features.T).max()
    assert np.linalg.matrix_rank(kernel, tol=1e-10 * np.abs(kernel).max()) == problem.features.shape[1]


@pytest.mark.slow
@each_exact_solver
@pytest.mark.parametrize(("loss", "penalty"), [kind for kind in KINDS if kind[1] <= 1e3])
@pytest.mark.parametrize("seed", range(6))
def test_a_weight_of_two_is_the_answer_given_twice(seed: int, loss: str, penalty: float, solver: str) -> None:
    problem = draw(seed, penalty)
    once, said = problem.said[:2], problem.said[2:]
    twice = Comparisons(once.kind, once.shown, once.odd, once.bound, 2 * once.weight)
    one, two = (
        learned_kernel(p, solve(p.dual(penalty, loss), SOLVERS[solver](), tol=1e-12)[1])
        for p in (problem.saying(said + once + once), problem.saying(said + twice))
    )
    assert np.abs(one - two).max() <= 1e-8 * np.abs(one).max()


@each_exact_solver
@pytest.mark.parametrize("seed", range(20))
def test_hard_answers_hold_in_the_end(seed: int, solver: str) -> None:
    solution, point = solve(random_problem(seed).dual(), SOLVERS[solver](), tol=1e-8)
    assert solution.status is Status.OPTIMAL
    equality = point.problem.rows.equality
    assert (solution.slack <= 1e-8 * point.scale).all()
    assert (np.abs(solution.slack[equality]) <= 1e-8 * point.scale[equality]).all()


@pytest.mark.parametrize("solver", ["auto", "newton"])
@pytest.mark.parametrize(("loss", "penalty"), [kind for kind in KINDS if kind[1] in (np.inf, 0.1, 10.0)])
@pytest.mark.parametrize("seed", range(10))
def test_second_order_solvers_need_few_steps(seed: int, loss: str, penalty: float, solver: str) -> None:
    assert solve(draw(seed, penalty).dual(penalty, loss), SOLVERS[solver](), tol=1e-6)[0].n_iter < 30


@pytest.mark.slow
@each_exact_solver
@pytest.mark.parametrize("loss", LOSSES)
def test_the_dual_never_falls(loss: str, solver: str) -> None:
    for seed in range(10):
        solution, _ = solve(draw(seed, 10.0).dual(10.0, loss), SOLVERS[solver]())
        assert (np.diff(solution.history["objective"]) >= -1e-10).all()


@each_exact_solver
def test_answers_that_cant_all_hold_are_found_out(solver: str) -> None:
    solution, _ = solve(IMPOSSIBLE.dual(), SOLVERS[solver]())
    assert solution.status is Status.CONTRADICTORY
    assert not solution.status.success


@each_exact_solver
@pytest.mark.parametrize("seed", seeds(20))
def test_random_hard_answers_get_the_same_verdict_from_all(seed: int, solver: str) -> None:
    problem = random_problem(seed, noisy=True)
    assert (solve(problem.dual(), SOLVERS[solver]())[0].status is Status.CONTRADICTORY) == (
        reference_divergence(problem, np.inf) is None
    )


@pytest.mark.parametrize("solver", SOLVERS)
def test_passes_that_run_out_are_reported(solver: str) -> None:
    solution, _ = solve(IMPOSSIBLE.dual(10.0), SOLVERS[solver](), tol=1e-12, max_iter=1)
    assert solution.status is Status.EXHAUSTED
    assert solution.n_iter == 1
    assert {len(column) for column in solution.history.values()} == {2}


@each_exact_solver
@each_kind
def test_a_start_at_the_optimum_ends_there(loss: str, penalty: float, solver: str) -> None:
    dual = draw(1, penalty).dual(penalty, loss)
    first, _ = solve(dual, SOLVERS[solver](), tol=1e-9)
    again, _ = solve(dual, SOLVERS[solver](), start=first.multipliers, tol=1e-8)
    assert again.status is Status.OPTIMAL
    assert again.n_iter == 0


@each_exact_solver
@pytest.mark.parametrize("loss", LOSSES)
def test_a_start_outside_the_domain_is_no_hindrance(loss: str, solver: str) -> None:
    dual = draw(1, 10.0).dual(10.0, loss)
    cold, _ = solve(dual, SOLVERS[solver](), tol=1e-10)
    warm, _ = solve(dual, SOLVERS[solver](), start=np.full(len(dual), 1e9), tol=1e-10)
    assert_close(warm.divergence, cold.divergence, 1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_progress_hears_of_every_pass(solver: str) -> None:
    heard: list[int] = []
    solution, _ = solve(
        IMPOSSIBLE.dual(10.0), SOLVERS[solver](), max_iter=5, progress=lambda n_iter, point: heard.append(n_iter)
    )
    assert len(heard) == solution.n_iter


def test_the_heaviest_pull_is_named_by_answer() -> None:
    problem = Problem(np.eye(4), FACING + Comparisons.must_link([[0, 3]], 5.0), ratio=2.0)
    solution, _ = solve(problem.dual(10.0), SOLVERS["auto"]())
    assert solution.influence[2] == 0.0  # what holds anyway pulls nothing
    assert (solution.influence[:2] > 0).all()
    assert str(Status.OPTIMAL) in str(solution)


@pytest.mark.parametrize(("n_items", "rank"), [(30, 5), (30, 29)])
@pytest.mark.parametrize(("loss", "margin"), [("softmax", 0.0), ("logistic", 0.0), ("squared", 1.0)])
def test_many_soft_answers_are_met_in_the_primal(
    n_items: int, rank: int, loss: str, margin: float, monkeypatch
) -> None:
    rng = np.random.default_rng(0)
    shown = np.argsort(rng.random((1_600, n_items)), axis=1)[:, :3]
    problem = Problem(
        rng.normal(size=(n_items, rank)) / rank**0.5,
        Comparisons.odd_one_out(shown, rng.integers(-1, 3, size=len(shown))),
        margin=margin,
    )
    dual = problem.dual(0.3, loss)
    assert len(dual) > DENSE
    met, _ = solve(dual, SOLVERS["newton"](), tol=1e-5)
    assert met.n_iter <= 2
    monkeypatch.setattr(starts, "DENSE", len(dual))
    reference, _ = solve(dual, SOLVERS["newton"](), tol=1e-9)
    for solution, tol in ((met, 1e-5), (reference, 1e-9)):
        assert solution.status is Status.OPTIMAL
        assert solution.residual <= tol
    assert_close(met.divergence, reference.divergence, 1e-4)


def test_answers_about_any_items_need_few_products(monkeypatch) -> None:
    """Divided by what it would be for items drawn normally, the Hessian is near the identity."""
    rng = np.random.default_rng(0)
    items = rng.normal(size=(120, 40)) * np.geomspace(1.0, 0.03, 40)
    shown = np.argsort(rng.random((6_000, 120)), axis=1)[:, :3]
    dual = Problem(items, Comparisons.odd_one_out(shown, rng.integers(0, 3, size=6_000)), margin=1.0).dual(3.0)
    products = []

    def counted(*given):
        product = hessian(*given)
        return lambda x: products.append(1) or product(x)

    hessian = directions._hessian
    monkeypatch.setattr(directions, "_hessian", counted)
    # The full loss at once, as the easier problems on a path are near the identity anyway; and nothing takes over where
    # the products don't arrive.
    for path in ("_strengthened", "_central"):
        monkeypatch.setattr(descent, path, lambda primal, pull, budget: primal)
    monkeypatch.setattr(directions, "DENSE", 0.0)
    monkeypatch.setattr("oddkernel.solvers.starts.DESCENT", np.inf)
    solution, _ = solve(dual, SOLVERS["auto"](), tol=1e-6)
    assert solution.status is Status.OPTIMAL
    divided = len(products)
    products.clear()
    monkeypatch.setattr(descent, "usual_change", lambda problem: np.zeros(len(problem)))  # divided by 1
    solve(dual, SOLVERS["auto"](), tol=1e-6)
    assert len(products) > 3 * divided
