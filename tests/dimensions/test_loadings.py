"""Loadings are the mode of their posterior."""

from __future__ import annotations

import numpy as np

from oddkernel.dimensions.likelihood import Choice, similarities
from oddkernel.dimensions.loadings import best_scale, correlations, fit_loadings, match

from .planted import planted


def test_the_mode_has_no_slope_but_at_the_bound() -> None:
    loadings, said = planted()
    choice, begun = Choice.of(said, 0.0), 0.7 * loadings
    found = fit_loadings(begun, choice, 5.0, 0.5)
    gradient = choice.cost(found)[1] + 0.5 + 5.0 * (found - begun)
    assert (found >= 0).all()
    assert np.abs(gradient[found > 1e-6]).max() < 0.05
    assert gradient[found <= 1e-6].min() > -0.05


def test_firm_shrinkage_leaves_the_start() -> None:
    loadings, said = planted()
    np.testing.assert_allclose(fit_loadings(loadings, Choice.of(said, 0.0), 1e9, 0.0), loadings, atol=1e-5)


def test_the_scale_is_the_best_one() -> None:
    loadings, said = planted()
    choice = Choice.of(said, 0.0)
    scale = best_scale([(loadings, choice)])
    found = similarities(loadings, choice.shown)
    values = [choice.log_likelihood(factor * found).sum() for factor in (0.97 * scale, scale, 1.03 * scale)]
    assert values[1] == max(values)


def test_a_constant_column_correlates_with_nothing() -> None:
    z = np.array([[1.0, 5.0], [2.0, 5.0], [0.0, 5.0]])
    np.testing.assert_allclose(correlations(z, z), [[1.0, 0.0], [0.0, 0.0]])
    assert match(z, z)[0] == 0
