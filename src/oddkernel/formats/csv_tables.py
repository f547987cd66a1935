"""Plain tables: a header, then a row for each answer; CSV and Excel files, our own and those that people have."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from reprlib import repr as brief
from typing import Any

from ..comparisons import Comparisons
from ..comparisons.answers import POSITIONS
from ..comparisons.kinds import Kind
from ..comparisons.rows import Rows
from ..support.excel import workbook_records
from ..support.formulas import NUMBER, guard, unguard
from ..support.text import DELIMITERS, Records, announced, csv_records, decode, header_of, refuse_title, with_points
from .detail_columns import DETAILS, Details
from .find_columns import Heads, MissingColumns, find_heads, lacks, missing_columns
from .old_csv import declared_rows, is_declared, listed_rows, lists_items

# Derived: float64 represents every whole number of 15 digits.
_INDEX = re.compile(r"\d{1,15}", re.ASCII)
_WHOLE = re.compile(r"(\d{1,15})(\.0*)?", re.ASCII)
"""Columns with gaps hold whole numbers as 3.0."""
_FIRST = ("answer", "rater", "weight", "bound")
_LAST = "kind"
_ODD_ONE_OUT = Kind.ODD_ONE_OUT.name.lower()
_NO_COLUMNS: Mapping[str, str] = {}


def write_csv(comparisons: Comparisons, details: Details) -> bytes:
    """Write a table whose last column, kind, is never empty: a row that was cut off can't be taken for a whole one."""
    columns, items = {**comparisons.to_dict(), **details}, comparisons.items
    for text in chain(items or (), columns["rater"]):
        if text is not None and len(text) > csv.field_size_limit():
            raise ValueError(f"{brief(text)} is too long for a CSV field; expected jsonl or parquet as format")
    by = "_index" if items is None else "_name" if items and all(map(_INDEX.fullmatch, items)) else ""
    order = [*POSITIONS, *_FIRST, *details, _LAST]
    sheet = io.StringIO(newline="")
    # The default line ending, CRLF, makes every supported Python quote a lone CR or LF within a name.
    writer = csv.writer(sheet)
    writer.writerow([f"{name}{by}" if name in POSITIONS else name for name in order])
    writer.writerows([guard(value) for value in row] for row in zip(*(columns[name] for name in order), strict=True))
    return sheet.getvalue().encode()


def csv_rows(data: bytes, columns: Mapping[str, str] = _NO_COLUMNS) -> Rows:
    """Read a table as text, its cells separated by commas, semicolons, tabs or blanks."""
    text = decode(data)
    if is_declared(text):
        if columns:
            raise ValueError("columns are given, but the file has our own; expected none")
        return declared_rows(text)
    told, text = announced(text)
    possible = [told] if told else [*DELIMITERS, " "]
    # The header decides: only one way of reading it gives the columns that are needed.
    delimiter = min(
        possible, key=lambda each: (len(lacks(header_of(text, each), columns)), -len(header_of(text, each)))
    )
    records = csv_records(text, delimiter)
    if not columns and lists_items(records):
        return listed_rows(records)
    return table_rows(records, columns, decimal_comma=delimiter != ",")


def excel_rows(data: bytes, columns: Mapping[str, str] = _NO_COLUMNS) -> Rows:
    """Read a table from an .xlsx file."""
    return table_rows(workbook_records(data), columns)


