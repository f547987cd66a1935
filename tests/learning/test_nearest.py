"""Nearest neighbours."""

from __future__ import annotations

import numpy as np
import pytest

from oddkernel import SKLR
from oddkernel.learning.nearest import _least


@pytest.mark.parametrize("k", [0, 1, 4, 30])
def test_the_least_values_come_in_the_order_of_a_stable_sort(k: int) -> None:
    rng = np.random.default_rng(0)
    values = rng.integers(0, 5, size=(20, 30)).astype(float)  # many are equal
    values[np.arange(20), np.arange(20)] = np.inf
    np.testing.assert_array_equal(_least(values, k), np.argsort(values, axis=1, kind="stable")[:, :k])


def test_equally_near_items_come_in_their_order_and_an_item_is_not_its_own_neighbour() -> None:
    X = np.repeat(np.arange(3.0), 4)[:, None]
    found = SKLR("linear").fit(X).neighbours(X, 4)
    assert found[5].tolist() == [4, 6, 7, 0]
