"""The feature map reproduces the kernel, as far as its rank allows."""

from __future__ import annotations

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from sklearn.base import clone

from oddkernel import SKLR, Comparisons
from oddkernel.kernels import AdaptiveGaussian, Gaussian, Identity, Linear, LowRank, Precomputed

SEMIDEFINITE = [
    Gaussian(),
    Linear(),
    Identity(),
    0.5 * Linear() + 0.5 * Gaussian(bandwidth=2.0) + 0.6 * Identity(),
]


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(30, 4))


@pytest.mark.parametrize("kernel", SEMIDEFINITE, ids=repr)
def test_full_rank_reproduces_the_kernel(kernel, X):
    kernel = clone(kernel).fit(X)
    features = LowRank.fit(kernel, X, rank=None).transform(X)
    np.testing.assert_allclose(features @ features.T, kernel(X), atol=1e-8)


def test_new_items_get_the_pseudoinverse_of_the_training_features(X):
    kernel = AdaptiveGaussian(neighbors=5).fit(X)
    A = np.random.default_rng(1).normal(size=(6, 4))
    lowrank = LowRank.fit(kernel, X, rank=7)
    features = lowrank.transform(X)
    np.testing.assert_allclose(lowrank.transform(A), kernel(A, X) @ np.linalg.pinv(features).T, atol=1e-9)


def test_negative_eigenvalues_are_dropped():
    X = np.random.default_rng(1).exponential(size=(40, 1)) ** 3
    kernel = AdaptiveGaussian(neighbors=10).fit(X)
    values, vectors = np.linalg.eigh(kernel(X))
    assert values[0] < -1e-3
    lowrank = LowRank.fit(kernel, X, rank=None)
    features = lowrank.transform(X)
    assert lowrank.full_rank == lowrank.rank == np.sum(values > 1e-12)
    np.testing.assert_allclose(features @ features.T, (vectors * values.clip(0)) @ vectors.T, atol=1e-9)


def test_rank_is_a_share_a_count_or_everything(X):
    kernel = Gaussian().fit(X)
    values = np.linalg.eigvalsh(kernel(X))[::-1]
    shares = np.cumsum(values) / values.sum()

    lowrank = LowRank.fit(kernel, X, rank=0.8)
    assert shares[lowrank.rank - 1] >= 0.8 > shares[lowrank.rank - 2]
    assert lowrank.share == pytest.approx(shares[lowrank.rank - 1])

    assert LowRank.fit(kernel, X, rank=1).rank == 1
    assert LowRank.fit(kernel, X, rank=np.int64(3)).rank == 3
    assert LowRank.fit(kernel, X, rank=np.float32(0.5)).rank == LowRank.fit(kernel, X, rank=0.5).rank
    assert LowRank.fit(kernel, X, rank=1.0).rank == LowRank.fit(kernel, X, rank=None).rank == len(X)
    assert LowRank.fit(kernel, X, rank=1000).rank == len(X)
    assert LowRank.fit(Linear().fit(X), X, rank=1000).rank == X.shape[1]


def test_equal_eigenvalues_stay_together_under_a_share():
    X = np.arange(10)[:, None]
    kernel = Identity().fit(X)
    assert LowRank.fit(kernel, X, rank=0.9).rank == 10
    assert LowRank.fit(kernel, X, rank=4).rank == 4


@pytest.mark.parametrize("rank", [0, -1, 0.0, 1.5, np.nan, True, np.True_, "all", np.float64(2.0)])
def test_refuses_other_ranks(rank, X):
    with pytest.raises(ValueError, match=r"\(0, 1\]"):
        LowRank.fit(Gaussian().fit(X), X, rank=rank)


def test_signs_are_fixed(X):
    lowrank = LowRank.fit(Gaussian().fit(X), X, rank=5)
    assert np.all(lowrank.basis.max(axis=0) >= -lowrank.basis.min(axis=0))


# Many items


def test_few_items_are_all_landmarks(X):
    lowrank = LowRank.fit(Linear().fit(X), X, rank=None, constrained=[3], max_items=30)
    np.testing.assert_array_equal(lowrank.landmarks, np.arange(30))


def test_landmarks_that_span_lose_nothing(X):
    kernel = Linear().fit(X)
    lowrank = LowRank.fit(kernel, X, rank=None, constrained=[3, 17, 3], max_items=10, random_state=0)
    features = lowrank.transform(X)
    assert len(lowrank.landmarks) == 10
    assert {3, 17} <= set(lowrank.landmarks)
    np.testing.assert_allclose(features @ features.T, kernel(X), atol=1e-10)


