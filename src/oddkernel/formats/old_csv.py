"""CSV files of earlier versions.

The first line says whether items are given by name or by index. Rows whose kind is ``item`` list the names.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from reprlib import repr as brief

from ..comparisons.answers import POSITIONS
from ..comparisons.rows import Rows
from ..support.formulas import NUMBER, unguard
from ..support.text import Records, csv_records
from .column_checks import check_columns, check_version

NEWEST = 2
"""From this version on, an apostrophe stands before text that a spreadsheet would run."""
_BEGINNING = "# oddkernel"
_DECLARATION = "# oddkernel comparisons {version}; items: {items}"
_DECLARED = re.compile(_DECLARATION.format(version=r"(\d{1,9})", items="(names|indices)"), re.ASCII)
# Derived: float64 represents every whole number of 15 digits.
_INDEX = re.compile(r"\d{1,15}", re.ASCII)


def is_declared(text: str) -> bool:
    """Whether the first line is such a one."""
    return text.startswith((_BEGINNING, f'"{_BEGINNING}'))


def declared_rows(text: str) -> Rows:
    """Read a file of an earlier version."""
    records = csv_records(text)
    by_name, version = _declaration(records[0][1])
    if not text.endswith(("\n", "\r")):
        raise ValueError("the last line is cut off; expected it to end with a line break")
    if len(records) < 2:
        raise ValueError("no line names the columns; expected at least a, b, c, answer")
    return listed_rows(records[1:], by_name, version)


def lists_items(records: Records) -> bool:
    """Whether rows of kind item list names, in a table without such a first line."""
    header = records[0][1] if records else []
    kind = header.index("kind") if "kind" in header else len(header)
    return any(cells[kind : kind + 1] == ["item"] for _, cells in records[1:])


def listed_rows(records: Records, by_name: bool = True, version: int = 1) -> Rows:
    """Read a header and the rows below it, some of which may list the items."""
    names = records[0][1]
    check_columns(names)
    items: list[str] = []
    places: list[str] = []
    rows: list[dict[str, str]] = []
    for place, cells in records[1:]:
        if len(cells) != len(names):
            seen = f"{len(cells)} fields" if cells else "an empty line"
            raise ValueError(f"{place}: {seen}; expected {len(names)} fields, one for each column")
        row = dict(zip(names, map(unguard, cells) if version >= NEWEST else cells, strict=True))
        if row.get("kind") == "item":
            items.append(_item(row, place))
        else:
            places.append(place)
            rows.append(row)
    if items and not by_name:
        raise ValueError("items stand by index, yet rows of kind item give names; expected one or the other")
    columns = {name: [_value(name, row[name], by_name) for row in rows] for name in names}
    return Rows(columns, places, by_name, items or None)


def _declaration(cells: Sequence[str]) -> tuple[bool, int]:
    # Spreadsheets pad every line to the same number of cells.
    declared = None if any(cells[1:]) else _DECLARED.fullmatch(cells[0])
    if declared is None:
        wanted = _DECLARATION.format(version=1, items="names")
        raise ValueError(f"line 1: {brief(','.join(cells))}; expected {wanted!r}, or indices in place of names")
    check_version(int(declared[1]), NEWEST)
    return declared[2] == "names", int(declared[1])


def _item(row: dict[str, str], place: str) -> str:
    if not row["a"] or any(value for name, value in row.items() if name not in ("kind", "a")):
        raise ValueError(
            f"{place}: a row of kind item holds {brief(list(row.values()))}; expected a name in a, no more"
        )
    return row["a"]


def _value(column: str, cell: str, by_name: bool) -> str | int | float | None:
    if not cell:
        return None
    if column in ("bound", "weight") and NUMBER.fullmatch(cell):
        return float(cell)
    if column in POSITIONS and not by_name and _INDEX.fullmatch(cell):
        return int(cell)
    return cell
