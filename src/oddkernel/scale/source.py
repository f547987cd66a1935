"""Reading items in blocks from an array, an .npy file or Parquet files."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from reprlib import repr as brief
from typing import Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import ArrayLike

from ..items import tables
from ..items.frames import usable_names, without_names
from ..support.checks import refuse_masked
from ..support.parquet import pyarrow
from ..support.types import Array, Indices


class Block(NamedTuple):
    """Consecutive items."""

    start: int
    X: Array
    names: list[str] | None


class Source(ABC):
    """Items that can be read in order, in blocks of any size.

    Attributes
    ----------
    n_items : int
    has_names : bool
    place : str
        Its name in errors.
    """

    n_items: int
    has_names: bool = False
    place: str = "X"

    @abstractmethod
    def blocks(self, rows: int) -> Iterator[Block]:
        """The items in blocks of at most ``rows``; raises a ValueError that names the row with a value not finite."""

    @abstractmethod
    def take(self, rows: Indices) -> Array:
        """The features of the items with these row numbers, given in ascending order."""


def open_source(
    items: str | os.PathLike[str] | ArrayLike,
    *,
    n_features: int,
    feature_names: Sequence[str] | None = None,
    names: str | None = None,
) -> Source:
    """Open a source and check its number of features.

    Parameters
    ----------
    items : path-like or array-like of shape (n, d)
        An ``.npy`` file, a ``.parquet`` file or a folder of Parquet files, in the order of their names, is read block
        by block; ``.csv`` and ``.npz`` files at once. An array may be a memory map.
    n_features : int
        The expected d.
    feature_names : sequence of str, optional
        The expected order of named columns.
    names : str, optional
        The column of the items' names, where it isn't called item or name.
    """
    refuse_masked(items, "X")
    if not isinstance(items, str | os.PathLike):
        return _Rows(_in_order(without_names(items), feature_names), n_features, names=usable_names(items))
    path = Path(items)
    if path.is_dir() or path.suffix.lower() == ".parquet":
        return _Parquet(path, n_features, feature_names, names)
    if path.suffix.lower() == ".npy" and names is None:
        return _Npy(path, n_features)
    table = tables.read(path, names=names)
    return _Rows(table.features(feature_names), n_features, place=str(path), names=table.names)


class _Rows(Source):
    def __init__(
        self, X: ArrayLike, n_features: int, *, place: str = "X", names: tuple[str, ...] | None = None
    ) -> None:
        self._X = X if hasattr(X, "iloc") else np.asanyarray(X)  # asanyarray: a memory map stays one
        self._names, self.place, self.has_names = names, place, names is not None
        shape = np.shape(self._X)
        _check_shape(place, shape, n_features)
        self.n_items = shape[0]

    def blocks(self, rows: int) -> Iterator[Block]:
        for start in range(0, self.n_items, rows):
            names = None if self._names is None else list(self._names[start : start + rows])
            yield Block(start, as_numbers(self._rows(slice(start, start + rows)), start, self.place), names)

    def take(self, rows: Indices) -> Array:
        return as_numbers(self._rows(rows), rows, self.place)

    def _rows(self, rows: Any) -> Array:
        X: Any = self._X
        return np.asarray(X.iloc[rows] if hasattr(X, "iloc") else X[rows])


class _Npy(Source):
    """An .npy file, read and not mapped: pages of a memory map would count as this process's memory."""

    def __init__(self, path: Path, n_features: int) -> None:
        self.place = str(path)
        self._path = path
        with path.open("rb") as file:
            try:
                version = npy.read_magic(file)
                read_header = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
                shape, column_major, self._dtype = read_header(file)
            except ValueError:
                raise ValueError(f"{path}: not a readable .npy file of numbers") from None
            self._offset = file.tell()
        if self._dtype.kind not in "fiub":
            raise ValueError(f"{path}: {self._dtype} of shape {shape}; expected numbers, a row for each item")
        _check_shape(self.place, shape, n_features)
        if column_major and min(shape) > 1:
            raise ValueError(
                f"{path}: stored column by column, so that blocks of items can't be read; expected "
                "numpy.save(path, numpy.ascontiguousarray(X))"
            )
        self.n_items, self._width = shape
        whole = self._offset + self.n_items * self._width * self._dtype.itemsize
        if path.stat().st_size < whole:
            raise ValueError(f"{path}: {path.stat().st_size} bytes; expected {whole} for shape {shape}: it was cut off")

    def blocks(self, rows: int) -> Iterator[Block]:
        with self._path.open("rb") as file:
            file.seek(self._offset)
            for start in range(0, self.n_items, rows):
                X = self._read(file, min(rows, self.n_items - start))
                yield Block(start, as_numbers(X, start, self.place), None)

    def take(self, rows: Indices) -> Array:
        X = np.empty((len(rows), self._width), self._dtype)
        with self._path.open("rb") as file:
            for position, row in enumerate(rows):
                file.seek(self._offset + int(row) * self._width * self._dtype.itemsize)
                X[position] = self._read(file, 1)
        return as_numbers(X, rows, self.place)

    def _read(self, file: Any, n_rows: int) -> Array:
        return np.fromfile(file, self._dtype, n_rows * self._width).reshape(n_rows, self._width)


