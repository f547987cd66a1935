"""Kernel k-means is k-means wherever both apply, and keeps scikit-learn's manners."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_circles
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from oddkernel.cluster import KernelKMeans, seeding
from oddkernel.cluster.kernel_kmeans import INITS
from oddkernel.kernels import Gaussian


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    X, _ = make_blobs(120, n_features=3, centers=6, cluster_std=1.5, random_state=0)
    return X


EXPECTED_FAILURES = {
    "check_clustering": "gives 50 × 2 features to every clusterer, also to those whose tags ask for a kernel matrix",
}


@parametrize_with_checks([KernelKMeans(n_clusters=3)], expected_failed_checks=lambda estimator: EXPECTED_FAILURES)
def test_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


@pytest.mark.parametrize("init", INITS)
def test_linear_kernel_gives_k_means(X, init):
    ours = KernelKMeans(6, init=init, n_init=100, random_state=0).fit(X @ X.T)
    theirs = KMeans(6, n_init=100, random_state=0).fit(X)
    assert ours.inertia_ == pytest.approx(theirs.inertia_, rel=1e-6)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0


def test_inertia_and_centers_are_those_of_the_labels(X):
    model = KernelKMeans(6, random_state=0).fit(X @ X.T)
    centers = np.stack([X[model.labels_ == c].mean(axis=0) for c in range(6)])
    np.testing.assert_allclose(model.centers_ @ X, centers)
    assert model.inertia_ == pytest.approx(np.sum((X - centers[model.labels_]) ** 2))


def test_inertia_never_rises(X):
    K = Gaussian().fit(X)(X)
    inertia = [KernelKMeans(6, n_init=1, max_iter=i, tol=0, random_state=3).fit(K).inertia_ for i in range(1, 12)]
    assert np.all(np.diff(inertia) <= 1e-12)


def test_more_starts_are_never_worse_and_blocks_change_nothing(X, monkeypatch):
    K = Gaussian(bandwidth=3.0).fit(X)(X)
    one, many = (KernelKMeans(9, init="random", n_init=n, random_state=0).fit(K) for n in (1, 20))
    assert many.inertia_ <= one.inertia_
    monkeypatch.setattr("oddkernel.kernels.distances.BLOCK_ENTRIES", 3 * 9 * len(X))
    in_blocks = KernelKMeans(9, init="random", n_init=20, random_state=0).fit(K)
    np.testing.assert_array_equal(in_blocks.labels_, many.labels_)


def test_items_may_come_in_any_order(X):
    K = X @ X.T
    order = np.random.default_rng(0).permutation(len(X))
    model = KernelKMeans(6, random_state=0).fit(K)
    shuffled = KernelKMeans(6, random_state=0).fit(K[np.ix_(order, order)])
    assert adjusted_rand_score(model.labels_[order], shuffled.labels_) == 1.0


def test_predict_repeats_the_labels_and_takes_new_items(X):
    kernel = Gaussian().fit(X)
    for max_iter in (1, 300):
        model = KernelKMeans(6, n_init=3, max_iter=max_iter, random_state=0).fit(kernel(X))
        np.testing.assert_array_equal(model.predict(kernel(X)), model.labels_)
    np.testing.assert_array_equal(model.predict(kernel(X[:7] + 1e-6, X)), model.labels_[:7])


def test_reads_its_input_only(X):
    K = X @ X.T
    K.setflags(write=False)
    KernelKMeans(6, random_state=0).fit(K).predict(K)


def test_same_random_state_same_labels(X):
    K = X @ X.T
    first, second = (KernelKMeans(6, random_state=5).fit_predict(K) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_separates_what_lines_cannot():
    X, y = make_circles(200, factor=0.2, noise=0.03, random_state=0)
    labels = KernelKMeans(2, random_state=0).fit_predict(Gaussian(bandwidth=0.5).fit(X)(X))
    assert adjusted_rand_score(y, labels) == 1.0


@pytest.mark.parametrize("init", INITS)
def test_fewer_distinct_items_than_clusters(init):
    X = np.array([[0.0], [0.0], [0.0], [1.0], [1.0]])
    with pytest.warns(ConvergenceWarning, match="found 2 clusters where n_clusters=4"):
        model = KernelKMeans(4, init=init, random_state=0).fit(X @ X.T)
    assert model.inertia_ == 0.0
    assert adjusted_rand_score(X[:, 0], model.labels_) == 1.0


def test_as_many_clusters_as_items(X):
    model = KernelKMeans(10, random_state=0).fit(X[:10] @ X[:10].T)
    assert len(set(model.labels_)) == 10
    assert model.inertia_ == pytest.approx(0.0, abs=1e-10)


@examples(60)
@given(
    values=st.lists(st.sampled_from([0.0, 0.5, 3.0]) | st.floats(-10, 10), min_size=1, max_size=9),
    k=st.integers(1, 9),
    init=st.sampled_from(list(INITS)),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_any_items_are_clustered(values, k, init):
    X = np.array(values)[:, None]
    model = KernelKMeans(min(k, len(X)), init=init, n_init=3, random_state=0).fit(X @ X.T)
    assert np.isfinite(model.inertia_)
    np.testing.assert_allclose(model.centers_.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.predict(X @ X.T), model.labels_)


def test_an_indefinite_matrix_is_tolerated():
    K = np.diag([1.0, 1.0, -0.5, 2.0])
    assert np.isfinite(KernelKMeans(2, random_state=0).fit(K).inertia_)


# First centres


def reference_farthest(squared: np.ndarray, first: int, n_clusters: int) -> list[int]:
    """As the published code searches: widen the sets of farthest items until all centres' sets have one in common."""
    order = np.argsort(squared, axis=1, kind="stable")
    centers = [first]
    while len(centers) < n_clusters:
        for last in range(len(centers), len(squared)):
            common = set(order[centers[0], -last:]).intersection(*(order[c, -last:] for c in centers[1:]))
            if common:
                break
        centers.append(next(int(i) for i in order[first, ::-1] if i in common))
    return centers


