from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oddkernel import Comparisons
from oddkernel.questions import DEFAULT, POLICIES, ByLabels, ByMetric, History, Recorded, simulate
from oddkernel.questions.auto import EARLY, LEAST, ONCE, auto, by_degree
from oddkernel.questions.belief import Belief, Space
from oddkernel.questions.prototypes import FIRST, prototypes

Array = np.ndarray[Any, Any]


def clouds(n_groups: int, seed: int) -> tuple[Array, Array]:
    """Groups that overlap, of three clouds each."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(n_groups), 20)
    centre = 0.5 * rng.standard_normal((3 * n_groups, 6))
    return centre[3 * y + rng.integers(3, size=len(y))] + rng.standard_normal((len(y), 6)), y


def history_of(X: Array, said: Comparisons, **more: Any) -> History:
    belief = Belief.learn(X, said)
    return History(len(X), np.zeros(len(X), dtype=np.intp), lambda: said, X, belief=lambda: belief, **more)


@given(counts=st.lists(st.integers(1, 50), min_size=1, max_size=12))
def test_people_who_think_in_groups_cannot_tell_in_a_quarter_of_random_questions(counts: list[int]) -> None:
    p = np.array(counts) / sum(counts)
    of_one_group = (p**3).sum()
    of_three = 1.0 - 3.0 * (p**2).sum() + 2.0 * of_one_group
    assert of_one_group + of_three >= LEAST - 1e-12


def test_the_default_is_auto() -> None:
    assert DEFAULT == "auto"
    assert POLICIES[DEFAULT] is auto


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("n_groups", [4, 7])
def test_people_who_think_in_groups_are_asked_about_prototypes(n_groups: int, seed: int) -> None:
    X, y = clouds(n_groups, seed)
    by_default, expected = (
        simulate(X, ByLabels(y), n=EARLY + 10, batch=1, random_state=seed, **chosen)
        for chosen in ({}, {"policy": partial(prototypes, once=ONCE)})
    )
    assert not by_degree(by_default)
    assert by_default == expected


@pytest.mark.parametrize("batch", [1, 5])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_each_of_the_most_typical_items_is_shown_once_at_first(batch: int, noise: float) -> None:
    X, y = clouds(9, 0)
    person = ByLabels(y, noise=noise, random_state=0)
    n = ONCE - FIRST
    first, alone = (
        simulate(X, person, policy=name, n=n, batch=batch, random_state=0) for name in ("auto", "prototypes")
    )
    typical = Space.of(X).typical.tolist()
    assert set(first.shown.ravel().tolist()) == set(typical[:ONCE])
    assert len(set(alone.shown.ravel().tolist())) < ONCE  # one after another is placed


@pytest.mark.parametrize("seed", range(1, 5))
def test_people_who_compare_by_degree_are_asked_what_is_uncertain(seed: int) -> None:
    X, _ = clouds(4, seed)
    hidden = X @ np.random.default_rng(seed).standard_normal((6, 3))
    said = simulate(X, ByMetric(hidden, undecided=0.1), n=EARLY, batch=1, random_state=seed)
    assert said.undecided.any()  # so that `prototypes` would go on
    assert by_degree(said)
    before, after = history_of(X, said[: EARLY - 1]), history_of(X, said)
    for history, name in ((before, "prototypes"), (after, "uncertain")):
        history.space = lambda history=history: history.belief().space
        found, expected = (POLICIES[each](history, 5, np.random.default_rng(0)) for each in ("auto", name))
        assert np.array_equal(found, expected)


def test_the_first_odd_one_out_answers_decide() -> None:
    few, many = (Comparisons.odd_one_out([[0, 1, 2]] * 20, [-1] * n + [0] * (20 - n)) for n in (4, 5))
    assert not by_degree(Comparisons.empty())
    assert not by_degree(few[1:])
    assert by_degree(few)
    assert by_degree(few + many)
    assert not by_degree(many)
    assert not by_degree(many + few)
    closer = Comparisons.closer([0] * 20, [1] * 20, [2] * 20)
    assert not by_degree(closer)
    assert not by_degree(closer + many)
    assert by_degree(closer + few)


def test_the_same_seed_asks_the_same() -> None:
    X, y = clouds(3, 0)
    for answer in (ByLabels(y), ByMetric(X[:, :2], undecided=0.1)):
        one, other = (simulate(X, answer, n=40, batch=5, random_state=3) for _ in range(2))
        assert one == other


@pytest.mark.parametrize("n_undecided", [0, 20])
def test_without_features_questions_are_random(n_undecided: int) -> None:
    said = Comparisons.odd_one_out([[0, 1, 2]] * 20, [-1] * n_undecided + [0] * (20 - n_undecided))
    history = History(10, np.zeros(10, dtype=np.intp), lambda: said)
    found, expected = (POLICIES[name](history, 6, np.random.default_rng(0)) for name in ("auto", "random"))
    assert np.array_equal(found, expected)


def test_recorded_questions_are_asked() -> None:
    X, y = clouds(4, 0)
    known = simulate(X, ByLabels(y), policy="random", n=50, random_state=0)
    said = simulate(X, Recorded(known), n=60, batch=10, random_state=0)
    assert sorted(map(tuple, said.item_sets())) == sorted(map(tuple, known.item_sets()))
