"""One point of the dual: what it says of its metric and its gap."""

from __future__ import annotations

import numpy as np
import pytest

from oddkernel import Comparisons
from oddkernel.learning.recipe import Recipe
from oddkernel.problem.point import Point


def shrunk(dimensions: int, unit: float) -> Point:
    """A point at which multipliers shrink every distance that was asked about, of items with features of this size."""
    phi = unit * np.random.default_rng(0).normal(size=(6, dimensions))
    recipe = Recipe("linear", "hinge", ratio=4.0, margin=0.0)
    rows = recipe.rows(Comparisons.must_link([[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5], [2, 3]], 0.0))
    problem = recipe.problem(phi, rows, penalty=1.0)
    point = problem.at(np.ones(len(rows)))
    assert point is not None
    return point


def test_small_eigenvalues_of_the_metric_keep_their_digits() -> None:
    point = shrunk(3, 1e7)
    metric, root = point.whole_metric()
    exact = np.linalg.inv(point.bent)
    assert np.abs(exact).max() < 1e-13
    np.testing.assert_allclose(metric, exact, rtol=1e-9)
    np.testing.assert_allclose(root @ root, exact, rtol=1e-9)


@pytest.mark.parametrize("least", [1e-6, 1.0])
def test_eigenvectors_of_a_large_metric_are_as_exact(least: float, monkeypatch: pytest.MonkeyPatch) -> None:
    point = shrunk(5, 0.1)
    expected = point.whole_metric()
    monkeypatch.setattr("oddkernel.problem.point.LARGE", 1)
    monkeypatch.setattr("oddkernel.problem.point.CONDITIONED", least)
    decompositions = []
    svd = np.linalg.svd
    monkeypatch.setattr(np.linalg, "svd", lambda matrix: decompositions.append(matrix) or svd(matrix))
    for found, wanted in zip(point.whole_metric(), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-9)
    assert len(decompositions) == (least == 1.0)


def test_the_metric_is_the_identity_where_no_items_differ() -> None:
    point = shrunk(9, 1.0)
    basis = point.problem.basis
    outside = np.eye(9) - basis @ basis.T
    for matrix in point.whole_metric():
        np.testing.assert_allclose(outside @ matrix, outside, atol=1e-12)


def test_the_rounding_of_distances_is_no_gap() -> None:
    """A hinge loss that outweighs the divergence 1e12 times turns the rounding of a row that just holds into a cost."""
    point = shrunk(3, 1.0)
    # One row's violation is pushed from its optimum by less and by more than rounding.
    rows = Recipe("linear", "hinge", ratio=4.0, margin=0.0).rows(Comparisons.closer([0], [1], [2]))
    problem = Recipe("linear", "hinge", ratio=4.0, margin=0.0).problem(1e6 * point.problem.features, rows, penalty=1.0)
    alpha = np.full(1, 0.5 * problem.loss.upper[0])
    for share, counts in ((1e-15, False), (1e-9, True)):
        held = problem.at(np.full(1, 1e-14))
        assert held is not None
        here = Point(problem, alpha, held.bent, held.factor)
        here.__dict__["violation"] = share * here.scale
        assert (here.gap > 0) == counts
