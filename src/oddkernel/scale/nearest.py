"""Exact nearest neighbours among many items."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..kernels.distances import squared_distances
from ..learning.sklr import SKLR
from ..support.checks import is_count, require
from ..support.types import Array, Indices
from . import memory
from .coordinates import source_for, transform
from .learned_map import LearnedMap
from .passes import Plan, mapped


class Neighbors(NamedTuple):
    """The nearest items of each query, nearest first.

    Attributes
    ----------
    rows : ndarray of shape (q, k)
        Row numbers of the items.
    distance : ndarray of shape (q, k)
        Their learned distances.
    """

    rows: Indices
    distance: Array


def nearest(
    model: SKLR,
    items: str | os.PathLike[str] | ArrayLike,
    queries: str | os.PathLike[str] | ArrayLike,
    k: int = 10,
    *,
    names: str | None = None,
    block: int | None = None,
    n_jobs: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Neighbors:
    """The k nearest items of each query under the learned distance: exact, in one pass over the items.

    Memory holds the queries and a block of items. Of equally near items the first is taken. For repeated queries, build
    an `Index`. Distances are those of the coordinates of `transform`, which lack what `SKLR.distance` adds for items
    that were not in `fit`.

    Parameters
    ----------
    model, items, names, block, n_jobs, progress
        As in `transform`.
    queries : path-like or array-like of shape (q, d)
        Features of items, known or new.
    k : int, default=10
        Number of items for each query.

    Returns
    -------
    Neighbors

    Examples
    --------
    >>> import numpy as np
    >>> from oddkernel import SKLR, Comparisons, scale
    >>> X = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]])
    >>> model = SKLR("linear").fit(X, Comparisons.odd_one_out([[0, 1, 2]], [2]))
    >>> scale.nearest(model, X, X[3:], k=2).rows
    array([[3, 2]])
    """
    source = source_for(model, items, names)
    require(k is not None and is_count(k) and k <= source.n_items, "k", k, f"a number from 1 to {source.n_items}")
    wanted: Array = transform(model, queries, names=names, n_jobs=n_jobs)
    apply = LearnedMap.of(model)
    plan = Plan.of(source, apply, model.n_features_in_, block, n_jobs)
    memory.require(
        plan.n_bytes + 16 * len(wanted) * (plan.rows + k),
        f"comparing {len(wanted)} queries with {plan.rows} items at a time",
        "lower block=, or ask fewer queries at a time",
    )
    rows = np.zeros((len(wanted), 0), np.intp)
    squared = np.zeros((len(wanted), 0))
    for done in mapped(source, apply, plan, progress):
        here = squared_distances(wanted, done.images)
        numbers = np.broadcast_to(np.arange(done.block.start, done.block.start + len(done.images)), here.shape)
        squared, rows = _best(np.hstack([squared, here]), np.hstack([rows, numbers]), int(k))
    return Neighbors(rows, np.sqrt(squared))


def _best(squared: Array, rows: Indices, k: int) -> tuple[Array, Indices]:
    order = np.argsort(squared, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(squared, order, axis=1), np.take_along_axis(rows, order, axis=1)
