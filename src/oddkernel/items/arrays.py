"""Features that other programs computed, with the names of the files that they are about."""

from __future__ import annotations

import hashlib
import io
import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from reprlib import repr as brief
from typing import Any

import numpy as np

from ..support.parquet import pyarrow, read_table
from ..support.types import Array
from . import tables
from .encoders import Row
from .sources import Source
from .tables import Items

ENDINGS = (".safetensors",)
"""Files of features besides those that `tables.read` takes."""

FILE_NAME_COLUMNS = (*tables.NAME_COLUMNS, "file_name", "filename", "path", "image", "text")
"""What a column that says which item is meant may be called, in the tables of other programs."""

# Lists of file names in the order of the rows: thingsvision's, and those of Hugging Face's image folders.
_LISTS = ("file_names.txt", "metadata.csv", "metadata.jsonl")
_SAFETENSORS = {"F16": "<f2", "F32": "<f4", "F64": "<f8"}
_LONGEST_HEADER = 100_000_000


class FromFile:
    """An encoder that looks features up in a file of another program; see `read_array` for what it may be.

    Items are found by name: by the whole path, or by its end, as in ``/data/photos/birds/wren.jpg`` for the item
    ``birds/wren.jpg``. Texts are also found by themselves.
    """

    together = True

    def __init__(self, path: Path) -> None:
        self._file = _only_file(path)
        if not self._file.is_file():
            raise ValueError(f"{path}: no such file; expected features in one of the formats of oddkernel features")
        self.name = f"{self._file.name} {hashlib.sha256(self._file.read_bytes()).hexdigest()[:12]}"
        self.option = str(path.resolve())
        self.prefix = f"{self._file.stem} "

    def rows(self, source: Source) -> Iterator[Row]:
        """The features of each item."""
        table = read_array(self._file)
        if table.names is None:
            raise ValueError(
                f"{self._file}: the features don't name their items; expected {_LISTS[0]} beside it, with a line for "
                "each row"
            )
        row_of = _by_end(table.names)
        texts = source.texts or (None,) * len(source.names)
        found = [row_of.get(name, row_of.get(text)) for name, text in zip(source.names, texts, strict=True)]
        if not any(row is not None and row >= 0 for row in found):
            raise ValueError(
                f"{self._file}: no row is called like any of the items; the first row is {brief(table.names[0])}, the "
                f"first item {brief(source.names[0])}"
            )
        for index, row in enumerate(found):
            if row is None or row < 0:
                problem = "no row" if row is None else "two rows"
                yield Row(index, None, f"{problem} of that name in {self._file.name}")
            else:
                yield Row(index, table.X[row])


def read_array(path: Path) -> Items:
    """Features in a file, as other programs write them.

    Parameters
    ----------
    path : Path
        ``.npy``, ``.txt`` (numbers alone) or ``.safetensors`` with ``file_names.txt`` beside it, a name a line, as
        thingsvision writes it, or ``metadata.csv`` or ``metadata.jsonl`` with a column called file_name, as image
        folders of Hugging Face have it; ``.parquet`` with a column of lists, as Hugging Face's datasets write
        embeddings; or any file that `tables.read` takes.
    """
    suffix = path.suffix.lower()
    data = path.read_bytes()
    try:
        if suffix == ".parquet":
            found = _from_parquet(data)
            return tables.read(path) if found is None else found
        if suffix == ".safetensors":
            table = Items(_checked(_from_safetensors(data)))
        elif suffix == ".txt" and _is_numbers(data):
            table = Items(_checked(np.loadtxt(io.BytesIO(data), ndmin=2)))
        else:
            table = tables.read(path)
    except ValueError as error:
        told = str(error)
        raise ValueError(told if told.startswith(str(path)) else f"{path}: {told}") from None
    if table.names is not None:
        return table
    names = _names_beside(path)
    if names is not None and len(names) != len(table.X):
        raise ValueError(f"{path}: {len(table.X)} rows for {len(names)} file names beside it; expected one for each")
    return Items(table.X, names, table.columns)


def _only_file(path: Path) -> Path:
    """The one file of features in a folder."""
    if not path.is_dir():
        return path
    endings = (".npy", ".npz", ".parquet", *ENDINGS)
    found = [file for file in sorted(path.iterdir()) if file.suffix.lower() in endings]
    found = found or [file for file in (path / "features.txt",) if file.is_file()]
    if len(found) != 1:
        listed = f"{len(found)} files of features" if found else "no file of features"
        raise ValueError(f"{path}: {listed}; expected one that ends with {', '.join(endings)}: name it with --with")
    return found[0]


