"""Rivals that predict choices among three items: a linear probe of features, and an embedding without features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax

from oddkernel import Comparisons

Array = np.ndarray[Any, Any]
Predict = Callable[[Array], Array]
"""Triples of items, shape (m, 3), to the similarity of the pair opposite each position, shape (m, 3)."""

RIDGES = (1e-1, 1e-2, 1e-3, 1e-4)
"""Weights of the probe's ridge beside the mean log-likelihood of an answer, tried in this order."""
SPARSITIES = (0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.1)
"""Weights of the embedding's ℓ₁ norm, divided by the number of items, beside the mean log-likelihood. Tried in this
order: loadings that a large weight has set to 0 would stay there, as dot products have no slope at 0."""
DIMENSIONS = 90
"""Of the embedding before the ℓ₁ norm empties some, as in SPoSE."""
PROBE_STEPS, EMBEDDING_STEPS = 100, 400
"""Most steps of L-BFGS for each weight tried. On THINGS the embedding takes more than 100."""


@dataclass(frozen=True)
class Choice:
    """A rival with the setting that held-out answers chose."""

    predict: Predict
    chosen: str


def agreement(predict: Predict, said: Comparisons) -> float:
    """The share of answers whose odd one is opposite the most similar pair; ties count by their share."""
    sides = predict(said.shown)
    named = sides == sides.max(axis=1, keepdims=True)
    right = named[np.arange(len(said)), said.odd] / named.sum(axis=1)
    return float(np.average(right, weights=said.weight))


def linear_probe(
    X: Array, items: Array, said: Comparisons, distances: bool, inner: tuple[Comparisons, Comparisons]
) -> Choice:
    """A linear map of the features, by the likelihood of a softmax over the pairs' dot products or negative distances.

    The map A maximises the mean log-likelihood minus ``ridge · ‖A − aI‖²``, where a is the mean of A's diagonal
    (Muttenthaler et al. 2023). The ridge is the one whose map predicts the second part of ``inner`` best from the
    first.

    Parameters
    ----------
    X : array of shape (n, d)
        The features of all items, which it predicts triples of.
    items : array of int
        The rows of X to learn from. Features are centred on these and scaled to a mean squared norm of 1.
    said : Comparisons
        Odd-one-out answers about rows of ``items``.
    distances : bool
        Squared distances in place of dot products.
    inner : (Comparisons, Comparisons)
        A split of the answers.
    """
    everything = X - X[items].mean(axis=0)
    everything = everything / np.sqrt(np.square(everything[items]).sum(axis=1).mean())
    Z, d = everything[items], X.shape[1]
    similarity = by_distances if distances else by_dot_products

    def learn(answers: Comparisons, ridge: float, start: Array) -> Array:
        def cost(flat: Array) -> tuple[float, Array]:
            A = flat.reshape(d, d)
            off = A - A.trace() / d * np.eye(d)
            value, slope = choice_cost(Z @ A, answers, distances)
            return value + ridge * float(np.square(off).sum()), (Z.T @ slope + 2.0 * ridge * off).ravel()

        found = minimize(cost, start.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": PROBE_STEPS})
        return np.asarray(found.x).reshape(d, d)

    A, chosen = _chosen(RIDGES, "ridge", learn, lambda A: similarity(Z @ A), np.eye(d), said, inner)
    return Choice(similarity(everything @ A), chosen)


def embedding(n: int, said: Comparisons, inner: tuple[Comparisons, Comparisons], seed: int) -> Choice:
    """A non-negative embedding without features: SPoSE's objective (Zheng et al. 2019).

    The loadings Y ≥ 0 maximise the mean log-likelihood of a softmax over the pairs' dot products, minus
    ``sparsity · ΣY / n``. The sparsity is chosen as for `linear_probe`. L-BFGS with bounds takes the place of Adam: on
    non-negative loadings the ℓ₁ norm is linear.
    """

    def learn(answers: Comparisons, sparsity: float, start: Array) -> Array:
        def cost(flat: Array) -> tuple[float, Array]:
            Y = flat.reshape(n, DIMENSIONS)
            value, slope = choice_cost(Y, answers, False)
            return value + sparsity / n * float(Y.sum()), (slope + sparsity / n).ravel()

        bounds = [(0.0, None)] * start.size
        first = start.ravel()
        found = minimize(cost, first, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": EMBEDDING_STEPS})
        return np.asarray(found.x).reshape(n, DIMENSIONS)

    start = np.random.default_rng(seed).uniform(0.0, 0.3, (n, DIMENSIONS))
    Y, chosen = _chosen(SPARSITIES, "sparsity", learn, by_dot_products, start, said, inner)
    return Choice(by_dot_products(Y), chosen)


def by_dot_products(Z: Array) -> Predict:
    """Similarity by the dot products of coordinates."""
    return lambda shown: np.stack([np.einsum("ij,ij->i", *(Z[column] for column in pair)) for pair in _sides(shown)], 1)


def by_distances(Z: Array) -> Predict:
    """Similarity by the negative squared distances of coordinates."""
    return lambda shown: -np.stack([np.square(Z[i] - Z[j]).sum(axis=1) for i, j in _sides(shown)], 1)


def choice_cost(Z: Array, said: Comparisons, distances: bool) -> tuple[float, Array]:
    """Minus the mean log-likelihood of the answers for coordinates Z (n, k), and its derivative by Z.

    Each of the three pairs is the most similar with a probability proportional to the exponential of its dot product,
    or of its negative squared distance.
    """
    n, (m, _) = len(Z), said.shown.shape
    products = Z @ Z.T
    norms = products.diagonal()
    sides = _sides(said.shown)
    logits = np.stack([products[i, j] for i, j in sides], axis=1)
    if distances:
        logits = 2.0 * logits - np.stack([norms[i] + norms[j] for i, j in sides], axis=1)
    log_p = log_softmax(logits, axis=1)
    each = np.arange(m)
    weight = said.weight / said.weight.sum()
    slope = np.exp(log_p)
    slope[each, said.odd] -= 1.0
    slope *= weight[:, None]
    place = np.concatenate([i * n + j for i, j in sides])
    by_pair = np.bincount(place, slope.T.ravel(), n * n).reshape(n, n)
    by_pair += by_pair.T
    by_Z = by_pair @ Z
    if distances:
        by_Z = 2.0 * (by_Z - by_pair.sum(axis=1)[:, None] * Z)
    return -float(weight @ log_p[each, said.odd]), by_Z


def _chosen(
    settings: Sequence[float],
    name: str,
    learn: Callable[[Comparisons, float, Array], Array],
    similarity: Callable[[Array], Predict],
    start: Array,
    said: Comparisons,
    inner: tuple[Comparisons, Comparisons],
) -> tuple[Array, str]:
    """Learn from all answers with the setting that predicts the second part of ``inner`` best from the first."""
    train, test = inner
    learned, shares = [start], []
    for setting in settings:  # each starts from what the last one learned
        learned.append(learn(train, setting, learned[-1]))
        shares.append(agreement(similarity(learned[-1]), test))
    best = int(np.argmax(shares))
    return learn(said, settings[best], learned[1 + best]), f"{name} {settings[best]:g}"


def _sides(shown: Array) -> list[tuple[Array, Array]]:
    """The items of the pair opposite each position."""
    return [(shown[:, (p + 1) % 3], shown[:, (p + 2) % 3]) for p in range(3)]
