"""From three distances to a choice: the odd one is the item outside the closest pair."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy import optimize, special

from ..comparisons import Comparisons, Kind, kinds
from ..support.types import Array
from .arrays import namespace, to_numpy
from .distances import of_pairs


def sides(coordinates: Array, shown: Array) -> Array:
    """(m, 3): the squared distance of the pair opposite each position, for answers about three items."""
    return np.asarray(sides_by_dimension(coordinates, shown, [coordinates.shape[1]])[0])


def sides_by_dimension(coordinates: Array, shown: Array, dimensions: Sequence[int]) -> Array:
    """(k, m, 3): as `sides`, from the leading dimensions alone, for k ascending numbers of dimensions.

    The coordinates may be on another device, where ``shown`` is, too.
    """
    xp = namespace(coordinates)
    shown = xp.where(shown < 0, 0, shown)  # links have no third item, which is -1
    ends = [(shown[:, (p + 1) % 3], shown[:, (p + 2) % 3]) for p in range(3)]
    first = xp.concat([xp.minimum(*pair) for pair in ends])
    second = xp.concat([xp.maximum(*pair) for pair in ends])
    opposite = np.empty((len(dimensions), len(shown), 3))
    for k, (low, high) in enumerate(pairwise([0, *dimensions])):
        opposite[k] = to_numpy(of_pairs(coordinates[:, low:high], first, second)).reshape(3, -1).T
    return np.cumsum(opposite, axis=0, out=opposite)


def decided(said: Comparisons) -> Array:
    """(m,) bool: answers that name one of the items; not *can't tell*, not links."""
    return said.decided


def chosen(said: Comparisons) -> Array:
    """(m,): the position that a decided answer names: opposite the closest pair, or for most-central the farthest."""
    return kinds.singled_out(said.kind, said.odd)


def eligible(opposite: Array, said: Comparisons) -> Array:
    """``opposite`` transformed such that the smallest value of each answer is the one named.

    Pairs that a *closer* answer doesn't compare become inf. The most central item is opposite the largest distance, so
    that most-central answers change sign.
    """
    sign = np.where(kinds.farthest(said.kind), -1.0, 1.0)
    return np.where(kinds.compared(said.kind), sign[:, None] * opposite, np.inf)


def agreement(opposite: Array, said: Comparisons) -> Array:
    """(m,): 1 where the distances name the same item as the answer, 0 where not, 1/k in a tie of k."""
    opposite = eligible(opposite, said)
    named = opposite == opposite.min(axis=1, keepdims=True)
    return np.asarray(named[np.arange(len(said)), chosen(said)] / named.sum(axis=1))


def chance(said: Comparisons) -> float:
    """The mean agreement of guesses with decided answers: a third about three items, a half for *closer*; weighted.

    Examples
    --------
    >>> chance(Comparisons.closer([0], [1], [2]))
    0.5
    """
    return float(np.average(1.0 / kinds.compared(said.kind).sum(axis=1), weights=said.weight))


def probabilities(opposite: Array, temperature: float, tie: float = 0.0, guess: float = 0.0) -> Array:
    """(m, 4): the probability that each of the three is called odd, and that of *can't tell*.

    A pair is called the closest with probability proportional to exp(−δ/temperature). *Can't tell* has ``tie`` times
    the geometric mean of these three values (Davidson 1970), and is thus most likely for equal distances. Of the
    decided answers, the share ``guess`` is uniform.
    """
    strength = -opposite / temperature
    undecided = np.full(len(opposite), -np.inf) if tie == 0 else np.log(tie) + strength.mean(axis=1)
    proba = np.asarray(special.softmax(np.column_stack([strength, undecided]), axis=1))
    proba[:, :3] += guess * (proba[:, :3].mean(axis=1, keepdims=True) - proba[:, :3])
    return proba


def probability_slopes(proba: Array, temperature: float, guess: float = 0.0) -> Array:
    """(m, 4, 3): the derivatives of `probabilities` by the three squared distances.

    The logit of a pair is −δ/temperature; that of *can't tell* is the mean of the three, plus log ``tie``.
    """
    meant = proba.copy()
    meant[:, :3] -= guess * proba[:, :3].mean(axis=1, keepdims=True)
    meant[:, :3] /= 1.0 - guess
    by_strength = meant[:, :, None] * (np.eye(4) - meant[:, None, :])
    by_strength[:, :3] += guess * (by_strength[:, :3].mean(axis=1, keepdims=True) - by_strength[:, :3])
    strengths = np.vstack([np.eye(3), np.full((1, 3), 1.0 / 3.0)]) / -temperature
    return np.asarray(by_strength @ strengths)


def log_likelihood(opposite: Array, said: Comparisons, temperature: float, guess: float = 0.0) -> Array:
    """(m,): the log-probability of each decided answer among the pairs that it compares."""
    opposite = eligible(opposite, said)
    strength = -opposite / temperature
    meant = strength[np.arange(len(said)), chosen(said)] - special.logsumexp(strength, axis=1)
    if guess == 0:
        return np.asarray(meant)
    return np.asarray(np.log((1.0 - guess) * np.exp(meant) + guess / np.isfinite(opposite).sum(axis=1)))


def fit_temperature(opposite: Array, said: Comparisons, guess: float = 0.0) -> float:
    """The temperature by maximum likelihood of the decided answers."""
    unit = float(np.median(opposite[np.isfinite(opposite)])) or 1.0

    def cost(log_temperature: float) -> float:
        likelihood = log_likelihood(opposite, said, unit * np.exp(log_temperature), guess)
        return -float(np.average(likelihood, weights=said.weight))

    found = optimize.minimize_scalar(cost, bounds=(-7.0, 7.0), method="bounded", options={"xatol": 1e-4})
    return unit * float(np.exp(found.x))


def fit_guess(opposite: Array, said: Comparisons) -> tuple[float, float]:
    """Temperature and share of guesses by maximum likelihood of the decided answers.

    The share is 0 unless guesses improve Akaike's information criterion (1974), which charges for the extra parameter.
    """

    def likelihood(guess: float) -> float:
        return float(said.weight @ log_likelihood(opposite, said, fit_temperature(opposite, said, guess), guess))

    found = optimize.minimize_scalar(
        lambda guess: -likelihood(guess), bounds=(0.0, 0.9), method="bounded", options={"xatol": 1e-3}
    )
    guess = float(found.x) if -found.fun > likelihood(0.0) + 1.0 else 0.0
    return fit_temperature(opposite, said, guess), guess


def fit_tie(opposite: Array, said: Comparisons, temperature: float) -> float:
    """The tie strength of *can't tell* by maximum likelihood of the odd-one-out answers; 0 if all are decided."""
    triples = said.kind == Kind.ODD_ONE_OUT
    if not said.undecided[triples].any():
        return 0.0
    strength = -opposite[triples] / temperature
    advantage = strength.mean(axis=1) - special.logsumexp(strength, axis=1)
    undecided, weight = said.undecided[triples], said.weight[triples]

    def cost(log_tie: float) -> float:
        odds = log_tie + advantage
        return float(weight @ (np.logaddexp(0.0, odds) - odds * undecided))

    found = optimize.minimize_scalar(cost, bounds=(-10.0, 15.0), method="bounded", options={"xatol": 1e-4})
    return float(np.exp(found.x))
