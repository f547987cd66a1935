from __future__ import annotations

import copy
import pickle
import sys

import numpy as np
import pytest
from comparison_strategies import comparisons
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from oddkernel.comparisons import Comparisons, Kind, RowError

PETS = ["ant", "bee", "cat", "dog"]
odd_one_out = Comparisons.odd_one_out


@pytest.fixture
def said() -> Comparisons:
    return (
        odd_one_out([[0, 1, 2], [3, 4, 5]], [2, -1], rater=["ann", 7], weight=[1.0, 2.5])
        + Comparisons.closer([0], [1], [6])
        + Comparisons.must_link([[1, 2], [2, 3]], at_most=[0.5, 0.0])
        + Comparisons.cannot_link([[0, 6]])
    )


class TestColumns:
    def test_hold_what_was_said(self, said: Comparisons) -> None:
        assert said.kind.tolist() == [0, 0, 1, 2, 2, 3]
        assert said.shown.tolist() == [[0, 1, 2], [3, 4, 5], [0, 1, 6], [1, 2, -1], [2, 3, -1], [0, 6, -1]]
        assert said.odd.tolist() == [2, -1, -1, -1, -1, -1]
        assert said.undecided.tolist() == [False, True, False, False, False, False]
        np.testing.assert_array_equal(said.bound, [np.nan, np.nan, np.nan, 0.5, 0.0, np.nan])
        assert said.weight.tolist() == [1, 2.5, 1, 1, 1, 1]
        assert said.rater is not None
        assert said.rater.tolist() == ["ann", "7", "", "", "", ""]
        assert said.items is None

    def test_weights_can_be_given_anew(self, said: Comparisons) -> None:
        anew = said.with_weight(said.weight * 2)
        assert anew.weight.tolist() == [2, 5, 2, 2, 2, 2]
        assert anew.with_weight(said.weight) == said
        with pytest.raises(RowError, match="row 5: weight 0"):
            said.with_weight([1, 1, 1, 1, 1, 0])

    def test_have_their_types(self, said: Comparisons) -> None:
        types = {name: getattr(said, name).dtype for name in ("kind", "shown", "odd", "bound", "weight")}
        assert types == {"kind": np.int8, "shown": np.intp, "odd": np.int8, "bound": np.float64, "weight": np.float64}

    def test_names_become_indices(self) -> None:
        named = [
            odd_one_out([["dog", "ant", "cat"]], [0], items=PETS),
            Comparisons.closer(np.array(["dog"]), ["ant"], ["cat"], items=PETS),
            Comparisons.must_link([("dog", "ant")], items=iter(PETS)),
        ]
        assert [c.shown.tolist() for c in named] == [[[3, 0, 2]], [[3, 0, 2]], [[3, 0, -1]]]
        assert all(c.items == tuple(PETS) for c in named)

    def test_indices_stay_indices_when_names_are_digits(self) -> None:
        assert odd_one_out([[0, 1, 2]], [0], items=["2", "1", "0"]).shown.tolist() == [[0, 1, 2]]
        assert odd_one_out([["0", "1", "2"]], [0], items=["2", "1", "0"]).shown.tolist() == [[2, 1, 0]]

    @pytest.mark.parametrize("shown", [[[3.0, 1.0, 2.0]], np.array([[3, 1, 2]], dtype=np.uint8), ((3, 1, 2),)])
    def test_whole_numbers_of_any_type(self, shown: object) -> None:
        assert odd_one_out(shown, np.array([1.0])).shown.tolist() == [[3, 1, 2]]

    def test_one_weight_and_rater_count_for_all(self) -> None:
        said = Comparisons.must_link([[0, 1], [1, 2]], weight=2, rater=5, at_most=3)
        assert (said.weight.tolist(), said.rater.tolist(), said.bound.tolist()) == ([2, 2], ["5", "5"], [3, 3])

    def test_nobody_named_is_none(self, said: Comparisons) -> None:
        assert said[2:].rater is None
        assert odd_one_out([[0, 1, 2]], [0], rater=[""]).rater is None
        assert odd_one_out([], [], rater=[]).rater is None

    def test_input_is_copied(self) -> None:
        shown, odd, weight = np.array([[0, 1, 2]]), np.array([1], dtype=np.int8), np.array([1.0])
        said = odd_one_out(shown, odd, weight=weight)
        shown[:], odd[:], weight[:] = 9, 2, 9
        assert said == odd_one_out([[0, 1, 2]], [1])


