"""The interior-point method leads near the optimum, however much the loss outweighs the divergence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oddkernel_benchmarks.problems import draw
from problems import Problem, random_problem, seeds

from oddkernel import Comparisons
from oddkernel.learning.recipe import Recipe
from oddkernel.problem.arrays import Array
from oddkernel.problem.dual import Dual
from oddkernel.problem.row_products import mixed_products
from oddkernel.solvers import Auto, solve
from oddkernel.solvers.costs import inside_unknowns_cost, rows_cost
from oddkernel.solvers.interior import Bend, Inside, interior, over_rows, over_unknowns
from oddkernel.solvers.loop import optimal, run
from oddkernel.solvers.newton import Newton
from oddkernel.solvers.starts import from_inside, guessed, interior_pays
from oddkernel.solvers.threads import one_thread


def outweighed(loss: str, penalty: float, dimensions: int = 12, margin: float = 4.0, ratio: float = 2.0) -> Dual:
    """Random answers about items on which many can't agree, with a margin of twice the mean squared distance."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, dimensions)) / np.sqrt(dimensions)
    shown = np.array([rng.choice(30, 3, replace=False) for _ in range(60)])
    said = Comparisons.odd_one_out(shown, rng.integers(-1, 3, size=60))
    recipe = Recipe("linear", loss, ratio=ratio, margin=margin)
    return recipe.problem(X, recipe.rows(said), penalty)


