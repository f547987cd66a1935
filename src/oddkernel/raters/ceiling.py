"""The noise ceiling: how well people predict each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..comparisons import Comparisons
from .votes import Votes

# Derived: the normal quantile of a two-sided 95% interval.
_Z = 1.96


@dataclass(frozen=True)
class NoiseCeiling:
    """How often a person's answer is the majority answer of the others; a model can hardly be expected to do better.

    Attributes
    ----------
    agreement : float or None
        The estimate; None if no question was answered by two people.
    low, high : float
        A 95% interval; 0 and 1 if there is no estimate.
    n_questions, n_answers : int
        Number of questions that two or more people answered, and of the answers to them.
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
    """Estimate how well people predict each other, from questions that several of them answered.

    Each answer is compared with the majority answer of other people to the same three items; where k answers tie for
    the majority, it counts 1/k. The estimate is the mean over questions of the mean over their answers. The 95%
    interval is over questions, because answers to the same question aren't independent. It is the interval of Agresti
    and Coull with means in place of outcomes: two zeros and two ones are added to the questions' means, and the
    interval is their mean ± 1.96 standard errors, clipped to [0, 1].

    *Can't tell* is an answer like any other. `SKLR.score` leaves it out, so compare a score with the ceiling of
    ``said[~said.undecided]``.

    Parameters
    ----------
    said : Comparisons
        Odd-one-out answers; others are ignored. Each answer without a rater counts as given by a different person.

    Returns
    -------
    NoiseCeiling

    Notes
    -----
    A majority of few people is itself noisy: with two or three answers to a question the estimate is biased downwards.

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
