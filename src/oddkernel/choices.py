"""How three distances become a choice: the odd one is the one left out of the closest pair."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import optimize, special

from .comparisons import Comparisons, Kind

Array = npt.NDArray[Any]

# Differences are formed for so many rows at a time: all at once they would fill the memory.
BLOCK = 2048


def sides(coordinates: Array, shown: Array) -> Array:
    """(m, 3): the squared distance of the pair opposite each position, for rows of three items."""
    opposite = np.empty((len(shown), 3))
    for start in range(0, len(shown), BLOCK):
        rows = slice(start, start + BLOCK)
        z = coordinates[shown[rows].T]
        for p in range(3):
            apart = z[(p + 1) % 3] - z[(p + 2) % 3]
            opposite[rows, p] = np.einsum("ij,ij->i", apart, apart)
    return opposite


def decided(said: Comparisons) -> Array:
    """(m,) bool: answers that name one of the items; not *can't tell*, not links."""
    return np.asarray(((said.kind == Kind.ODD_ONE_OUT) & ~said.undecided) | (said.kind == Kind.CLOSER))


def chosen(said: Comparisons) -> Array:
    """(m,): the position opposite the pair that a decided answer calls the closest."""
    return np.where(said.kind == Kind.CLOSER, 2, said.odd)


def eligible(opposite: Array, said: Comparisons) -> Array:
    """``opposite`` with the pairs that *closer* doesn't speak of put out of the running."""
    opposite = opposite.copy()
    opposite[said.kind == Kind.CLOSER, 0] = np.inf
    return opposite


def agreement(opposite: Array, said: Comparisons) -> Array:
    """(m,): 1 where the closest pair is the one that was named, 0 where not; ties count by their share."""
    opposite = eligible(opposite, said)
    closest = opposite == opposite.min(axis=1, keepdims=True)
    return np.asarray(closest[np.arange(len(said)), chosen(said)] / closest.sum(axis=1))


def probabilities(opposite: Array, temperature: float, tie: float = 0.0) -> Array:
    """(m, 4): how likely each of the three is called odd, and *can't tell*.

    A pair is called the closest with a probability proportional to exp(−δ/temperature); *can't tell* with ``tie`` times
    the geometric mean of the three (Davidson 1970): most likely where they are equally far apart.
    """
    strength = -opposite / temperature
    undecided = np.full(len(opposite), -np.inf) if tie == 0 else np.log(tie) + strength.mean(axis=1)
    return np.asarray(special.softmax(np.column_stack([strength, undecided]), axis=1))


def probability_slopes(proba: Array, temperature: float) -> Array:
    """(m, 4, 3): the derivatives of `probabilities` by the three squared distances.

    A strength is −δ/temperature, and that of *can't tell* a third of the three together.
    """
    by_strength = proba[:, :, None] * (np.eye(4) - proba[:, None, :])
    strengths = np.vstack([np.eye(3), np.full((1, 3), 1.0 / 3.0)]) / -temperature
    return np.asarray(by_strength @ strengths)


def log_likelihood(opposite: Array, said: Comparisons, temperature: float) -> Array:
    """(m,): the log-probability of each decided answer, among the pairs that it compares."""
    strength = -eligible(opposite, said) / temperature
    return np.asarray(strength[np.arange(len(said)), chosen(said)] - special.logsumexp(strength, axis=1))


def fit_temperature(opposite: Array, said: Comparisons) -> float:
    """The temperature at which decided answers are most likely."""
    unit = float(np.median(opposite[np.isfinite(opposite)])) or 1.0

    def cost(log_temperature: float) -> float:
        return -float(np.average(log_likelihood(opposite, said, unit * np.exp(log_temperature)), weights=said.weight))

    found = optimize.minimize_scalar(cost, bounds=(-7.0, 7.0), method="bounded", options={"xatol": 1e-4})
    return unit * float(np.exp(found.x))


def fit_tie(opposite: Array, said: Comparisons, temperature: float) -> float:
    """The strength of *can't tell* at which odd-one-out answers are most likely; 0 if all are decided."""
    triples = said.kind == Kind.ODD_ONE_OUT
    if not said.undecided.any():
        return 0.0
    strength = -opposite[triples] / temperature
    advantage = strength.mean(axis=1) - special.logsumexp(strength, axis=1)
    undecided, weight = said.undecided[triples], said.weight[triples]

    def cost(log_tie: float) -> float:
        odds = log_tie + advantage
        return float(weight @ (np.logaddexp(0.0, odds) - odds * undecided))

    found = optimize.minimize_scalar(cost, bounds=(-10.0, 15.0), method="bounded", options={"xatol": 1e-4})
    return float(np.exp(found.x))
