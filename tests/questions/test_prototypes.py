from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples

from oddkernel import Comparisons
from oddkernel.questions import POLICIES, Belief, ByLabels, ByMetric, History, simulate
from oddkernel.questions.belief import Space
from oddkernel.questions.history import key
from oddkernel.questions.prototypes import Groups, joined, prototypes

Array = np.ndarray[Any, Any]


def four_clouds(n_each: int = 30, far: float = 6.0) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(4), n_each)
    return far * np.eye(4)[y] + rng.standard_normal((len(y), 4)), y


def past(space: Space, said: Comparisons, **more: Any) -> History:
    n = len(space.phi)
    found = History(n, np.zeros(n, dtype=np.intp), lambda: said, belief=lambda: pytest.fail("learned"), **more)
    found.space = lambda: space
    for row in said.shown.tolist():
        found.shown((row[0], row[1], row[2]))
    return found


@given(seed=st.integers(0, 2**32), n=st.integers(1, 60), n_classes=st.integers(1, 5))
@examples(60)
def test_people_who_answer_by_class_have_groups_within_classes(seed: int, n: int, n_classes: int) -> None:
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=12)
    shown = np.array([rng.choice(12, 3, replace=False) for _ in range(n)])
    said = Comparisons.odd_one_out(shown, [ByLabels(y)(row) for row in shown])
    groups = Groups(Space(rng.standard_normal((12, 2)), rng.permutation(12)), said)
    assert all(len(set(y[members])) == 1 for members in groups.members)


def test_a_wrong_vote_is_outvoted() -> None:
    shown = [[0, 1, 2], [0, 1, 3], [2, 3, 0], [2, 3, 1], [0, 2, 3]]
    right = [2, 2, 2, 2]
    assert joined(votes(shown, [*right, 0])).tolist() == [0, 0, 2, 2]
    assert joined(votes(shown, [*right, 2])).tolist() == [0, 0, 2, 2]  # 0 and 2 against 3: twice told apart before


def votes(shown: list[list[int]], odd: list[int]) -> Array:
    found = np.zeros((4, 4))
    for row, place in zip(shown, odd, strict=True):
        for i in range(3):
            one, other = (row[j] for j in range(3) if j != i)
            found[one, other] += 1 if i == place else -1
            found[other, one] = found[one, other]
    return found


def test_an_item_is_shown_beside_the_two_likeliest_groups() -> None:
    phi = np.array([[0.0], [0.2], [5.0], [5.2], [20.0], [20.2], [3.0]])
    said = Comparisons.odd_one_out([[0, 1, 2], [2, 3, 4], [4, 5, 0]], [2, 2, 2])
    chosen = prototypes(past(Space(phi, np.arange(7)), said), 1, np.random.default_rng(0))
    assert key(tuple(chosen[0].tolist())) == (0, 2, 6)


def test_a_group_that_an_item_was_told_apart_from_is_not_tried_again() -> None:
    phi = np.array([[0.0], [0.2], [5.0], [5.2], [20.0], [20.2], [3.0]])
    said = Comparisons.odd_one_out([[0, 1, 2], [2, 3, 4], [4, 5, 0], [0, 2, 6]], [2, 2, 2, -1])
    space = Space(phi, np.arange(7))
    [(item, questions)] = Groups(space, said).to_place()
    assert item == 6
    assert all(4 in question for question in questions)
    apart_from_all = said + Comparisons.odd_one_out([[4, 0, 6]], [-1])
    assert list(Groups(space, apart_from_all).to_place()) == []


def test_the_last_answer_counts_before_anything_is_learned() -> None:
    X, y = four_clouds()
    space = Space.of(X)
    said = Comparisons.empty()
    items = set()
    for _ in range(40):
        [question] = prototypes(past(space, said), 1, np.random.default_rng(0))
        said = said + Comparisons.odd_one_out([question], [ByLabels(y)(question)])
        items |= set(question.tolist())
    groups = [members for members in Groups(space, said).members if len(members) > 1]
    assert len(groups) == 4
    assert sum(len(members) for members in groups) >= 36
    assert items <= set(space.typical[:45].tolist())


def test_people_can_decide_what_they_are_asked() -> None:
    X, y = four_clouds()
    undecided = {
        policy: simulate(X, ByLabels(y), policy=policy, n=40, batch=1, random_state=0).undecided.mean()
        for policy in ("random", "prototypes")
    }
    assert undecided["prototypes"] < 0.5 * undecided["random"]


def test_what_others_are_being_asked_about_is_left_to_them() -> None:
    X, y = four_clouds()
    space = Space.of(X)
    said = simulate(X, ByLabels(y), n=20, batch=1, random_state=0)
    [first] = prototypes(past(space, said), 1, np.random.default_rng(0))
    open_now = {key(tuple(first.tolist()))}
    [second] = prototypes(past(space, said, open=open_now), 1, np.random.default_rng(0))
    new = set(first.tolist()) - set(said.shown.ravel().tolist())
    assert new
    assert not new & set(second.tolist())


def test_when_all_are_placed_the_model_is_asked() -> None:
    X, y = four_clouds(5)
    said = simulate(X, ByLabels(y), n=120, batch=5, random_state=0)
    assert len(said) == 120
    assert len(np.unique(said.item_sets(), axis=0)) == 120


def test_what_the_model_is_asked_beside_those_to_be_placed_is_something_else() -> None:
    X, y = four_clouds(2)
    belief = Belief.learn(X, simulate(X, ByLabels(y), n=2, batch=1, random_state=0))
    history = past(belief.space, Comparisons.empty())
    history.belief = lambda: belief
    for seed in range(10):
        chosen = prototypes(history, 30, np.random.default_rng(seed))
        assert len(np.unique(np.sort(chosen, axis=1), axis=0)) == 30


def test_copies_of_one_item_can_be_asked_about() -> None:
    X = np.zeros((6, 2))
    said = simulate(X, ByLabels(np.arange(6) % 2), n=10, batch=1, random_state=0)
    assert len(said) == 10


def test_people_who_do_not_think_in_groups_are_asked_what_is_uncertain() -> None:
    X, y = four_clouds()
    by_group, by_metric = (
        simulate(X, answer, n=20, batch=1, random_state=0) for answer in (ByLabels(y), ByMetric(X[:, ::-1]))
    )
    belief = Belief.learn(X, by_metric)
    assert not Groups(belief.space, by_group).gradual
    assert not Groups(belief.space, by_metric[:19]).gradual
    assert Groups(belief.space, by_metric).gradual
    history = past(belief.space, by_metric)
    history.belief = lambda: belief
    found, expected = (POLICIES[name](history, 5, np.random.default_rng(0)) for name in ("prototypes", "uncertain"))
    assert np.array_equal(found, expected)


def test_without_odd_one_out_answers_it_asks_what_is_uncertain() -> None:
    X, y = four_clouds()
    person, rng = ByLabels(y, random_state=0), np.random.default_rng(0)
    shown = [rng.choice(len(X), 3, replace=False) for _ in range(30)]
    anchors = Comparisons.anchor(shown, [person.anchor(row) for row in shown])
    belief = Belief.learn(X, anchors)
    history = past(belief.space, anchors)
    history.belief = lambda: belief
    expected = POLICIES["uncertain"](history, 4, np.random.default_rng(1))
    np.testing.assert_array_equal(prototypes(history, 4, np.random.default_rng(1)), expected)
    mixed = past(belief.space, anchors + Comparisons.odd_one_out([shown[0]], [person(shown[0])]))
    assert prototypes(mixed, 1, np.random.default_rng(1)).shape == (1, 3)  # `past` fails where something is learned
