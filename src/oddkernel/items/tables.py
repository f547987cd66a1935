"""Tables of items: features, with names where there are any, read from and written to files."""

from __future__ import annotations

import csv
import io
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as brief
from typing import Any, TypeVar

import numpy as np

from ..comparisons import Comparisons
from ..comparisons.names import as_items, refuse_blanks
from ..support.excel import workbook_records
from ..support.files import replace
from ..support.formulas import guard, unguard
from ..support.parquet import pyarrow, read_table, table_to_bytes
from ..support.text import Records, check_distinct, csv_table, delimited, table_of
from ..support.types import Array
from .name_column import NAME_COLUMNS as NAME_COLUMNS  # where the tables are, readers look for it
from .name_column import check_header, is_arrow_text, is_number, name_column, numbers_items, whole_numbers
from .text_cells import EXPECTED_NUMBER, is_no_feature, read_cells

T = TypeVar("T")

INDEX_COLUMN = "index"
"""The column of a list of items that holds what answers call them."""
# What arrays in .npz files are called. Chosen by hand.
_NAME_ARRAYS = ("name", "names", "item", "items")
_FEATURE_ARRAYS = ("X", "features")


@dataclass(frozen=True, eq=False)
class Items:
    """What is known about items before anyone was asked.

    Attributes
    ----------
    X : ndarray of shape (n, d)
        Their features.
    names : tuple of str, or None
        Their names.
    columns : tuple of str, or None
        The names of the features.
    """

    X: Array
    names: tuple[str, ...] | None = None
    columns: tuple[str, ...] | None = None

    def join(self, said: Comparisons) -> Comparisons:
        """The answers, about rows of X: joined by name, or by position where neither side has names.

        Examples
        --------
        >>> items = Items(np.zeros((3, 2)), names=("bee", "cat", "ant"))
        >>> items.join(Comparisons.must_link([["ant", "bee"]], items=["ant", "bee"])).shown
        array([[ 2,  0, -1]])
        """
        if self.names is not None and said.items is not None:
            return said.reindex(self.names)
        if self.names is not None:
            raise ValueError(
                "the features name their items but the answers give row numbers, which a re-sorted table would make "
                "wrong; give names to the answers (oddkernel convert ANSWERS named.csv --items FEATURES), or take the "
                "names out of the features"
            )
        if said.items is not None:
            raise ValueError(
                "the answers name their items but the features don't; add a column called item with the names (CSV, "
                "Parquet), or an array called names (.npz)"
            )
        said.check_items(len(self.X))
        return said

    def features(self, wanted: Sequence[str] | None) -> Array:
        """X with its columns in the order of `wanted`, where both sides name them.

        Examples
        --------
        >>> Items(np.array([[1.0, 2.0]]), columns=("width", "height")).features(["height", "width"])
        array([[2., 1.]])
        """
        if wanted is None or self.columns is None:
            return self.X
        check_same_features(self.columns, wanted)
        return self.X[:, [self.columns.index(name) for name in wanted]]


def check_same_features(columns: Sequence[str], wanted: Sequence[str]) -> None:
    """Raise a ValueError unless these are the features learned from, in whatever order."""
    if set(wanted) != set(columns):
        missing, extra = sorted(set(wanted) - set(columns)), sorted(set(columns) - set(wanted))
        raise ValueError(f"the features differ from those learned from: missing {brief(missing)}, new {brief(extra)}")


def read(path: str | os.PathLike[str], *, names: str | None = None) -> Items:
    """Read items from a file.

    Parameters
    ----------
    path : path-like
        ``.npy``: an array of shape (n, d). ``.npz``: arrays called X or features and, if the items have names, name or
        names. ``.csv`` and ``.parquet``: a column for each feature and, if the items have names, a column called item
        or name; a CSV file begins with a line of column names.
    names : str, optional
        The column or array that holds the names, if it is called otherwise.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "animals.csv")
    ...     _ = file.write_text("item,legs,wings\\nant,6,0\\nbee,6,4\\n")
    ...     items = read(file)
    >>> items.names, items.columns, items.X.tolist()
    (('ant', 'bee'), ('legs', 'wings'), [[6.0, 0.0], [6.0, 4.0]])
    """
    reader = _by_suffix(path, READERS)
    data = Path(path).read_bytes()
    try:
        return reader(data, names)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from error


