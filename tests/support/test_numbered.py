"""`oddkernel.support.numbered`: what NumPy's sorting finds, found by tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from oddkernel.support.numbered import numbered, places

values = arrays.arrays(np.int64, arrays.array_shapes(max_dims=2, min_side=0), elements=st.integers(0, 40))


@given(values, st.sampled_from([41, 10**9]))
def test_the_same_as_by_sorting(found_in: np.ndarray, size: int) -> None:
    found, place = numbered(found_in, size)
    np.testing.assert_array_equal(found, np.unique(found_in))
    np.testing.assert_array_equal(found[place], found_in)
    np.testing.assert_array_equal(places(found, found_in), place)


@pytest.mark.parametrize("ascending", [[3, 5], [3, 10**9]])
def test_places_of_few_among_many(ascending: list[int]) -> None:
    assert places(np.array(ascending), np.array(ascending[::-1])).tolist() == [1, 0]
