"""How well probabilities of answers meet the answers: likelihood, Brier score, calibration."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..support.types import Array

BINS = 15


@dataclass(frozen=True)
class Scores:
    """Predicted probabilities beside what people said to questions with three items.

    Attributes
    ----------
    agreement : float
        The share of decided answers (not *can't tell*) that the learned distances agree with.
    log_likelihood : float
        Mean log-probability of an answer; log(1/3) = −1.10 is guessing among three.
    brier : float
        Mean squared distance between the probabilities and what was said: 0 at best, 2 at worst, 2/3 for guessing.
    calibration_error : float
        How far the probability of the likeliest answer is from how often it comes, on average over 15 bins.
    n_answers : int
    """

    agreement: float
    log_likelihood: float
    brier: float
    calibration_error: float
    n_answers: int

    @classmethod
    def of(cls, agreement: float, probabilities: Array, said: Array, weight: Array) -> Scores:
        """Score (m, 4) probabilities against what was said: positions 0 to 2, or 3 for *can't tell*."""
        given = probabilities[np.arange(len(said)), said]
        miss = np.square(probabilities).sum(axis=1) - 2.0 * given + 1.0
        with np.errstate(divide="ignore"):
            likelihood = np.log(given)
        return cls(
            agreement,
            float(np.average(likelihood, weights=weight)),
            float(np.average(miss, weights=weight)),
            calibration_error(probabilities, said, weight),
            len(said),
        )

    def __str__(self) -> str:
        return (
            f"{self.n_answers} answers: {self.agreement:.3f} right, log-likelihood {self.log_likelihood:.3f}, "
            f"Brier score {self.brier:.3f}, calibration error {self.calibration_error:.3f}"
        )


def calibration_error(probabilities: Array, said: Array, weight: Array) -> float:
    """Expected calibration error: |share right − mean probability| of the likeliest answer, averaged over bins."""
    sure = probabilities.max(axis=1)
    right = probabilities.argmax(axis=1) == said
    part = np.minimum((sure * BINS).astype(int), BINS - 1)
    off = np.bincount(part, weight * (right - sure), minlength=BINS)
    return float(np.abs(off).sum() / weight.sum())