def read_names(path: str | os.PathLike[str], *, names: str | None = None) -> list[str] | dict[str, str]:
    """The items' names in a table, in order or, if a column called index is there, by what it holds.

    Parameters
    ----------
    path : path-like
        A table, or any other file that `read` takes.
    names : str, optional
        The column of names; item or name unless given, or the first if it is the only one with text.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "animals.csv")
    ...     _ = file.write_text("index,item\\n1,ant\\n2,bee\\n")
    ...     read_names(file)
    {'1': 'ant', '2': 'bee'}
    """
    path = Path(path)
    if path.suffix.lower() in (".npy", ".npz"):
        found = read(path, names=names).names
        if found is None:
            raise ValueError(f"{path}: no names of items; expected an array called names")
        return list(found)
    columns = text_columns(path, "features with names")
    try:
        if path.suffix.lower() in _TABLES:
            check_header(list(columns) or [""], names)
        others = [column for column in columns if column != INDEX_COLUMN]
        texts = [column for column in others if not all(map(is_number, columns[column]))]
        chosen = _chosen(columns, names, NAME_COLUMNS) or (texts[0] if texts == others[:1] else None)
        if chosen is None:
            raise ValueError(f"columns {', '.join(columns)}; expected one called {' or '.join(NAME_COLUMNS)}")
        called = list(as_items(columns[chosen]) or ())
        if INDEX_COLUMN not in columns or chosen == INDEX_COLUMN:
            return called
        numbers = list(columns[INDEX_COLUMN])
        if len(set(numbers)) < len(numbers) or "" in numbers:
            raise ValueError(
                f"column {INDEX_COLUMN} is empty somewhere, or holds a value twice; expected distinct ones"
            )
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return dict(zip(numbers, called, strict=True))


def text_columns(path: Path, otherwise: str) -> dict[str, Sequence[str]]:
    """The columns of a CSV, Excel or Parquet table as text; ``otherwise`` is what else could have stood there."""
    suffix = path.suffix.lower()
    try:
        if suffix in _TABLES:
            header, rows = _TABLES[suffix](path.read_bytes())
            check_distinct(header)
            return {unguard(name): [unguard(cells[j]) for _, cells in rows] for j, name in enumerate(header)}
        if suffix == ".parquet":
            table = read_table(path.read_bytes())
            return {
                name: ["" if value is None else str(value) for value in table.column(name).to_pylist()]
                for name in table.column_names
            }
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    raise ValueError(f"{path}: expected {otherwise}, or a table whose name ends with {', '.join(_TABLES)} or .parquet")


def write(path: str | os.PathLike[str], columns: Mapping[str, Sequence[Any] | Array]) -> None:
    """Write columns of equal length to a ``.csv`` or ``.parquet`` file, which appears complete or not at all."""
    replace(path, _by_suffix(path, WRITERS)(columns))


def check_writable(path: str | os.PathLike[str], *others: str) -> None:
    """Raise a ValueError unless `write` knows the file's ending, or it is one of the others."""
    _by_suffix(path, {**WRITERS, **dict.fromkeys(others)})


def _by_suffix(path: str | os.PathLike[str], known: Mapping[str, T]) -> T:
    suffix = Path(path).suffix.lower()
    if suffix not in known:
        raise ValueError(f"{os.fspath(path)}: expected a name that ends with {', '.join(known)}")
    return known[suffix]