def test_random_items_join_until_landmarks_can_span(X, monkeypatch):
    monkeypatch.setattr("oddkernel.kernels.lowrank.SPANNING", 6)
    kernel = Linear().fit(X)
    few = LowRank.fit(kernel, X, rank=None, constrained=[1, 2], max_items=20, random_state=0)
    enough = LowRank.fit(kernel, X, rank=None, constrained=np.arange(8), max_items=20, random_state=0)
    none = LowRank.fit(kernel, X, rank=None, max_items=20, random_state=0)
    assert len(few.landmarks) == len(none.landmarks) == 6
    np.testing.assert_array_equal(enough.landmarks, np.arange(8))


def test_more_constrained_items_than_allowed_are_sampled(X):
    lowrank = LowRank.fit(Linear().fit(X), X, rank=None, constrained=np.arange(20), max_items=5, random_state=0)
    assert len(np.unique(lowrank.landmarks)) == 5
    assert lowrank.landmarks.max() < 20


def test_blocks_of_rows_give_the_same_features(X, monkeypatch):
    lowrank = LowRank.fit(Gaussian().fit(X), X, rank=0.9)
    whole = lowrank.transform(X)
    monkeypatch.setattr("oddkernel.kernels.distances.BLOCK_ENTRIES", 100)
    np.testing.assert_allclose(lowrank.transform(X), whole, atol=1e-12)


def test_precomputed_gives_the_features_of_its_kernel(X):
    kernel = Gaussian().fit(X)
    A = np.random.default_rng(1).normal(size=(6, 4))
    by_features = LowRank.fit(kernel, X, rank=0.9)
    by_matrix = LowRank.fit(Precomputed().fit(kernel(X)), kernel(X), rank=0.9)
    np.testing.assert_allclose(by_matrix.transform(kernel(A, X)), by_features.transform(A), atol=1e-9)
    assert by_matrix.reach(kernel(A, X)) is None


# Reach


def test_reach_is_one_for_training_items_and_zero_far_away(X):
    lowrank = LowRank.fit(Gaussian().fit(X), X, rank=None)
    np.testing.assert_allclose(lowrank.reach(X), 1.0)
    np.testing.assert_allclose(lowrank.reach(X + 1000), 0.0, atol=1e-12)
    np.testing.assert_array_equal(lowrank.reach(X, lowrank.transform(X)), lowrank.reach(X))


def test_reach_of_nothing_is_one():
    X = np.array([[-1.0], [1.0]])
    np.testing.assert_array_equal(LowRank.fit(Linear().fit(X), X, rank=None).reach([[0.0]]), [1.0])


# Degenerate items


@pytest.mark.parametrize("rank", [0.9, 2, None])
def test_a_kernel_of_zeros_has_no_features(rank):
    X = np.ones((4, 2))
    lowrank = LowRank.fit(Linear().fit(X), X, rank=rank)
    assert lowrank.transform(X).shape == (4, 0)
    assert lowrank.share == 1.0
    np.testing.assert_array_equal(lowrank.reach(X), 1.0)


@examples(60)
@given(
    data=st.data(),
    n=st.integers(1, 8),
    kernel=st.sampled_from([*SEMIDEFINITE, AdaptiveGaussian(neighbors=2)]),
    rank=st.sampled_from([0.5, 1.0, 2, None]),
)
def test_features_are_finite_and_never_exceed_the_kernel(data, n, kernel, rank):
    X = data.draw(hnp.arrays(float, (n, 2), elements=st.sampled_from([0.0, 0.1, 1.0]) | st.floats(-1e6, 1e6)))
    kernel = clone(kernel).fit(X)
    lowrank = LowRank.fit(kernel, X, rank=rank)
    features = lowrank.transform(X)
    assert np.all(np.isfinite(features))
    assert 0 < lowrank.share <= 1 + 1e-12
    if not isinstance(kernel, AdaptiveGaussian):
        assert np.all(np.einsum("ij,ij->i", features, features) <= kernel.diagonal(X) * (1 + 1e-8) + 1e-8)


def test_items_in_the_middle_are_not_out_of_reach() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3)) * [10.0, 1.0, 1.0]
    features = LowRank.fit(Linear().fit(X), X, rank=0.9)
    assert features.rank == 1
    reach = features.reach(np.vstack([X, [[0.0, 1.0, 0.0], [0.0, 100.0, 0.0]]]))
    assert reach is not None
    assert reach[:-1].min() > 0.8
    assert reach[-1] < 0.01


def test_a_single_landmark_has_nothing_of_its_own_in_a_centred_kernel() -> None:
    found = LowRank.fit(Linear().fit(np.zeros((1, 1))), np.zeros((1, 1)), rank=0.9, random_state=0)
    np.testing.assert_array_equal(found.own(), [0.0])


@pytest.mark.parametrize("value", [0.0, 3.0])
def test_a_single_item_without_answers_is_at_no_distance_from_itself(value: float) -> None:
    X = np.full((1, 1), value)
    model = SKLR("linear", penalty=np.inf, verbose=0).fit(X, Comparisons.empty())
    np.testing.assert_array_equal(model.distance(X), [[0.0]])