def test_farthest_is_the_published_start(X):
    K = X @ X.T
    squared = np.diag(K)[:, None] + np.diag(K) - 2 * K
    np.fill_diagonal(squared, 0)
    for centers in seeding.farthest(K, 6, 10, np.random.RandomState(0)):
        assert centers.tolist() == reference_farthest(squared, centers[0], 6)


def test_plus_plus_finds_all_of_well_separated_clusters():
    X, y = make_blobs(90, centers=[[0, 0], [1000, 0], [0, 1000]], random_state=0)
    for centers in seeding.plus_plus(X @ X.T, 3, 20, np.random.RandomState(0)):
        assert set(y[centers]) == {0, 1, 2}


# Bad input


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_clusters": 0}, ValueError, "n_clusters"),
        ({"n_clusters": 2.0}, TypeError, "n_clusters"),
        ({"n_clusters": 200}, ValueError, "n_clusters=200 .* n_samples=120"),
        ({"init": "forgy"}, ValueError, r"'forgy'; give one of 'k-means\+\+', 'farthest', 'random'"),
        ({"n_init": 0}, ValueError, "n_init"),
        ({"max_iter": 0}, ValueError, "max_iter"),
        ({"tol": -1.0}, ValueError, "tol"),
    ],
)
def test_refuses_parameters_that_mean_nothing(parameters, error, message, X):
    with pytest.raises(error, match=message):
        KernelKMeans(**parameters).fit(X @ X.T)


def test_refuses_matrices_that_are_no_kernel(X):
    K = X @ X.T
    with pytest.raises(ValueError, match=r"square.*\(120, 3\)"):
        KernelKMeans(2).fit(X)
    K[3, 5] += 1000
    with pytest.raises(ValueError, match=r"symmetric; entry \((3, 5|5, 3)\)"):
        KernelKMeans(2).fit(K)