class _Parquet(Source):
    def __init__(self, path: Path, n_features: int, feature_names: Sequence[str] | None, names: str | None) -> None:
        arrow = pyarrow()
        self.place = str(path)
        self._files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        if not self._files:
            raise ValueError(f"{path}: no .parquet file in this folder")
        self._starts = [0]
        described: list[tuple[tuple[str, ...], str | None]] = []
        for file in self._files:
            try:
                with arrow.parquet.ParquetFile(file) as opened:
                    described.append(tables.parquet_columns(opened.schema_arrow, names))
                    self._starts.append(self._starts[-1] + opened.metadata.num_rows)
            except arrow.ArrowException as error:
                raise ValueError(f"{file}: not a readable Parquet file ({error})") from None
            except ValueError as error:
                raise ValueError(f"{file}: {error}") from None
            (first, own), (columns, name_column) = described[0], described[-1]
            if set(columns) != set(first) or name_column != own:
                raise ValueError(
                    f"{file}: columns {brief(columns)}; expected those of {self._files[0]}: {brief(first)}"
                )
        self._columns, self._names = described[0]
        self.n_items = self._starts[-1]
        self.has_names = self._names is not None
        if feature_names is not None:
            tables.check_same_features(self._columns, feature_names)
            self._columns = tuple(feature_names)
        _check_shape(self.place, (self.n_items, len(self._columns)), n_features)

    def blocks(self, rows: int) -> Iterator[Block]:
        arrow = pyarrow()
        wanted = [*self._columns, *([self._names] if self._names else [])]
        for file, start in zip(self._files, self._starts, strict=False):
            with arrow.parquet.ParquetFile(file) as opened:
                for batch in opened.iter_batches(batch_size=rows, columns=wanted):
                    X = np.empty((batch.num_rows, len(self._columns)))
                    for j, column in enumerate(self._columns):
                        X[:, j] = batch.column(column).to_numpy(zero_copy_only=False)
                    names = None if self._names is None else list(map(str, batch.column(self._names).to_pylist()))
                    yield Block(start, as_numbers(X, start, self.place), names)
                    start += batch.num_rows

    def take(self, rows: Indices) -> Array:
        chosen = np.empty((len(rows), len(self._columns)))
        for start, X, _ in self.blocks(2**16):
            first, last = np.searchsorted(rows, [start, start + len(X)])
            chosen[first:last] = X[rows[first:last] - start]
        return chosen


def _in_order(items: Any, feature_names: Sequence[str] | None) -> Any:
    """A data frame with its columns in this order; anything else unchanged."""
    columns = getattr(items, "column_names", None) or getattr(items, "columns", None)  # Arrow's columns are arrays
    if feature_names is None or columns is None:
        return items
    tables.check_same_features(list(columns), feature_names)
    return items.select(list(feature_names)) if hasattr(items, "column_names") else items[list(feature_names)]


def _check_shape(place: str, shape: tuple[int, ...], n_features: int) -> None:
    if len(shape) != 2:
        raise ValueError(f"{place}: shape {shape}; expected two dimensions, a row for each item")
    if shape[1] != n_features:
        raise ValueError(f"{place}: {shape[1]} features; expected {n_features}, as many as the model learned from")
    if not shape[0]:
        raise ValueError(f"{place}: no items; expected at least one")


def as_numbers(X: Array, number: int | Indices, place: str) -> Array:
    """X as float64; raises a ValueError unless all is finite. ``number`` is the number of the first row, or of each."""
    if X.dtype.kind not in "fiub":
        raise ValueError(f"{place}: {X.dtype}; expected numbers")
    checked = X.astype(np.float64)
    if not np.isfinite(checked).all():
        row, column = np.argwhere(~np.isfinite(checked))[0]
        where = number + row if isinstance(number, int) else number[row]
        raise ValueError(
            f"{place}: row {where}, column {column} holds {checked[row, column]}; expected finite numbers: fill it in, "
            "or drop the item"
        )
    return checked
