"""What answers mean, row by row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oddkernel import Comparisons
from oddkernel.problem import distances
from oddkernel.problem.constraints import Constraints
from oddkernel.problem.dual import Dual
from oddkernel.problem.losses import LOSSES

# δ(0, 1) = 1, δ(0, 2) = 4, δ(0, 3) = 9, ... : the squared distances of items on a line
LINE = np.square(np.subtract.outer(np.arange(6.0), np.arange(6.0)))


def violation(rows: Constraints, delta: np.ndarray) -> np.ndarray:
    near, far = delta[tuple(rows.near.T)], delta[tuple(rows.far.T)]
    return rows.near_factor * near - rows.far_factor * far + rows.offset


def test_odd_one_out_asks_twice_for_the_ratio_and_the_margin() -> None:
    rows = Constraints.from_comparisons(Comparisons.odd_one_out([[0, 5, 2]], [1]), ratio=4.0, margin=0.5)
    assert sorted(violation(rows, LINE)) == [4 * 4 + 0.5 - 25, 4 * 4 + 0.5 - 9]
    assert not rows.equality.any()


def test_cant_tell_asks_for_three_equalities_without_ratio_and_margin() -> None:
    rows = Constraints.from_comparisons(Comparisons.odd_one_out([[0, 1, 3]], [-1]), ratio=4.0, margin=0.5)
    assert rows.equality.tolist() == [True] * 3
    assert sorted(np.abs(violation(rows, LINE))) == [4 - 1, 9 - 4, 9 - 1]


def test_closer_asks_once() -> None:
    rows = Constraints.from_comparisons(Comparisons.closer([3], [2], [0]), ratio=2.0, margin=0.5)
    assert violation(rows, LINE).tolist() == [2 * 1 + 0.5 - 9]


def test_the_most_central_one_asks_twice_as_one_answer() -> None:
    rows = Constraints.from_comparisons(Comparisons.most_central([2], [[3, 0]]), ratio=2.0, margin=0.5)
    assert sorted(violation(rows, LINE)) == [2 * 1 + 0.5 - 9, 2 * 4 + 0.5 - 9]
    assert rows.answer.tolist() == [0, 0]


def test_links_bound_one_distance() -> None:
    said = Comparisons.must_link([[0, 2]], 1.5) + Comparisons.cannot_link([[1, 2]], 3.0)
    said += Comparisons.must_link([[0, 3]]) + Comparisons.cannot_link([[0, 1]])
    rows = Constraints.from_comparisons(said, ratio=4.0, margin=0.5, at_most=0.25, at_least=7.0)
    assert violation(rows, LINE).tolist() == [4 - 1.5, 3.0 - 1, 9 - 0.25, 7.0 - 1]


def test_rows_follow_the_answers_and_carry_their_weight() -> None:
    said = Comparisons.closer([0], [1], [2], weight=3.0) + Comparisons.odd_one_out([[0, 1, 2]], [0], weight=0.5)
    said += Comparisons.must_link([[0, 1]], 1.0) + Comparisons.odd_one_out([[1, 2, 3]], [-1], weight=2.0)
    rows = Constraints.from_comparisons(said)
    assert rows.answer.tolist() == [0, 1, 1, 2, 3, 3, 3]
    assert rows.weight.tolist() == [3.0, 0.5, 0.5, 1.0, 2.0, 2.0, 2.0]


def test_nothing_said_makes_no_rows() -> None:
    assert len(Constraints.from_comparisons(Comparisons.empty())) == 0


@given(
    order=st.permutations([0, 1, 2]),
    odd=st.integers(-1, 2),
    triple=st.lists(st.integers(0, 5), min_size=3, max_size=3, unique=True),
)
def test_rows_dont_depend_on_how_the_three_were_shown(order: list[int], odd: int, triple: list[int]) -> None:
    once = Comparisons.odd_one_out([triple], [odd])
    again = Comparisons.odd_one_out([[triple[p] for p in order]], [order.index(odd) if odd >= 0 else -1])
    one, other = Constraints.from_comparisons(once, ratio=2.0), Constraints.from_comparisons(again, ratio=2.0)
    for column in ("near", "far", "near_factor", "far_factor", "offset", "equality"):
        assert np.array_equal(getattr(one, column), getattr(other, column))


def test_rows_can_be_selected() -> None:
    rows = Constraints.from_comparisons(Comparisons.odd_one_out([[0, 1, 2], [3, 4, 5]], [0, -1]))
    chosen = rows[rows.equality]
    assert len(chosen) == 3
    assert set(chosen.answer) == {1}


def test_renumbered_rows_are_about_the_items_given() -> None:
    rows = Constraints.from_comparisons(Comparisons.closer([2], [0], [1])).renumbered(np.array([4, 7, 9]))
    assert rows.near.tolist() == [[9, 4]]
    assert rows.far.tolist() == [[9, 7]]


def test_matched_values_are_shared_out_among_rows_that_say_the_same() -> None:
    old = Constraints.from_comparisons(Comparisons.closer([0, 0, 3], [1, 1, 4], [2, 2, 5]))
    new = Constraints.from_comparisons(Comparisons.closer([3, 0, 1], [4, 1, 0], [5, 2, 5]))
    assert new.matched(old, np.array([1.0, 2.0, 5.0])).tolist() == pytest.approx([5.0, 3.0, 0.0])
    assert old.matched(new, np.array([5.0, 3.0, 1.0])).tolist() == pytest.approx([1.5, 1.5, 5.0])


def test_violations_are_those_of_the_dual(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distances, "PAIRS", 4)
    rng = np.random.default_rng(0)
    said = Comparisons.odd_one_out(rng.permuted(np.tile(np.arange(9), (11, 1)), axis=1)[:, :3], rng.integers(-1, 3, 11))
    rows = Constraints.from_comparisons(said, ratio=2.0, margin=0.3)
    items = rng.normal(size=(9, 4))
    dual = Dual(items, rows, LOSSES["squared"].conjugate(rows.weight, rows.equality, 1.0))
    np.testing.assert_allclose(rows.violation(items), dual.origin.violation, atol=1e-12)
