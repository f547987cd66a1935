from __future__ import annotations

import copy
import pickle
import sys

import numpy as np
import pytest

from oddkernel.kernels import AdaptiveGaussian, adaptive

pytest.importorskip("faiss")

RANDOM = np.random.default_rng(0)
CENTRES = 3 * RANDOM.normal(size=(10, 6))
X = CENTRES[RANDOM.integers(0, 10, 2000)] + RANDOM.normal(size=(2000, 6))
NEW = CENTRES[RANDOM.integers(0, 10, 200)] + RANDOM.normal(size=(200, 6))


@pytest.mark.parametrize("scale", [1.0, 1e-60, 1e60])
@pytest.mark.parametrize("offset", [0.0, 1e5])
def test_bandwidths_are_hardly_overestimated(scale: float, offset: float) -> None:
    exact = AdaptiveGaussian(50, search="exact").fit(scale * (X + offset))
    near = AdaptiveGaussian(50, search="approximate").fit(scale * (X + offset))
    assert (near.sigma_ >= exact.sigma_ * (1 - 1e-6)).all()
    assert np.quantile(near.sigma_ / exact.sigma_, 0.95) < 1.02
    items = np.arange(0, 2000, 10)
    new = scale * (NEW + offset)
    assert np.allclose(near.columns(new, items), exact.columns(new, items), atol=0.02)


def test_many_training_items_are_sorted_into_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    assert AdaptiveGaussian().fit(X)._cells is None
    monkeypatch.setattr(adaptive, "EXACT", 1000)
    kernel = AdaptiveGaussian().fit(X)
    assert kernel._cells is not None
    assert AdaptiveGaussian(search="exact").fit(X)._cells is None
    for copied in (copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel))):
        assert "_cells" not in vars(copied)
        assert np.array_equal(copied(NEW), kernel(NEW))


def test_items_far_away_and_copies() -> None:
    copies = np.repeat(X[:30], 20, axis=0)
    kernel = AdaptiveGaussian(10, search="approximate").fit(copies)
    assert (kernel.sigma_ == 1.0).all()
    exact, near = (AdaptiveGaussian(10, search=search).fit(X) for search in ("exact", "approximate"))
    far = np.full((1, 6), 1e70)
    assert np.allclose(near._sigma(far), exact._sigma(far))


def test_what_makes_no_sense_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="search='some'; expected one of 'auto', 'exact', 'approximate'"):
        AdaptiveGaussian(search="some").fit(X)
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ImportError, match=r'pip install "oddkernel\[faiss\]"'):
        AdaptiveGaussian(search="approximate").fit(X)