class TestRefusals:
    @pytest.mark.parametrize(
        ("shown", "odd", "message"),
        [
            ([[0, 1, 2], [3, 4]], [0, 0], r"row 1: .*\[3, 4\]; expected 3 items"),
            ([np.arange(3), np.arange(4)], [0, 0], "row 1: .*expected 3 items"),
            ([[0, 1]], [0], r"shape \(1, 2\); expected \(m, 3\)"),
            (np.zeros((2, 3, 1), dtype=int), [0, 0], r"shape \(2, 3, 1\)"),
            ([0, 1, 2], 0, "row 0: .*expected 3 items"),
            (7, [0], "expected one entry for each row"),
            ("abc", [0], "expected one entry for each row"),
            ([[0, 1, 2], [0, 1, 1]], [0, 0], r"row 1: \[0, 1, 1\] repeats an item"),
            ([[0, 1, 2], [0, -1, 1]], [0, 0], r"row 1: \[0, -1, 1\] holds a negative index"),
            ([[0, 1, 2.5]], [0], "row 0: shown holds 2.5"),
            (np.array([[0, 1, np.nan]]), [0], "row 0: shown holds .*nan"),
            (np.array([[0, 1, np.inf]]), [0], "row 0: shown holds .*inf"),
            ([[0, 1, 10**30]], [0], "row 0: shown holds 1000"),
            (np.array([[0, 1, 2**64 - 1]], dtype=np.uint64), [0], "row 0: shown holds"),
            (np.array([[True, False, True]]), [0], "row 0: shown holds .*True"),
            ([[0, 1, True]], [0], "row 0: shown holds True"),
            ([[0, 1, None]], [0], "row 0: shown holds None"),
            ([["ant", "bee", "cat"]], [0], "row 0: shown holds 'ant'.*pass items="),
            ([[0, 1, 2], [0, 1, 2]], [0, 3], "row 1: answer 3; expected 0, 1 or 2.*-1 for can't tell"),
            ([[0, 1, 2]], [-2], "row 0: answer -2"),
            ([[0, 1, 2]], [np.nan], "row 0: odd holds nan.*-1 for can't tell"),
            ([[0, 1, 2]], [None], "row 0: odd holds None"),
            ([[0, 1, 2]], ["a"], "row 0: odd holds 'a'"),
            ([[0, 1, 2]], [True], "row 0: odd holds True"),
            ([[0, 1, 2]], [0, 1], "odd has 2 entries for 1 rows"),
            ([[0, 1, 2]], [[0]], r"odd has shape \(1, 1\)"),
        ],
    )
    def test_odd_one_out(self, shown: object, odd: object, message: str) -> None:
        with pytest.raises(ValueError, match=message):
            odd_one_out(shown, odd)

    @pytest.mark.parametrize(
        ("about", "message"),
        [
            ({"weight": [1, 0]}, "row 1: weight 0.0; expected a positive"),
            ({"weight": [-1, 1]}, "row 0: weight -1.0"),
            ({"weight": [1, np.nan]}, "row 1: weight nan"),
            ({"weight": np.inf}, "row 0: weight inf"),
            ({"weight": [1, None]}, "row 1: weight holds None"),
            ({"weight": ["1", "1"]}, "row 0: weight holds '1'"),
            ({"weight": True}, "weight is True"),
            ({"weight": [1]}, "weight has 1 entries for 2 rows"),
            ({"rater": ["ann"]}, "rater has 1 entries for 2 rows"),
            ({"rater": ["ann", 1.5]}, "row 1: rater 1.5 is a float"),
            ({"rater": ["ann", "b\0b"]}, "row 1: rater .*NUL"),
            ({"items": "abcdef"}, "items is 'abcdef'"),
            ({"items": ["a", "b", "a"]}, "positions 0 and 2: both are 'a'"),
            ({"items": ["a", "", "c"]}, "position 1: the name is empty"),
            ({"items": ["a", "\0", "c"]}, "position 1: name .*NUL"),
            ({"items": ["a", "\ud800", "c"]}, "position 1: name .*surrogate"),
            ({"items": ["a", 1, "c"]}, "position 1: name 1 is a int"),
            ({"items": ["a", "b", "c"]}, "row 1: index 3 is out of range; expected 0 to 2"),
        ],
    )
    def test_what_is_said_about_rows(self, about: dict[str, object], message: str) -> None:
        with pytest.raises(ValueError, match=message):
            odd_one_out([[0, 1, 2], [1, 2, 3]], [0, 0], **about)

    def test_unknown_and_mixed_names(self) -> None:
        with pytest.raises(RowError, match="row 1: shown holds 'cow'; expected one of the 4 names"):
            odd_one_out([PETS[:3], ["ant", "cow", "dog"]], [0, 0], items=PETS)
        with pytest.raises(RowError, match="row 0: shown holds 2; expected names only"):
            odd_one_out([["ant", "bee", 2]], [0], items=PETS)

    def test_closer(self) -> None:
        with pytest.raises(RowError, match=r"row 1: \[3, 4, 3\] repeats an item"):
            Comparisons.closer([0, 3], [1, 4], [2, 3])
        with pytest.raises(ValueError, match="far has 1 entries for 2 rows"):
            Comparisons.closer([0, 3], [1, 4], [2])

    def test_most_central(self) -> None:
        with pytest.raises(RowError, match=r"row 1: \[3, 4, 3\] repeats an item"):
            Comparisons.most_central([0, 3], [[1, 2], [4, 3]])
        with pytest.raises(ValueError, match="others has 1 entries for 2 rows"):
            Comparisons.most_central([0, 3], [[1, 2]])
        with pytest.raises(ValueError, match=r"others has shape \(1, 3\); expected \(m, 2\)"):
            Comparisons.most_central([0], [[1, 2, 3]])
        assert Comparisons.most_central([0], [[1, 2]]).links.tolist() == [False]
        assert Comparisons.must_link([[1, 2]]).links.tolist() == [True]

    @pytest.mark.parametrize("link", [Comparisons.must_link, Comparisons.cannot_link])
    def test_links(self, link) -> None:
        for pairs, bound, message in [
            ([[0, 1], [2, 2]], None, r"row 1: \[2, 2\] repeats an item"),
            ([[0, 1], [2, -1]], None, "row 1: .*negative index"),
            ([[0, 1, 2]], None, r"shape \(1, 3\); expected \(m, 2\)"),
            ([[0, 1], [1, 2]], [1, -1], "row 1: bound -1.0; expected a finite number, 0 or more"),
            ([[0, 1], [1, 2]], [1, np.nan], "row 1: at_.* is nan"),
            ([[0, 1], [1, 2]], np.inf, "row 0: at_.* is inf"),
            ([[0, 1], [1, 2]], [1], "has 1 entries for 2 rows"),
        ]:
            with pytest.raises(ValueError, match=message):
                link(pairs, bound)

    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            (([6], [[0, 1, 2]], [0], [np.nan]), "row 0: kind 6 is unknown"),
            (([Kind.CLOSER], [[0, 1, 2]], [0], [np.nan]), "row 0: answer 0 on a CLOSER row"),
            (([Kind.CLOSER], [[0, 1, 2]], [-1], [1.0]), "row 0: bound 1.0; .*on links only"),
            (([Kind.CLOSER], [[0, 1, -1]], [-1], [np.nan]), "row 0: .*negative index"),
            (([Kind.MUST_LINK], [[0, 1, 2]], [-1], [np.nan]), "row 0: a link shows .*expected -1"),
            (([Kind.MUST_LINK], [[0, -1, -1]], [-1], [np.nan]), "row 0: .*negative index"),
        ],
    )
    def test_columns(self, columns: tuple[object, ...], message: str) -> None:
        with pytest.raises(RowError, match=message):
            Comparisons(*columns)

    def test_error_knows_its_row_and_survives_pickling(self) -> None:
        with pytest.raises(RowError) as caught:
            odd_one_out([[0, 1, 2], [0, 1, 1]], [0, 0])
        assert caught.value.row == 1
        assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


