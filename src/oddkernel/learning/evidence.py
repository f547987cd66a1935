"""What held-out answers prove: whether there is something to learn, and what the chosen trial gains."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import special

from ..comparisons import Comparisons, kinds
from ..problem import choices
from ..support.types import Array

# Level of the test of trials where it decides alone. A convention.
LEVEL = 0.05
# Where there are two tests, the level at which either suffices, and the levels of the test of trials and of the score
# test at which they suffice together. By trial on answers about 18 data sets of the KEEL repository and of R's MASS,
# 40% of them wrong, and on 320 draws of random answers: with a level of 5% for the first and 1% for the second,
# something was learned in 42% and 3.4% of draws, with these in 46% and 4.1%, and three quarters of the clusters' gain
# in Adjusted Rand index that the second rule gave up were regained.
ALONE, TOGETHER = 0.01, (1 / 3, 0.2)
# Most pairs with which the score test is applied: it then takes 257 MB. Chosen by hand.
MOST_PAIRS = 4000
# Random signs that the test draws. Chosen by hand: the Monte Carlo error of a level of 5% is then 0.5%.
DRAWS = 2000
# Resamples of the questions that estimate the optimism. Chosen by hand.
RESAMPLES = 500
# A trial must raise the log-likelihood by more than this times the square of the largest statistic by chance. One half
# is Wilks's, which holds for many questions; FEWER divided by their number is added. By trial on random answers, 60 to
# 400 about 20 to 700 items: with a constant 0.6 trials passed in 8% of draws of 60 answers and in 4% of all, with these
# in 4% and 3%.
CHANCE, FEWER = 0.5, 20.0
# Questions up to which each has its own random sign; above, blocks of consecutive questions share one. Chosen by hand.
BLOCKS = 2000
Chooser = Callable[[Array], Array]


def gain_p_values(gains: Array, random: np.random.RandomState) -> Array:
    """(k,): p-values of trials that predict better than the initial kernel, adjusted for all that were tried.

    At a level of 5% a trial passes if it raises the log-likelihood of all q questions together by more than
    (½ + 20/q)·M². M is the 95% quantile of the largest of k standard normal statistics that are correlated as the
    trials' gains are; random signs of the questions give it (Westfall and Young 1993). So the test accounts for the
    number of trials and for their correlation. ½M² is Wilks's (1938): half the square of a normal statistic is what
    one fitted number, here the temperature of a metric that says nothing, adds to the log-likelihood. That answers take
    turns in being held out makes gains by chance larger, and that learning from chance does harm makes them smaller;
    20/q was found by simulation. ``python -m oddkernel_benchmarks.choosing claims`` measures the level that results.

    Parameters
    ----------
    gains : (k, q) array
        By how much each of k trials raises the log-likelihood of each question, times the question's weight; 0 for
        questions that did not judge it.
    """
    if not gains.size:
        return np.ones(len(gains))
    per_block = -(-gains.shape[1] // BLOCKS)
    blocks = np.add.reduceat(gains, np.arange(0, gains.shape[1], per_block), axis=1)
    size = np.linalg.norm(blocks, axis=1, keepdims=True)
    signs = 2.0 * random.randint(0, 2, size=(DRAWS, blocks.shape[1])) - 1.0
    largest = (signs @ (blocks / np.where(size > 0, size, 1.0)).T).max(axis=1)
    by_chance = np.sort((CHANCE + FEWER / gains.shape[1]) * np.square(np.maximum(largest, 0.0)))
    as_large = DRAWS - np.searchsorted(by_chance, gains.sum(axis=1))
    return np.asarray((1 + as_large) / (1 + DRAWS))


def score_p_value(phi: Array, said: Comparisons, question: Array, random: np.random.RandomState) -> float | None:
    """The p-value of a score test: do answers contradict the initial kernel's probabilities of them?

    A trial must learn a metric from a part of the answers and predict the others. The score test needs neither: it asks
    whether the likelihood of all answers rises, wherever the metric moves from the identity. The gradient by the metric
    is a sum of one matrix for each question; the statistic is its squared norm without the squared norms of the
    summands. This is the locally most powerful test against small changes of the metric in random directions (Goeman,
    van de Geer and van Houwelingen 2006). Its distribution by chance comes from random signs of the questions.

    None for answers that compare more than 4,000 pairs, where trials on held-out answers are enough.

    Parameters
    ----------
    phi : (s, r) array
        Features of the items under the initial kernel.
    said : Comparisons
        Decided answers about rows of ``phi``.
    question : (m,) int array
        The question of each answer.
    """
    if not len(said):
        return 1.0
    opposite = choices.sides(phi, said.shown)
    temperature = choices.fit_temperature(opposite, said)
    slope = -special.softmax(-choices.eligible(opposite, said) / temperature, axis=1)
    slope[np.arange(len(said)), choices.chosen(said)] += 1.0
    slope *= (said.weight * np.where(kinds.farthest(said.kind), -1.0, 1.0))[:, None]
    ends = np.stack([np.delete(said.shown, position, axis=1) for position in range(3)], axis=1)
    compared = slope != 0.0
    about = np.repeat(question[:, None], 3, axis=1)[compared]
    # Many answers to a question compare the same pairs.
    pairs, place = np.unique(np.column_stack([about, np.sort(ends[compared], axis=1)]), axis=0, return_inverse=True)
    if len(pairs) > MOST_PAIRS:
        return None
    unlike = phi[pairs[:, 1]] - phi[pairs[:, 2]]
    unlike = unlike / (np.linalg.norm(unlike) or 1.0)
    weight = np.bincount(place.ravel(), slope[compared])
    products = np.square(unlike @ unlike.T) * weight[:, None] * weight
    starts = np.flatnonzero(np.diff(pairs[:, 0], prepend=-1))
    products = np.add.reduceat(np.add.reduceat(products, starts, axis=0), starts, axis=1)
    np.fill_diagonal(products, 0.0)
    signs = 2.0 * random.randint(0, 2, size=(DRAWS, len(products))) - 1.0
    chance = np.einsum("bq,bq->b", signs @ products, signs)
    # Sums of the same numbers in another order differ by rounding.
    as_large = np.count_nonzero(chance >= products.sum() - 1e-9 * np.abs(products).sum())
    return float((1 + as_large) / (1 + DRAWS))


def suffices(gain: float, score: float | None) -> bool:
    """Whether the least p-value of a trial, and that of the score test if there is one, show that there is to learn.

    Either must be at most 1%, or that of the trial at most 1/3 and that of the score test at most 1/5. Without a score
    test, the trial's must be at most 5%. By simulation the level of the rule is about 5%, as adjusted
    p-values of trials are larger than chance would have them (``python -m oddkernel_benchmarks.choosing claims``).

    Examples
    --------
    >>> suffices(0.03, None), suffices(0.03, 0.5), suffices(0.03, 0.1), suffices(0.5, 0.01)
    (True, False, True, True)
    """
    if score is None:
        return gain <= LEVEL
    return min(gain, score) <= ALONE or (gain <= TOGETHER[0] and score <= TOGETHER[1])


def optimism(
    likelihood: Array, agreement: Array, weight: Array, choose: Chooser, winner: int, random: np.random.RandomState
) -> float:
    """By how much the gain of the chosen trial is overestimated, because the same answers chose it.

    Efron's (1983) bootstrap of the optimism: resampled questions choose a trial, and its gain on them is compared with
    its gain on all questions. The same difference for the winner, whose expectation is 0, is subtracted to reduce the
    Monte Carlo error.

    Parameters
    ----------
    likelihood, agreement : (k, q) arrays
        Log-likelihood of each question by each of k trials, and its agreement minus that of the initial kernel; both
        times the question's weight.
    weight : (q,) array
        Weights of the questions.
    choose : callable
        Given the (b, k) mean log-likelihoods in each resample, the place of the trial that each chooses.
    winner : int
        The place of the trial that all questions choose.
    """
    starts = np.arange(0, len(weight), -(-len(weight) // BLOCKS))
    likelihood, agreement = (np.add.reduceat(each, starts, axis=1) for each in (likelihood, agreement))
    weight = np.add.reduceat(weight, starts)
    drawn = random.multinomial(len(weight), np.full(len(weight), 1.0 / len(weight)), size=RESAMPLES)
    total = drawn @ weight
    seen = choose(drawn @ likelihood.T / total[:, None])
    excess = drawn @ agreement.T / total[:, None] - agreement.sum(axis=1) / weight.sum()
    return float((excess[np.arange(len(drawn)), seen] - excess[:, winner]).mean())
