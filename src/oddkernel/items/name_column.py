"""Which columns of a table hold the items' names or number the items, and are no features."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..support.parquet import pyarrow
from ..support.types import Array, Indices

NAME_COLUMNS = ("item", "name")
"""Columns that hold the items' names unless another is chosen. Chosen by hand."""

# Columns that number the items. Chosen by hand.
_NUMBERING = ("id", "index", "row")
# The heads that pandas and R give to a column of row numbers or row names; pandas' repeat where it is written again.
_ROW_LABELS = re.compile(r"|Unnamed: 0(\.\d+)*|rownames|row\.names")


def called_so(columns: Iterable[str], names: Sequence[str]) -> list[str]:
    """The columns with one of these names, in their order; where there is none, those that have it in capital letters.

    Examples
    --------
    >>> called_so(["Text", "item"], ["text"]), called_so(["Text", "text"], ["text"])
    (['Text'], ['text'])
    """
    heads = list(columns)
    found = [name for name in names if name in heads]
    return found or [column for name in names for column in heads if column.strip().casefold() == name]


def name_column(columns: Sequence[str], texts: Sequence[str]) -> str | None:
    """The column that holds the items' names, or None; ``texts`` are the columns that hold text.

    It is the column called item or name, in capital letters or not. Where there is none, it is the first column, if
    that is the only one with text and there are others. Two columns called item and name are refused.

    Examples
    --------
    >>> name_column(["legs", "Name"], ["Name"])
    'Name'
    >>> name_column(["animal", "legs"], ["animal"])
    'animal'
    >>> name_column(["legs", "kind"], ["kind"]) is None
    True
    """
    called = called_so(columns, NAME_COLUMNS)
    if len(called) > 1:
        raise ValueError(f"both {called[0]} and {called[1]} are there; choose one of them for the names, or drop one")
    if called:
        return called[0]
    return columns[0] if len(columns) > 1 and list(texts) == [columns[0]] else None


def is_row_label(column: str) -> bool:
    """Whether a column is called as pandas and R call an index.

    Examples
    --------
    >>> is_row_label(""), is_row_label("Unnamed: 0"), is_row_label("legs")
    (True, True, False)
    """
    return _ROW_LABELS.fullmatch(column) is not None


def counts_rows(values: Array | None) -> bool:
    """Whether these are numbers that count the rows in order, from 0 or from 1; None are no numbers."""
    return values is not None and any(np.array_equal(values, np.arange(len(values)) + first) for first in (0, 1))


def is_numbering(column: str) -> bool:
    """Whether a column is called as columns are that number the items."""
    return column.strip().casefold() in _NUMBERING


def numbers_items(column: object, values: Array) -> bool:
    """Whether a column of numbers is no feature, as its name and different whole numbers in it say.

    Examples
    --------
    >>> numbers_items("id", np.array([7.0, 3.0])), numbers_items("legs", np.array([7.0, 3.0]))
    (True, False)
    """
    return is_numbering(str(column)) and len(np.unique(values)) == len(values) and not (values % 1).any()


def whole_numbers(labels: Any) -> Indices | None:
    """The whole numbers in an index, whatever their type, text among them; None if others are there.

    Examples
    --------
    >>> whole_numbers([2.0, 1.0]), whole_numbers(["2", "1"]), whole_numbers(["ant", "1"])
    (array([2, 1]), array([2, 1]), None)
    """
    if isinstance(labels, range) or getattr(labels, "dtype", object) == np.int64:
        return np.asarray(labels, dtype=np.intp)
    numbers = []
    for label in labels:
        number = _whole(label)
        if number is None:
            return None
        numbers.append(number)
    return np.array(numbers, dtype=np.intp)


def _whole(label: object) -> int | None:
    if isinstance(label, str):
        # Derived: int64 represents every whole number of 18 digits.
        return int(label) if len(label) <= 18 and label.isdecimal() and label == str(int(label)) else None
    if isinstance(label, (bool, np.bool_)) or not isinstance(label, (int, float, np.integer, np.floating)):
        return None
    return int(label) if -(10**18) < label < 10**18 and label == int(label) else None


def check_header(header: Sequence[str], names: str | None) -> None:
    """Refuse a first line that may be an item: text, then numbers alone.

    pandas calls columns 0, 1, 2, …; then the first cell is empty or calls the column of names.
    """
    first, others = header[0], [cell.replace(",", ".") for cell in header[1:]]  # decimal commas, too
    if is_number(first) or not others or not all(map(is_number, others)) or is_row_label(first) or first == names:
        return
    if not is_numbering(first) and first.strip().casefold() not in NAME_COLUMNS:
        raise ValueError(
            f"line 1 holds {first}, then only numbers, so it may be an item; expected a line with the names of the "
            "columns above it; or, if it is that line, item in the place of its first cell"
        )


def is_number(text: str) -> bool:
    """Whether this is how a number is written; Python's 1_000 is not, as other programs take it for text."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def is_arrow_text(held: Any) -> bool:
    """Whether this type of Arrow is text, or categories that are text."""
    types = pyarrow().types
    if types.is_dictionary(held):
        held = held.value_type
    return bool(types.is_string(held) or types.is_large_string(held) or types.is_string_view(held))
