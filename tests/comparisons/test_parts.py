"""Answers of several rows, and the forms of questions that lead to them."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from oddkernel import Comparisons
from oddkernel.comparisons import Kind, RowError
from oddkernel.problem.constraints import Constraints


def test_a_grid_is_one_answer() -> None:
    said = Comparisons.grid([0, 9], [[1, 2, 3, 4], [5, 6, 7]], [[3, 0], [1]], rater=["ann", "bob"])
    assert said.shown.tolist() == [[0, 4, 2], [0, 4, 3], [0, 1, 2], [0, 1, 3], [9, 6, 5], [9, 6, 7]]
    assert said.part_of is not None
    assert said.part_of.tolist() == [0, 0, 0, 0, 1, 1]
    assert said.weight.tolist() == [0.5] * 4 + [1.0] * 2
    assert said.n_answers == 2
    assert said.rater is not None
    assert said.rater.tolist() == ["ann"] * 4 + ["bob"] * 2


def test_an_answer_keeps_its_rows() -> None:
    grid = Comparisons.grid([0], [[1, 2, 3]], [[0]])
    both = Comparisons.closer([4], [5], [6]) + grid + grid
    assert both.part_of is not None
    assert both.part_of.tolist() == [0, 1, 1, 2, 2]
    assert both[[3, 4, 1, 2]].part_of.tolist() == [0, 0, 1, 1]  # type: ignore[union-attr]
    assert both[[0, 1, 3]].part_of is None
    assert both[:3] != Comparisons.closer([4, 0, 0], [5, 1, 1], [6, 2, 3], weight=both[:3].weight)
    assert pickle.loads(pickle.dumps(both)) == both
    for same in (
        both.with_weight(2.0),
        both.with_names(list("abcdefg")),
        both.with_names(list("abcdefg")).reindex(list("gfedcba")),
    ):
        assert np.array_equal(same.part_of, both.part_of)  # type: ignore[arg-type]


def test_frames_keep_answers_together() -> None:
    said = Comparisons.grid([0, 0], [[1, 2, 3], [1, 2, 3]], [[0], [0]]) + Comparisons.anchor([[0, 1, 2]], [-1])
    assert Comparisons.from_frame(said.to_frame()) == said


def test_the_same_items_are_the_same_question() -> None:
    said = Comparisons.grid([0, 3, 0], [[1, 2, 3], [0, 1, 2], [1, 2, 4]], [[0], [1], [2]])
    assert said.questions().tolist() == [0, 0, 0, 0, 1, 1]
    alone = Comparisons.odd_one_out([[5, 8, 2], [8, 2, 5], [1, 2, 3]], [1, -1, 0])
    assert alone.questions().tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("middle", "around", "picked", "problem"),
    [
        ([0], [[1, 2, 0]], [[0]], "repeats an item"),
        ([0], [[1, 2, 3]], [[0, 1, 2]], "1 to 2 different positions"),
        ([0], [[1, 2, 3]], [[1, 1]], "1 to 2 different positions"),
        ([0], [[1, 2, 3]], [[]], "1 to 2 different positions"),
        ([0], [[1, 2, 3]], [[3]], "positions from 0 to 2"),
        ([0], [[1, -2, 3]], [[0]], "negative index"),
    ],
)
def test_a_grid_that_makes_no_sense_is_refused(middle: Any, around: Any, picked: Any, problem: str) -> None:
    with pytest.raises(RowError, match=problem):
        Comparisons.grid(middle, around, picked)


@pytest.mark.parametrize("far", [7, 10**7])  # as one number for each row, and where that would be too large
def test_questions_are_numbered_in_the_order_of_their_items(far: int) -> None:
    said = Comparisons.odd_one_out([[far, 1, 4], [2, 3, 1], [4, far, 1], [1, 2, far]], [0, 1, 2, -1])
    assert said.questions().tolist() == [2, 0, 2, 1]
    assert (said + Comparisons.must_link([[0, 5]])).questions().tolist() == [3, 1, 3, 2, 0]


def test_a_grid_needs_as_many_of_each() -> None:
    with pytest.raises(ValueError, match="picked has 2 entries for 1 grids"):
        Comparisons.grid([0], [[1, 2, 3]], [[0], [1]])


def test_only_closer_statements_about_one_anchor_are_one_answer() -> None:
    kinds = [Kind.CLOSER, Kind.CLOSER]
    with pytest.raises(RowError, match=r"row 1: .*about one anchor"):
        Comparisons(kinds, [[0, 1, 2], [3, 1, 2]], [-1, -1], np.nan, part_of=[0, 0])
    with pytest.raises(RowError, match=r"row 0: .*closer statements"):
        Comparisons([Kind.ODD_ONE_OUT] * 2, [[0, 1, 2], [0, 1, 2]], [1, 1], np.nan, part_of=[0, 0])


def test_of_two_the_one_that_is_more_like_the_anchor() -> None:
    said = Comparisons.anchor([["ant", "oak", "bee"], ["ant", "bee", "oak"]], [2, -1], items=["ant", "bee", "oak"])
    assert said.kind.tolist() == [Kind.CLOSER, Kind.EQUALLY_CLOSE]
    assert said.shown.tolist() == [[0, 1, 2], [0, 1, 2]]
    assert said.undecided.tolist() == [False, True]
    with pytest.raises(RowError, match="row 1: chosen is 0; expected 1 or 2"):
        Comparisons.anchor([[0, 1, 2], [0, 1, 2]], [1, 0])


def test_equally_close_is_one_equality() -> None:
    rows = Constraints.from_comparisons(Comparisons.anchor([[4, 2, 1]], [-1]), ratio=2.0, margin=1.0)
    assert rows.equality.tolist() == [True]
    assert (rows.near.tolist(), rows.far.tolist()) == ([[4, 1]], [[4, 2]])
    assert (rows.near_factor.tolist(), rows.offset.tolist()) == ([1.0], [0.0])


def test_equally_close_contradicts_closer_about_the_same_anchor_alone() -> None:
    equal = Comparisons.anchor([[0, 1, 2]], [-1])
    assert [each.tolist() for each in (equal + Comparisons.closer([0], [2], [1])).conflicts()] == [[0, 1]]
    assert (equal + Comparisons.closer([1], [0], [2])).conflicts() == []
    assert (equal + Comparisons.odd_one_out([[0, 1, 2]], [0])).conflicts() == []


def test_equally_close_says_the_same_whatever_the_order() -> None:
    keys = Comparisons.anchor([[0, 1, 2], [0, 2, 1], [1, 0, 2]], [-1, -1, -1]).canonical()
    assert (keys[0] == keys[1]).all()
    assert (keys[0] != keys[2]).any()
