"""From three distances to a choice and its probability."""

from __future__ import annotations

import numpy as np
import pytest

from oddkernel import Comparisons
from oddkernel.problem import choices

Z = np.array([[0.0], [1.0], [5.0]])
SHOWN = np.array([[0, 1, 2], [2, 0, 1]])


def test_the_odd_one_is_opposite_the_closest_pair() -> None:
    opposite = choices.sides(Z, SHOWN)
    assert opposite.tolist() == [[16.0, 25.0, 1.0], [1.0, 16.0, 25.0]]
    assert choices.agreement(opposite, Comparisons.odd_one_out(SHOWN, [2, 1])).tolist() == [1.0, 0.0]


def test_ties_count_by_their_share() -> None:
    said = Comparisons.odd_one_out([[0, 1, 2]], [0])
    assert choices.agreement(np.array([[1.0, 1.0, 2.0]]), said).tolist() == [0.5]
    assert choices.agreement(np.array([[1.0, 1.0, 1.0]]), said).tolist() == [1 / 3]


def test_closer_compares_two_pairs_only() -> None:
    # δ(1, 2), opposite the anchor, is the smallest of all and plays no part
    said = Comparisons.closer([0], [1], [2])
    assert choices.agreement(np.array([[0.1, 3.0, 2.0]]), said).tolist() == [1.0]
    assert choices.log_likelihood(np.array([[0.1, 2.0, 2.0]]), said, 1.0) == pytest.approx([np.log(0.5)])


def test_the_most_central_one_is_opposite_the_longest_side() -> None:
    said = Comparisons.most_central([0], [[1, 2]])
    assert choices.agreement(np.array([[3.0, 1.0, 2.0], [2.0, 1.0, 3.0]]), said[[0, 0]]).tolist() == [1.0, 0.0]
    assert choices.agreement(np.array([[2.0, 1.0, 2.0]]), said).tolist() == [0.5]
    strength = np.exp([3.0, 1.0, 2.0])
    likely = choices.log_likelihood(np.array([[6.0, 2.0, 4.0]]), said, 2.0)
    assert likely == pytest.approx([np.log(strength[0] / strength.sum())])


def test_probabilities_sum_to_one_and_prefer_the_closest_pair() -> None:
    p = choices.probabilities(choices.sides(Z, SHOWN), 4.0, tie=0.5)
    assert p.sum(axis=1) == pytest.approx(1.0)
    assert p[:, :3].argmax(axis=1).tolist() == [2, 0]
    assert (choices.probabilities(choices.sides(Z, SHOWN), 4.0)[:, 3] == 0).all()


def test_cant_tell_is_likeliest_where_all_are_equally_far() -> None:
    p = choices.probabilities(np.array([[1.0, 1.0, 1.0], [0.1, 1.0, 1.0]]), 0.3, tie=1.0)
    assert p[0, 3] == pytest.approx(0.25)
    assert p[1, 3] < p[0, 3]


@pytest.mark.slow
def test_temperature_and_tie_are_recovered() -> None:
    rng = np.random.default_rng(0)
    opposite = rng.exponential(size=(40_000, 3))
    p = choices.probabilities(opposite, 0.7, tie=0.4)
    answer = (rng.random(len(p))[:, None] > p.cumsum(axis=1)).sum(axis=1)
    said = Comparisons.odd_one_out(np.tile([0, 1, 2], (len(p), 1)), np.where(answer == 3, -1, answer))
    known = choices.decided(said)
    temperature = choices.fit_temperature(opposite[known], said[known])
    assert temperature == pytest.approx(0.7, rel=0.05)
    assert choices.fit_tie(opposite, said, temperature) == pytest.approx(0.4, rel=0.1)
    assert choices.fit_tie(opposite[known], said[known], temperature) == 0.0
    assert choices.fit_guess(opposite[known], said[known])[1] == pytest.approx(0.0, abs=0.01)


@pytest.mark.slow
def test_guesses_are_found_out() -> None:
    rng = np.random.default_rng(0)
    opposite = rng.exponential(size=(40_000, 3))
    p = choices.probabilities(opposite, 0.3, guess=0.25)
    assert p.sum(axis=1) == pytest.approx(1.0)
    assert p[:, :3].min() > 0.08
    answer = (rng.random(len(p))[:, None] > p.cumsum(axis=1)).sum(axis=1)
    said = Comparisons.odd_one_out(np.tile([0, 1, 2], (len(p), 1)), answer)
    temperature, guess = choices.fit_guess(opposite, said)
    assert guess == pytest.approx(0.25, abs=0.02)
    assert temperature == pytest.approx(0.3, rel=0.1)
    likelihood = choices.log_likelihood(opposite, said, 0.3, 0.25)
    assert np.exp(likelihood) == pytest.approx(p[np.arange(len(p)), answer])


def test_sides_by_dimension_are_those_of_the_leading_coordinates() -> None:
    rng = np.random.default_rng(0)
    z = rng.normal(size=(30, 7))
    for answers in (10, 200):  # by differences, and by inner products
        shown = np.array([rng.permutation(30)[:3] for _ in range(answers)])
        found = choices.sides_by_dimension(z, shown, [1, 3, 7])
        for k, d in enumerate((1, 3, 7)):
            apart = z[shown][:, [1, 2, 0], :d] - z[shown][:, [2, 0, 1], :d]
            np.testing.assert_allclose(found[k], np.square(apart).sum(axis=2), rtol=1e-12)


def test_equally_close_answers_say_nothing_about_the_tie_of_three() -> None:
    anchors = Comparisons.anchor([[0, 1, 2], [1, 2, 0], [2, 0, 1]], [1, -1, 2])
    sides = np.array([[1.0, 5.0, 9.0]] * 3)
    assert choices.fit_tie(sides, anchors, 1.0) == 0.0
    decided = Comparisons.odd_one_out([[0, 1, 2]], [2])
    assert choices.fit_tie(np.vstack([sides, sides[:1]]), anchors + decided, 1.0) == 0.0
