"""Newton's method in the primal."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from problems import outweighed

from oddkernel import SKLR, Comparisons
from oddkernel.learning.recipe import Recipe
from oddkernel.solvers import descent
from oddkernel.solvers.primal import Primal
from oddkernel.solvers.starts import first


def test_copies_and_a_margin_far_beyond_all_distances_give_no_infinite_number() -> None:
    """W then collapses to rounding in one direction, and is not taken as it is."""
    X = np.array([[0.0, 0.0, 1.0]] * 8 + [[0.0, 0.0, 0.0], [0.0, 0.0, 0.5]])
    random = np.random.default_rng(54)
    shown = np.array([random.choice(10, 3, replace=False) for _ in range(5)])
    said = Comparisons.odd_one_out(shown, random.integers(-1, 3, size=5))
    model = SKLR("adaptive", rank=0.9, ratio=4.0, margin=1e6, loss="squared", penalty=20619.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        warnings.simplefilter("ignore", UserWarning)
        assert np.isfinite(model.fit(X, said).kernel_matrix(X)).all()


def test_what_replaces_eigenvalues_agrees_with_them() -> None:
    half = np.random.default_rng(0).normal(size=(30, 30))
    matrix = half + half.T
    assert descent._norm(matrix) == pytest.approx(np.linalg.norm(matrix, 2), rel=0.1)
    assert descent._norm(np.zeros((3, 3))) == 0.0
    grown, size = half @ half.T / 30 - 0.3 * np.eye(30), 4.0
    values = np.linalg.eigvalsh(grown)
    found = descent._bent_at_one(size, (grown / size).astype(np.float32))
    assert found == pytest.approx((values / (1 + values)).sum(), rel=1e-4)
    assert descent._bent_at_one(1.0, np.diag([0.0, -0.8]).astype(np.float32)) is None
    assert descent._bent_at_one(2.0**162, np.eye(2, dtype=np.float32)) is None  # above all numbers in single precision


def test_a_slope_whose_terms_cancel_is_not_that_of_single_precision() -> None:
    """Near the minimum what single precision leaves of the slope may even be positive."""
    rng = np.random.default_rng(0)
    said = Comparisons.from_labels(np.arange(20) % 4, 60, noise=0.3, random_state=0)
    recipe = Recipe("linear", "softmax", ratio=1.0, margin=0.0)
    start = Primal.of(first(recipe.problem(rng.normal(size=(20, 5)), recipe.rows(said), 0.1), None))
    here = descent.minimised(start, 1e-6)
    step = -here.gradient
    change = here.problem.sandwich(here.images, step)
    length = descent._length(here, step, None)
    assert length > 0
    for error in (1e-6, -1e-6):
        assert descent._length(here, step, change + error * np.abs(change).max()) == length


def test_where_a_loss_pulls_moderately_steps_without_a_path_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    said = Comparisons.from_labels(np.arange(20) % 4, 60, noise=0.3, random_state=0)
    recipe, X = Recipe("linear", "squared", ratio=4.0, margin=0.5), rng.normal(size=(20, 5))
    paths = []
    for name in ("_central", "_strengthened"):
        path = getattr(descent, name)
        monkeypatch.setattr(descent, name, lambda *given, path=path: paths.append(1) or path(*given))
    for penalty, taken in ((1e-3, 0), (1.0, 1)):
        start = Primal.of(first(recipe.problem(X, recipe.rows(said), penalty), np.zeros(120)))
        assert (descent._norm(start.gradient) > descent.GENTLE) == taken
        assert descent._norm(start.gradient) > 1.0
        found = descent.minimised(start, 1e-6)
        assert np.linalg.norm(found.gradient) <= 1e-6
        assert len(paths) == taken


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_path_that_ends_far_out_is_not_polished() -> None:
    """Its gradient overflowed, and LAPACK refused it."""
    grid = np.array([[-5, -2], [-2, 7], [-3, -4], [-2, 7], [-3, -4], [-5, -2], [-2, 10]])
    said = Comparisons.odd_one_out([[2, 1, 5]], [2], weight=[1e8])
    said += Comparisons.anchor([[2, 5, 1], [6, 5, 1]], [-1, -1], weight=[1.0, 1e16])
    said += Comparisons.odd_one_out([[2, 3, 0], [6, 5, 3], [2, 3, 0]], [0, 1, 2], weight=[1.0, 1e16, 1e16])
    model = SKLR("identity", scaling=None, margin=5.0, penalty=10.0, loss="squared", ratio=1.0)
    assert np.isfinite(model.fit(0.00532152 * grid, said).solution_.gap)


def test_a_direction_of_zeros_is_no_arrival(monkeypatch: pytest.MonkeyPatch) -> None:
    primal = Primal.of(outweighed("squared", 1e4).origin)
    monkeypatch.setattr(descent, "direction", lambda primal, *_: (np.zeros_like(primal.gradient), None))
    assert not descent._newton(primal, None, 5, descent.Budget())[1]