class TestImmutability:
    def test_columns_and_attributes(self, said: Comparisons) -> None:
        for every in (said, said[1:3], said + said, pickle.loads(pickle.dumps(said)), copy.deepcopy(said)):
            for name in ("kind", "shown", "odd", "bound", "weight", "rater"):
                with pytest.raises(ValueError, match="read-only"):
                    getattr(every, name)[...] = getattr(every, name)
            with pytest.raises(AttributeError, match="can't be changed"):
                every.odd = np.zeros(6)
            with pytest.raises(AttributeError, match="can't be changed"):
                del every.odd
            with pytest.raises(AttributeError):
                every.remark = "new"

    def test_not_hashable_and_not_an_array(self, said: Comparisons) -> None:
        with pytest.raises(TypeError, match="unhashable"):
            hash(said)
        with pytest.raises(TypeError, match="aren't an array"):
            np.asarray(said)


class TestTable:
    @given(comparisons())
    @examples(60)
    def test_copies_are_equal(self, said: Comparisons) -> None:
        assert pickle.loads(pickle.dumps(said)) == copy.copy(said) == copy.deepcopy(said) == said

    @given(comparisons(), st.data())
    @examples(60)
    def test_slices_add_up(self, said: Comparisons, data: st.DataObject) -> None:
        cut = data.draw(st.integers(0, len(said)))
        while said.part_of is not None and 0 < cut < len(said) and said.part_of[cut - 1] == said.part_of[cut]:
            cut -= 1  # the parts of one answer that is cut are two answers
        assert said[:cut] + said[cut:] == said
        mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(said), max_size=len(said))), dtype=bool)
        assert said[mask] == said[np.flatnonzero(mask)]
        assert len(said[mask]) + len(said[~mask]) == len(said)

    def test_rows_by_number(self, said: Comparisons) -> None:
        assert said[-1] == said[5:] == said[[5]] == Comparisons.cannot_link([[0, 6]])
        assert said[[]] == Comparisons.empty()
        assert [len(row) for row in said] == [1] * 6
        for wrong in (6, [6], True, None, np.zeros((1, 1), dtype=int), np.zeros(4, dtype=bool), "a"):
            with pytest.raises(IndexError):
                said[wrong]

    def test_adding_needs_the_same_names(self) -> None:
        named, plain = Comparisons.must_link([[0, 1]], items=PETS), Comparisons.must_link([[0, 1]])
        assert named + Comparisons.empty() == Comparisons.empty() + named == named
        with pytest.raises(ValueError, match="only one of the two carries item names"):
            named + plain
        with pytest.raises(ValueError, match="only one of the two carries item names"):
            plain + Comparisons.empty(items=PETS)
        with pytest.raises(ValueError, match="different items, or in another order"):
            named + Comparisons.must_link([[0, 1]], items=PETS[::-1])
        with pytest.raises(TypeError):
            named + "ant"

    def test_every_column_counts_for_equality(self) -> None:
        base = {"pairs": [[0, 1]], "at_most": 1.0, "weight": 1.0, "rater": "ann", "items": PETS}
        changes = {"pairs": [[1, 0]], "at_most": None, "weight": 2.0, "rater": None, "items": PETS[::-1]}
        for name, value in changes.items():
            assert Comparisons.must_link(**base) != Comparisons.must_link(**{**base, name: value})
        assert Comparisons.must_link([[0, 1]]) != Comparisons.cannot_link([[0, 1]])
        assert Comparisons.must_link([[0, 1]]) != "must_link"

    def test_repr_says_what_is_there(self, said: Comparisons) -> None:
        assert repr(said) == (
            "Comparisons: 2 odd-one-out answers (1 can't tell), 1 closer statement, 2 must-links, 1 cannot-link "
            "over 7 items by 2 raters"
        )
        assert repr(Comparisons.empty()) == "Comparisons: none over 0 items"

    def test_frame(self, said: Comparisons) -> None:
        frame = said.to_frame()
        assert list(frame) == ["kind", "a", "b", "c", "answer", "bound", "weight", "rater"]
        assert frame.kind.tolist() == ["odd_one_out"] * 2 + ["closer"] + ["must_link"] * 2 + ["cannot_link"]
        assert frame.answer[:2].tolist() == ["c", "cant_tell"]
        assert frame.c.isna().tolist() == [False] * 3 + [True] * 3
        assert frame.c[0] == 2
        assert odd_one_out([[3, 0, 2]], [0], items=PETS).to_frame().a.tolist() == ["dog"]
        assert len(Comparisons.empty().to_frame()) == 0

    def test_frame_without_pandas(self, said: Comparisons, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "pandas", None)
        with pytest.raises(ImportError, match=r'pip install "oddkernel\[pandas\]'):
            said.to_frame()


