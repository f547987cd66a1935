"""What held-out answers prove: which trials beat the initial kernel, and what the chosen one gains."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..support.types import Array

# Level of the one-sided test against the initial kernel. A convention.
LEVEL = 0.05
# Random signs that the test draws. Chosen by hand: the Monte Carlo error of a level of 5% is then 0.5%.
DRAWS = 2000
# Resamples of the questions that estimate the optimism. Chosen by hand.
RESAMPLES = 500
# A trial must raise the log-likelihood by more than this times the square of the largest statistic by chance. One half
# is Wilks's. By trial on answers given at random about 20 items: with one half, something was learned in 13 of 210
# draws of 60 answers.
CHANCE = 0.6
# Questions up to which each has its own random sign; above, blocks of consecutive questions share one. Chosen by hand.
BLOCKS = 2000
Chooser = Callable[[Array], Array]


def beat(gains: Array, random: np.random.RandomState) -> Array:
    """(k,) bool: which trials predict better than the initial kernel, at a family-wise level of 5%.

    A trial passes if it raises the log-likelihood of all questions together by more than 0.6·M². M is the 95% quantile
    of the largest of k standard normal statistics that are correlated as the trials' gains are; random signs of the
    questions give it (Westfall and Young 1993). So the test accounts for the number of trials and for their
    correlation. ½M² is Wilks's (1938): half the square of a normal statistic is what one fitted number, here the
    temperature of a metric that says nothing, adds to the log-likelihood. That answers take turns in being held out
    makes gains by chance larger, and that learning from chance does harm makes them smaller; 0.6 instead of ½ was found
    by simulation. ``python -m oddkernel_benchmarks.choosing claims`` measures the level that results.

    Parameters
    ----------
    gains : (k, q) array
        By how much each of k trials raises the log-likelihood of each question, times the question's weight; 0 for
        questions that did not judge it.
    """
    if not gains.size:
        return np.zeros(len(gains), dtype=bool)
    per_block = -(-gains.shape[1] // BLOCKS)
    blocks = np.add.reduceat(gains, np.arange(0, gains.shape[1], per_block), axis=1)
    size = np.linalg.norm(blocks, axis=1, keepdims=True)
    signs = 2.0 * random.randint(0, 2, size=(DRAWS, blocks.shape[1])) - 1.0
    largest = (signs @ (blocks / np.where(size > 0, size, 1.0)).T).max(axis=1)
    return np.asarray(gains.sum(axis=1) > CHANCE * np.quantile(largest, 1.0 - LEVEL) ** 2)


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
