"""Settings turn answers into a problem."""

from __future__ import annotations

import numpy as np
import pytest

from oddkernel import Comparisons
from oddkernel.learning.recipe import Recipe, unit_of
from oddkernel.problem.losses import LOSSES

PHI = np.random.default_rng(0).normal(size=(6, 3))
SAID = Comparisons.odd_one_out([[0, 1, 2], [3, 4, 5]], [2, 0])


def test_the_unit_is_the_mean_squared_distance_of_two_items() -> None:
    squared = np.square(PHI[:, None] - PHI).sum(axis=-1)
    assert unit_of(PHI) == pytest.approx(squared.mean())
    assert unit_of(np.ones((3, 2))) == unit_of(np.empty((0, 2))) == 1.0


@pytest.mark.parametrize("loss", LOSSES)
def test_rows_have_ratio_and_margin_and_a_likelihood_has_a_scale(loss: str) -> None:
    recipe = Recipe("linear", loss, ratio=2.0, margin=0.5, softness=0.1)
    rows = recipe.rows(SAID)
    assert set(rows.near_factor) == {2.0}
    assert set(rows.offset) == {0.5}
    scale = 0.1 * unit_of(PHI)
    penalty = 3.0 / scale if LOSSES[loss].entropic else 3.0
    wanted = LOSSES[loss].conjugate(rows.weight, rows.equality, penalty, temperature=scale, answer=rows.answer)
    problem = recipe.problem(PHI, rows, 3.0)
    for name in ("curvature", "lower", "upper", "temperature", "group"):
        assert np.array_equal(getattr(problem.loss, name), getattr(wanted, name))
