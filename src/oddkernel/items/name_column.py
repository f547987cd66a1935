"""Which column of a table holds the items' names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..support.parquet import pyarrow

NAME_COLUMNS = ("item", "name")
"""Columns that hold the items' names unless another is chosen. Chosen by hand."""


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
    called = [column for column in columns if column in NAME_COLUMNS]
    called = called or [column for column in columns if column.strip().casefold() in NAME_COLUMNS]
    if len(called) > 1:
        raise ValueError(f"both {called[0]} and {called[1]} are there; choose one of them for the names, or drop one")
    if called:
        return called[0]
    return columns[0] if len(columns) > 1 and list(texts) == [columns[0]] else None


def is_number(text: str) -> bool:
    """Whether this is how a number is written."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def is_arrow_text(held: Any) -> bool:
    """Whether this type of Arrow is text, or categories that are text."""
    types = pyarrow().types
    if types.is_dictionary(held):
        held = held.value_type
    return bool(types.is_string(held) or types.is_large_string(held) or types.is_string_view(held))
