"""Our own forms of files: CSV, JSON Lines and Parquet, all with the columns of `Comparisons.to_dict`."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from itertools import chain
from reprlib import repr as brief
from typing import Any

from ..comparisons import Comparisons
from ..support.parquet import pyarrow, read_table, table_to_bytes
from ..support.text import csv_records, decode, parse_json
from .detail_columns import DETAILS, Details
from .rows import COLUMNS, POSITIONS, REQUIRED, Rows

VERSION = 1
GUARDED = 2
"""The version of CSV files in which an apostrophe stands before text that a spreadsheet would take for a formula."""


def _check_columns(names: Sequence[str], required: Iterable[str] = REQUIRED) -> None:
    for name in names:
        known = name in COLUMNS or name in DETAILS
        if not known or names.count(name) > 1:
            problem = "stands twice" if known else "is unknown"
            raise ValueError(f"column {brief(name)} {problem}; expected {', '.join(COLUMNS)}, each once at most")
    missing = [name for name in required if name not in names]
    if missing:
        raise ValueError(f"column {', '.join(missing)} is missing; expected at least {', '.join(REQUIRED)}")


def _check_version(version: object, newest: int = VERSION) -> None:
    if type(version) is not int or version < 1:
        raise ValueError(f"version {brief(version)}; expected a whole number from 1 to {newest}")
    if version > newest:
        raise ValueError(f"version {version} of the format is newer than this oddkernel, which reads up to {newest}")


# CSV: the first line says whether items stand by name or by index; rows of kind "item" list all names in order.

_DECLARATION = "# oddkernel comparisons {version}; items: {items}"
_DECLARED = re.compile(_DECLARATION.format(version=r"(\d{1,9})", items="(names|indices)"), re.ASCII)
_INDEX = re.compile(r"\d{1,15}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")


def guard(value: object) -> object:
    """What to write in place of a value: text that a spreadsheet would run gets an apostrophe, all else stays.

    Examples
    --------
    >>> guard("=1+1"), guard("'=1+1"), guard("-5"), guard("cat")
    ("'=1+1", "''=1+1", '-5', 'cat')
    """
    is_formula = isinstance(value, str) and _FORMULA.match(value) and not _NUMBER.fullmatch(value)
    return f"'{value}" if is_formula else value


def unguard(cell: str) -> str:
    """What `guard` was given."""
    return cell[1:] if cell.startswith("'") and guard(cell[1:]) == cell else cell


def write_csv(comparisons: Comparisons, details: Details) -> bytes:
    items, columns = comparisons.items, comparisons.to_dict()
    for text in chain(items or (), columns["rater"]):
        if text is not None and len(text) > csv.field_size_limit():
            raise ValueError(f"{brief(text)} is too long for a CSV field; expected jsonl or parquet as format")
    header = [*COLUMNS, *details]
    named = (["item", name, *[None] * (len(header) - 2)] for name in items or ())
    plain = [*named, *map(list, zip(*(columns[name] for name in COLUMNS), *details.values(), strict=True))]
    rows = [[guard(value) for value in row] for row in plain]
    sheet = io.StringIO(newline="")
    version = VERSION if rows == plain else GUARDED  # what needs no apostrophe can be read by older versions, too
    sheet.write(_DECLARATION.format(version=version, items="indices" if items is None else "names") + "\r\n")
    # The default line ending, CRLF, makes every supported Python quote a lone CR or LF within a name.
    writer = csv.writer(sheet)
    writer.writerow(header)
    writer.writerows(rows)
    return sheet.getvalue().encode()


def csv_rows(data: bytes) -> Rows:
    text = decode(data)
    records = csv_records(text)
    declared, version = _csv_declaration(records[0][1]) if records else (None, VERSION)
    if declared:
        del records[0]
        if not text.endswith(("\n", "\r")):
            raise ValueError("the last line is cut off; expected it to end with a line break")
    if not records:
        raise ValueError(f"no line names the columns; expected at least {', '.join(REQUIRED)}")
    names = records[0][1]
    _check_columns(names)
    items: list[str] = []
    places: list[str] = []
    rows: list[dict[str, str]] = []
    for place, cells in records[1:]:
        if len(cells) != len(names):
            seen = f"{len(cells)} fields" if cells else "an empty line"
            raise ValueError(f"{place}: {seen}; expected {len(names)} fields, one for each column")
        row = dict(zip(names, map(unguard, cells) if version >= GUARDED else cells, strict=True))
        if row.get("kind") == "item":
            items.append(_csv_item(row, place))
        else:
            places.append(place)
            rows.append(row)
    named = _csv_named(declared, items, [row[name] for row in rows for name in POSITIONS if row[name]])
    columns = {name: [_csv_value(name, row[name], named) for row in rows] for name in names}
    return Rows(columns, places, named, items or None)


def _csv_declaration(cells: list[str]) -> tuple[str | None, int]:
    if not cells or not cells[0].startswith("# oddkernel"):
        return None, VERSION
    # Spreadsheets pad every line to the same number of cells.
    declared = None if any(cells[1:]) else _DECLARED.fullmatch(cells[0])
    if declared is None:
        wanted = _DECLARATION.format(version=VERSION, items="names")
        raise ValueError(f"line 1: {brief(','.join(cells))}; expected {wanted!r}, or indices in place of names")
    _check_version(int(declared[1]), GUARDED)
    return declared[2], int(declared[1])


def _csv_item(row: dict[str, str], place: str) -> str:
    if not row["a"] or any(value for name, value in row.items() if name not in ("kind", "a")):
        raise ValueError(
            f"{place}: a row of kind item holds {brief(list(row.values()))}; expected a name in a, no more"
        )
    return row["a"]


def _csv_named(declared: str | None, items: list[str], entries: list[str]) -> bool:
    if declared == "indices" and items:
        raise ValueError("items stand by index, yet rows of kind item give names; expected one or the other")
    if declared or items:
        return declared != "indices"
    if entries and all(map(_INDEX.fullmatch, entries)):
        by_name, by_index = (_DECLARATION.format(version=VERSION, items=items) for items in ("names", "indices"))
        raise ValueError(
            f"all items are whole numbers, which could be names or indices; expected a first line that says which: "
            f"{by_name!r} or {by_index!r}"
        )
    return bool(entries)


def _csv_value(column: str, cell: str, named: bool) -> str | int | float | None:
    if not cell:
        return None
    if column in ("bound", "weight") and _NUMBER.fullmatch(cell):
        return float(cell)
    if column in POSITIONS and not named and _INDEX.fullmatch(cell):
        return int(cell)
    return cell


# JSON Lines: a header, then one object for each row. Parquet: the same header, in the metadata of the schema.


def _header(comparisons: Comparisons) -> dict[str, Any]:
    return {"oddkernel": "comparisons", "version": VERSION, "items": comparisons.items}


def _parse(text: str | bytes, place: str) -> dict[str, Any]:
    expected = "an object such as {...}"
    value = parse_json(text, place, expected)
    if not isinstance(value, dict):
        raise ValueError(f"{place}: {brief(value)}; expected {expected}")
    return value


def _declared_items(header: dict[str, Any]) -> list[str] | None:
    _check_version(header.get("version"))
    items = header.get("items")
    if header.keys() != {"oddkernel", "version", "items"} or header["oddkernel"] != "comparisons":
        raise ValueError(f"header {brief(header)}; expected the keys oddkernel (comparisons), version and items")
    if items is not None and not (isinstance(items, list) and all(isinstance(name, str) for name in items)):
        raise ValueError(f"items {brief(items)} in the header; expected a list of names, or null for indices")
    return items


def _from_records(columns: dict[str, list[Any]], places: Sequence[str], header: dict[str, Any] | None) -> Rows:
    if header is not None:
        items = _declared_items(header)
        return Rows(columns, places, items is not None, items)
    return Rows(columns, places, any(isinstance(entry, str) for entry in columns["a"]), None)


def write_jsonl(comparisons: Comparisons, details: Details) -> bytes:
    columns = {**comparisons.to_dict(), **details}
    rows = zip(*columns.values(), strict=True)
    said = ({name: value for name, value in zip(columns, row, strict=True) if value is not None} for row in rows)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in chain([_header(comparisons)], said)).encode()


def jsonl_rows(data: bytes) -> Rows:
    # Not splitlines: names may hold other characters that end a line.
    lines = decode(data).removesuffix("\n").split("\n")
    places = [f"line {number}" for number in range(1, len(lines) + 1)]
    records = [_parse(line, place) for line, place in zip(lines, places, strict=True)]
    header = None
    if "oddkernel" in records[0]:
        header = records.pop(0)
        del places[0]
    for record, place in zip(records, places, strict=True):
        try:
            _check_columns(list(record), required=())
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
    used = {"a", *chain.from_iterable(records)}
    return _from_records({name: [record.get(name) for record in records] for name in used}, places, header)


def write_parquet(comparisons: Comparisons, details: Details) -> bytes:
    arrow = pyarrow()
    item = arrow.int64() if comparisons.items is None else arrow.string()
    types = dict.fromkeys(POSITIONS, item) | {"bound": arrow.float64(), "weight": arrow.float64()}
    types |= {name: arrow.int64() for name in details if DETAILS[name] is int}
    schema = arrow.schema(
        [(name, types.get(name, arrow.string())) for name in (*COLUMNS, *details)],
        metadata={"oddkernel": json.dumps(_header(comparisons))},
    )
    return table_to_bytes(arrow.table({**comparisons.to_dict(), **details}, schema=schema))


def parquet_rows(data: bytes) -> Rows:
    table = read_table(data)
    _check_columns(table.column_names)
    metadata = (table.schema.metadata or {}).get(b"oddkernel")
    header = None if metadata is None else _parse(metadata, "metadata")
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    return _from_records(columns, [f"row {row}" for row in range(table.num_rows)], header)