@pytest.fixture(params=[0.0, np.inf], ids=["unknowns", "rows"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Newton's equations over the unknowns of W, and over the rows."""
    monkeypatch.setattr("oddkernel.solvers.interior.inside_unknowns_cost", lambda problem: request.param)


def newton_matrix(at: Inside) -> Array:
    """tr(W C_c Z⁻¹ C_d) + ψ*'' + Gᵀ·diag(slack/room)·G, by the written-out products."""
    problem, loss, every = at.problem, at.problem.loss, np.eye(len(at.problem))
    middle = [problem.spread(problem.coordinates, row) for row in every]
    moved = [at.metric @ each @ np.linalg.inv(at.bent) for each in middle]
    matrix = np.array([problem.sandwich(problem.coordinates, 0.5 * (each + each.T)) for each in moved])
    own, shared = loss.bend(at.alpha)
    together = (loss.group[:, None] == loss.group) & loss.entropic
    walls = at.intervals.matrix.toarray()
    return matrix + np.diag(own) + together * shared + walls.T @ np.diag(at.slack / at.room) @ walls


@pytest.mark.parametrize("loss", ["squared", "hinge", "logistic", "softmax"])
@pytest.mark.parametrize("penalty", [1e-2, 1.0, 1e5])
@pytest.mark.usefixtures("form")
def test_few_newton_steps_are_left(loss: str, penalty: float) -> None:
    problem = outweighed(loss, penalty)
    found = interior(problem, 1e-6)
    assert found is not None
    near = problem.at(found.snapped)
    assert near is not None
    assert near.gap < 0.1
    assert run(near, Newton(), 1e-6, 10, None).status.success


@pytest.mark.parametrize("loss", ["squared", "hinge", "logistic", "softmax"])
@pytest.mark.parametrize("seed", seeds(12))
@pytest.mark.usefixtures("form")
def test_the_optimum_of_small_problems_with_copies_links_and_repeats(seed: int, loss: str) -> None:
    for penalty in (0.1, 1e4):
        problem = random_problem(seed, noisy=True).dual(penalty, loss)
        found = run(from_inside(problem.origin, 1e-6), Newton(), 1e-6, 20, None)
        assert found.status.success
        best, _ = solve(problem, Auto())
        assert found.point.objective == pytest.approx(best.objective, rel=1e-5, abs=1e-5)


@pytest.mark.parametrize("loss", ["squared", "hinge", "logistic", "softmax"])
@pytest.mark.parametrize(
    ("penalty", "dimensions", "margin", "ratio"),
    [(1e-2, 12, 4.0, 2.0), (1e5, 12, 4.0, 2.0), (1e4, 4, 1e5, 2.0), (1e4, 4, 1e5, 1.0), (1e8, 3, 1e2, 1.0)],
)
def test_rows_and_unknowns_of_w_give_the_same_steps(
    loss: str, penalty: float, dimensions: int, margin: float, ratio: float
) -> None:
    """Also at the end of the path, where what rows are divided by ranges over 1e17, and some are held by W alone."""
    at: Inside | None = Inside.start(outweighed(loss, penalty, dimensions, margin, ratio))
    with one_thread():  # sums in the same order on every machine: at the end of the path they decide the last digits
        while at is not None and not at.arrived:
            bend = Bend(at)
            matrix, right = newton_matrix(at), at.problem.offset - at.problem.loss.slope(at.alpha)
            scale = np.sqrt(np.diagonal(matrix))
            by_rows, by_unknowns = over_rows(at, bend, np.linalg.inv(at.bent)), over_unknowns(at, bend)
            assert by_unknowns is not None
            for solved in (by_rows or by_unknowns, by_unknowns):  # rounding may leave the larger matrix singular
                alpha = solved(right)
                error = np.abs(matrix @ alpha - right) / scale
                assert error.max() <= 1e-7 * (scale * np.abs(alpha) + np.abs(right) / scale).max()
            at = at.moved()
    assert at is not None


@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
def test_it_follows_a_descent_that_would_take_longer(loss: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on draw(20000390) and draw(20000056), where conjugate gradients took minutes and did not arrive."""
    called: list[Dual] = []

    def counted(problem: Dual, tol: float, *, whole: bool) -> Inside | None:
        called.append(problem)
        return interior(problem, tol, whole=whole)

    monkeypatch.setattr("oddkernel.solvers.starts.interior", counted)
    # So that descent comes first.
    monkeypatch.setattr("oddkernel.solvers.starts.inside_cost", lambda _: 1e11)
    monkeypatch.setattr("oddkernel.solvers.starts.fewer_unknowns", lambda _: False)
    problem = outweighed(loss, 1e5)
    for share, calls in ((1.0, 0), (1e-12, 1)):
        monkeypatch.setattr("oddkernel.solvers.starts.DESCENT", share)
        point = guessed(problem.origin, Auto(), 1e-6)
        assert len(called) == calls
        assert point.residual < 1e-2
    assert solve(problem, Auto())[0].status.success


def test_it_does_not_come_first_where_rows_must_hold() -> None:
    assert not interior_pays(random_problem(0).dual())
    assert interior_pays(outweighed("hinge", 1.0))


@pytest.mark.parametrize("seed", seeds(30))
@pytest.mark.usefixtures("form")
def test_rows_that_must_hold_and_can(seed: int) -> None:
    """Also equalities, some of which follow from others, and have no slack."""
    problem = random_problem(seed).dual()
    best, _ = solve(problem, Newton(), tol=1e-8)
    there = from_inside(problem.origin, 1e-6)
    assert there.objective == pytest.approx(best.objective, rel=1e-5, abs=1e-5)
    assert run(there, Newton(), 1e-6, 10, None).status.success


@pytest.mark.parametrize(("penalty", "ratio"), [(1e-2, 1.0), (1e4, 1.0), (1e4, 2.0)])
def test_with_many_rows_it_goes_on_to_the_optimum(
    penalty: float, ratio: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oddkernel.solvers.interior.DENSE", 50)
    problem = outweighed("hinge", penalty, 4, 4.0, ratio)
    found = interior(problem, 1e-6)
    assert found is not None
    there = problem.at(found.snapped)
    assert there is not None
    assert optimal(there, 1e-6)


def test_w_is_taken_for_the_inverse_of_s_only_where_rounding_alone_tells_them_apart() -> None:
    problem = outweighed("hinge", 1e10, 3, 4.0, 1.0)
    start = Inside.start(problem)
    assert start is not None
    assert start.as_known is None
    found = interior(problem, 1e-6)
    while found is not None and found.product > 1e-12:
        found = found.moved()
    assert found is not None
    known = found.as_known
    assert known is not None
    assert optimal(known, 1e-6)
    other = replace(found, alpha=found.alpha * (1.0 + 1e-6))
    assert other.as_known is None


def test_many_rows_are_if_dimensions_are_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oddkernel.solvers.starts.INSIDE", 50)
    assert interior_pays(outweighed("hinge", 1.0, dimensions=3))
    assert not interior_pays(outweighed("hinge", 1.0, dimensions=30))


def test_rows_without_offset_or_with_nothing_else() -> None:
    """Copies, about which a row consists of its offset alone, and answers that ask only for ratios."""
    X = np.random.default_rng(0).normal(size=(6, 3))
    X[1] = X[0]
    said = Comparisons.closer([0, 2, 3], [1, 4, 5], [4, 0, 1]) + Comparisons.cannot_link([[0, 1]], 1.0)
    for loss in ("squared", "hinge", "logistic"):
        recipe = Recipe("linear", loss, ratio=2.0, margin=0.0)
        problem = recipe.problem(X, recipe.rows(said), 100.0)
        assert run(from_inside(problem.origin, 1e-6), Newton(), 1e-6, 10, None).status.success


def test_products_of_rows_under_two_kernels() -> None:
    rng = np.random.default_rng(0)
    problem = outweighed("squared", 1.0)
    one, other = (half @ half.T for half in rng.normal(size=(2, 30, 5)))
    first, second = problem.first.astype(np.uint64), problem.second.astype(np.uint64)
    ends = [(first[pair], second[pair]) for pair in (problem.near, problem.far)]
    products = mixed_products(one, other, *ends, problem.near_factor, problem.far_factor)
    matrices = np.zeros((len(problem), 30, 30))
    for c in range(len(problem)):
        for pair, factor in ((problem.near, problem.near_factor), (problem.far, -problem.far_factor)):
            apart = np.zeros(30)
            apart[[problem.first[pair[c]], problem.second[pair[c]]]] = 1.0, -1.0
            matrices[c] += factor[c] * np.outer(apart, apart)
    written = np.einsum("ij,cjk,kl,dli->cd", one, matrices, other, matrices, optimize=True)
    upper = np.triu_indices(len(problem))
    np.testing.assert_allclose(products[upper], written[upper], rtol=1e-9, atol=1e-9)


def test_rows_about_copies_and_sizes_near_overflow_leave_a_start() -> None:
    said = Comparisons.odd_one_out([[0, 1, 2], [1, 2, 3], [0, 1, 3]], [2, 0, -1])
    for items in (np.array([[0.0], [0.0], [0.0], [-2.0]]), np.array([[0.0], [0.0], [1e-160], [1e-150]])):
        for loss in ("squared", "hinge", "softmax"):
            problem = Problem(items, said).dual(1e5, loss)
            found = interior(problem, 1e-6)
            assert found is None or np.isfinite(found.alpha).all()


# No other way solves draw(21002557), of 6,185 rows; over the 4,005 unknowns of draw(25000062) a step took
# four times as long as over its 6,097 rows. Both take a minute or more.
@pytest.mark.parametrize(("seed", "by_rows"), [(21002557, True), (25000062, True), (19100141, False)])
def test_it_serves_all_random_problems_in_the_cheaper_of_two_forms(seed: int, by_rows: bool) -> None:
    drawn = draw(seed)
    settings = drawn.settings
    recipe = Recipe("linear", settings["loss"], ratio=settings["ratio"], margin=settings.get("margin", 0.0))
    problem = recipe.problem(drawn.phi, recipe.rows(drawn.said), settings["penalty"])
    assert interior_pays(problem)
    assert (rows_cost(len(problem)) < inside_unknowns_cost(problem)) == by_rows
