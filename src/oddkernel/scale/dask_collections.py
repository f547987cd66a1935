"""Dask arrays and data frames, whose partitions may be on several machines."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from ..items import tables
from ..learning.sklr import SKLR
from ..support.files import check_new_folder, draft_folder
from ..support.types import Array
from .source import as_numbers

Images = Callable[[Array], Array]

MISSING = 'Dask collections need all of Dask: pip install "oddkernel[dask]"'


def mapped(
    items: Any,
    images: Images,
    columns: Sequence[str],
    dtype: np.dtype[Any],
    out: str | os.PathLike[str] | None,
    model: SKLR,
    names: str | None,
) -> Any:
    """The map applied to the items' features, as a lazy collection or as a folder of Parquet files.

    A task is one partition of the collection. Its result depends on that partition and the model alone, so that it is
    the same on every worker, and when it is repeated after a worker was lost.
    """
    try:
        import dask.array
        import dask.dataframe
        from dask.delayed import delayed
    except ImportError:
        raise ImportError(MISSING) from None
    if out is not None:
        check_new_folder(out)
    shared = delayed(images, pure=True)  # the graph holds the model once, not once for each partition
    if hasattr(items, "columns"):
        result = _frame(items, shared, columns, dtype, model, names)
    else:
        _check_array(items, model.n_features_in_)
        result = items.rechunk({1: -1}).map_blocks(
            _of_array, shared, dtype=dtype, chunks=(items.chunks[0], (len(columns),)), meta=np.empty((0, 0), dtype)
        )
    if out is None:
        return result
    if not hasattr(result, "to_parquet"):
        result = dask.dataframe.from_dask_array(result, columns=list(columns))
    with draft_folder(out) as folder:
        result.to_parquet(os.fspath(folder), write_index=False)
    return Path(out)


def sample(items: Any, wanted: int, random: np.random.RandomState, model: SKLR, names: str | None) -> Array:
    """The features of items drawn at random."""
    X = _features(items, model, names)[0].to_dask_array(lengths=True) if hasattr(items, "columns") else items
    if any(np.isnan(length) for length in X.chunks[0]):
        X = X.compute_chunk_sizes()
    n_items = X.shape[0]
    chosen = np.sort(random.choice(n_items, min(wanted, n_items), replace=False))
    return np.asarray(X[chosen].compute(), dtype=np.float64)


def _of_array(X: Array, images: Images, block_info: Any = None) -> Array:
    start = block_info[0]["array-location"][0][0] if block_info else 0
    return _of_piece(X, images, start, "the Dask array")


def _of_piece(X: Array, images: Images, start: int, place: str) -> Array:
    # One BLAS thread for each product: Dask's own threads already use all cores.
    with threadpool_limits(1, "blas"):
        return images(as_numbers(X, start, place))


def _frame(
    items: Any, images: Any, columns: Sequence[str], dtype: np.dtype[Any], model: SKLR, names: str | None
) -> Any:
    import pandas as pd

    _, features, name_column = _features(items, model, names)
    meta = pd.DataFrame({name: np.empty(0, dtype) for name in columns})
    if name_column is not None:
        meta.insert(0, "item", items._meta[name_column].iloc[:0])
    return items.map_partitions(_of_frame, images, features, name_column, list(columns), meta=meta)


def _of_frame(
    piece: Any,
    images: Images,
    features: list[str],
    name_column: str | None,
    columns: list[str],
    partition_info: Any = None,
) -> Any:
    import pandas as pd

    place = f"partition {partition_info['number'] if partition_info else 0} of the data frame"
    values = _of_piece(piece[features].to_numpy(), images, 0, place)
    result = pd.DataFrame(values, columns=columns, index=piece.index)
    if name_column is not None:
        result.insert(0, "item", piece[name_column])
    return result


def _features(items: Any, model: SKLR, names: str | None) -> tuple[Any, list[str], str | None]:
    """The feature columns of a data frame, their names, and the column of item names."""
    found = [str(column) for column in items.columns]
    name_column = names or next((name for name in tables.NAME_COLUMNS if name in found), None)
    if name_column is not None and name_column not in found:
        raise ValueError(f"no column called {name_column}; there are {', '.join(found)}")
    features = [column for column in found if column != name_column]
    known = getattr(model, "feature_names_in_", None)
    if known is not None:
        tables.check_same_features(features, list(known))
        features = list(known)
    if len(features) != model.n_features_in_:
        raise ValueError(
            f"the data frame has {len(features)} features; expected {model.n_features_in_}, as many as the model "
            "learned from"
        )
    return items[features], features, name_column


def _check_array(items: Any, n_features: int) -> None:
    if items.ndim != 2 or items.shape[1] != n_features:
        raise ValueError(
            f"the Dask array has shape {items.shape}; expected a row for each item and {n_features} columns, as many "
            "features as the model learned from"
        )
