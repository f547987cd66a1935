"""What a model holds becomes JSON and arrays, and comes back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from oddkernel.kernels import Gaussian, Linear
from oddkernel.learning.encoding import Decoder, Encoder, check_array


@pytest.mark.parametrize("value", [None, True, 3, 0.1, float("inf"), float("-inf"), "text", [1, [2.5, None]]], ids=str)
def test_values_come_back_as_they_were(value: Any) -> None:
    encoder = Encoder()
    described = json.loads(json.dumps(encoder.value(value, "place"), allow_nan=False))
    found = Decoder(encoder.parts).value(described)
    assert found == value
    assert type(found) is type(value)


def test_arrays_are_parts_of_their_own_and_equal_ones_are_kept_once() -> None:
    encoder = Encoder()
    array = np.arange(6.0).reshape(2, 3)
    described = encoder.mapping({"one": 1, "many": array}, "all")
    assert described == {"one": 1, "many": {"array": "arrays/all.many.npy"}}
    assert encoder.mapping({"many": array.copy()}, "again") == {"many": {"array": "arrays/all.many.npy"}}
    assert np.array_equal(Decoder(encoder.parts).value(described["many"]), array)


def test_a_fitted_kernel_comes_back_fitted() -> None:
    X = np.random.default_rng(0).normal(size=(8, 2))
    kernel = (0.5 * Linear() + Gaussian(2.0)).fit(X)
    encoder = Encoder()
    found = Decoder(encoder.parts).kernel(encoder.value(kernel, "kernel"), 2)
    assert np.array_equal(found(X), kernel(X))
    with pytest.raises(ValueError, match="3 features"):
        Decoder(encoder.parts).kernel(encoder.value(kernel, "kernel"), 3)


@pytest.mark.parametrize("array", [[1.0, 2.0], np.ones(3), np.ones(2, dtype=int), np.array([1.0, np.nan])], ids=str)
def test_arrays_of_another_shape_or_kind_are_refused(array: Any) -> None:
    with pytest.raises(ValueError, match="weight"):
        check_array(array, "weight", (2,), "f")