class TestItems:
    def test_which_and_how_many(self, said: Comparisons) -> None:
        assert said[2:].constrained.tolist() == [0, 1, 2, 3, 6]
        assert said.n_items == 7
        assert Comparisons.must_link([[0, 1]], items=PETS).n_items == 4
        assert Comparisons.empty().n_items == 0

    def test_check_items(self, said: Comparisons) -> None:
        said.check_items(7)
        said.check_items(9, [str(i) for i in range(9)])
        with pytest.raises(RowError, match="row 2: index 6 is out of range; expected 0 to 5"):
            said.check_items(6)
        named = Comparisons.must_link([[0, 1]], items=PETS)
        named.check_items(4)
        named.check_items(4, PETS)
        with pytest.raises(ValueError, match="name 4 items, but there are 5"):
            named.check_items(5)
        with pytest.raises(ValueError, match=r"first at position 2: \('cat',\).*\('dog',\).*reindex"):
            named.check_items(4, ["ant", "bee", "dog", "cat"])

    def test_reindex_joins_by_name(self, said: Comparisons) -> None:
        named = odd_one_out([["dog", "ant", "cat"]], [1], items=PETS) + Comparisons.must_link([[0, 2]], items=PETS)
        moved = named.reindex(["cat", "cow", "dog", "ant"])
        assert moved.shown.tolist() == [[2, 3, 0], [3, 0, -1]]
        assert moved.to_dict() == named.to_dict()
        assert moved.reindex(PETS) == named
        with pytest.raises(ValueError, match="2 compared items are missing from the 2 given: 'ant', 'cat'"):
            named.reindex(["dog", "bee"])
        with pytest.raises(ValueError, match="no item names"):
            said.reindex(PETS)


