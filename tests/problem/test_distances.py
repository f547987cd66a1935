"""Squared distances of pairs of items."""

from __future__ import annotations

import numpy as np
import pytest

from oddkernel.problem import distances


@pytest.mark.parametrize("pairs", [5, 500])  # by differences, and by inner products
def test_near_copies_far_from_the_origin_keep_their_digits(pairs: int) -> None:
    rng = np.random.default_rng(0)
    z = 1e3 + rng.normal(size=(10, 4))
    z[1] = z[0] + 1e-4
    z[3] = z[2]
    first, second = np.sort(rng.integers(0, 10, size=(2, pairs)), axis=0)
    first[:2], second[:2] = (0, 2), (1, 3)
    found = distances.of_pairs(z, first, second)
    assert found[0] == pytest.approx(4e-8, rel=1e-6)
    assert found[1] == 0.0
    np.testing.assert_allclose(found, np.square(z[first] - z[second]).sum(axis=1), rtol=1e-12)


def test_where_items_are_too_many_no_matrix_of_them_is_formed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distances, "MOST_ITEMS", 3)
    monkeypatch.setattr(distances, "upper", None)
    assert distances.of_pairs(np.eye(4), np.zeros(50, int), np.ones(50, int)) == pytest.approx(np.full(50, 2.0))
