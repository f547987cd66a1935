"""Simulated answers about the items of a draw, by the paper's protocol: odd ones out, or pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from oddkernel import Comparisons
from oddkernel.datasets import sample_per_class

from .samples import BINARY, MULTICLASS, Items

Array = NDArray[Any]

MIXED = "mixed"
RESOLUTIONS = {BINARY: (BINARY,), MULTICLASS: (MULTICLASS,), MIXED: (BINARY, MULTICLASS)}
"""The classes by which people answer; ``mixed`` combines answers by both."""


def count(labelled: int, n_classes: int) -> int:
    """Number of answers that the paper derives from ℓ labelled items of each of C classes: ℓ(ℓ−1)·C.

    Half of them are all must-links among the labelled items, the other half cannot-links.
    """
    return labelled * (labelled - 1) * n_classes


def triples(items: Items, answers: str, n: int, *, noise: float = 0.0, equalities: int = 0, draw: int) -> Comparisons:
    """n odd-one-out answers at each resolution, a share of them wrong, and *can't tell* answers.

    A question shows two random items of one class and one of another; a wrong answer names one of the two. The same
    draw with another noise level, or with other equalities, shows the same items.
    """
    said = [
        Comparisons.from_labels(
            items.labels[resolution],
            n,
            noise=noise,
            undecided=equalities,
            random_state=np.random.RandomState([draw, 1, resolution == BINARY]),
        )
        for resolution in RESOLUTIONS[answers]
    ]
    return said[0] if len(said) == 1 else said[0] + said[1]


def pairs(items: Items, answers: str, n: int, *, noise: float = 0.0, draw: int) -> Comparisons:
    """n pairs at each resolution, half of them must-links; a share is of the wrong kind.

    They are among the smallest number of labelled items of each class with n/2 pairs within classes. The labelled items
    of the binary task's two groups have more pairs; n are drawn from them.
    """
    said = []
    for resolution in RESOLUTIONS[answers]:
        random = np.random.RandomState([draw, 2, resolution == BINARY])
        classes = items.labels[MULTICLASS]
        labelled, n_classes = 2, len(np.unique(classes))
        while count(labelled, n_classes) < n:
            labelled += 1
        known = sample_per_class(classes, labelled, random)
        first, second = np.triu_indices(len(known), 1)
        couples = np.column_stack([known[first], known[second]])
        alike = items.labels[resolution][couples[:, 0]] == items.labels[resolution][couples[:, 1]]
        chosen = np.concatenate([random.permutation(np.flatnonzero(alike == kind))[: n // 2] for kind in (True, False)])
        links = alike[chosen]
        wrong = random.permutation(len(chosen))[: round(noise * len(chosen))]
        links[wrong] = ~links[wrong]
        said += [Comparisons.must_link(couples[chosen[links]]), Comparisons.cannot_link(couples[chosen[~links]])]
    joined = said[0]
    for more in said[1:]:
        joined = joined + more
    return joined