def _read_npy(data: bytes, names: str | None) -> Items:
    if names is not None:
        raise ValueError("an .npy file holds no names; expected .npz, .csv or .parquet where names are asked for")
    try:
        array = np.load(io.BytesIO(data), allow_pickle=False)
    except (ValueError, EOFError):
        raise ValueError("not a readable .npy file of numbers") from None
    if not isinstance(array, np.ndarray):
        raise ValueError("several arrays in one file; expected a name that ends with .npz")
    return Items(_as_features(array))


def _read_npz(data: bytes, names: str | None) -> Items:
    try:
        arrays = dict(np.load(io.BytesIO(data), allow_pickle=False))
    # TypeError: a single array, which is no mapping of names to arrays.
    except (zipfile.BadZipFile, EOFError, TypeError, ValueError):
        raise ValueError("not a readable .npz file of numbers and names") from None
    feature_array = _only(arrays, _FEATURE_ARRAYS)
    if feature_array is None:
        raise ValueError(f"arrays {', '.join(arrays) or 'none'}; expected one called {' or '.join(_FEATURE_ARRAYS)}")
    name_array = _chosen(arrays, names, _NAME_ARRAYS)
    X = _as_features(arrays[feature_array])
    return Items(X, None if name_array is None else _as_names(np.asarray(arrays[name_array]).tolist(), len(X)))


def _read_csv(data: bytes, names: str | None) -> Items:
    delimiter, records = delimited(data)
    header, rows = table_of(records)
    return _of_cells(header, rows, names, decimal_comma=delimiter != ",")


def _excel_table(data: bytes) -> tuple[list[str], Records]:
    return table_of(workbook_records(data))


def _read_excel(data: bytes, names: str | None) -> Items:
    return _of_cells(*_excel_table(data), names)


def _of_cells(header: list[str], rows: Records, names: str | None, *, decimal_comma: bool = False) -> Items:
    found = read_cells(header, rows, names, decimal_comma=decimal_comma)
    return Items(
        _as_features(found.X), None if found.names is None else _as_names(found.names, len(found.X)), found.columns
    )


def _read_parquet(data: bytes, names: str | None) -> Items:
    table = read_table(data)
    columns, chosen = parquet_columns(table.schema, names)
    if chosen is None:
        _refuse_other_index(table)
    X = np.empty((table.num_rows, len(columns)))
    for j, column in enumerate(columns):
        values = table.column(column)
        if values.null_count:
            raise ValueError(f"column {column} has {values.null_count} entries missing; expected a number in each row")
        X[:, j] = values.to_numpy()
        if numbers_items(column, X[:, j]):
            raise ValueError(is_no_feature(column))
    if chosen is None:
        return Items(_as_features(X), None, columns)
    called = table.column(chosen).to_pylist()
    numbers = whole_numbers(called) if names is not None else None  # numbers are names only where someone says so
    return Items(_as_features(X), _as_names(called if numbers is None else list(map(str, numbers)), len(X)), columns)


def parquet_columns(schema: Any, names: str | None = None) -> tuple[tuple[str, ...], str | None]:
    """The columns of features and the column of names, if any, in a Parquet file with this schema.

    pandas stores the index of a frame as a further column. Like the index of a frame, it holds the names if it is text,
    and is no feature otherwise.
    """
    types = pyarrow().types
    check_distinct(schema.names)
    texts = [field.name for field in schema if is_arrow_text(field.type)]
    index = _pandas_index(schema)
    columns = [column for column in schema.names if column not in index]
    chosen = _chosen(schema.names, names, NAME_COLUMNS)
    if chosen is None:
        chosen = next((column for column in texts if column in index), None) or name_column(columns, texts)
    features = tuple(column for column in columns if column != chosen)
    for column in features:
        held = schema.field(column).type
        if not (types.is_integer(held) or types.is_floating(held) or types.is_boolean(held)):
            raise ValueError(f"column {column} holds {held}; {EXPECTED_NUMBER}")
    return features, chosen


