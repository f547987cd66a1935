"""Items with known loadings, and answers drawn by them."""

from __future__ import annotations

import numpy as np
from scipy import special

from oddkernel import SKLR, Comparisons
from oddkernel.dimensions.likelihood import similarities
from oddkernel.support.types import Array


def planted(n_items: int = 45, n_dimensions: int = 3, n_answers: int = 800, seed: int = 0) -> tuple[Array, Comparisons]:
    """(n, d) loadings of which most are 0, and odd-one-out answers drawn by their likelihood."""
    rng = np.random.default_rng(seed)
    loadings = 0.3 * rng.random((n_items, n_dimensions)) * (rng.random((n_items, n_dimensions)) < 0.3)
    loadings[np.arange(n_items), np.arange(n_items) % n_dimensions] += 2.0 + 0.5 * rng.random(n_items)
    shown = np.array([rng.permutation(n_items)[:3] for _ in range(n_answers)])
    proba = special.softmax(similarities(loadings, shown), axis=1)
    odd = (rng.random((n_answers, 1)) > np.cumsum(proba, axis=1)).sum(axis=1)
    return loadings, Comparisons.odd_one_out(shown, np.minimum(odd, 2))


def planted_model(seed: int = 0) -> tuple[Array, Array, SKLR]:
    """Loadings, features (the loadings and noise), and a model with fixed settings, learned from answers."""
    loadings, said = planted(seed=seed)
    X = np.hstack([loadings, np.random.default_rng(1).normal(scale=0.3, size=(len(loadings), 2))])
    return loadings, X, SKLR("linear", loss="softmax", penalty=0.1, random_state=0, verbose=0).fit(X, said)
