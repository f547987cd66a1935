"""Labels spread along the items: what is known stays, the rest follows its neighbours, and the shares are exact."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from sklearn.datasets import load_digits, make_moons
from sklearn.metrics import adjusted_rand_score

from oddkernel import SKLR, Comparisons, KernelKMeans
from oddkernel.cluster import label_propagation, spread


def brute_force(Z: np.ndarray, labels: np.ndarray, neighbors: int, alpha: float) -> np.ndarray:
    """The shares of every label, from the definition: dense matrices and a linear system."""
    n = len(Z)
    distance = np.linalg.norm(Z[:, None] - Z[None], axis=2)
    np.fill_diagonal(distance, np.inf)
    nearest = np.argsort(distance, axis=1, kind="stable")[:, :neighbors]
    scale = np.take_along_axis(distance, nearest, axis=1)[:, -1]
    joined = np.zeros((n, n), dtype=bool)
    np.put_along_axis(joined, nearest, True, axis=1)
    joined |= joined.T
    weight = np.where(joined, np.exp(-(distance**2) / np.outer(scale, scale)), 0.0)
    own = (labels[:, None] == np.unique(labels[labels != -1])).astype(float)
    walk = weight / weight.sum(axis=1, keepdims=True)
    return np.asarray(np.linalg.solve(np.eye(n) - alpha * walk, (1 - alpha) * own))


@pytest.mark.parametrize(("neighbors", "alpha"), [(5, 0.95), (2, 0.5), (39, 0.9)])
def test_shares_are_those_of_the_definition(neighbors: int, alpha: float, monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    Z, labels = random.normal(size=(40, 3)), np.where(np.arange(40) < 12, np.arange(40) % 3, -1)
    monkeypatch.setattr(label_propagation, "SETTLED", 1e-12)
    mean = label_propagation._mean_of_neighbours(Z, neighbors)
    own = (labels[:, None] == np.arange(3)).astype(float)
    expected = brute_force(Z, labels, neighbors, alpha)
    np.testing.assert_allclose(label_propagation._settled(mean, own, alpha), expected, atol=1e-10)
    found = spread(Z, labels, neighbors=neighbors, alpha=alpha)
    assert np.array_equal(found[12:], expected.argmax(axis=1)[12:])


def test_labels_follow_the_shape_of_the_items() -> None:
    Z, y = make_moons(300, noise=0.05, random_state=0)
    known = np.full(300, -1)
    for label in (0, 1):
        known[np.flatnonzero(y == label)[:3]] = label
    centers = np.stack([Z[known == label].mean(axis=0) for label in (0, 1)])
    nearest = np.linalg.norm(Z[:, None] - centers, axis=2).argmin(axis=1)
    assert adjusted_rand_score(y, spread(Z, known)) > 0.95 > adjusted_rand_score(y, nearest)


def test_new_items_find_their_cluster_better_than_by_the_nearest_centre() -> None:
    X, y = load_digits(return_X_y=True)
    old, new = np.arange(400), np.arange(400, len(X))
    said = Comparisons.from_labels(y[old], 150, random_state=0)
    model = SKLR(penalty=10.0).fit(X[old], said)
    clusters = KernelKMeans(10, random_state=0).fit(model.kernel_matrix(X[old]))
    found = spread(model.transform(X), np.concatenate([clusters.labels_, np.full(len(new), -1)]))
    by_centre = clusters.predict(model.kernel_matrix(X[new], X[old]))
    assert np.array_equal(found[old], clusters.labels_)
    assert adjusted_rand_score(y[new], found[new]) > adjusted_rand_score(y[new], by_centre) + 0.02


@examples(60)
@given(st.data())
def test_known_labels_stay_and_every_item_gets_one_of_them(data: st.DataObject) -> None:
    n = data.draw(st.integers(1, 12))
    # Few places, so that items coincide; far ones, so that weights vanish.
    place = st.sampled_from([0.0, 1.0, 1.5, 27.0, 1e-160, 1e60])
    Z = np.array(data.draw(st.lists(st.tuples(place, place), min_size=n, max_size=n)))
    labels = np.array(data.draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n)))
    labels[data.draw(st.integers(0, n - 1))] = 2
    found = spread(Z, labels, neighbors=data.draw(st.integers(1, 6)))
    known = labels != -1
    assert np.array_equal(found[known], labels[known])
    assert set(found) <= set(labels[known])


def test_names_of_labels_are_kept_and_nothing_is_changed() -> None:
    Z = np.arange(6.0)[:, None]
    labels = np.array(["b", -1, -1, -1, -1, "a"], dtype=object)
    found = spread(Z, labels, neighbors=1)
    assert found.tolist() == ["b", "b", "b", "a", "a", "a"]
    assert found.dtype.kind == "U"
    assert labels[1] == -1
    assert spread(Z, [2.5] * 6).tolist() == [2.5] * 6


def test_copies_hand_on_what_they_know() -> None:
    Z = np.array([0.0] * 6 + [*range(1, 11), 20])[:, None]
    labels = np.array(["a", *[-1] * 15, "b"], dtype=object)
    assert spread(Z, labels).tolist() == ["a"] * 16 + ["b"]


def test_labels_reach_the_middle_of_a_long_chain() -> None:
    Z = np.arange(1000.0)[:, None]
    labels = np.full(1000, -1, dtype=np.int8)
    labels[[0, 900]] = 0, 1
    found = spread(Z, labels, neighbors=2)
    assert found.dtype == np.int8
    assert np.array_equal(found, np.arange(1000) > 450)


def test_a_chain_may_be_longer_than_any_label_reaches() -> None:
    labels = np.full(5000, -1)
    labels[[0, 4999]] = 0, 1
    assert np.array_equal(spread(np.arange(5000.0)[:, None], labels, neighbors=2), np.arange(5000) >= 2500)


def test_an_item_that_no_path_reaches_goes_to_the_nearest() -> None:
    Z = np.array([0.0, 1.0, 100.0, 101.0, 300.0, 301.0])[:, None]
    assert spread(Z, [0, -1, -1, -1, 1, -1], neighbors=1).tolist() == [0, 0, 0, 0, 1, 1]


@pytest.mark.parametrize(
    ("Z", "labels", "more", "sentence"),
    [
        ([[0.0], [1.0]], [-1, -1], {}, "labels are all -1; expected at least one item with a label"),
        ([[0.0], [1.0]], [0], {}, "inconsistent numbers of samples"),
        ([[0.0], [np.nan]], [0, -1], {}, "NaN"),
        ([[0.0], [1.0]], [0.0, np.nan], {}, "row 1: label nan in labels; expected a class, or the number -1"),
        ([[0.0], [1.0], [2.0]], ["a", 1, -1], {}, "labels in labels can't be sorted together"),
        ([[0.0], [1.0]], [0, -1], {"neighbors": 0}, "neighbors=0; expected a whole number, 1 or more"),
        ([[0.0], [1.0]], [0, -1], {"alpha": 1.0}, "alpha=1.0; expected a number above 0 and below 1"),
        ([[0.0], [1.0]], [0, -1], {"alpha": np.nan}, "alpha=nan; expected"),
        ([[0.0], [1e80]], [0, -1], {}, "row 1, column 0 holds 1e\\+80"),
        ([[0.0], [1.0]], pd.Series(["a", pd.NA], dtype="string"), {}, "row 1: label <NA> in labels"),
    ],
)
def test_what_cannot_be_meant_is_refused(Z, labels, more, sentence) -> None:
    with pytest.raises(ValueError, match=sentence):
        spread(Z, labels, **more)
