"""`Comparisons.from_frame`: frames as people have them, and those of `to_frame`."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from comparison_strategies import comparisons
from hypothesis import given

from oddkernel.comparisons import Comparisons

ANIMALS = {"a": ["ant", "ant"], "b": ["oak", "bee"], "c": ["bee", "fly"], "answer": ["oak", "Don't know"]}


@given(said=comparisons())
def test_to_frame_and_back(said: Comparisons) -> None:
    if said.items is not None and {"a", "b", "c", "cant_tell"} & set(said.items):
        return  # such a name could also be an answer
    again = Comparisons.from_frame(said.to_frame(), items=said.items)
    assert again == said or not len(said)


@pytest.mark.parametrize("make", [pd.DataFrame, pa.table])
def test_frames_of_pandas_and_arrow(make: Any) -> None:
    said = Comparisons.from_frame(make(ANIMALS))
    assert said == Comparisons.odd_one_out([[0, 3, 1], [0, 1, 2]], [1, -1], items=["ant", "bee", "fly", "oak"])


def test_other_heads_and_gaps() -> None:
    frame = pd.DataFrame({"l": [3, 1], "m": [4, 2], "r": [5, 0], "pick": ["m", "can't tell"], "who": [7, None]})
    said = Comparisons.from_frame(frame, columns={"a": "l", "b": "m", "c": "r", "answer": "pick", "rater": "who"})
    assert said == Comparisons.odd_one_out([[3, 4, 5], [1, 2, 0]], [1, -1], rater=["7", ""])
    named = Comparisons.from_frame(
        frame.iloc[:1].drop(columns="who"), columns={"a": "l", "b": "m", "c": "r", "answer": "pick"}
    )
    assert named.rater is None


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"answer": ["oka", "b"]}, {}, "row 0: answer 'oka'; .*did you mean 'oak'"),
        (
            {"answer": [None, "b"]},
            {},
            "row 0: the answer is empty, which could mean can't tell or that nobody answered",
        ),
        ({"answer": [1, 2]}, {}, "row 0: answer 1 could be a position, counted from 0 or from 1"),
        ({"c": ["ant", "fly"]}, {}, r"row 0: \['ant', 'oak', 'ant'\] repeats an item, 'ant'"),
        ({"c": [2, 3]}, {}, "items 'ant' and 2: expected names only, or indices only"),
        ({}, {"items": ["ant", "bee", "fly", "elm"]}, "row 0: b is 'oak'; expected one of the 4 item names"),
        (
            {},
            {"columns": {"answer": "anser"}},
            "no column called 'anser'; there are a, b, c, answer; did you mean 'answer'",
        ),
        ({"wieght": [1, 2]}, {}, "column 'wieght' is unknown; .*did you mean 'weight'"),
        ({}, {"columns": {"odd": "answer"}}, "columns: 'odd' is none of ours"),
    ],
)
def test_refusals(change: dict[str, Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Comparisons.from_frame(pd.DataFrame({**ANIMALS, **change}), **options)


def test_a_column_that_is_missing() -> None:
    with pytest.raises(ValueError, match=r"column answer is missing; .*say which are meant: columns=.'answer'"):
        Comparisons.from_frame(pd.DataFrame(ANIMALS).rename(columns={"answer": "odd"}))


class TestWithNames:
    numbered = Comparisons.odd_one_out([[0, 2, 1]], [1], rater="ann") + Comparisons.must_link([[0, 1]])

    def test_names_by_position_and_by_index(self) -> None:
        named = self.numbered.with_names(["ant", "bee", "oak", "yew"])
        assert named.items == ("ant", "bee", "oak", "yew")
        assert named.to_dict()["b"] == ["oak", "bee"]
        assert self.numbered.with_names({2: "oak", 0: "ant", 1: "bee", 3: "yew"}) == named
        assert named.with_names(None) == self.numbered

    def test_new_names(self) -> None:
        named = self.numbered.with_names(["ant", "bee", "oak"])
        assert named.with_names({"bee": "wasp"}).items == ("ant", "wasp", "oak")
        assert named.with_names({"bee": "ant", "ant": "bee"}).to_dict()["a"] == ["bee", "bee"]

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            (["ant", "bee"], "index 2 is out of range; expected 0 to 1"),
            (["ant", "ant", "oak"], "both are 'ant'"),
            ({0: "ant", 2: "oak"}, "no name for item 1; expected one for each of 3"),
            ({"0": "ant"}, "item '0'; expected an index"),
        ],
    )
    def test_refusals_of_numbered_items(self, names: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            self.numbered.with_names(names)

    @pytest.mark.parametrize(
        ("names", "message"),
        [
            (["ant", "bee"], "2 names for 3 items"),
            ({"aunt": "x"}, "no item is called 'aunt'; did you mean 'ant'"),
            ({"ant": "bee"}, "both are 'bee'"),
        ],
    )
    def test_refusals_of_named_items(self, names: Any, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            self.numbered.with_names(["ant", "bee", "oak"]).with_names(names)
