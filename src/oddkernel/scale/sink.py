"""Writing results block by block: to an .npy, .csv or Parquet file."""

from __future__ import annotations

import csv
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import DTypeLike, NDArray

from ..support.files import check_file_place, draft
from ..support.formulas import guard
from ..support.parquet import pyarrow

ENDINGS = (".npy", ".parquet", ".csv")


class Sink(ABC):
    """A file that takes the rows of a table in order."""

    def __init__(self, file: Any, n_items: int, columns: Sequence[str], dtype: np.dtype[Any], flat: bool) -> None:
        self._file, self._columns, self._dtype = file, list(columns), dtype

    @abstractmethod
    def write(self, values: NDArray[Any], who: Mapping[str, Sequence[Any]]) -> None:
        """Append rows: their values and, in files with named columns, the items' names."""

    def close(self) -> None:  # noqa: B027 (most have nothing left to do)
        """Write what is still to be written."""


def check_ending(out: str | os.PathLike[str]) -> None:
    """Raise an error, before the work starts, if the file can't be written."""
    path = Path(out)
    if path.suffix.lower() not in ENDINGS:
        raise ValueError(f"{path}: expected a name that ends with {', '.join(ENDINGS)}")
    check_file_place(path)
    if path.suffix.lower() == ".parquet":
        pyarrow()


@contextmanager
def open_sink(
    out: str | os.PathLike[str], n_items: int, columns: Sequence[str], dtype: DTypeLike, *, flat: bool = False
) -> Iterator[Sink]:
    """Open a file for writing; it appears, complete, only when closed without an error.

    Parameters
    ----------
    out : path-like
        ``.npy``, ``.parquet`` or ``.csv``.
    n_items : int
        Number of rows.
    columns : sequence of str
        Names of the columns of values.
    dtype : dtype
        Type of the values.
    flat : bool, default=False
        Whether the .npy array of a single column has one dimension.
    """
    check_ending(out)
    kind: Callable[..., Sink] = {".npy": _Npy, ".parquet": _Parquet, ".csv": _Csv}[Path(out).suffix.lower()]
    with draft(out) as path, path.open("xb") as file:
        sink = kind(file, n_items, columns, np.dtype(dtype), flat)
        yield sink
        sink.close()
        file.flush()
        os.fsync(file.fileno())


class _Npy(Sink):
    def __init__(self, file: Any, n_items: int, columns: Sequence[str], dtype: np.dtype[Any], flat: bool) -> None:
        super().__init__(file, n_items, columns, dtype, flat)
        shape = (n_items,) if flat and len(columns) == 1 else (n_items, len(columns))
        npy.write_array_header_1_0(file, {"descr": npy.dtype_to_descr(dtype), "fortran_order": False, "shape": shape})

    def write(self, values: NDArray[Any], who: Mapping[str, Sequence[Any]]) -> None:
        self._file.write(np.ascontiguousarray(values, self._dtype).data)


class _Csv(Sink):
    _begun = False

    def write(self, values: NDArray[Any], who: Mapping[str, Sequence[Any]]) -> None:
        rows = [[*who, *self._columns]] if not self._begun else []
        self._begun = True
        names = [[guard(name) for name in column] for column in who.values()]
        # Python floats are written with all their digits.
        rows += [list(row) for row in zip(*names, *values.T.tolist(), strict=True)]
        lines = _Lines()
        csv.writer(lines).writerows(rows)
        self._file.write("".join(lines).encode())


class _Lines(list[str]):
    write = list.append


class _Parquet(Sink):
    _writer: Any = None

    def write(self, values: NDArray[Any], who: Mapping[str, Sequence[Any]]) -> None:
        arrow = pyarrow()
        numbers = {name: np.ascontiguousarray(values[:, j], self._dtype) for j, name in enumerate(self._columns)}
        table = arrow.table({**who, **numbers})
        if self._writer is None:
            # Learned coordinates hardly repeat, so that dictionary encoding would only cost time.
            self._writer = arrow.parquet.ParquetWriter(self._file, table.schema, use_dictionary=list(who))
        self._writer.write_table(table)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
