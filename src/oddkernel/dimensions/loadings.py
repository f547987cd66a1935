"""Loadings fitted to answers: the mode of a posterior whose prior is the factorisation of the learned similarity."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import optimize

from ..support.types import Array, Indices
from .factorisation import descend
from .likelihood import Choice, similarities

# Most steps. Chosen by hand.
STEPS = 80
# Logarithms of the smallest and the largest factor of the similarity that are tried. Chosen by hand.
SMALLEST, LARGEST = -7.0, 10.0


def fit_loadings(begun: Array, choice: Choice, shrinkage: float, sparsity: float) -> Array:
    """(n, d): Z ≥ 0 that minimises −log-likelihood + sparsity·Σ Z + ½ shrinkage·‖Z − begun‖².

    In words: each loading is expected at its value in ``begun``, with variance 1/shrinkage, and costs ``sparsity``
    times its size. Items that no answer is about keep their loadings, less sparsity/shrinkage.
    """

    def cost(flat: Array) -> tuple[float, Array]:
        value, slope = choice.cost(flat.reshape(begun.shape).astype(np.float32))
        moved = flat - begun.ravel()
        gradient = slope.astype(np.float64).ravel() + sparsity + shrinkage * moved
        return value + sparsity * float(flat.sum()) + 0.5 * shrinkage * float(moved @ moved), gradient

    return descend(cost, begun, STEPS)


def best_scale(fits: Sequence[tuple[Array, Choice]]) -> float:
    """The one factor of all similarities with which loadings predict answers best, each theirs."""
    pairs = [(similarities(loadings, choice.shown), choice) for loadings, choice in fits]

    def cost(log_scale: float) -> float:
        scale = np.exp(log_scale)
        return -sum(float(choice.weight @ choice.log_likelihood(scale * found)) for found, choice in pairs)

    found = optimize.minimize_scalar(cost, bounds=(SMALLEST, LARGEST), method="bounded", options={"xatol": 1e-3})
    return float(np.exp(found.x))


def match(loadings: Array, others: Array) -> Indices:
    """(d,): for each column one of ``others``, each taken once, such that the sum of correlations is largest.

    Examples
    --------
    >>> z = np.array([[1.0, 0.0], [0.0, 2.0], [0.5, 0.1]])
    >>> match(z, z[:, ::-1])
    array([1, 0])
    """
    return np.asarray(optimize.linear_sum_assignment(-correlations(loadings, others))[1])


def correlations(loadings: Array, others: Array) -> Array:
    """(d, e): Pearson's correlation over items of each column with each of ``others``; 0 where one is constant."""
    first, second = (_standardised(each) for each in (loadings, others))
    return np.asarray(first.T @ second)


def _standardised(columns: Array) -> Array:
    centred = columns - columns.mean(axis=0)
    size = np.sqrt(np.square(centred).sum(axis=0))
    return np.asarray(np.divide(centred, size, out=np.zeros_like(centred), where=size > 0))
