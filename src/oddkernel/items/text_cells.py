"""Tables of items as text cells, which is what CSV files and Excel workbooks hold: from cells to features and names."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from reprlib import repr as brief
from shlex import quote
from typing import NamedTuple

import numpy as np

from ..support.formulas import unguard
from ..support.text import Records, check_distinct, with_points
from ..support.types import Array
from .name_column import check_header, counts_rows, is_number, is_row_label, name_column, numbers_items

EXPECTED_NUMBER = (
    "expected a number; drop the column, encode it as numbers if it holds categories or dates, or choose it as the "
    "column of names if it is one (names=, --names)"
)
# How programs write that nothing is there: R, pandas, Excel and SPSS.
_MISSING = ("", "na", "nan", "null", "none", "n/a", "#n/a", "-", ".", "?")
# Numbers with separators of thousands that can't be decimal signs: several, apostrophes, blanks, underscores.
_THOUSANDS = re.compile(
    r"[+-]?\d{1,3}(([,.' _\u2019\u00a0\u202f])\d{3}(\2\d{3})+|[' _\u2019\u00a0\u202f]\d{3})([,.]\d+)?"
)

# How pandas, R and Excel write truth values.
_TRUTH = {"true": 1.0, "false": 0.0}


class Cells(NamedTuple):
    """What the cells of a table hold.

    Attributes
    ----------
    X : array of shape (n, d)
        The features.
    names : list of str, or None
        The items' names.
    columns : tuple of str
        The names of the features.
    """

    X: Array
    names: list[str] | None
    columns: tuple[str, ...]


def read_cells(header: Sequence[str], rows: Records, names: str | None, *, decimal_comma: bool) -> Cells:
    """Features and names from the rows of a table.

    Parameters
    ----------
    header : sequence of str
        The names of the columns.
    rows : list of (str, list of str)
        Where each row stands, for errors, and its cells.
    names : str or None
        The column of the items' names; by default the one that `name_column` finds. A column without a name, as R
        and pandas write an index, is left out if it only counts the rows, or if the items have names elsewhere; it is
        refused if it holds other numbers.
    decimal_comma : bool
        Whether a comma in a number is the decimal sign.
    """
    if not header:
        raise ValueError("the file is empty; expected a line of column names, then a line for each item")
    if all(is_number(cell) for cell in header):
        raise ValueError("line 1 holds only numbers; expected the names of the columns")
    check_distinct(header)
    check_header(header, names)
    cells = {column: [row[j] for _, row in rows] for j, column in enumerate(header)}
    if names is not None and names not in cells:
        raise ValueError(f"no column called {names}; there are {', '.join(header)}")
    labels = {column: _numbers(cells[column]) for column in header if column != names and is_row_label(column)}
    cells = {column: values for column, values in cells.items() if not counts_rows(labels.get(column))}
    called = names if names is not None else name_column(list(cells), [])
    written = {column: values for column, values in cells.items() if column != called}
    if decimal_comma:
        written = dict(with_points(written))
    features = {column: _numbers(values) for column, values in written.items()}
    if called is None:
        texts = [column for column, values in features.items() if values is None and not _has_numbers(written[column])]
        called = texts[0] if texts[:1] == [header[0]] and is_row_label(header[0]) else name_column(list(cells), texts)
        features = {column: values for column, values in features.items() if column != called}
    found = {column: values for column, values in features.items() if values is not None}
    wrong = [column for column in features if column not in found]
    if wrong:
        firsts = [next(row for row, cell in enumerate(written[column]) if not _is_finite(cell)) for column in wrong]
        row, column = min(firsts), wrong[firsts.index(min(firsts))]
        raise ValueError(f"{rows[row][0]}, column {column}: {_problem(cells[column][row])}")
    for column in labels.keys() & found.keys():
        if called is None or (found[column] % 1).any():
            raise ValueError(_is_an_index(column, found[column]))
        del found[column]  # the items have names
    for column, values in found.items():
        if numbers_items(column, values):
            raise ValueError(is_no_feature(column))
    X = np.column_stack(list(found.values())) if found else np.empty((len(rows), 0))
    return Cells(X, None if called is None else [unguard(name) for name in cells[called]], tuple(map(unguard, found)))


def is_no_feature(column: str) -> str:
    """What to say about a column that numbers the items."""
    return (
        f"column {column} numbers the items, so it is no feature; drop it, or choose it as the column of names, in "
        f"every command that reads this table: names={column!r} (--names {quote(column)})"
    )


def _numbers(cells: Sequence[str]) -> Array | None:
    """The numbers in a column, 1 and 0 where all cells say true or false; None if some are not finite numbers."""
    if cells and all(cell.casefold() in _TRUTH for cell in cells):
        return np.array([_TRUTH[cell.casefold()] for cell in cells])
    if any("_" in cell for cell in cells):  # as in `is_number`, without reading each number twice
        return None
    try:
        numbers = np.array([float(cell) for cell in cells])
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def _has_numbers(cells: Sequence[str]) -> bool:
    """Whether some cells are numbers, or nothing is there: a feature with a mistake in it, rather than names."""
    return any(is_number(cell) for cell in cells) or all(cell.strip().casefold() in _MISSING for cell in cells)


def _is_finite(cell: str) -> bool:
    return is_number(cell) and math.isfinite(float(cell))


def _is_an_index(column: str, values: Array) -> str:
    """Why a column of row labels is neither left out nor a feature."""
    called = repr(column) if column else "without a name"
    if (values % 1).any():
        return f"the column {called} holds {values[values % 1 != 0][0]:g}; expected a name for a column of features"
    return (
        f"the column {called} is an index other than 0, 1, 2, …, as of a table that was sorted or cut: its "
        "rows could be meant by their place or by this number; expected the table without it (pandas: "
        "to_csv(..., index=False)) if answers number the rows as they stand, or item as its name if answers call the "
        "items by these numbers"
    )


def _problem(cell: str) -> str:
    if cell.strip().casefold() in _MISSING:
        return (
            f"{brief(cell)}, a missing value; expected a number in every row: fill it in, or drop the row or the column"
        )
    if _THOUSANDS.fullmatch(cell):
        return f"{brief(cell)}; expected a number without separators of thousands"
    if cell.count(",") == 1 and is_number(cell.replace(",", ".")):
        return (
            f"{brief(cell)}; expected a number with a decimal point: where commas separate the cells, a comma in a "
            "number could also separate thousands"
        )
    return f"{brief(cell)}; {'expected a finite number' if is_number(cell) else EXPECTED_NUMBER}"
