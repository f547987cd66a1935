"""Clusters of many items by the learned similarity: mini-batch k-means."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import MiniBatchKMeans
from sklearn.utils import check_random_state

from ..learning.sklr import SKLR
from ..support.checks import is_count, require
from ..support.types import Array, Indices
from . import memory
from .coordinates import is_dask, source_for
from .learned_map import LearnedMap
from .passes import Plan, mapped
from .sink import check_ending, open_sink

# Size of the random sample from which the centres are computed: in all, or for each group, whichever is more. Chosen by
# hand.
SAMPLE, SAMPLE_PER_GROUP = 20_000, 100
# Items in a mini-batch. Chosen by hand, and fixed, so that groups depend neither on the block size nor on the cores.
BATCH = 2048


@dataclass(frozen=True, eq=False)
class Clustering:
    """Groups of items.

    Attributes
    ----------
    labels : ndarray of shape (n,), or (n, m) for m numbers of groups; or Path, or Dask collection
        Each item's group, or the file or folder that holds it.
    centers : tuple of ndarrays of shape (k, r)
        The groups' centres in learned coordinates, for each number of groups.
    sizes : tuple of ndarrays of shape (k,), or None for a Dask collection not yet computed
        Number of items in each group.
    """

    labels: Any
    centers: tuple[Array, ...]
    sizes: tuple[Indices, ...] | None


def cluster(
    model: SKLR,
    items: str | os.PathLike[str] | ArrayLike,
    n_clusters: int | Sequence[int] = 8,
    out: str | os.PathLike[str] | None = None,
    *,
    names: str | None = None,
    block: int | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    progress: Callable[[str], None] | None = None,
) -> Clustering:
    """Group many items by mini-batch k-means in learned coordinates.

    The centres are computed from a random sample of 20,000 items, or 100 for each group if that is more. Then every
    item is assigned to the nearest centre. This needs no coordinates of the other items: up to a term that all centres
    share, ``‖z − c‖²`` is ``‖c‖² − 2zᵀc``, and zᵀc is linear in the kernel's values.

    Parameters
    ----------
    model, items, names, block, n_jobs, progress
        As in `transform`.
    n_clusters : int or sequence of int, default=8
        The number of groups, or several numbers; the items are read only once for all of them.
    out : path-like, optional
        An ``.npy``, ``.parquet`` or ``.csv`` file to write, atomically. The last two hold the items' names, or row
        numbers where they have none, and a column ``group_of_k``.
    random_state : int, RandomState or None, default=None
        Draws the sample and the first centres.

    Returns
    -------
    Clustering

    Examples
    --------
    >>> import numpy as np
    >>> from oddkernel import SKLR, Comparisons, scale
    >>> X = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]])
    >>> model = SKLR("linear").fit(X, Comparisons.odd_one_out([[0, 1, 2]], [2]))
    >>> scale.cluster(model, X, 2, random_state=0).sizes[0].tolist()
    [2, 2]
    """
    counts = [n_clusters] if isinstance(n_clusters, int | np.integer) else list(n_clusters)
    for k in counts:
        require(k is not None and is_count(k), "n_clusters", n_clusters, "whole numbers of at least 1")
    columns = [f"group_of_{k}" for k in counts]
    random = check_random_state(random_state)
    if is_dask(items):
        from . import dask_collections

        drawn = dask_collections.sample(items, _wanted(counts), random, model, names)
        centers = _centers(drawn, model, counts, random)
        images = _Nearest.of(model, centers).groups
        labels = dask_collections.mapped(items, images, columns, np.dtype(np.int32), out, model, names)
        alone = isinstance(n_clusters, int | np.integer) and hasattr(labels, "chunks")
        return Clustering(labels[:, 0] if alone else labels, tuple(centers), None)
    source = source_for(model, items, names)
    if out is not None:
        check_ending(out)
    for k in counts:
        require(k <= source.n_items, "n_clusters", k, f"at most {source.n_items}, as there are {source.n_items} items")
    wanted = min(_wanted(counts), source.n_items)
    rank = model.rank_
    memory.require(
        2 * 8 * wanted * (rank + model.n_features_in_) + 8 * source.n_items * len(counts) * (out is None),
        f"computing centres from {wanted} items and {rank} coordinates",
        "fit the model with a smaller rank=, or ask for fewer groups",
    )
    chosen = np.sort(random.choice(source.n_items, wanted, replace=False))
    centers = _centers(source.take(chosen), model, counts, random)
    nearest = _Nearest.of(model, centers)
    plan = Plan.of(source, nearest.apply, model.n_features_in_, block, n_jobs)
    memory.require(plan.n_bytes, f"grouping {plan.rows} items at a time", "lower block= or n_jobs=")
    sizes = [np.zeros(k, np.intp) for k in counts]
    whole: Array | None = None

    def blocks() -> Any:
        for done in mapped(source, nearest.apply, plan, progress):
            labels = nearest.labels(done.images)
            for size, column in zip(sizes, labels.T, strict=True):
                size += np.bincount(column, minlength=len(size))
            yield done.block, labels

    if out is None:
        whole = np.empty((source.n_items, len(counts)), np.int32)
        for at, labels in blocks():
            whole[at.start : at.start + len(labels)] = labels
        whole = whole[:, 0] if isinstance(n_clusters, int | np.integer) else whole
    else:
        with open_sink(out, source.n_items, columns, np.int32, flat=True) as sink:
            for at, labels in blocks():
                numbers = range(at.start, at.start + len(labels))
                sink.write(labels, {"row": numbers} if at.names is None else {"item": at.names})
    return Clustering(Path(out) if out is not None else whole, tuple(centers), tuple(sizes))


def _wanted(counts: Sequence[int]) -> int:
    return max(SAMPLE, SAMPLE_PER_GROUP * max(counts, default=1))


def _centers(sample: Array, model: SKLR, counts: Sequence[int], random: np.random.RandomState) -> list[Array]:
    Z = LearnedMap.of(model).images(sample)
    return [
        MiniBatchKMeans(min(k, len(Z)), batch_size=BATCH, init_size=max(3 * k, BATCH), n_init=10, random_state=random)
        .fit(Z)
        .cluster_centers_
        for k in counts
    ]


@dataclass(frozen=True, eq=False)
class _Nearest:
    """The nearest centre of an item, for each of several sets of centres."""

    apply: LearnedMap
    half_norms: tuple[Array, ...]

    @classmethod
    def of(cls, model: SKLR, centers: Sequence[Array]) -> _Nearest:
        norms = tuple(np.einsum("ij,ij->i", each, each) / 2 for each in centers)
        return cls(LearnedMap.of(model, onto=np.concatenate(centers)), norms)

    def groups(self, X: Array) -> NDArray[np.int32]:
        """The groups of checked items, a column for each set."""
        return self.labels(self.apply.images(X))

    def labels(self, products: NDArray[np.floating]) -> NDArray[np.int32]:
        """The groups, a column for each set, from the products with all centres."""
        ends = np.cumsum([len(norms) for norms in self.half_norms])
        parts = np.split(products, ends[:-1], axis=1)
        return np.stack(
            [np.argmax(part - norms, axis=1) for part, norms in zip(parts, self.half_norms, strict=True)], axis=1
        ).astype(np.int32)
