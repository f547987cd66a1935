"""The likelihood of answers by loadings: its gradient, every kind of answer, a dimension left out."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

from oddkernel import Comparisons
from oddkernel.dimensions.likelihood import Choice, losses_without, similarities
from oddkernel.problem import choices

SAID = (
    Comparisons.odd_one_out([[0, 1, 2], [3, 4, 0], [1, 3, 2], [4, 0, 2]], [2, 0, -1, 1], weight=[1.0, 2.0, 0.5, 3.0])
    + Comparisons.closer([0, 3], [1, 2], [4, 1])
    + Comparisons.most_central([2], [[0, 4]])
    + Comparisons.must_link([[0, 1]])
)
Z = np.random.default_rng(0).random((5, 3))


@pytest.mark.parametrize("tie", [0.0, 0.7])
def test_the_gradient_is_that_of_the_cost(tie: float) -> None:
    choice = Choice.of(SAID, tie)

    def cost(flat: np.ndarray) -> float:
        return choice.cost(flat.reshape(Z.shape))[0]

    slope = optimize.approx_fprime(Z.ravel(), cost, 1e-6).reshape(Z.shape)
    np.testing.assert_allclose(choice.cost(Z)[1], slope, atol=1e-4)


def test_links_are_left_out_and_cant_tell_needs_a_strength() -> None:
    assert len(Choice.of(SAID, 0.0)) == 6
    assert len(Choice.of(SAID, 1.0)) == 7


def test_decided_answers_have_the_probability_that_choices_gives_them() -> None:
    known = SAID[SAID.decided]
    choice = Choice.of(known, 0.0)
    expected = choices.log_likelihood(-similarities(Z, known.shown), known, 1.0)
    found = choice.log_likelihood(similarities(Z, known.shown))
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(choice.cost(Z)[0], -known.weight @ expected, rtol=1e-6)


def test_cant_tell_has_the_probability_that_choices_gives_it() -> None:
    asked = SAID[:4]
    proba = choices.probabilities(-similarities(Z, asked.shown), 1.0, 0.7)
    expected = np.log(proba[np.arange(4), np.where(asked.undecided, 3, asked.odd)])
    choice = Choice.of(asked, 0.7)
    np.testing.assert_allclose(choice.log_likelihood(similarities(Z, asked.shown)), expected)


def test_a_dimension_left_out_is_a_column_less() -> None:
    choice = Choice.of(SAID, 0.7)
    whole = choice.log_likelihood(similarities(Z, choice.shown))
    for k, lost in enumerate(losses_without(Z, choice).T):
        rest = choice.log_likelihood(similarities(np.delete(Z, k, axis=1), choice.shown))
        np.testing.assert_allclose(lost, whole - rest, atol=1e-12)


def test_equally_close_answers_are_no_choice_of_three() -> None:
    said = SAID + Comparisons.anchor([[0, 1, 2]], [-1])
    assert Choice.of(said, 0.7).cost(Z)[0] == Choice.of(SAID, 0.7).cost(Z)[0]
