"""JSON Lines and Parquet, with the columns of `Comparisons.to_dict` and a header that lists the items."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import chain
from reprlib import repr as brief
from typing import Any

from ..comparisons import Comparisons
from ..comparisons.answers import POSITIONS
from ..comparisons.rows import COLUMNS, Rows, refuse_misspelt
from ..support.parquet import pyarrow, read_table, table_to_bytes
from ..support.text import decode, parse_json
from .column_checks import check_columns, check_version
from .detail_columns import DETAILS, Details

VERSION = 1
"""Of the two formats; it goes up when older programs could no longer read them."""

_DOUBT = (
    "all items are whole numbers, which could be names or indices; expected text where they are names, or the number "
    "of the first item: count_from=0 or count_from=1 (--count-from)"
)

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
    check_version(header.get("version"), VERSION)
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
    aside = [name for name in columns if name not in COLUMNS and name not in DETAILS]
    refuse_misspelt(aside, columns)
    values = {name: entries for name, entries in columns.items() if name not in aside}
    notes = [f"Columns left aside: {', '.join(aside)}."] if aside else []
    held = [entry for name in POSITIONS for entry in values.get(name, ()) if entry is not None]
    # A table with all of our columns and no others is one that `Comparisons.to_frame` made.
    if held and all(type(entry) is int for entry in held) and columns.keys() != set(COLUMNS):
        return Rows(values, places, named=True, notes=notes, heads=POSITIONS, doubt=_DOUBT)
    return Rows(values, places, any(isinstance(entry, str) for entry in values["a"]), notes=notes, heads=POSITIONS)


def _whole(entry: object) -> object:
    return int(entry) if isinstance(entry, float) and entry.is_integer() else entry


def write_jsonl(comparisons: Comparisons, details: Details) -> bytes:
    columns = {**comparisons.to_dict(), **details}
    rows = zip(*columns.values(), strict=True)
    said = ({name: value for name, value in zip(columns, row, strict=True) if value is not None} for row in rows)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in chain([_header(comparisons)], said)).encode()


def jsonl_rows(data: bytes) -> Rows:
    # Not splitlines: names may hold other characters that end a line.
    lines = decode(data).removesuffix("\n").split("\n")
    places = [f"line {number}" for number in range(1, len(lines) + 1)]
    written = [number for number, line in enumerate(lines) if line.strip()] or [0]  # an empty file is no JSON
    places = [places[number] for number in written]
    records = [_parse(lines[number], place) for number, place in zip(written, places, strict=True)]
    header = None
    if "oddkernel" in records[0]:
        header = records.pop(0)
        del places[0]
    for record, place in zip(records, places, strict=True) if header is not None else ():
        try:
            check_columns(list(record), required=())
        except ValueError as error:
            raise ValueError(f"{place}: {error}") from None
    used = dict.fromkeys(["a", *chain.from_iterable(records)])
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
    metadata = (table.schema.metadata or {}).get(b"oddkernel")
    check_columns([name for name in table.column_names if metadata is not None or name in COLUMNS])
    header = None if metadata is None else _parse(metadata, "metadata")
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    for name in POSITIONS if header is None else ():  # columns with gaps hold whole numbers as floats
        columns[name] = [_whole(entry) for entry in columns[name]]
    return _from_records(columns, [f"row {row}" for row in range(table.num_rows)], header)
