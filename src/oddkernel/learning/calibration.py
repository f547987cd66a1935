"""The numbers that turn learned distances into probabilities of answers."""

from __future__ import annotations

from typing import NamedTuple

from ..comparisons import Comparisons
from ..problem import choices
from ..support.types import Array

# With more answers, an evenly spaced part of about this size is used: it determines a temperature as well.
ENOUGH_ANSWERS = 10_000


class Calibration(NamedTuple):
    """Temperature, strength of *can't tell* and share of guesses, as in `problem.choices.probabilities`."""

    temperature: float
    tie: float = 0.0
    guess: float = 0.0

    @classmethod
    def to_answers(cls, coordinates: Array, said: Comparisons, unit: float) -> Calibration:
        """Fitted to answers about rows of ``coordinates``; without decided ones the temperature is ``unit``."""
        answers = said[~said.links]
        answers = answers[:: 1 + len(answers) // ENOUGH_ANSWERS]
        known = choices.decided(answers)
        if not known.any():
            return cls(unit)
        opposite = choices.sides(coordinates, answers.shown)
        temperature = choices.fit_temperature(opposite[known], answers[known])
        return cls(temperature, choices.fit_tie(opposite, answers, temperature))
