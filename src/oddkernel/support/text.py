"""Text as files hold it: UTF-8 or UTF-16, CSV records with the places where they stand, strict JSON."""

from __future__ import annotations

import codecs
import csv
import io
import json
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from reprlib import repr as brief
from typing import Any, NoReturn, TypeAlias

Records: TypeAlias = list[tuple[str, list[str]]]
"""Place and cells of each row of a table."""

DELIMITERS = (",", ";", "\t")
"""What may separate the cells of a table."""
_SEPARATOR_LINE = re.compile(r"sep=([,;\t|])\r?\n", re.IGNORECASE)
_TITLE = re.compile(r"\s*[^\r\n]+\r?\n(?:[ \t]*\r?\n)+")
_DECIMAL_COMMA = re.compile(r"([+-]?\d*),(\d+)", re.ASCII)
_MAYBE_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}[,.]\d{3}", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d+", re.ASCII)
_DECIMAL_POINT = re.compile(r"[+-]?\d*\.\d+", re.ASCII)


def decode(data: bytes, save_as: str = "'CSV UTF-8'") -> str:
    """Text from UTF-8, or from UTF-16 that begins with its mark; else a ValueError that names the line.

    ``save_as`` is what programs call such a file when they save it.
    """
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        try:
            return data.decode("utf-16")
        except UnicodeDecodeError:
            raise ValueError("the file begins like UTF-16 and isn't; expected text in UTF-8") from None
    if b"\0" in data:
        line = data[: data.index(b"\0")].count(b"\n") + 1
        raise ValueError(f"line {line}: a NUL, as in UTF-16 without its mark; expected text in UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = data[: error.start]
        line = before.count(b"\n") + 1
        start, end = before.rfind(b"\n") + 1, data.find(b"\n", error.start)
        there = data[start : end if end >= 0 else None].decode("cp1252", "replace").strip()
        raise ValueError(
            f"line {line}: byte {data[error.start]:#04x} is not UTF-8; expected text in UTF-8. If the line reads "
            f"{brief(there)}, the file is in Windows-1252: save it as {save_as}"
        ) from None


def csv_records(text: str, delimiter: str = ",") -> Records:
    """Place and cells of each record of a CSV file; a record may take several lines."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    records: Records = []
    line = 1
    try:
        for cells in reader:
            records.append((f"line {line}", cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise ValueError(f"line {line}: {error}; expected comma-separated fields, quoted where needed") from None
    return records


def announced(text: str) -> tuple[str | None, str]:
    """The delimiter that a first line such as ``sep=;`` announces to Excel, if there is one, and an empty line for it.

    Examples
    --------
    >>> announced("sep=;\\na;b\\n")
    (';', '\\na;b\\n')
    """
    found = _SEPARATOR_LINE.match(text)
    return (found[1], "\n" + text[found.end() :]) if found else (None, text)


def header_of(text: str, delimiter: str) -> list[str]:
    """The cells of the first line that isn't empty."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return next((cells for cells in reader if any(cells)), [])
    except csv.Error:
        return []


def delimiter_of(text: str) -> str:
    """What separates the cells: the one of `DELIMITERS` that gives the header and every row equally many.

    Blanks do where none of these is in the header. Rows may have one cell more than the header: R's row names.

    Examples
    --------
    >>> delimiter_of("item;weight\\nant;0,5\\n")
    ';'
    """
    possible = [delimiter for delimiter in DELIMITERS if len(header_of(text, delimiter)) > 1]
    if not possible and (above := _TITLE.match(text)):
        below = text[above.end() :]
        told = delimiter_of(below) if below else DELIMITERS[0]
        if len(header_of(below, told)) > 1 and _is_even(below, told):
            return told
    if not possible and len(header_of(text, " ")) > 1 and _is_even(text, " "):
        return " "
    if len(possible) > 1:
        possible = [delimiter for delimiter in possible if _is_even(text, delimiter)] or possible
    return possible[0] if possible else DELIMITERS[0]


def _is_even(text: str, delimiter: str) -> bool:
    try:
        header, *rows = [len(cells) for _, cells in csv_records(text, delimiter) if any(cells)]
        return set(rows) <= {header} or set(rows) == {header + 1}
    except ValueError:
        return False


def with_points(columns: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The columns of a table with a decimal point in place of a decimal comma; all else stays.

    Where some numbers have a comma and others a point, one of the two may separate thousands: a ValueError. So may
    either where all numbers look like it and whole numbers stand beside them.

    Examples
    --------
    >>> with_points({"size": ["0,25", "3", "ant, bee"]})
    {'size': ['0.25', '3', 'ant, bee']}
    >>> with_points({"price": ["1,234", "950"]})
    Traceback (most recent call last):
        ...
    ValueError: column price: 1,234 beside 950 could be 1234 or 1.234; expected 1234, or 1,2340 for the latter
    """
    cells = list(chain.from_iterable(columns.values()))
    commas = [cell for cell in cells if _DECIMAL_COMMA.fullmatch(cell)]
    points = [cell for cell in cells if _DECIMAL_POINT.fullmatch(cell)]
    if commas and points:
        raise ValueError(
            f"numbers with a decimal comma ({commas[0]}) and a decimal point ({points[0]}); expected one of the two"
        )
    separated = set(commas or points)
    if all(map(_MAYBE_THOUSANDS.fullmatch, separated)):
        for column, held in columns.items():
            _refuse_thousands(column, [cell for cell in held if cell in separated], held)
    return {
        column: [_DECIMAL_COMMA.sub(r"\1.\2", cell) if cell in separated else cell for cell in held]
        for column, held in columns.items()
    }


def _refuse_thousands(column: str, separated: Sequence[str], held: Sequence[str]) -> None:
    """Refuse a column whose ``separated`` numbers all look like 1,234 if whole numbers may be of the same size.

    That is a whole number of 100 or more; or any beside 1,230, as programs that drop the decimals of whole numbers
    write 1,23. The limits were chosen by hand.
    """
    whole = [cell for cell in held if _WHOLE.fullmatch(cell)] if separated else []
    large = [cell for cell in whole if len(cell.lstrip("+-0")) >= 3]
    if whole and (large or any(cell.endswith("0") for cell in separated)):
        seen, plain = separated[0], re.sub("[,.]", "", separated[0])
        raise ValueError(
            f"column {column}: {seen} beside {(large or whole)[0]} could be {plain} or {seen.replace(',', '.')}; "
            f"expected {plain}, or {seen}0 for the latter"
        )


def csv_table(data: bytes) -> tuple[list[str], Records]:
    """The column names in the first line of a CSV file, and place and cells of each row; empty lines are left out.

    Cells are separated by commas, semicolons or tabs. An empty file has no columns, so that callers can say which they
    expect.

    Examples
    --------
    >>> csv_table(b"item,legs\\nant,6\\n")
    (['item', 'legs'], [('line 2', ['ant', '6'])])
    """
    return table_of(delimited(data)[1])


def delimited(data: bytes) -> tuple[str, Records]:
    """What separates the cells of a CSV file, and its records."""
    told, text = announced(decode(data))
    delimiter = told or delimiter_of(text)
    return delimiter, csv_records(text, delimiter)


def table_of(records: Records) -> tuple[list[str], Records]:
    """The column names in the first record, and the other records, each with as many cells; empty ones are left out.

    Empty cells after the last column, with which spreadsheets fill up, are left out as well, and so are blanks around
    cells where they stand around column names. Where every row has one cell more than the header, as R's write.table
    writes row names, the first column gets an empty name.
    """
    refuse_title(records)
    (_, header), *rows = [(place, cells) for place, cells in records if any(cells)] or [("", [])]
    if any(name != name.strip() for name in header):
        header, rows = _stripped(header), [(place, _stripped(cells)) for place, cells in rows]
    if len(rows) > 1 and all(len(cells) == len(header) + 1 and cells[-1] for _, cells in rows):
        header = ["", *header]  # R's write.table gives the row names no head
    width = max((position + 1 for position, name in enumerate(header) if name.strip()), default=0)
    if any(any(cells[width:]) for _, cells in rows):
        width = len(header)
    for place, cells in rows:
        if len(cells) < width or any(cells[width:]):
            raise ValueError(f"{place}: {len(cells)} fields; expected {width}, one for each column")
    return header[:width], [(place, cells[:width]) for place, cells in rows]


def refuse_title(records: Records) -> None:
    """Raise a ValueError if a title stands above the header: one cell, in the first column, above a whole table.

    That a line is no header is certain only where an empty line follows it, or where three columns or more of text do.

    Examples
    --------
    >>> records = [("line 1", ["Table 1: insects"]), ("line 2", []), ("line 3", ["item", "legs"])]
    >>> refuse_title(records)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: line 1 holds only 'Table 1: insects', and the header seems to be line 3 (item, legs); delete ...
    """
    filled = [(number, [cell for cell in cells if cell.strip()]) for number, (_, cells) in enumerate(records)]
    filled = [(number, cells) for number, cells in filled if cells]
    if not filled or len(filled[0][1]) > 1 or not records[filled[0][0]][1][0].strip():
        return
    first = filled[0][0]
    below = next((number for number, cells in filled if len(cells) > 1), None)
    if below is None or len({len(cells) for _, cells in records[below:] if any(cells)}) > 1:
        return
    header = [cell for cell in records[below][1] if cell.strip()]
    has_gap = any(not any(map(str.strip, cells)) for _, cells in records[first:below])
    if has_gap or (len(header) > 2 and not any(map(_is_number, header))):
        named = ", ".join([*header[:3], *(["..."] if len(header) > 3 else [])])
        raise ValueError(
            f"{records[first][0]} holds only {brief(filled[0][1][0])}, and the header seems to be {records[below][0]} "
            f"({named}); delete what stands above it"
        )


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", "."))
    except ValueError:
        return False
    return True


def _stripped(cells: list[str]) -> list[str]:
    return [cell.strip() for cell in cells]


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
