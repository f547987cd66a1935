"""Text as files hold it: UTF-8, CSV records with the places where they stand, strict JSON."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from reprlib import repr as brief
from typing import Any, NoReturn


def decode(data: bytes) -> str:
    """Text from UTF-8, or a ValueError that names the line that isn't."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ValueError(f"line {line}: byte {data[error.start]:#04x} is not UTF-8; expected text in UTF-8") from None


def csv_records(text: str) -> list[tuple[str, list[str]]]:
    """Place and cells of each record of a CSV file; a record may take several lines."""
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    records: list[tuple[str, list[str]]] = []
    line = 1
    try:
        for cells in reader:
            records.append((f"line {line}", cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(f"line {line}: {error}; expected comma-separated fields, quoted where needed") from None
    return records


def csv_table(data: bytes) -> tuple[list[str], list[tuple[str, list[str]]]]:
    """The column names in the first line of a CSV file, and place and cells of each row; empty lines are left out.

    An empty file has no columns, so that callers can say which they expect.

    Examples
    --------
    >>> csv_table(b"item,legs\\nant,6\\n")
    (['item', 'legs'], [('line 2', ['ant', '6'])])
    """
    records = [(place, cells) for place, cells in csv_records(decode(data)) if cells]
    (_, header), *rows = records or [("", [])]
    for place, cells in rows:
        if len(cells) != len(header):
            raise ValueError(f"{place}: {len(cells)} fields; expected {len(header)}, one for each column")
    return header, rows


def check_distinct(header: Sequence[str]) -> None:
    """Raise a ValueError if two columns have one name."""
    twice = [name for name in header if header.count(name) > 1]
    if twice:
        raise ValueError(f"column {brief(twice[0])} stands twice; expected distinct names")


def parse_json(text: str | bytes, place: str, expected: str) -> Any:
    """A JSON value without repeated keys, NaN or infinities."""
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{place}: not JSON ({error}); expected {expected}") from None


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
