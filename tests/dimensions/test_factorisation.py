"""The factorisation finds planted loadings, whatever it starts from."""

from __future__ import annotations

import numpy as np
import pytest

from oddkernel.dimensions import factorisation
from oddkernel.dimensions.factorisation import factorise, gaussian, sparseness, start, varimax
from oddkernel.dimensions.loadings import correlations, match

from .planted import planted


@pytest.mark.parametrize("seed", range(3))
def test_planted_loadings_are_found(seed: int) -> None:
    loadings, _ = planted(n_dimensions=4)
    similarity = (loadings @ loadings.T).astype(np.float32)
    found = factorise(similarity, 4, np.random.RandomState(seed))
    assert (found >= 0).all()
    like = np.diagonal(correlations(loadings, found[:, match(loadings, found)]))
    assert like.min() > 0.98
    rest = similarity - found @ found.T
    np.fill_diagonal(rest, 0.0)
    assert np.abs(rest).max() < 0.1


def test_many_items_need_only_the_leading_eigenvectors(monkeypatch: pytest.MonkeyPatch) -> None:
    loadings, _ = planted(n_dimensions=4)
    similarity = (loadings @ loadings.T).astype(np.float32)
    monkeypatch.setattr(factorisation, "MANY", 10)
    found = factorise(similarity, 4, np.random.RandomState(0))
    assert np.diagonal(correlations(loadings, found[:, match(loadings, found)])).min() > 0.98


def test_a_rotation_keeps_the_products() -> None:
    loadings = np.random.default_rng(0).normal(size=(9, 3))
    rotated = varimax(loadings, np.random.RandomState(0))
    np.testing.assert_allclose(rotated @ rotated.T, loadings @ loadings.T)
    assert np.var(rotated**2, axis=0).sum() >= np.var(loadings**2, axis=0).sum()


def test_the_gaussian_of_copies_is_one() -> None:
    np.testing.assert_array_equal(gaussian(np.ones((4, 2))), 1.0)


def test_where_varimax_has_several_optima_the_start_hardly_depends_on_chance() -> None:
    rng = np.random.default_rng(3)
    planted = rng.random((120, 8)) * (rng.random((120, 8)) < 0.4)
    similarity = planted @ planted.T + 0.5 * np.cov(rng.normal(size=(120, 60)))
    values, vectors = np.linalg.eigh(similarity)
    leading = vectors[:, -8:] * np.sqrt(values[-8:])
    single = [sparseness(varimax(leading, np.random.RandomState(seed))) for seed in range(20)]
    assert max(single) > 1.01 * min(single)
    several = [start(similarity, 8, np.random.RandomState(seed)) for seed in range(3)]
    for other in several[1:]:
        assert np.diagonal(correlations(several[0], other[:, match(several[0], other)])).min() > 0.99
