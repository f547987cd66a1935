"""The similarity matrix in the forms that representational similarity analysis takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import njit

from ..support.types import Array


def choice_similarity(loadings: Array) -> Array:
    """(n, n): the probability that the two items are called the closest pair, in the mean over every third item.

    This is the similarity that Hebart et al. (2020) compute from SPoSE's dimensions. It takes n³ steps.

    Examples
    --------
    >>> choice_similarity(np.zeros((3, 1)))[0, 1].round(3)
    np.float64(0.333)
    """
    similarity = loadings @ loadings.T
    # A common factor of all three strengths doesn't matter; the largest is 1.
    off = similarity[~np.eye(len(similarity), dtype=bool)]
    return np.asarray(_mean_choice(np.exp(similarity - off.max(initial=0.0))))


def rdm(loadings: Array, items: Sequence[str]) -> dict[str, Any]:
    """The arguments of ``rsatoolbox.rdm.RDMs``: 1 − `choice_similarity`, and the items' names.

    Dissimilarities are in the order of the upper triangle, row by row, as in SciPy's ``squareform``.
    """
    similarity = choice_similarity(loadings)
    return {
        "dissimilarities": 1.0 - similarity[np.triu_indices(len(similarity), 1)][None, :],
        "dissimilarity_measure": "1 - probability of being called the closest pair",
        "descriptors": {"source": "oddkernel"},
        "rdm_descriptors": {"name": ["odd-one-out"]},
        "pattern_descriptors": {"item": list(items)},
    }


@njit(cache=True, error_model="numpy")
def _mean_choice(strength: Array) -> Array:
    n = len(strength)
    found = np.eye(n)
    for i in range(n):
        for j in range(i):
            total = 0.0
            for k in range(n):
                if k != i and k != j:
                    total += strength[i, j] / (strength[i, j] + strength[i, k] + strength[j, k])
            found[i, j] = found[j, i] = total / max(1, n - 2)
    return found
