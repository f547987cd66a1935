"""Kernel mean shift finds the clusters, and the bandwidth, that people's answers suggest."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from oddkernel.cluster import KernelMeanShift, bandwidth
from oddkernel.comparisons import Comparisons
from oddkernel.kernels import Gaussian


@pytest.fixture(scope="module")
def blobs() -> tuple[np.ndarray, np.ndarray]:
    return make_blobs(150, n_features=3, centers=5, cluster_std=0.5, random_state=0)


EXPECTED_FAILURES = {
    "check_clustering": "gives 50 × 2 features to every clusterer, also to those whose tags ask for a kernel matrix",
}


@parametrize_with_checks([KernelMeanShift()], expected_failed_checks=lambda estimator: EXPECTED_FAILURES)
def test_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


def line(*positions: float) -> np.ndarray:
    X = np.array(positions)[:, None]
    return X @ X.T


def test_climbs_as_plain_mean_shift_does(blobs):
    X, _ = blobs
    model = KernelMeanShift(bandwidth=1.0, tol=1e-8).fit(X @ X.T)
    modes = model.modes_ @ X
    weights = np.exp(-np.sum((modes[:, None] - X[None]) ** 2, axis=2) / 2)
    np.testing.assert_allclose(weights @ X / weights.sum(axis=1, keepdims=True), modes, atol=1e-6)
    density = weights.sum(axis=1)
    assert np.all(np.diff(density) <= 0)


@pytest.mark.parametrize("hint", ["comparisons", "labels", "nothing"])
def test_finds_the_clusters_and_their_number(blobs, hint):
    X, y = blobs
    known = {"comparisons": Comparisons.from_labels(y, 60, random_state=0), "labels": y, "nothing": None}
    model = KernelMeanShift().fit(X @ X.T, known[hint])
    assert model.n_clusters_ == 5 == len(model.modes_)
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_predict_repeats_the_labels_and_takes_new_items(blobs):
    X, y = blobs
    kernel = Gaussian().fit(X)
    model = KernelMeanShift().fit(kernel(X), Comparisons.from_labels(y, 60, random_state=0))
    np.testing.assert_array_equal(model.predict(kernel(X)), model.labels_)
    np.testing.assert_array_equal(model.predict(kernel(X[:9] + 0.01, X)), model.labels_[:9])


def test_reads_its_input_only(blobs):
    K = blobs[0] @ blobs[0].T
    K.setflags(write=False)
    KernelMeanShift().fit(K).predict(K)


def test_items_may_come_in_any_order(blobs):
    X, _ = blobs
    order = np.random.default_rng(0).permutation(len(X))
    model = KernelMeanShift(1.0).fit(X @ X.T)
    shuffled = KernelMeanShift(1.0).fit(X[order] @ X[order].T)
    assert adjusted_rand_score(model.labels_[order], shuffled.labels_) == 1.0


def test_bandwidth_runs_from_one_cluster_for_each_item_to_one_for_all(blobs):
    X, _ = blobs
    assert KernelMeanShift(1e-6).fit(X @ X.T).n_clusters_ == len(X)
    assert KernelMeanShift(1e3).fit(X @ X.T).n_clusters_ == 1


def test_copies_and_a_single_item_are_one_cluster():
    assert KernelMeanShift().fit(line(2.0)).n_clusters_ == 1
    assert KernelMeanShift().fit(line(2.0, 2.0, 2.0)).n_clusters_ == 1


def test_says_when_climbs_are_not_over(blobs):
    X, _ = blobs
    with pytest.warns(ConvergenceWarning, match=r"of 150 items hadn't reached a mode after max_iter=3"):
        KernelMeanShift(1.0, max_iter=3).fit(X @ X.T)


@examples(40)
@given(
    positions=st.lists(st.sampled_from([0.0, 0.5, 3.0]) | st.floats(-100, 100), min_size=1, max_size=9),
    width=st.none() | st.floats(1e-3, 1e3),
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_any_items_are_clustered(positions, width):
    model = KernelMeanShift(width, max_iter=50).fit(line(*positions))
    assert np.isfinite(model.bandwidth_)
    np.testing.assert_allclose(model.modes_.sum(axis=1), 1.0)
    assert set(model.labels_) == set(range(model.n_clusters_))


# Bandwidth


def test_items_nearer_than_rounding_are_copies():
    """A bandwidth of 1e-154 once overflowed."""
    assert bandwidth.from_kernel(line(0.0, 0.5, 0.5, 1.8e-154)) == 1.0
    assert bandwidth.from_comparisons(line(0.0, 1e-160, 2.0), Comparisons.closer([0], [1], [2])) > 0.1


def test_bandwidth_tells_near_from_far():
    K = line(0.0, 1.0, 3.0, 10.0, 30.0)
    answers = Comparisons.odd_one_out([[0, 3, 1], [1, 4, 2], [0, 1, 2]], [1, 1, -1])
    assert bandwidth.from_comparisons(K, answers) == pytest.approx(2 / 4)
    assert bandwidth.from_comparisons(K, Comparisons.closer([0], [2], [3])) == pytest.approx(3 / 4)
    assert bandwidth.from_comparisons(K, Comparisons.most_central([2], [[0, 3]])) == pytest.approx(7 / 4)
    links = Comparisons.must_link([[0, 2], [0, 1]]) + Comparisons.cannot_link([[0, 3]])
    assert bandwidth.from_comparisons(K, links) == pytest.approx(3 / 4)
    assert bandwidth.from_labels(K, np.array([0, 0, 0, 1, -1])) == pytest.approx(3 / 4)


@pytest.mark.parametrize(("weight", "distance"), [([5.0, 1.0], 1), ([1.0, 5.0], 10)])
def test_bandwidth_weighs_contradictory_answers(weight, distance):
    K = line(0.0, 1.0, 3.0, 10.0, 30.0)
    near = Comparisons.must_link([[0, 1], [0, 3]], weight=weight)
    far = Comparisons.cannot_link([[0, 2], [0, 4]])
    assert bandwidth.from_comparisons(K, near + far) == pytest.approx(distance / 4)


def test_bandwidth_follows_the_order_of_nothing():
    K = line(0.0, 1.0, 3.0, 10.0, 30.0)
    assert bandwidth.from_comparisons(K, Comparisons.odd_one_out([[0, 1, 3]], [2])) == bandwidth.from_comparisons(
        K, Comparisons.odd_one_out([[3, 1, 0]], [0])
    )


@pytest.mark.parametrize(
    "said",
    [
        Comparisons.empty(),
        Comparisons.odd_one_out([[0, 1, 2]], [-1]),
        Comparisons.cannot_link([[0, 1]]),
        Comparisons.must_link([[0, 3]]),
    ],
    ids=["nothing", "can't tell", "only far", "only copies"],
)
def test_bandwidth_without_near_pairs_comes_from_the_kernel(said):
    K = line(0.0, 1.0, 3.0, 0.0)
    assert bandwidth.from_comparisons(K, said) == bandwidth.from_kernel(K)


def test_bandwidth_from_the_kernel_is_a_quarter_of_the_mean_reach():
    assert bandwidth.from_kernel(line(0.0, 1.0, 3.0, 7.0)) == pytest.approx(np.mean([1, 1, 2, 4]) / 4)
    assert bandwidth.from_kernel(line(2.0, 2.0)) == 1.0


# Bad input


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"bandwidth": 0.0}, ValueError, "bandwidth"),
        ({"bandwidth": "median"}, TypeError, "bandwidth"),
        ({"max_iter": 0}, ValueError, "max_iter"),
        ({"tol": -1.0}, ValueError, "tol"),
    ],
)
def test_refuses_parameters_that_mean_nothing(parameters, error, message):
    with pytest.raises(error, match=message):
        KernelMeanShift(**parameters).fit(line(0.0, 1.0))


@pytest.mark.parametrize("y", [[[0, 1, 2]], [0, 1]], ids=["triples", "too few labels"])
def test_refuses_what_is_neither_comparisons_nor_labels(y):
    with pytest.raises(ValueError, match="y must be Comparisons, or one class label for each of the 3 items"):
        KernelMeanShift().fit(line(0.0, 1.0, 2.0), y)


def test_refuses_comparisons_of_other_items():
    with pytest.raises(ValueError, match="index 7 is out of range"):
        KernelMeanShift().fit(line(0.0, 1.0, 2.0), Comparisons.must_link([[0, 7]]))


def test_refuses_matrices_that_are_no_kernel():
    with pytest.raises(ValueError, match="square"):
        KernelMeanShift().fit(np.ones((3, 2)))
    with pytest.raises(ValueError, match="symmetric"):
        KernelMeanShift().fit([[1.0, 0.5], [0.0, 1.0]])
