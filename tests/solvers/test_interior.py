"""The interior-point method leads near the optimum, however much the loss outweighs the divergence."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oddkernel_benchmarks.problems import draw
from problems import Problem, outweighed, random_problem, seeds

from oddkernel import SKLR, Comparisons
from oddkernel.learning.recipe import Recipe
from oddkernel.problem.dual import Dual
from oddkernel.solvers import Auto, solve
from oddkernel.solvers.costs import inside_unknowns_cost, rows_cost
from oddkernel.solvers.interior import Inside, interior
from oddkernel.solvers.loop import optimal, run
from oddkernel.solvers.newton import Newton
from oddkernel.solvers.starts import from_inside, guessed, interior_pays, only_inside


@pytest.fixture(params=[(0.0, 0), (np.inf, 10**9), (np.inf, 0)], ids=["unknowns", "rows", "single"])
def form(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Newton's equations over the unknowns of W, and over the rows, by a factor in double and in single precision."""
    cost, single = request.param
    monkeypatch.setattr("oddkernel.solvers.interior.inside_unknowns_cost", lambda problem: cost)
    monkeypatch.setattr("oddkernel.solvers.interior_equations.SINGLE", single)
    monkeypatch.setattr("oddkernel.solvers.interior_equations.DIMENSIONS", np.inf)


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
        monkeypatch.setattr("oddkernel.solvers.starts.HOPELESS", share)
        point = guessed(problem.origin, Auto(), 1e-6)
        assert len(called) == calls
        assert point.residual < 1e-2
    assert solve(problem, Auto())[0].status.success


@pytest.mark.parametrize("loss", ["hinge", "softmax"])
def test_it_follows_a_descent_over_few_unknowns_that_would_take_longer(
    loss: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on draw(41000007), where the method of multipliers took 2,000 directions, and did not arrive."""
    monkeypatch.setattr("oddkernel.solvers.starts.fewer_unknowns", lambda _: True)
    monkeypatch.setattr("oddkernel.solvers.starts.DESCENT", 1e-12)
    monkeypatch.setattr("oddkernel.solvers.starts.HOPELESS", 1e-12)
    called: list[float] = []

    def counted(problem: Dual, tol: float, *, whole: bool) -> Inside | None:
        called.append(tol)
        return interior(problem, tol, whole=whole)

    monkeypatch.setattr("oddkernel.solvers.starts.interior", counted)
    for penalty in (1.0, 1e5):
        assert guessed(outweighed(loss, penalty).origin, Auto(), 1e-6).residual < 1e-2
    assert len(called) == 2


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_single_precision_does_not_come_first_where_it_would_end_the_path_too_soon(loss: str) -> None:
    """On draw(31001775) both precisions took the same path, one after the other."""
    assert only_inside(outweighed(loss, 1e5))
    assert not only_inside(outweighed(loss, 1e-2))


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_where_a_temperature_is_the_only_unit_of_distance_it_starts_from_that(loss: str) -> None:
    """It once started from distances 1e5 times as small, and took up to 19 steps here, and 70 on draw(31002298)."""
    for penalty in (1.0, 1e3, 1e5, 1e7):
        at: Inside | None = Inside.start(outweighed(loss, penalty, margin=0.0))
        for _ in range(14):
            at = at if at is None or at.arrived else at.moved()
        assert at is not None
        assert at.arrived


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
    for module in ("interior", "interior_equations"):
        monkeypatch.setattr(f"oddkernel.solvers.{module}.DENSE", 50)
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


@pytest.mark.slow
@pytest.mark.parametrize("turned", [False, True])
def test_metrics_of_condition_1e22_keep_their_digits(turned: bool) -> None:
    """Features of 1e7 and a loss that outweighs the divergence 1e18 times, also where every feature mixes all axes."""
    drawn = draw(21004328)
    features = drawn.phi
    if turned:
        mixed = np.random.default_rng(0).normal(size=(features.shape[1],) * 2)
        features = features @ np.linalg.qr(mixed)[0]
    settings = drawn.settings
    recipe = Recipe("linear", settings["loss"], ratio=settings["ratio"], margin=settings["margin"])
    problem = recipe.problem(features, recipe.rows(drawn.said), settings["penalty"])
    found = interior(problem, 1e-6)
    assert found is not None
    assert np.linalg.cond(found.primal.factor) > 1e9
    known = found.as_known
    assert known is not None
    assert optimal(known, 1e-6)
    if not turned:
        drawn.check()


@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20])
def test_the_bounds_that_seem_to_hold_do_not_depend_on_the_unit_of_distance(unit: float) -> None:
    one: Inside | None = Inside.start(outweighed("hinge", 1.0))
    other: Inside | None = Inside.start(outweighed("hinge", 1.0 / unit, margin=4.0 * unit, unit=unit))
    snapped = 0
    while one is not None and other is not None and not one.arrived:
        np.testing.assert_array_equal(one.snapped, unit * other.snapped)
        snapped += int(np.count_nonzero(one.snapped != one.alpha))
        one, other = one.moved(), other.moved()
    assert snapped > 0


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


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_logistic_answers_that_compare_copies_alone_have_a_start() -> None:
    """Their distances are 0, and give no unit beside the temperature."""
    said = Comparisons.odd_one_out([[2, 0, 1], [2, 1, 0]], [-1, 2], weight=[1.0, 10.0])
    said += Comparisons.most_central([2], [[0, 1]])
    model = SKLR("adaptive", ratio=1.0, margin=5.0, loss="logistic", penalty=10.0).fit(np.zeros((3, 1)), said)
    assert model.solution_.status.success


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_path_that_ends_where_numbers_overflow_raises_no_warning() -> None:
    """An answer about a copy of its central item, with a weight of 1e15, led to distances of 1e304."""
    said = Comparisons.most_central([0, 0], [[1, 3], [1, 2]], weight=[1192350314990113.0, 1.0])
    X = np.array([[0.0, 0.0]] * 3 + [[0.0, 1.0]] * 2 + [[0.0, 0.0]] * 2)
    model = SKLR("linear", ratio=1.0, loss="logistic", penalty=10.0).fit(X, said)
    assert model.solution_.status.success