def table_rows(records: Records, columns: Mapping[str, str], *, decimal_comma: bool = False) -> Rows:
    """Understand the records of a table, of which the first that isn't empty is the header."""
    refuse_title(records)
    records = [(place, cells) for place, cells in records if any(map(str.strip, cells))]
    if not records:
        raise ValueError("no line names the columns; expected at least a, b, c, answer")
    header, notes = records[0][1], list[str]()
    if _is_qualtrics(records):
        notes.append(f"{records[1][0]} and {records[2][0]}, Qualtrics' further header lines, left out.")
        del records[1:3]
    elif _has_row_names(records):
        notes.append("Row names, which R wrote before the first column, left aside.")
        records = [records[0], *((place, cells[1:]) for place, cells in records[1:])]
    for place, cells in records[1:]:
        if cells == header:
            raise ValueError(f"{place}: the column names again, as in two files joined; expected one file")
    heads = find_heads(header, columns)
    is_ours = not columns and _is_ours(header, heads)
    if len(records) == 1 and not is_ours:
        raise ValueError("no answers: there is a header and no row below it")
    read = unguard if is_ours else str.strip
    rows = [(place, _whole(cells, len(header), place)) for place, cells in records[1:]]
    aside = [head for head in heads.aside if head.strip()]
    notes += [f"Columns left aside: {', '.join(aside)}."] if aside else []
    values: dict[str, list[Any]] = {}
    for name, position in heads.place.items():
        values[name] = [read(row[position]) or None for _, row in rows]
    numbers: dict[str, list[str]] = {
        name: [cell or "" for cell in values[name]] for name in ("weight", "bound") if name in values
    }
    for name, cells in (with_points(numbers) if decimal_comma else numbers).items():
        values[name] = [_number(cell) for cell in cells]
    if "answer" not in values and any(kind in (None, _ODD_ONE_OUT) for kind in values["kind"]):
        raise MissingColumns(missing_columns(header, ["answer"]))
    return _of_items(values, [place for place, _ in rows], heads, notes, is_ours=is_ours)


def _of_items(
    values: dict[str, list[Any]], places: Sequence[str], heads: Heads, notes: list[str], *, is_ours: bool
) -> Rows:
    entries = [entry for letter in POSITIONS for entry in values[letter] if entry is not None]
    doubt = None
    if heads.by == "_index":
        for letter in POSITIONS:
            values[letter] = [_index(entry) for entry in values[letter]]
    elif entries and not heads.by and not is_ours and all(map(NUMBER.fullmatch, entries)):
        doubt = (
            "all items are numbers, which could be names or indices; expected columns called a_name, b_name, "
            "c_name or a_index, b_index, c_index, which count from 0 (--columns a_name=a,b_name=b,c_name=c), or the "
            "number of the first item: count_from=0 or count_from=1 (--count-from)"
        )
        for letter in POSITIONS:
            values[letter] = [entry if entry is None else str(_index(entry)) for entry in values[letter]]
    answered = None if is_ours else heads.called
    return Rows(values, places, heads.by != "_index", notes=notes, heads=answered, doubt=doubt)


def _index(entry: str | None) -> str | int | None:
    """The index that a cell holds, or the cell as it is."""
    whole = None if entry is None else _WHOLE.fullmatch(entry)
    return int(whole[1]) if whole else entry


def _is_ours(header: Sequence[str], heads: Heads) -> bool:
    """Whether the columns are those that `write_csv` writes, in that order."""
    details = [name for name in header if name in DETAILS]
    return list(header) == [*(f"{letter}{heads.by}" for letter in POSITIONS), *_FIRST, *details, _LAST]


def _is_qualtrics(records: Records) -> bool:
    """Whether the third line gives the ids under which Qualtrics would import the columns again."""
    ids = [cell.lstrip() for cell in records[2][1] if cell.strip()] if len(records) > 2 else []
    return bool(ids) and all(cell.startswith('{"ImportId"') for cell in ids)


def _has_row_names(records: Records) -> bool:
    """Whether all rows begin with their number, one cell more than there are columns, as R's write.table has it."""
    header, *rows = (cells for _, cells in records)
    return len(rows) > 1 and all(
        len(cells) == len(header) + 1 and cells[0] == str(number) for number, cells in enumerate(rows, 1)
    )


def _whole(cells: list[str], width: int, place: str) -> list[str]:
    """The cells of a row, without empty ones after the last column."""
    if len(cells) < width or any(map(str.strip, cells[width:])):
        raise ValueError(f"{place}: {len(cells)} fields; expected {width} fields, one for each column")
    return cells[:width]


def _number(cell: str) -> object:
    return float(cell) if NUMBER.fullmatch(cell) else cell or None
