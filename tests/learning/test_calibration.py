"""Distances become probabilities by numbers fitted to answers."""

from __future__ import annotations

import numpy as np
import pytest

from oddkernel import Comparisons
from oddkernel.learning import calibration
from oddkernel.learning.calibration import Calibration
from oddkernel.problem import choices

PLACES = np.random.default_rng(0).normal(size=(30, 2))
SHOWN = np.array([np.random.default_rng(seed).permutation(30)[:3] for seed in range(4000)])


def answers(temperature: float, tie: float) -> Comparisons:
    """Answers drawn with the probabilities of a calibration, with *can't tell* as the fourth."""
    proba = choices.probabilities(choices.sides(PLACES, SHOWN), temperature, tie)
    drawn = (np.random.default_rng(1).random((len(SHOWN), 1)) > proba.cumsum(axis=1)).sum(axis=1)
    return Comparisons.odd_one_out(SHOWN, np.where(drawn == 3, -1, drawn))


def test_the_numbers_that_answers_were_drawn_with_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    said = answers(1.5, 0.4)
    found = Calibration.to_answers(PLACES, said, 1.0)
    assert found.temperature == pytest.approx(1.5, rel=0.1)
    assert found.tie == pytest.approx(0.4, rel=0.1)
    assert found.guess == 0
    monkeypatch.setattr(calibration, "ENOUGH_ANSWERS", 2000)
    assert Calibration.to_answers(PLACES, said, 1.0) == Calibration.to_answers(PLACES, said[::3], 1.0)


def test_without_decided_answers_the_temperature_is_the_unit() -> None:
    undecided = Comparisons.odd_one_out(SHOWN[:5], np.full(5, -1)) + Comparisons.must_link([[0, 1]])
    assert Calibration.to_answers(PLACES, undecided, 7.0) == Calibration(7.0, 0.0, 0.0)
