"""Directions of Newton steps in the primal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from oddkernel import Comparisons
from oddkernel.learning.recipe import Recipe
from oddkernel.solvers import directions
from oddkernel.solvers.costs import Budget
from oddkernel.solvers.primal import Primal
from oddkernel.solvers.starts import first
from oddkernel.solvers.unknowns import Unknowns

Way = Callable[[Primal, Any, float], Any]


def drawn(penalty: float, answers: int, dimensions: int) -> Primal:
    """The primal of random answers about 20 items, away from its minimum."""
    rng = np.random.default_rng(0)
    said = Comparisons.from_labels(np.arange(20) % 4, answers, noise=0.3, random_state=0)
    recipe = Recipe("linear", "squared", ratio=4.0, margin=0.5)
    problem = recipe.problem(rng.normal(size=(20, dimensions)), recipe.rows(said), penalty)
    return Primal.of(first(problem, None))


def only_step(found: Any) -> Any:
    return found[0] if isinstance(found, tuple) else found


# More rows than unknowns of W, and fewer.
@pytest.mark.parametrize(("answers", "dimensions"), [(60, 5), (20, 12)])
@pytest.mark.parametrize("way", [directions._by_unknowns, directions._by_rows, directions._by_least_squares])
@pytest.mark.parametrize("damping", [0.0, 2.0])
def test_every_way_solves_the_newton_equation(way: Way, answers: int, dimensions: int, damping: float) -> None:
    here = drawn(1.0, answers, dimensions)
    step = only_step(way(here, np.flatnonzero(here.stiffness[0]), damping))
    pulled = here.problem.spread(here.images, here.stiff(here.problem.sandwich(here.images, step)))
    np.testing.assert_allclose((1.0 + damping) * step + pulled, -here.gradient, atol=1e-9)


def test_steps_that_lost_their_digits_are_not_called_accurate() -> None:
    for penalty, accurate in ((1.0, True), (1e12, False)):
        here = drawn(penalty, 60, 5)
        rows = np.flatnonzero(here.stiffness[0])
        assert directions._by_rows(here, rows, 0.0)[1] == accurate


def test_products_that_are_all_rounding_lead_downhill() -> None:
    for penalty in (1e16, 1e20, 1e30):
        here = drawn(penalty, 60, 5)
        step, _, arrived = directions._by_products(here, directions.usual_change(here.problem), 0.0)
        assert np.isfinite(step).all()
        assert arrived
        assert np.sum(step * here.gradient) < 0
    here.__dict__["gradient"] = np.zeros_like(here.gradient)
    assert not directions._by_products(here, directions.usual_change(here.problem), 0.0)[0].any()


def test_products_add_up_to_the_change_of_the_violations() -> None:
    here = drawn(1.0, 60, 5)
    for primal in (here, Primal.of(first(here.problem.single, None))):
        step, felt, _ = directions._by_products(primal, directions.usual_change(primal.problem), 0.5)
        np.testing.assert_allclose(felt, primal.problem.sandwich(primal.images, step), rtol=1e-4, atol=1e-4)


def test_where_no_row_bends_the_step_is_the_gradient() -> None:
    here = drawn(1.0, 60, 5)
    here.__dict__["stiffness"] = np.zeros(len(here.problem)), np.zeros(len(here.problem))
    step, _ = directions.direction(here, directions.usual_change(here.problem), 1.0, Budget())
    np.testing.assert_array_equal(step, -0.5 * here.gradient)


def test_a_matrix_and_its_vector_have_the_same_inner_products() -> None:
    rng = np.random.default_rng(0)
    one, other = (half + half.T for half in rng.normal(size=(2, 4, 4)))
    unknowns = Unknowns(4)
    assert unknowns.vector(one) @ unknowns.vector(other) == pytest.approx(np.sum(one * other))
    np.testing.assert_allclose(unknowns.matrix(unknowns.vector(one)), one)


@pytest.mark.parametrize(("condition", "enough"), [(1e3, True), (1e10, False)])
def test_single_precision_is_refined_or_not_used(condition: float, enough: bool) -> None:
    rng = np.random.default_rng(0)
    axes = np.linalg.qr(rng.normal(size=(40, 40)))[0]
    matrix, right = (axes * np.geomspace(1.0, condition, 40)) @ axes.T, rng.normal(size=40)
    found = directions._refined(matrix, 1.0 / np.sqrt(np.diagonal(matrix)), right)
    assert (found is not None) == enough
    if found is not None:
        np.testing.assert_allclose(matrix @ found[0], right, atol=1e-6)


def test_an_indefinite_matrix_gives_no_direction() -> None:
    """Weights of 1e16 under a logistic loss leave numbers below 0 on the diagonal."""
    found, least = directions._solved(np.diag([1.0, -1.0]), np.ones(2))
    assert found.tolist() == [0.0, 0.0]
    assert least == 0.0
