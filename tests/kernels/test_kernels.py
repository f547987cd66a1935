"""Initial kernels agree with their formulas, on training and on new items."""

from __future__ import annotations

import pickle

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from scipy.sparse import csr_array
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import get_tags

from oddkernel.kernels import (
    KERNELS,
    AdaptiveGaussian,
    Columns,
    Diffusion,
    Gaussian,
    Identity,
    Kernel,
    KernelSum,
    Linear,
    Precomputed,
    Standardised,
    resolve,
)
from oddkernel.kernels.distances import squared_distances

FEATURE_KERNELS = [
    AdaptiveGaussian(neighbors=3),
    Gaussian(),
    Gaussian(bandwidth=0.7),
    Linear(),
    Identity(),
    Diffusion(neighbors=3),
    Columns([0], Gaussian()),
    Standardised(Gaussian()),
    0.5 * Linear() + 0.5 * AdaptiveGaussian(neighbors=3) + 0.6 * Identity(),
]


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(12, 3))


@pytest.fixture
def X_new() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(5, 3))


# Formulas


def test_adaptive_follows_its_formula_on_training_and_new_items(X, X_new):
    kernel = AdaptiveGaussian(neighbors=4).fit(X)
    distance, new_distance = cdist(X, X), cdist(X_new, X)
    sigma, new_sigma = np.sort(distance, axis=1)[:, 3], np.sort(new_distance, axis=1)[:, 3]

    np.testing.assert_allclose(kernel.sigma_, sigma)
    np.testing.assert_allclose(kernel(X), np.exp(-(distance**2) / np.outer(sigma, sigma)))
    np.testing.assert_allclose(kernel(X_new, X), np.exp(-(new_distance**2) / np.outer(new_sigma, sigma)))


def test_adaptive_with_more_neighbors_than_items_uses_the_farthest(X):
    np.testing.assert_allclose(AdaptiveGaussian(neighbors=100).fit(X).sigma_, cdist(X, X).max(axis=1))


def test_adaptive_sigma_of_zero_becomes_the_smallest_positive_one():
    X = np.array([[0.1], [0.1], [0.1], [1.1], [4.1]])
    kernel = AdaptiveGaussian(neighbors=2).fit(X)
    np.testing.assert_allclose(kernel.sigma_, [1.0, 1.0, 1.0, 1.0, 3.0])
    np.testing.assert_allclose(kernel([[0.1]], [[1.1]]), np.exp(-1.0))


def test_adaptive_in_blocks_is_adaptive_at_once(X, monkeypatch):
    whole = AdaptiveGaussian(neighbors=4).fit(X).sigma_
    monkeypatch.setattr("oddkernel.kernels.distances.BLOCK_ENTRIES", 30)
    np.testing.assert_allclose(AdaptiveGaussian(neighbors=4).fit(X).sigma_, whole, rtol=1e-14)


def test_gaussian_follows_its_formula(X, X_new):
    pairs = cdist(X, X)[np.triu_indices(len(X), k=1)]
    kernel = Gaussian().fit(X)
    assert kernel.bandwidth_ == pytest.approx(np.median(pairs))
    np.testing.assert_allclose(kernel(X_new, X), np.exp(-(cdist(X_new, X) ** 2) / np.median(pairs) ** 2))
    np.testing.assert_allclose(Gaussian(2).fit(X)(X_new, X), np.exp(-(cdist(X_new, X) ** 2) / 4))


def test_gaussian_median_leaves_out_copies():
    assert Gaussian().fit([[0.0], [0.0], [0.0], [0.0], [5.0]]).bandwidth_ == 5.0


def test_linear_is_centred_with_unit_mean_squared_norm(X, X_new):
    kernel = Linear().fit(X)
    centred = X - X.mean(axis=0)
    scale = np.mean(np.sum(centred**2, axis=1))
    assert kernel.diagonal(X).mean() == pytest.approx(1.0)
    np.testing.assert_allclose(kernel(X), centred @ centred.T / scale)
    np.testing.assert_allclose(kernel(X_new, X), (X_new - X.mean(axis=0)) @ centred.T / scale)
    np.testing.assert_allclose(Linear().fit(1000 * X + 5)(1000 * X + 5), kernel(X), atol=1e-12)


def test_identity_is_equality_of_rows():
    kernel = Identity().fit(np.arange(4)[:, None])
    np.testing.assert_array_equal(kernel(np.arange(4)[:, None]), np.eye(4))
    np.testing.assert_array_equal(kernel([[9]], np.arange(4)[:, None]), np.zeros((1, 4)))
    np.testing.assert_array_equal(Identity().fit([[0.0, 1.0]])([[0.0, 1.0], [1.0, 0.0]], [[-0.0, 1.0]]), [[1], [0]])


def test_sum_is_the_weighted_sum_of_its_parts(X, X_new):
    kernel = (0.5 * Linear() + Gaussian() * np.float64(2.0) + Identity()).fit(X)
    expected = 0.5 * Linear().fit(X)(X_new, X) + 2 * Gaussian().fit(X)(X_new, X)
    np.testing.assert_allclose(kernel(X_new, X), expected)
    np.testing.assert_allclose(kernel.diagonal(X_new), np.diag(kernel(X_new)))