class TestKeys:
    @given(comparisons(), st.randoms(use_true_random=False))
    @examples(60)
    def test_order_within_a_question_plays_no_part(self, said: Comparisons, random) -> None:
        answers = said[said.kind == Kind.ODD_ONE_OUT]
        order = np.array([random.sample(range(3), 3) for _ in range(len(answers))], dtype=int).reshape(-1, 3)
        odd = [-1 if o < 0 else list(places).index(o) for o, places in zip(answers.odd, order, strict=True)]
        other = odd_one_out(np.take_along_axis(answers.shown, order, axis=1), odd, items=said.items)
        np.testing.assert_array_equal(answers.canonical(), other.canonical())
        np.testing.assert_array_equal(answers.item_sets(), other.item_sets())

    def test_canonical_tells_apart_what_differs(self) -> None:
        different = (
            odd_one_out([[0, 1, 2]] * 4, [0, 1, 2, -1])
            + Comparisons.most_central([0, 1, 2], [[1, 2], [0, 2], [0, 1]])
            + Comparisons.closer([0, 0, 1], [1, 2, 0], [2, 1, 2])
            + Comparisons.must_link([[0, 1]] * 3, [0, 1, 2])
            + Comparisons.must_link([[0, 1]])
            + Comparisons.cannot_link([[0, 1]], 1.0)
        )
        assert len(np.unique(different.canonical(), axis=0)) == len(different)
        np.testing.assert_array_equal(
            Comparisons.must_link([[0, 1]], 2.0).canonical(), Comparisons.must_link([[1, 0]], 2.0, weight=3).canonical()
        )

        np.testing.assert_array_equal(
            Comparisons.most_central([1], [[5, 0]]).canonical(), Comparisons.most_central([1], [[0, 5]]).canonical()
        )

    def test_item_sets_ignore_what_is_said(self) -> None:
        same = odd_one_out([[0, 1, 2], [2, 1, 0]], [0, -1]) + Comparisons.closer([1], [0], [2])
        assert len(np.unique(same.item_sets(), axis=0)) == 1
        assert Comparisons.must_link([[3, 1]]).item_sets().tolist() == [[-1, 1, 3]]


def test_names_that_are_used_already_are_not_what_was_meant() -> None:
    names = [f"p{i}" for i in range(1, 13)]
    said = Comparisons.odd_one_out([["p1", "p2", "p10"]], [0], items=names)
    with pytest.raises(ValueError, match=r"missing from the 9 given: 'p10'$"):
        said.reindex(names[:9])
    with pytest.raises(ValueError, match=r"missing from the 10 given: 'p10'; did you mean 'P10'\?$"):
        said.reindex([*names[:9], "P10"])
