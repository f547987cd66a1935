"""`Comparisons.conflicts`: rows that contradict one another on their face."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oddkernel.comparisons import Comparisons, Kind

odd_one_out = Comparisons.odd_one_out


class TestConflicts:
    def groups(self, said: Comparisons) -> list[list[int]]:
        return [group.tolist() for group in said.conflicts()]

    def test_none(self) -> None:
        assert self.groups(Comparisons.empty()) == []
        assert self.groups(odd_one_out([[0, 1, 2], [2, 1, 0], [0, 1, 3]], [0, 2, 1])) == []
        assert self.groups(odd_one_out([[0, 1, 2], [2, 1, 0]], [-1, -1])) == []

    def test_different_odd_ones_and_cant_tell(self) -> None:
        said = odd_one_out([[0, 1, 2], [5, 6, 7], [2, 1, 0], [7, 6, 5], [8, 9, 3]], [0, -1, 0, 1, 2])
        assert self.groups(said) == [[0, 2], [1, 3]]

    def test_closer(self) -> None:
        assert self.groups(Comparisons.closer([0, 0], [1, 2], [2, 1])) == [[0, 1]]
        assert self.groups(Comparisons.closer([0, 1], [1, 0], [2, 2])) == []
        around = Comparisons.closer([0, 2, 1], [1, 0, 2], [2, 1, 0])
        assert self.groups(around) == [[0, 1, 2]]
        assert self.groups(around[:2]) == []

    def test_closer_against_odd_one_out(self) -> None:
        odd_is_2 = odd_one_out([[0, 1, 2]], [2])
        assert self.groups(odd_is_2 + Comparisons.closer([0, 0], [1, 2], [2, 1])) == [[0, 1, 2]]
        assert self.groups(odd_is_2 + Comparisons.closer([1], [2], [0])) == [[0, 1]]
        assert self.groups(odd_is_2 + Comparisons.closer([2, 0], [1, 1], [0, 2])) == []
        assert self.groups(odd_one_out([[0, 1, 2]], [-1]) + Comparisons.closer([2], [1], [0])) == [[0, 1]]

    @pytest.mark.parametrize(
        ("at_most", "at_least", "clash"),
        [
            (None, None, True),
            (1.0, None, True),
            (None, 1.0, True),
            (1.0, 2.0, True),
            (2.0, 2.0, False),
            (3.0, 2.0, False),
        ],
    )
    def test_links(self, at_most: float | None, at_least: float | None, clash: bool) -> None:
        said = Comparisons.must_link([[0, 1], [4, 5]], at_most) + Comparisons.cannot_link([[1, 0], [2, 3]], at_least)
        assert self.groups(said) == ([[0, 2]] if clash else [])

    def test_links_that_agree_stay_out(self) -> None:
        said = Comparisons.must_link([[0, 1]] * 2, [1.0, 5.0]) + Comparisons.cannot_link([[0, 1]] * 2, [2.0, 0.5])
        assert self.groups(said) == [[0, 2]]

    def test_central_against_the_rest(self) -> None:
        central_is_2 = Comparisons.most_central([2], [[0, 1]])
        assert self.groups(central_is_2 + Comparisons.most_central([0], [[1, 2]])) == [[0, 1]]
        assert self.groups(central_is_2 + odd_one_out([[0, 1, 2]], [2])) == [[0, 1]]
        assert self.groups(central_is_2 + odd_one_out([[0, 1, 2]], [0])) == []  # 1 and 2 alike, 0 and 1 far apart
        assert self.groups(central_is_2 + Comparisons.closer([0], [1], [2])) == [[0, 1]]

    @given(st.lists(st.integers(0, 12), max_size=5))
    def test_on_one_triple_exactly_when_no_distances_fit(self, picks: list[int]) -> None:
        statements = odd_one_out([[0, 1, 2]] * 4, [0, 1, 2, -1])
        for anchor, near, far in itertools.permutations(range(3)):
            statements += Comparisons.closer([anchor], [near], [far])
        statements += Comparisons.most_central([0, 1, 2], [[1, 2], [0, 2], [0, 1]])
        said = statements[np.array(picks, dtype=int)]
        assert bool(said.conflicts()) == (
            not any(holds(said, ranks) for ranks in itertools.product(range(3), repeat=3))
        )


def holds(said: Comparisons, opposite: tuple[int, ...]) -> bool:
    """Whether all rows hold when the distance between two of the items 0, 1, 2 is that opposite the third."""
    for row in said:
        if row.undecided[0]:
            fits = len(set(opposite)) == 1
        elif row.kind[0] == Kind.ODD_ONE_OUT:
            odd = row.shown[0, row.odd[0]]
            fits = all(opposite[odd] < opposite[other] for other in range(3) if other != odd)
        elif row.kind[0] == Kind.MOST_CENTRAL:
            central, *others = row.shown[0]
            fits = all(opposite[central] > opposite[other] for other in others)
        else:
            _, near, far = row.shown[0]
            fits = opposite[far] < opposite[near]
        if not fits:
            return False
    return True
