"""The record of fitted dimensions, and what relates it to the model: the items asked about, and the map for others."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..learning.sklr import SKLR
from ..support.types import Array
from .halves import Settings, Strength

# The ridge of the map from learned coordinates to loadings, in items' mean squared norms. Chosen by hand on THINGS,
# with a look at its held-out answers: from 0.01 to 0.3 the correlation for objects left out changed by 0.01 at most.
RIDGE = 0.1


@dataclass(frozen=True, eq=False)
class DimensionsFit:
    """All that fitted dimensions know.

    Attributes
    ----------
    model : SKLR
        The learned kernel.
    settings : Settings
        What the loadings were fitted with.
    loadings : (n, d) array
        Of the items in `fit`, in the order of its X.
    asked : (s, d) array
        Of the items that the answers are about, in the order of ``model.fit_.asked``.
    centre, mean, slope : arrays of shapes (r,), (d,) and (r, d)
        The map for all other items: max(0, mean + (y − centre)·slope) at learned coordinates y.
    strength : Strength
        How sure each dimension is.
    """

    model: SKLR
    settings: Settings
    loadings: Array
    asked: Array
    centre: Array
    mean: Array
    slope: Array
    strength: Strength


def rows_asked(model: SKLR) -> Array:
    """The rows of X in the model's `fit` that its answers are about, in the order of ``fit_.asked``."""
    fit = model.fit_
    if fit.given is None:
        return np.asarray(fit.comparisons.constrained)
    row = {name: number for number, name in enumerate(fit.given)}
    return np.array([row[(fit.comparisons.items or ())[item]] for item in fit.comparisons.constrained], dtype=np.intp)


def check_items(X: ArrayLike, model: SKLR) -> None:
    """Raise unless X holds the items that the model learned from, in the order of its `fit`."""
    learned, rows = model.fit_.items, rows_asked(model)
    given = model._check_items(X)
    if learned is not None and not (len(given) == len(learned) and np.array_equal(given[rows], learned[rows])):
        raise ValueError("the rows of X are not the items that the model was fitted to; expected the same X")


def ridge_map(coordinates: Array, loadings: Array) -> Array:
    """(r, d): the map from centred coordinates to centred loadings."""
    n, r = coordinates.shape
    ridge = RIDGE * float(np.square(coordinates).sum()) / n or 1.0
    if n < r:  # the same map from the smaller system
        gram = coordinates @ coordinates.T
        return np.asarray(coordinates.T @ np.linalg.solve(gram + ridge * np.eye(n), loadings))
    return np.asarray(np.linalg.solve(coordinates.T @ coordinates + ridge * np.eye(r), coordinates.T @ loadings))
