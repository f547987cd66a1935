"""`Comparisons.from_labels`: answers drawn from class labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oddkernel.comparisons import Comparisons

PETS = ["ant", "bee", "cat", "dog"]


class TestFromLabels:
    @given(
        st.lists(st.integers(-1, 4), min_size=4, max_size=15),
        st.integers(0, 40),
        st.integers(0, 20),
        st.integers(0, 2**32 - 1),
    )
    def test_answers_follow_the_labels(self, y: list[int], n: int, undecided: int, seed: int) -> None:
        labels = np.array(y)
        try:
            said = Comparisons.from_labels(labels, n, undecided=undecided, random_state=seed)
        except ValueError:
            _, counts = np.unique(labels[labels >= 0], return_counts=True)
            assert (n and (len(counts) < 2 or counts.max() < 2)) or (
                undecided and len(counts) < 3 and counts.max(initial=0) < 3
            )
            return
        assert said.undecided.tolist() == [False] * n + [True] * undecided
        classes = labels[said.shown]
        assert (classes >= 0).all()
        for row, odd in zip(classes[:n], said.odd[:n], strict=True):
            first, second = np.delete(row, odd)
            assert first == second != row[odd]
        assert all(len(set(row)) in (1, 3) for row in classes[n:].tolist())

    def test_reproducible(self) -> None:
        y = np.arange(60) % 4
        first, second, other = (
            Comparisons.from_labels(y, 50, undecided=9, noise=0.2, random_state=s) for s in (1, 1, 2)
        )
        assert first == second != other

    def test_every_item_and_position_is_drawn_alike(self) -> None:
        y = np.repeat([0, 1, 2], [2, 3, 5])
        said = Comparisons.from_labels(y, 30_000, random_state=0)
        np.testing.assert_allclose(np.bincount(said.odd) / 30_000, 1 / 3, atol=0.015)
        inliers = said.shown[np.arange(3) != said.odd[:, None]]
        # A class is drawn in proportion to its size, and its members alike, so every item is an inlier equally often.
        np.testing.assert_allclose(np.bincount(inliers) / 60_000, 0.1, atol=0.01)

    def test_both_sorts_of_cant_tell(self) -> None:
        y = np.repeat([0, 1, 2], 4)
        unclear = Comparisons.from_labels(y, 0, undecided=1000, random_state=0)
        alike = np.array([len(set(row)) == 1 for row in y[unclear.shown].tolist()])
        assert 400 < alike.sum() < 600
        assert len(np.unique(unclear.item_sets()[alike], axis=0)) == 12
        assert len(np.unique(unclear.item_sets()[~alike], axis=0)) == 64

    def test_noise_is_a_share_of_the_answers(self) -> None:
        y = np.arange(40) % 2
        said = Comparisons.from_labels(y, 200, undecided=10, noise=0.25, random_state=0)
        classes = y[said.shown[:200]]
        right = [np.ptp(np.delete(row, odd)) == 0 for row, odd in zip(classes, said.odd[:200], strict=True)]
        assert np.count_nonzero(right) == 150

    def test_labels_may_be_text(self) -> None:
        said = Comparisons.from_labels(["x", "x", "y", "y"], 5, items=PETS, rater="sim", weight=2, random_state=0)
        assert repr(said) == "Comparisons: 5 odd-one-out answers over 4 of 4 named items by 1 rater"

    @pytest.mark.parametrize(
        ("y", "n", "options", "message"),
        [
            ([0, 0, 0, -1], 1, {}, "1 labelled classes; expected at least 2"),
            ([0, 1, 2], 1, {}, "no class in y has two"),
            ([-1, -1], 1, {}, "0 labelled classes"),
            ([], 1, {}, "0 labelled classes"),
            ([0, 0, 1], 0, {"undecided": 1}, "three labelled items, or three classes"),
            ([0, 0, 1], -1, {}, "n is -1"),
            ([0, 0, 1], 1.5, {}, "n is 1.5"),
            ([0, 0, 1], 1, {"undecided": True}, "undecided is True"),
            ([0, 0, 1], 1, {"noise": 1.5}, "noise is 1.5"),
            ([0, 0, 1], 1, {"noise": np.nan}, "noise is nan"),
            ([0, 0, 1], 1, {"items": ["a"]}, "items has 1 names and y 3 labels"),
            ([[0, 0, 1]], 1, {}, r"y has shape \(1, 3\)"),
            ([0.0, np.nan, 1.0], 1, {}, "row 1: label nan in y"),
            (np.array([0.0, np.nan, 1.0]), 1, {}, "row 1: label NaN in y"),
            (["x", None, "y"], 1, {}, "row 1: label None in y"),
            (["x", "-1", "y"], 1, {}, "row 1: label '-1' in y is text"),
            (["x", 0, "y", 0], 1, {}, "can't be sorted"),
        ],
    )
    def test_refusals(self, y: object, n: object, options: dict[str, object], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            Comparisons.from_labels(y, n, **options)
