"""A kernel of some columns is that kernel on those columns."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from oddkernel.kernels import AdaptiveGaussian, Columns, Diffusion, Gaussian, Identity, Linear, LowRank, Precomputed

GROUP = [3, 1]


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(15, 5))


@pytest.fixture
def X_new() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(4, 5))


@pytest.mark.parametrize(
    "inner", [Linear(), Gaussian(), AdaptiveGaussian(4), Diffusion(4), Identity(), Linear() + Identity()], ids=repr
)
@pytest.mark.parametrize("features", [GROUP, tuple(GROUP), np.array(GROUP)], ids=["list", "tuple", "array"])
def test_is_the_inner_kernel_on_the_columns(inner, features, X, X_new):
    kernel, alone = Columns(features, inner).fit(X), clone(inner).fit(X[:, GROUP])
    np.testing.assert_array_equal(kernel(X), alone(X[:, GROUP]))
    np.testing.assert_array_equal(kernel(X_new, X), alone(X_new[:, GROUP], X[:, GROUP]))
    np.testing.assert_array_equal(kernel.diagonal(X_new), alone.diagonal(X_new[:, GROUP]))
    items = np.array([4, 0])
    np.testing.assert_array_equal(kernel.columns(X_new, items), alone.columns(X_new[:, GROUP], items))


def test_groups_add_up(X, X_new):
    kernel = (0.3 * Columns(range(2), Linear()) + 2 * Columns([2, 3, 4], Gaussian())).fit(X)
    expected = 0.3 * Linear().fit(X[:, :2])(X_new[:, :2], X[:, :2])
    expected += 2 * Gaussian().fit(X[:, 2:])(X_new[:, 2:], X[:, 2:])
    np.testing.assert_allclose(kernel(X_new, X), expected)
    assert LowRank.fit(kernel, X, rank=0.9).share >= 0.9


def test_fit_leaves_the_inner_kernel_alone(X):
    inner = Linear()
    Columns([0], inner).fit(X)
    assert not hasattr(inner, "mean_")


@pytest.mark.parametrize(
    ("features", "kernel", "error", "message"),
    [
        ([0, 5], Linear(), ValueError, r"features\[1\] is 5; expected columns 0 to 4, as the items have 5 features"),
        ([-1], Linear(), ValueError, r"features\[0\] is -1"),
        ([2, 0, 2], Linear(), ValueError, r"features\[2\] repeats column 2"),
        ([], Linear(), ValueError, "at least one of columns 0 to 4"),
        ([True, False], Linear(), ValueError, r"features\[0\] is True"),
        ([0.5], Linear(), ValueError, r"features\[0\] is 0.5"),
        (["age"], Linear(), ValueError, r"features\[0\] is 'age'"),
        (3, Linear(), ValueError, "features=3"),
        ([0], "linear", TypeError, "give a kernel such as"),
        ([0], Precomputed(), ValueError, "aren't features"),
    ],
)
def test_refuses_what_means_nothing(features, kernel, error, message, X):
    with pytest.raises(error, match=message):
        Columns(features, kernel).fit(X)