def test_operators_flatten_and_weigh():
    kernel = 2 * (0.5 * Linear() + Gaussian()) + Identity()
    assert repr(kernel) == "KernelSum(kernels=[Linear(), Gaussian(), Identity()], weights=[1.0, 2.0, 1.0])"
    with pytest.raises(TypeError):
        Linear() + 1
    with pytest.raises(TypeError):
        "2" * Linear()


# Manners shared by all


@pytest.mark.parametrize("kernel", FEATURE_KERNELS, ids=repr)
def test_columns_diagonal_and_call_agree(kernel, X, X_new):
    kernel = clone(kernel).fit(X)
    items = np.array([7, 0, 3])
    np.testing.assert_allclose(kernel.columns(X_new, items), kernel(X_new, X[items]), rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(X_new), np.diag(kernel(X_new)), rtol=1e-12)
    np.testing.assert_array_equal(kernel(X), kernel(X).T)


@pytest.mark.parametrize("kernel", FEATURE_KERNELS, ids=repr)
def test_explicit_features_make_up_the_kernel(kernel, X, X_new):
    features = [kernel.fit(X).explicit(items) for items in (X, X_new)]
    if isinstance(kernel, Linear):
        assert features[0] is not None
    if features[0] is not None:
        assert features[0] @ features[1].T == pytest.approx(kernel(X, X_new))


@pytest.mark.parametrize("kernel", FEATURE_KERNELS, ids=repr)
def test_is_an_estimator(kernel, X):
    assert repr(clone(kernel)) == repr(kernel)
    assert set(kernel.get_params(deep=False)) == set(type(kernel)._get_param_names())
    with pytest.raises(NotFittedError):
        clone(kernel)(X)
    before = repr(kernel)
    fitted = clone(kernel).fit(X)
    assert repr(fitted) == before
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(fitted))(X), fitted(X))
    with pytest.raises(ValueError, match="features"):
        fitted(X[:, :2])


@pytest.mark.parametrize("kernel", FEATURE_KERNELS, ids=repr)
def test_keeps_its_own_copy_of_the_items(kernel, X):
    fitted = clone(kernel).fit(X)
    original = X.copy()
    before = fitted.columns(original, np.arange(len(X)))
    X[:] = 0
    np.testing.assert_array_equal(fitted.columns(original, np.arange(len(X))), before)


@pytest.mark.parametrize("kernel", FEATURE_KERNELS, ids=repr)
def test_float32_is_computed_in_float64(kernel, X):
    X = X.astype(np.float32)
    K = clone(kernel).fit(X)(X)
    assert K.dtype == np.float64
    np.testing.assert_array_equal(K, clone(kernel).fit(X.astype(float))(X.astype(float)))


@pytest.mark.parametrize("kernel", FEATURE_KERNELS, ids=repr)
@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e80])
def test_refuses_values_that_are_not_usable(kernel, bad, X):
    X[4, 1] = bad
    with pytest.raises(ValueError, match=r"NaN|infinity|row 4, column 1"):
        clone(kernel).fit(X)


@pytest.mark.parametrize("kernel", FEATURE_KERNELS, ids=repr)
def test_refuses_sparse_and_flat_input(kernel, X):
    with pytest.raises(TypeError, match=r"[Ss]parse"):
        clone(kernel).fit(csr_array(X))
    with pytest.raises(ValueError, match="2D"):
        clone(kernel).fit(X[:, 0])


@pytest.mark.parametrize("kernel", FEATURE_KERNELS, ids=repr)
@pytest.mark.parametrize(
    "X",
    [np.array([[2.0, 3.0]]), np.full((6, 2), 0.1), np.column_stack([np.full(6, 0.3), np.arange(6.0)])],
    ids=["one item", "identical items", "a constant feature"],
)
def test_degenerate_items_give_finite_kernels(kernel, X):
    K = clone(kernel).fit(X)(X)
    assert np.all(np.isfinite(K))
    if not isinstance(kernel, Linear):
        assert np.all(K.diagonal() > 0)


def test_linear_on_identical_items_is_zero_with_scale_one():
    kernel = Linear().fit(np.full((7, 2), 0.1))
    assert kernel.scale_ == 1.0
    np.testing.assert_array_equal(kernel(np.full((2, 2), 0.1)), np.zeros((2, 2)))


def test_items_beyond_all_units_are_far_and_no_error():
    kernel = Standardised(Gaussian()).fit([[3.6875], [3.75]])
    for far in (1e74, -1e74):
        assert kernel([[far]], [[3.7]]).item() == 0.0
        assert kernel([[far]]).item() == 1.0
    assert np.isfinite(Standardised(Linear()).fit([[0.0], [1e-300]])([[1e74]])).all()


finite = st.floats(-1e75, 1e75) | st.floats(-10, 10)


