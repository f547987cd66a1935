"""What fit is given becomes answers about items 0 … s−1."""

from __future__ import annotations

import numpy as np
import pytest

from oddkernel import SKLR, Comparisons
from oddkernel.learning.answers import places_among, renumbered, with_bounds

SAID = (
    Comparisons.odd_one_out([[12, 40, 7], [3, 9, 55]], [2, -1], weight=[1.0, 2.0])
    + Comparisons.must_link([[40, 3]])
    + Comparisons.cannot_link([[9, 12]], at_least=2.0)
)


def test_renumbered_answers_say_the_same_about_the_items_by_place() -> None:
    items, said = renumbered(SAID)
    assert items.tolist() == [3, 7, 9, 12, 40, 55]
    assert said.constrained.tolist() == list(range(6))
    back = np.append(items, -1)[said.shown]  # the third place of a link is −1
    assert Comparisons(said.kind, back, said.odd, said.bound, said.weight) == SAID


def test_nothing_said_is_about_nothing() -> None:
    items, said = renumbered(Comparisons.empty())
    assert len(items) == len(said) == 0


def test_places_of_numbers_that_are_not_there() -> None:
    assert places_among(np.array([2, 5]), np.array([[5, 7], [0, 2]])).tolist() == [[1, -1], [-1, 0]]
    assert places_among(np.array([], dtype=int), np.array([3])).tolist() == [-1]


def test_links_without_a_bound_get_one() -> None:
    bound = with_bounds(SAID, 0.1, 9.0).bound
    assert np.isnan(bound[:2]).all()
    assert bound[2:].tolist() == [0.1, 2.0]


def test_the_record_of_a_fit_holds_the_bounds_that_were_used() -> None:
    X = np.random.default_rng(0).normal(size=(60, 3))
    fit = SKLR("linear", rank=None, penalty=1.0).fit(X, SAID).fit_
    delta = SKLR("linear", rank=None).fit(X).distance(X)[np.triu_indices(60, 1)] ** 2
    assert fit.said.shown.tolist() == renumbered(SAID)[1].shown.tolist()
    assert fit.said.bound[2:].tolist() == pytest.approx([np.percentile(delta, 5), 2.0])