def _refuse_other_index(table: Any) -> None:
    """Refuse the index of a pandas frame that numbers the rows in another order than theirs."""
    ranges = [each for each in _told_index(table.schema) if isinstance(each, dict)]
    levels: list[Any] = [
        range(each.get("start", 0), each.get("stop", 0), each.get("step", 1) or 1)
        for each in ranges
        if each.get("kind") == "range"
    ]
    levels += [table.column(column).to_pylist() for column in _pandas_index(table.schema)]
    for level in levels:
        numbers = whole_numbers(level)
        if numbers is not None and (numbers != np.arange(len(numbers))).any():
            raise ValueError(
                f"the index of the frame begins with {', '.join(map(str, numbers[:3]))}, so its rows could be meant by "
                "their place or by this number; expected frame.reset_index(drop=True).to_parquet(...) if answers "
                "number the rows as they stand, frame.set_axis(frame.index.astype(str)).to_parquet(...) if they go by "
                "the index"
            )


def _told_index(schema: Any) -> list[Any]:
    """The index of a pandas frame in pandas' own metadata: columns, or the description of a range."""
    try:
        return list((schema.pandas_metadata or {}).get("index_columns", []))
    except ValueError:  # not JSON
        return []


def _pandas_index(schema: Any) -> set[str]:
    """The columns that hold the index of a pandas frame, by pandas' own metadata or by how it calls them."""
    told = _told_index(schema)
    return {column for column in schema.names if column in told or column.startswith("__index_level_")}


def _as_features(array: Array) -> Array:
    if array.ndim != 2 or array.dtype.kind not in "fiub":
        raise ValueError(f"{array.dtype} of shape {array.shape}; expected numbers, a row for each item")
    if not array.size:
        raise ValueError(f"no features: shape {array.shape}; expected at least one item and one feature")
    X = array.astype(np.float64)
    if not np.isfinite(X).all():
        row, column = np.argwhere(~np.isfinite(X))[0]
        raise ValueError(f"row {row}, column {column} holds {X[row, column]}; expected a finite number")
    return X


def _as_names(names: Sequence[Any], n_items: int) -> tuple[str, ...]:
    if len(names) != n_items:
        raise ValueError(f"{len(names)} names for {n_items} items; expected one for each")
    return refuse_blanks(as_items(names) or (), "items")


def _chosen(present: Sequence[str] | Mapping[str, Any], names: str | None, usual: Sequence[str]) -> str | None:
    if names is None:
        return _only(present, usual) or _only(present, [name for name in present if name.strip().casefold() in usual])
    if names not in present:
        raise ValueError(f"no column called {names}; there are {', '.join(present)}")
    return names


def _only(present: Sequence[str] | Mapping[str, Any], usual: Sequence[str]) -> str | None:
    found = [name for name in usual if name in present]
    if len(found) > 1:
        raise ValueError(f"both {found[0]} and {found[1]} are there; choose one of them for the names, or drop one")
    return found[0] if found else None


def _write_csv(columns: Mapping[str, Any]) -> bytes:
    sheet = io.StringIO(newline="")
    writer = csv.writer(sheet)
    writer.writerow(map(guard, columns))
    # Python's own numbers are written with all their digits.
    rows = zip(*(np.asarray(column).tolist() for column in columns.values()), strict=True)
    writer.writerows([guard(value) for value in row] for row in rows)
    return sheet.getvalue().encode()


def _write_parquet(columns: Mapping[str, Any]) -> bytes:
    return table_to_bytes(pyarrow().table(dict(columns)))


READERS: dict[str, Callable[[bytes, str | None], Items]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".csv": _read_csv,
    ".parquet": _read_parquet,
    ".tsv": _read_csv,
    ".txt": _read_csv,
    ".xlsx": _read_excel,
}
_TABLES: dict[str, Callable[[bytes], tuple[list[str], Records]]] = {
    ".csv": csv_table,
    ".tsv": csv_table,
    ".txt": csv_table,
    ".xlsx": _excel_table,
}
WRITERS: dict[str, Callable[[Mapping[str, Any]], bytes]] = {".csv": _write_csv, ".parquet": _write_parquet}
