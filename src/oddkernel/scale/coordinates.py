"""Learned coordinates of many items."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ..learning.sklr import SKLR
from ..support.checks import require
from . import memory
from .learned_map import LearnedMap
from .passes import Plan, mapped
from .sink import check_ending, open_sink
from .source import Source, open_source


def transform(
    model: SKLR,
    items: str | os.PathLike[str] | ArrayLike,
    out: str | os.PathLike[str] | None = None,
    *,
    dtype: DTypeLike = np.float64,
    names: str | None = None,
    block: int | None = None,
    n_jobs: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Any:
    """`SKLR.transform` for more items than fit into memory.

    Parameters
    ----------
    model : SKLR
        A fitted model.
    items : path-like, array-like of shape (n, d), or Dask array or data frame
        Their features. ``.npy`` files, ``.parquet`` files and folders of these, and memory maps are read in blocks;
        ``.csv`` and ``.npz`` files at once.
    out : path-like, optional
        An ``.npy``, ``.parquet`` or ``.csv`` file to write, atomically. The last two keep the items' names. From a Dask
        collection: a folder of Parquet files.
    dtype : {float64, float32}, default=float64
        Precision of the coordinates. float32 halves their size and the time of the largest matrix product.
    names : str, optional
        The column of the items' names, where it isn't called item or name.
    block : int, optional
        Number of items in memory at a time; by default about 32 MiB. It affects the result only by rounding.
    n_jobs : int, optional
        Number of threads; by default the number of cores.
    progress : callable, optional
        Called with a sentence after every block.

    Returns
    -------
    ndarray of shape (n, r), Path or Dask collection
        The coordinates, or the path of the file that holds them. From a Dask collection without ``out``: a lazy one.

    Examples
    --------
    >>> import numpy as np
    >>> from oddkernel import SKLR, Comparisons, scale
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1.0, 2.0]])
    >>> model = SKLR("linear").fit(X, Comparisons.odd_one_out([[0, 2, 1]], [2]))
    >>> Z = scale.transform(model, X, block=3)
    >>> bool(np.allclose(Z, model.transform(X)))
    True
    """
    dtype = as_float(dtype)
    apply = LearnedMap.of(model, dtype=dtype)
    columns = list(model.get_feature_names_out())
    if is_dask(items):
        from . import dask_collections

        return dask_collections.mapped(items, apply.images, columns, dtype, out, model, names)
    source = source_for(model, items, names)
    plan = Plan.of(source, apply, model.n_features_in_, block, n_jobs)
    instead = "lower block= or n_jobs="
    if out is None:
        held = source.n_items * apply.n_out * dtype.itemsize
        memory.require(plan.n_bytes + held, f"transforming {source.n_items} items", f"give out= a file, or {instead}")
        coordinates = np.empty((source.n_items, apply.n_out), dtype)
        for done in mapped(source, apply, plan, progress):
            coordinates[done.block.start : done.block.start + len(done.images)] = done.images
        return coordinates
    check_ending(out)
    memory.require(plan.n_bytes, f"transforming {plan.rows} items at a time", instead)
    with open_sink(out, source.n_items, columns, dtype) as sink:
        for done in mapped(source, apply, plan, progress):
            sink.write(done.images, {} if done.block.names is None else {"item": done.block.names})
    return Path(out)


def count(model: SKLR, items: str | os.PathLike[str] | ArrayLike, *, names: str | None = None) -> int:
    """Number of items, without reading them; raises the errors of `transform` if they don't fit the model."""
    return source_for(model, items, names).n_items


def source_for(model: SKLR, items: str | os.PathLike[str] | ArrayLike, names: str | None) -> Source:
    """The source of the items, checked against the model."""
    known = getattr(model, "feature_names_in_", None)
    return open_source(
        items, n_features=model.n_features_in_, feature_names=None if known is None else list(known), names=names
    )


def is_dask(items: object) -> bool:
    """Whether these are a Dask collection; works without importing Dask."""
    return hasattr(items, "__dask_graph__")


def as_float(dtype: DTypeLike) -> np.dtype[Any]:
    """float64 or float32."""
    found = np.dtype(dtype)
    require(found in (np.dtype(np.float64), np.dtype(np.float32)), "dtype", dtype, "float64 or float32")
    return found
