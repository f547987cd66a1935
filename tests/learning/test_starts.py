"""Where learning starts: the features of an initial kernel."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import pdist

from oddkernel.kernels import Linear
from oddkernel.learning import starts
from oddkernel.learning.starts import Start

X = np.random.default_rng(0).normal(size=(50, 3))


def start(items: list[int]) -> Start:
    return Start.of(Linear(), X, np.array(items, dtype=np.intp), rank=None, random=np.random.RandomState(0))


def test_only_the_items_asked_about_have_features() -> None:
    some = start([3, 7, 20])
    assert some.phi == pytest.approx(some.features.transform(X[[3, 7, 20]]))
    assert start([]).phi.shape == (0, 3)


def test_the_covariance_is_that_of_all_items(monkeypatch: pytest.MonkeyPatch) -> None:
    found = start([0])
    phi = found.features.transform(X)
    assert found.covariance(X) == pytest.approx(np.cov(phi.T, bias=True))
    monkeypatch.setattr(starts, "COVARIANCE_ITEMS", 25)
    assert found.covariance(X) == pytest.approx(np.cov(phi[::2].T, bias=True))


def test_the_distances_are_those_of_all_pairs() -> None:
    found = start([0])
    squared = found.squared_distances(X, np.random.RandomState(0))
    assert np.sort(squared) == pytest.approx(np.sort(pdist(found.features.transform(X), "sqeuclidean")))
