"""Texts and classes of items, read from a table."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from ..items.tables import NAME_COLUMNS
from ..support.text import check_distinct, csv_table

COLUMNS = ("text", "class")


def read_about(path: str | os.PathLike[str], names: Sequence[str] | None, n_items: int) -> dict[str, list[str]]:
    """Read texts and classes of items from a CSV file, in the items' order.

    Rows are joined by name if both sides have names, and by position if neither has.

    Parameters
    ----------
    path : path-like
        A .csv file with a header: item (or name) if the items have names; text, class, or both. Other columns are
        ignored.
    names : sequence of str, or None
        The items' names.
    n_items : int
        Number of items.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "about.csv")
    ...     _ = file.write_text("item,class\\nbee,insect\\noak,tree\\n")
    ...     read_about(file, ["oak", "bee"], 2)
    {'class': ['tree', 'insect']}
    """
    try:
        return _joined(Path(path).read_bytes(), names, n_items)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None


def _joined(data: bytes, names: Sequence[str] | None, n_items: int) -> dict[str, list[str]]:
    header, records = csv_table(data)
    check_distinct(header)
    name_column = next((column for column in NAME_COLUMNS if column in header), None)
    present = [column for column in COLUMNS if column in header]
    if not present:
        raise ValueError(f"columns {', '.join(header) or 'none'}; expected one called {' or '.join(COLUMNS)}")
    if (name_column is None) != (names is None):
        raise ValueError(
            "it gives no names but the features do; add a column called item"
            if name_column is None
            else "it names items but the features don't; add a column called item to the features"
        )
    rows = [dict(zip(header, cells, strict=True)) for _, cells in records]
    if name_column is None or names is None:
        if len(rows) != n_items:
            raise ValueError(f"{len(rows)} lines for {n_items} items; expected one for each")
        return {column: [row[column] for row in rows] for column in present}
    by_name = {row[name_column]: row for row in rows}
    missing = [name for name in names if name not in by_name]
    if missing:
        raise ValueError(f"nothing about {len(missing)} of {n_items} items, the first being {missing[0]!r}")
    return {column: [by_name[name][column] for name in names] for column in present}
