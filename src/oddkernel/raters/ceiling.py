"""The noise ceiling: how well people predict people."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..comparisons import Comparisons
from .votes import Votes

# The normal quantile of a two-sided interval of 95%.
_Z = 1.96


@dataclass(frozen=True)
class NoiseCeiling:
    """How often a person's answer is what most others say; a model can hardly be expected to do better.

    Attributes
    ----------
    agreement : float or None
        The estimate; None if no question was put to two people.
    low, high : float
        A 95% interval; 0 and 1 if there is no estimate.
    n_questions, n_answers : int
        What it rests on: questions that two or more people answered, and the answers to them.
    """

    agreement: float | None
    low: float
    high: float
    n_questions: int
    n_answers: int

    def __str__(self) -> str:
        if self.agreement is None:
            return (
                "No question was answered by two people, so nothing is known about how well people agree. "
                "Put some of the questions, a hundred say, to several people."
            )
        return (
            f"People agree with most others in {self.agreement:.1%} of cases ({self.low:.1%} to {self.high:.1%}), "
            f"by {self.n_answers} answers to {self.n_questions} question{'' if self.n_questions == 1 else 's'}."
        )


def noise_ceiling(said: Comparisons) -> NoiseCeiling:
    """Estimate how well people predict people, from questions that several of them answered.

    Each answer is held against what most other people said about the same three items; where several answers tie, it
    counts by its share. The estimate is the mean over questions of the mean over their answers. The interval is over
    questions, as the answers to one aren't independent: the mean of their values, two zeros and two ones, ± 1.96
    standard errors, cut to [0, 1] (the interval of Agresti and Coull, with means in place of outcomes).

    *Can't tell* is an answer like any other. `SKLR.score` leaves it out; the ceiling to hold a score against is that of
    ``said[~said.undecided]``.

    Parameters
    ----------
    said : Comparisons
        Odd-one-out answers; other rows play no part. An answer without a rater counts as one by someone else.

    Returns
    -------
    NoiseCeiling

    Notes
    -----
    A majority of few is itself noisy: with two or three answers to a question the estimate is on the low side.

    Examples
    --------
    >>> from oddkernel import Comparisons
    >>> said = Comparisons.odd_one_out([[0, 1, 2], [2, 1, 0], [1, 0, 2], [3, 4, 5]], [0, 2, 2, 1])
    >>> print(noise_ceiling(said))
    People agree with most others in 33.3% of cases (7.0% to 86.3%), by 3 answers to 1 question.
    """
    votes = Votes.of(said)
    agreed = votes.with_others()
    shared = ~np.isnan(agreed)
    if not shared.any():
        return NoiseCeiling(None, 0.0, 1.0, 0, 0)
    _, question, n_answers = np.unique(votes.question[shared], return_inverse=True, return_counts=True)
    means = np.bincount(question, agreed[shared]) / n_answers
    padded = np.concatenate([means, [0.0, 0.0, 1.0, 1.0]])
    centre, width = padded.mean(), _Z * padded.std() / np.sqrt(len(padded))
    return NoiseCeiling(
        agreement=float(means.mean()),
        low=float(max(centre - width, 0.0)),
        high=float(min(centre + width, 1.0)),
        n_questions=len(means),
        n_answers=int(shared.sum()),
    )