@examples(60)
@given(data=st.data(), n=st.integers(1, 7), d=st.integers(1, 3), kernel=st.sampled_from(FEATURE_KERNELS))
def test_kernels_are_finite_and_symmetric(data, n, d, kernel):
    X = data.draw(hnp.arrays(float, (n, d), elements=finite))
    A = data.draw(hnp.arrays(float, (2, d), elements=finite))
    kernel = clone(kernel).fit(X)
    K = kernel(X)
    assert np.all(np.isfinite(K))
    np.testing.assert_array_equal(K, K.T)
    assert np.all(np.isfinite(kernel(A, X)))
    assert np.all(np.isfinite(kernel.diagonal(A)))


# Distances


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_squared_distances_survive_offsets_and_copies(offset):
    X = np.round(np.random.default_rng(0).normal(size=(9, 4)), 2)
    X = np.vstack([X, X[:3], X[:1] + 1e-6]) + offset
    np.testing.assert_allclose(squared_distances(X, X), cdist(X, X, "sqeuclidean"), rtol=1e-11, atol=0)
    np.testing.assert_allclose(squared_distances(X[:4], X), cdist(X[:4], X, "sqeuclidean"), rtol=1e-11, atol=0)


# Parameters


@pytest.mark.parametrize(
    ("kernel", "error", "message"),
    [
        (AdaptiveGaussian(neighbors=0), ValueError, "neighbors"),
        (AdaptiveGaussian(neighbors=2.5), TypeError, "neighbors"),
        (Gaussian(bandwidth=0.0), ValueError, "bandwidth"),
        (Gaussian(bandwidth=np.nan), ValueError, "bandwidth"),
        (Gaussian(bandwidth="mean"), ValueError, '"median"'),
        (KernelSum([], []), ValueError, "at least one kernel"),
        (KernelSum([Linear()], [1.0, 2.0]), ValueError, "1 kernels and 2 weights"),
        (KernelSum([Linear], [1.0]), TypeError, "part 0"),
        (Linear() + -1 * Gaussian(), ValueError, "weight 1"),
        (Linear() + Precomputed(), ValueError, "part 1 .* precomputed"),
    ],
)
def test_refuses_parameters_that_mean_nothing(kernel, error, message, X):
    with pytest.raises(error, match=message):
        kernel.fit(X)


# Precomputed


@pytest.fixture
def K(X) -> np.ndarray:
    return Gaussian().fit(X)(X)


def test_precomputed_takes_rows_against_the_training_items(K):
    kernel = Precomputed().fit(K)
    np.testing.assert_array_equal(kernel.columns(K[:4], np.array([2, 5])), K[:4, [2, 5]])
    assert get_tags(kernel).input_tags.pairwise
    with pytest.raises(ValueError, match="features"):
        kernel.columns(K[:4, :5], np.array([2]))
    with pytest.raises(ValueError, match="only against the training items"):
        kernel(K)
    with pytest.raises(ValueError, match="new items"):
        kernel.diagonal(K)


def test_precomputed_refuses_a_matrix_that_is_not_square(K):
    with pytest.raises(ValueError, match=r"square.*\(12, 11\)"):
        Precomputed().fit(K[:, :11])


def test_precomputed_names_the_asymmetric_entry(K):
    K[3, 8] += 0.5
    with pytest.raises(ValueError, match=r"entry \((3, 8|8, 3)\)"):
        Precomputed().fit(K)


def test_precomputed_refuses_negative_eigenvalues_and_states_a_remedy_that_works(K):
    smallest = np.linalg.eigvalsh(K)[0]
    indefinite = K - (smallest + 0.25) * np.eye(len(K))
    with pytest.raises(ValueError, match=r"smallest eigenvalue is -0\.25 .* add 0\.25"):
        Precomputed().fit(indefinite)
    Precomputed().fit(indefinite + 0.25 * np.eye(len(K)))


@pytest.mark.parametrize("n", [1, 5])
def test_precomputed_accepts_semidefinite_matrices_and_rounding(n, K):
    Precomputed().fit(np.zeros((n, n)))
    Precomputed().fit(np.ones((n, n)))
    Precomputed().fit(np.ones((n, n)) - 1e-10 * np.eye(n))


def test_precomputed_refuses_a_negative_matrix():
    with pytest.raises(ValueError, match="positive semidefinite"):
        Precomputed().fit([[-1.0]])


# Names


@pytest.mark.parametrize("name", KERNELS)
def test_resolve_knows_the_names(name):
    assert type(resolve(name)) is KERNELS[name]


def test_resolve_copies_a_kernel(X):
    kernel = Gaussian(bandwidth=3).fit(X)
    copy = resolve(kernel)
    assert isinstance(copy, Kernel)
    assert copy is not kernel
    assert copy.bandwidth == 3
    assert not hasattr(copy, "bandwidth_")


@pytest.mark.parametrize("kernel", ["rbf", None, 3, Gaussian, np.eye(2)])
def test_resolve_refuses_anything_else_with_the_names(kernel):
    with pytest.raises(ValueError, match='"adaptive", "gaussian", "linear", "identity", "precomputed", "diffusion"'):
        resolve(kernel)
