"""The diffusion kernel is the graph's heat kernel, and carries over to new items."""

from __future__ import annotations

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
import scipy.linalg
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from scipy.sparse.csgraph import laplacian
from scipy.spatial.distance import cdist

from oddkernel.kernels import Diffusion, LowRank


@pytest.fixture
def X() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(30, 3))


@pytest.fixture
def X_new() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(6, 3))


@pytest.fixture
def two_rings() -> np.ndarray:
    """Sixty items on a circle, then sixty on a larger one around it."""
    angle = np.linspace(0, 2 * np.pi, 60, endpoint=False)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.concatenate([circle, 3 * circle])


def test_is_the_heat_kernel_of_the_neighbour_graph(X):
    k, time = 4, 3.0
    distance = cdist(X, X)
    reach = np.sort(distance, axis=1)[:, k]
    joined = (distance <= reach[:, None]) | (distance <= reach[None, :])
    weight = np.where(joined, np.exp(-(distance**2) / np.median(reach) ** 2), 0.0)
    # SciPy's Laplacian leaves loops out of the degree.
    root = np.sqrt(weight.sum(axis=1))
    normalised = laplacian(weight - np.eye(len(X))) / np.outer(root, root)
    expected = scipy.linalg.expm(-time * normalised)
    expected /= np.trace(expected) / len(X)

    kernel = Diffusion(neighbors=k, time=time).fit(X)
    assert kernel.bandwidth_ == pytest.approx(np.median(reach))
    np.testing.assert_allclose(kernel(X), expected, atol=1e-12)
    assert kernel.diagonal(X).mean() == pytest.approx(1.0)


def test_units_play_no_part(X, X_new):
    kernel, scaled = Diffusion().fit(X), Diffusion().fit(1000 * X + 5)
    np.testing.assert_allclose(scaled(1000 * X_new + 5, 1000 * X + 5), kernel(X_new, X), atol=1e-9)


def test_follows_the_ring_rather_than_the_straight_line(two_rings):
    kernel = Diffusion(neighbors=4, time=100.0).fit(two_rings)
    K = kernel(two_rings)
    assert K[:60, 60:].max() < 1e-9
    assert np.all(np.diff(K[0, :30]) < 0)


def test_time_spreads(X):
    short, long = Diffusion(time=1e-9).fit(X)(X), Diffusion(neighbors=30, time=1e300).fit(X)(X)
    np.testing.assert_allclose(short, np.eye(len(X)), atol=1e-8)
    assert np.linalg.matrix_rank(long) == 1


def test_a_copy_of_a_training_item_gets_its_row(X, X_new):
    kernel = Diffusion(neighbors=5).fit(X)
    np.testing.assert_array_equal(kernel(X[[7, 3]].copy(), X), kernel(X)[[7, 3]])
    np.testing.assert_array_equal(kernel.diagonal(X[[7]].copy()), kernel(X).diagonal()[[7]])
    nudged = kernel(X[[7]] + 1e-7, X)
    np.testing.assert_allclose(nudged, kernel(X)[[7]], atol=1e-6)


def test_training_copies_are_one_item(X):
    kernel = Diffusion(neighbors=5).fit(np.concatenate([X, X[:4]]))
    np.testing.assert_array_equal(kernel.nodes_, X)
    np.testing.assert_array_equal(kernel.heat_, Diffusion(neighbors=5).fit(X).heat_)


def test_a_new_item_averages_its_neighbours(X, X_new):
    k = 3
    kernel = Diffusion(neighbors=k).fit(X)
    for x in X_new:
        squared = cdist([x], X, "sqeuclidean")[0]
        nearest = np.argsort(squared)[:k]
        part = np.exp(-squared[nearest] / kernel.bandwidth_**2) / squared[nearest]
        part /= part.sum()
        fade = min(1.0, kernel.bandwidth_**2 / squared.min())
        np.testing.assert_allclose(kernel([x], X)[0], fade * part @ kernel.heat_[nearest])
        np.testing.assert_allclose(kernel.diagonal([x])[0], part @ kernel.heat_.diagonal()[nearest])


def test_stays_positive_semidefinite_with_new_items(X, X_new):
    everything = np.concatenate([X, X_new, X_new[:2] + 40, X_new[:1]])
    K = Diffusion(neighbors=4).fit(X)(everything)
    np.testing.assert_array_equal(K, K.T)
    assert np.linalg.eigvalsh(K).min() > -1e-12


def test_far_items_are_out_of_reach(X):
    kernel = Diffusion().fit(X)
    features = LowRank.fit(kernel, X, rank=0.9)
    assert features.reach(X + 100.0).max() < 0.01 < features.reach(X + 0.01).min()


def test_above_the_limit_items_outside_the_graph_count_as_new(X, monkeypatch):
    monkeypatch.setattr("oddkernel.kernels.diffusion.GRAPH_ITEMS", 10)
    kernel = Diffusion(neighbors=3).fit(X)
    assert kernel.nodes_.shape == (10, 3)
    np.testing.assert_array_equal(kernel.nodes_[[0, -1]], X[[0, -1]])
    K = kernel(X)
    assert np.linalg.eigvalsh(K).min() > -1e-12
    np.testing.assert_allclose(kernel.diagonal(X), K.diagonal())
    assert LowRank.fit(kernel, X, rank=0.9).transform(X).shape[0] == 30


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"neighbors": 0}, ValueError, "neighbors"),
        ({"neighbors": 2.5}, TypeError, "neighbors"),
        ({"time": 0.0}, ValueError, "time=0.0; give a positive, finite number"),
        ({"time": np.inf}, ValueError, "time=inf"),
        ({"time": np.nan}, ValueError, "time=nan"),
        ({"time": "auto"}, ValueError, "time='auto'"),
    ],
)
def test_refuses_parameters_that_mean_nothing(parameters, error, message, X):
    with pytest.raises(error, match=message):
        Diffusion(**parameters).fit(X)


coordinates = st.floats(-1e75, 1e75) | st.floats(-10, 10) | st.sampled_from([0.0, -0.0, 1.0, 1e-80])


@examples(60)
@given(
    X=hnp.arrays(float, st.tuples(st.integers(1, 8), st.just(2)), elements=coordinates),
    A=hnp.arrays(float, (3, 2), elements=coordinates),
    neighbors=st.integers(1, 9),
    time=st.floats(1e-300, 1e300),
)
def test_is_always_a_kernel(X, A, neighbors, time):
    kernel = Diffusion(neighbors=neighbors, time=time).fit(X)
    everything = np.concatenate([X, A])
    K = kernel(everything)
    assert np.isfinite(K).all()
    assert np.linalg.eigvalsh(K).min() >= -1e-9 * np.abs(K).max()
    np.testing.assert_allclose(kernel.diagonal(everything), K.diagonal(), rtol=1e-9, atol=1e-12)


def test_ties_among_neighbours_are_no_matter_of_rounding() -> None:
    X = np.random.default_rng(0).integers(0, 3, size=(60, 4)).astype(float)
    new = np.random.default_rng(1).integers(0, 3, size=(20, 4)) + 0.5
    moved = Diffusion(neighbors=5).fit(X + 1e4 / 3)
    assert moved(new + 1e4 / 3, X + 1e4 / 3) == pytest.approx(Diffusion(neighbors=5).fit(X)(new, X), rel=1e-6, abs=1e-9)
