"""The numbers that turn learned distances into probabilities of answers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..comparisons import Comparisons
from ..problem import choices
from ..support.types import Array

# With more answers, an evenly spaced part of about this size is used, to save time. Chosen by hand.
ENOUGH_ANSWERS = 10_000
# Logarithms of the largest and the smallest inverse temperature, in units of the median difference of two sides; most
# steps to the best one, and the relative change at which they end. Chosen by hand.
WIDEST, STEPS, PRECISION = 7.0, 40, 1e-4


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


def likeliest(opposite: Array, said: Comparisons) -> Array:
    """(k, m): the log-probability of decided answers by each of k metrics, at the temperature that suits it best.

    Newton's method on the inverse temperature, in which the log-likelihood is concave, for all metrics at once; where a
    step leaves the interval known to hold the maximum, it is halved instead.

    Parameters
    ----------
    opposite : (k, m, 3) array
        Squared distances of the pairs opposite each position, by each metric.
    """
    sides = choices.eligible(opposite, said)
    compared = np.isfinite(sides)
    named = choices.chosen(said)
    # The two pairs beside the one named: how much farther apart, and -inf where a pair isn't compared.
    others = (named[:, None] + np.array([1, 2])) % 3
    rows = np.arange(len(said))[:, None]
    apart = np.where(compared, sides, 0.0)[:, rows, others] - sides[:, rows, named[:, None]]
    counts = np.where(compared[:, rows, others], 0.0, -np.inf)
    unit = np.median(np.abs(apart).reshape(len(apart), -1), axis=1)
    unit = np.where(unit > 0, unit, 1.0)
    low, high = np.exp(-WIDEST) / unit, np.exp(WIDEST) / unit
    inverse = np.sqrt(low * high)
    for _ in range(STEPS):
        strength = counts - inverse[:, None, None] * apart
        top = np.maximum(strength.max(axis=2), 0.0)
        others_p = np.exp(strength - top[:, :, None])
        whole = np.exp(-top) + others_p.sum(axis=2)
        p = others_p / whole[:, :, None]
        mean = (p * apart).sum(axis=2)
        slope = mean @ said.weight
        bend = ((p * np.square(apart)).sum(axis=2) - np.square(mean)) @ said.weight
        low, high = np.where(slope > 0, inverse, low), np.where(slope > 0, high, inverse)
        step = inverse + slope / np.where(bend > 0, bend, 1.0)
        inside = (bend > 0) & (step > low) & (step < high)
        after = np.where(inside, step, np.sqrt(low * high))
        if np.abs(np.log(after / inverse)).max(initial=0.0) < PRECISION:
            break
        inverse = after
    return np.asarray(-np.log(whole) - top)