def _names_beside(path: Path) -> tuple[str, ...] | None:
    file = next((file for name in _LISTS if (file := path.with_name(name)).is_file()), None)
    if file is None:
        return None
    if file.suffix == ".txt":
        return tuple(line for line in file.read_text(encoding="utf-8").splitlines() if line)
    if file.suffix == ".jsonl":
        lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
        named = [line.get("file_name") if isinstance(line, dict) else None for line in lines]
    else:
        named = list(tables.text_columns(file, "a list of file names").get("file_name", ()))
    if not named or not all(isinstance(name, str) for name in named):
        raise ValueError(f"{file}: expected a column called file_name with the name of each file")
    return tuple(map(str, named))


def _from_parquet(data: bytes) -> Items | None:
    """Features in the one column of lists of numbers; None if there is no such column."""
    types = pyarrow().types
    table = read_table(data)

    def is_list(held: Any) -> bool:
        listed = types.is_list(held) or types.is_large_list(held) or types.is_fixed_size_list(held)
        return bool(listed and (types.is_floating(held.value_type) or types.is_integer(held.value_type)))

    lists = [column.name for column in table.schema if is_list(column.type)]
    if not lists:
        return None
    if len(lists) > 1:
        raise ValueError(f"columns {', '.join(lists)} all hold lists of numbers; expected one of them")
    rows = table.column(lists[0]).to_pylist()
    width = len(rows[0] or ()) if rows else 0
    for row, values in enumerate(rows):
        if values is None or len(values) != width or None in values:
            raise ValueError(f"row {row}, column {lists[0]}: {brief(values)}; expected {width} numbers, as in row 0")
    named = next((column for column in FILE_NAME_COLUMNS if column in table.column_names), None)
    names = None
    if named is not None:
        cells = table.column(named).to_pylist()
        # Hugging Face stores an image as its bytes and its path.
        names = tuple(str(cell.get("path") if isinstance(cell, dict) else cell) for cell in cells)
    return Items(_checked(np.array(rows)), names)


def _from_safetensors(data: bytes) -> Array:
    """The one matrix in a file of safetensors: a JSON header with types, shapes and offsets, then plain numbers."""
    length = int.from_bytes(data[:8], "little")
    if not 0 < length <= min(_LONGEST_HEADER, len(data) - 8):
        raise ValueError("not a readable file of safetensors")
    header = json.loads(data[8 : 8 + length])
    found = [each for name, each in header.items() if name != "__metadata__"] if isinstance(header, dict) else []
    if len(found) != 1 or not isinstance(found[0], dict):
        raise ValueError(f"{len(found)} arrays; expected one, of shape (items, features)")
    about = found[0]
    kind, shape, offsets = (about.get(name, "") for name in ("dtype", "shape", "data_offsets"))
    if kind not in _SAFETENSORS or not _are_counts(shape) or not _are_counts(offsets) or len(offsets) != 2:
        raise ValueError(f"an array of type {brief(kind)}, shape {brief(shape)}; expected {', '.join(_SAFETENSORS)}")
    content = data[8 + length :][offsets[0] : offsets[1]]
    dtype = np.dtype(_SAFETENSORS[kind])
    if math.prod(shape) * dtype.itemsize != len(content):
        raise ValueError(f"an array of shape {shape} in {len(content)} bytes; the file was cut off")
    return np.frombuffer(content, dtype).reshape(shape)


def _are_counts(values: object) -> bool:
    return isinstance(values, list) and all(type(value) is int and value >= 0 for value in values)


def _checked(array: Array) -> Array:
    if array.ndim != 2 or not array.size:
        raise ValueError(f"an array of shape {array.shape}; expected a row for each item")
    if not np.isfinite(array).all():
        row = int(np.argwhere(~np.isfinite(array))[0, 0])
        raise ValueError(f"row {row} holds NaN or infinite values; expected finite numbers")
    return array.astype(np.float64)


def _is_numbers(data: bytes) -> bool:
    try:
        return bool([float(cell) for cell in data.split(b"\n", 1)[0].split()])
    except ValueError:
        return False


def _by_end(names: Sequence[str]) -> dict[str | None, int]:
    """The row of each name and of each end of its path; -1 where two rows share an end."""
    found: dict[str | None, int] = {}
    whole = {name: row for row, name in enumerate(names)}
    for row, name in enumerate(names):
        parts = name.replace("\\", "/").split("/")
        for start in range(len(parts)):
            end = "/".join(parts[start:])
            found[end] = -1 if found.get(end, row) != row else row
    found.update(whole)
    return found
