"""Reliabilities of raters, and answers weighted by them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from ..comparisons import Comparisons
from ..comparisons.columns import check_length
from ..support.checks import refuse
from ..support.types import Array, Indices
from .votes import CANT_TELL, Votes

# The prior, 2 log ρ in the objective: as if 2 further answers were known to be meant. Chosen by hand.
_PRIOR_MEANT = 2.0
# Derived: 40 bisections of [0, 1] leave an error of 1e-12.
_BISECTIONS = 40
# The alternation ends when no reliability changes by more than _SETTLED, or after _MAX_ROUNDS. Chosen by hand: weights
# need no more digits.
_MAX_ROUNDS = 100
_SETTLED = 1e-4
# Tolerance for the sum of given probabilities, which may be rounded. Chosen by hand.
_ROUNDING = 1e-4


def reliability(said: Comparisons, probability: ArrayLike | None = None) -> dict[str, float]:
    """Estimate the share of each rater's answers that is meant rather than guessed.

    A rater of reliability ρ answers as predicted with probability ρ and guesses otherwise: an answer that is predicted
    with probability p has probability ``ρp + (1 − ρ)g``, where g is 1 divided by the number of possible answers. The
    estimate maximises ``Σ log(ρp + (1 − ρ)g) + 2 log ρ`` over the rater's answers. The second term is a prior: without
    evidence a rater counts as reliable, and a single answer changes little.

    The predictions are those of a model or, without one, of other people. Then p is the share of this answer among the
    other people's answers to the same question, each weighted by its rater's reliability, with one guess added.
    Reliabilities and predictions are updated in turn until they converge. A rater whose questions nobody else answered
    has reliability 1.

    Parameters
    ----------
    said : Comparisons
        Odd-one-out answers with raters; other kinds are ignored.
    probability : array-like of shape (m, 3) or (m, 4), optional
        A model's probability that each place of each answer is called odd, ideally from a model that didn't learn from
        that answer. *Can't tell*, the fourth column, is then ignored. Without a model it is an answer like any other.

    Returns
    -------
    dict of str to float
        A number in (0, 1] for each rater, which `weigh` turns into weights.

    Examples
    --------
    Three people answer the same thirty questions, and one of them always picks the first place:

    >>> import numpy as np
    >>> from oddkernel import Comparisons
    >>> shown, odd = np.arange(90).reshape(30, 3), np.arange(30) % 3
    >>> said = Comparisons.empty()
    >>> for name, answers in {"ann": odd, "bob": odd, "cat": 0 * odd}.items():
    ...     said += Comparisons.odd_one_out(shown, answers, rater=name)
    >>> {name: round(value, 1) for name, value in reliability(said).items()}
    {'ann': 1.0, 'bob': 1.0, 'cat': 0.2}
    """
    votes = Votes.of(said)
    votes.check_raters()
    meant = _against_people(votes) if probability is None else _against_model(votes, said, probability)
    return dict(zip(votes.raters, meant.tolist(), strict=True))


def weigh(said: Comparisons, reliability: Mapping[str, float]) -> Comparisons:
    """The same answers, each weight multiplied by its rater's reliability, or by 1 for a rater who isn't listed.

    Examples
    --------
    >>> from oddkernel import Comparisons
    >>> said = Comparisons.odd_one_out([[0, 1, 2], [3, 4, 5]], [0, 1], rater=["ann", "cat"])
    >>> weigh(said, {"ann": 1.0, "cat": 0.25}).weight
    array([1.  , 0.25])
    """
    if said.rater is None:
        return said
    return said.with_weight(said.weight * [reliability.get(rater, 1.0) for rater in said.rater.tolist()])


def _against_model(votes: Votes, said: Comparisons, probability: ArrayLike) -> Array:
    table = np.asarray(probability, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] not in (3, 4):
        raise ValueError(f"probability has shape {table.shape}; expected (m, 3), or (m, 4) with can't tell")
    check_length(table, len(said), "probability")
    used = votes.named & (votes.answer != CANT_TELL)
    row = votes.row[used]
    named = table[row, :3].sum(axis=1)
    usable = np.ones(len(said), dtype=bool)
    usable[row] = (table[row] >= 0).all(axis=1) & (np.abs(table[row].sum(axis=1) - 1) < _ROUNDING) & (named > 0)
    refuse(~usable, lambda at: f"probability {table[at].tolist()}; expected numbers that aren't negative and sum to 1")
    predicted = table[row, said.odd[row]] / named
    return _share_meant(predicted, 1 / 3, votes.person[used], len(votes.raters))


def _against_people(votes: Votes) -> Array:
    n_raters = len(votes.raters)
    guess = 1 / (4 if (votes.answer == CANT_TELL).any() else 3)
    answer = np.arange(len(votes)), votes.answer
    counts_for = np.ones(n_raters + len(votes))
    for _ in range(_MAX_ROUNDS):
        others = votes.by_others(counts_for[votes.person])
        predicted = (others[answer] + guess) / (others.sum(axis=1) + 1.0)
        meant = _share_meant(predicted[votes.named], guess, votes.person[votes.named], n_raters)
        change = np.abs(meant - counts_for[:n_raters]).max()
        # Half a step damps oscillation: two raters who contradict each other would otherwise alternate between 0 and 1.
        counts_for[:n_raters] = (counts_for[:n_raters] + meant) / 2
        if change < _SETTLED:
            break
    return meant


def _share_meant(predicted: Array, guess: float, rater: Indices, n_raters: int) -> Array:
    """ρ of each rater, by bisection for the zero of the slope of the concave objective."""
    gain = predicted - guess
    low, high = np.zeros(n_raters), np.ones(n_raters)
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        slope = _PRIOR_MEANT / middle + np.bincount(rater, gain / (guess + middle[rater] * gain), n_raters)
        low, high = np.where(slope > 0, middle, low), np.where(slope > 0, high, middle)
    return high
