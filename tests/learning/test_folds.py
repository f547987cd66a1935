"""How answers are put into folds."""

from __future__ import annotations

import numpy as np
import pytest

from oddkernel import Comparisons
from oddkernel.learning import folds
from oddkernel.learning.folds import folds_of, without


def random_state() -> np.random.RandomState:
    return np.random.RandomState(0)


def test_folds_keep_a_triple_together_and_never_hold_out_links() -> None:
    rng = np.random.default_rng(0)
    said = Comparisons.odd_one_out([rng.permutation(5)[:3] for _ in range(200)], rng.integers(-1, 3, 200))
    said = said + Comparisons.must_link([[0, 1]])
    found = list(folds_of(said, 4, random_state()))
    held = np.concatenate(found)
    assert sorted(held) == list(range(200))
    triples = [{tuple(row) for row in said.item_sets()[rows]} for rows in found]
    assert not any(a & b for i, a in enumerate(triples) for b in triples[:i])


def test_few_items_are_held_out_in_turn_however_many_the_answers() -> None:
    rng = np.random.default_rng(0)
    few, many = (
        Comparisons.odd_one_out([rng.permutation(n)[:3] for _ in range(5_000)], rng.integers(0, 3, 5_000))
        for n in (50, 300)
    )
    assert len(list(folds_of(few, None, random_state()))) == 3
    assert len(list(folds_of(many, None, random_state()))) == 1


def test_the_others_are_what_is_not_held_out() -> None:
    said = Comparisons.odd_one_out([[0, 1, 2], [1, 2, 3], [2, 3, 4]], [0, 1, 2])
    assert without(said, np.array([1])) == said[[0, 2]]


def test_of_very_many_answers_no_more_than_a_standard_error_needs_are_held_out(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    shown = np.argsort(rng.random((25_000, 300)), axis=1)[:, :3]
    said = Comparisons.odd_one_out(shown, rng.integers(0, 3, len(shown)))
    (tenth,) = folds_of(said, None, random_state())
    assert len(tenth) == pytest.approx(2_500, rel=0.01)
    monkeypatch.setattr(folds, "MOST", 1_000)
    (held,) = folds_of(said, None, random_state())
    assert len(held) == pytest.approx(1_000, rel=0.01)


def test_folds_keep_the_rows_of_a_grid_together() -> None:
    rng = np.random.default_rng(0)
    grids = [rng.permutation(30)[:9] for _ in range(40)]
    said = Comparisons.grid([each[0] for each in grids], [each[1:] for each in grids], [[0, 1]] * 40)
    said = said + Comparisons.odd_one_out([[0, 1, 2]], [1])
    assert said.part_of is not None
    found = list(folds_of(said, 5, random_state()))
    assert sorted(np.concatenate(found)) == list(range(40 * 12 + 1))
    answers = [set(said.part_of[rows].tolist()) for rows in found]
    assert not any(a & b for i, a in enumerate(answers) for b in answers[:i])
    assert sorted(map(len, answers)) == [8, 8, 8, 8, 9]


def test_decided_answers_are_spread_evenly_over_the_folds() -> None:
    shown = np.stack([np.zeros(300, int), *np.divmod(np.arange(300), 20) + np.array([[1], [21]])], axis=1)
    said = Comparisons.odd_one_out(shown, np.where(np.arange(300) < 20, 0, -1))
    found = list(folds_of(said, 5, random_state()))
    assert [int(said.decided[rows].sum()) for rows in found] == [4] * 5
    assert {len(rows) for rows in found} == {60}
