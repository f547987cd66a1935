"""Reading and writing `Comparisons`, in our own forms and in those of others.

Ours are CSV, JSON Lines and Parquet, all with the columns of `Comparisons.to_dict`; those of others are in
`oddkernel.peers`. A further one is a module there and a line in `PEERS`, and one in `WRITERS` if it can be written.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from itertools import chain
from pathlib import Path
from reprlib import repr as brief
from typing import Any, NamedTuple

from ._details import DETAILS, Details, check_details, parse_details
from ._files import replace
from ._parquet import pyarrow
from ._rows import COLUMNS, POSITIONS, REQUIRED, Rows
from ._text import csv_records, decode, parse_json
from .comparisons import Comparisons
from .peers import cblearn, central, jspsych, meadows, metric_learn, psiz, salmon, spose, triplettools

VERSION = 1


class Understood(NamedTuple):
    """What a file says, and what became of it on the way.

    Attributes
    ----------
    said : Comparisons
        What it says.
    notes : tuple of str
        Sentences: how items are numbered in the file, what its rows turned into, what was left out.
    """

    said: Comparisons
    notes: tuple[str, ...]


def read(path: str | os.PathLike[str], *, format: str | None = None, count_from: int | None = None) -> Comparisons:
    """Read comparisons from a file.

    Parameters
    ----------
    path : path-like
        The file.
    format : str, optional
        Its format: csv, jsonl or parquet, which by default is what its name ends with, or one of `PEERS`, which must
        be named.
    count_from : {0, 1}, optional
        The number of the first item, in formats of others where items have numbers. By default it is what the format
        has it to be; a file that leaves this in doubt, as no item has the number 0, is refused.

    Raises
    ------
    ValueError
        If the file doesn't hold comparisons; says where, what was seen and what would be accepted.

    Examples
    --------
    >>> import tempfile
    >>> from oddkernel import formats
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "answers.csv")
    ...     _ = file.write_text("a,b,c,answer\\nant,oak,bee,b\\nant,bee,fly,cant_tell\\n")
    ...     formats.read(file)
    Comparisons: 2 odd-one-out answers (1 can't tell) over 4 of 4 named items
    """
    return examine(path, format=format, count_from=count_from).said


def examine(path: str | os.PathLike[str], *, format: str | None = None, count_from: int | None = None) -> Understood:
    """Read comparisons as `read` does, and say what became of the file.

    Examples
    --------
    >>> import tempfile
    >>> from oddkernel import formats
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "trials.txt")
    ...     _ = file.write_text("4 2 1\\n3 1 2\\n")
    ...     said, notes = formats.examine(file, format="psiz")
    >>> said.shown
    array([[3, 1, 0],
           [2, 0, 1]])
    >>> print(*notes, sep="\\n")
    Items are numbered from 1 to 4 in the file, counted from 1, and counted from 0 here.
    2 trials: the query is closer to the reference after it than to each later one.
    """
    name = _format_of(path, format, [*READERS, *PEERS])
    data = Path(path).read_bytes()
    try:
        if name in PEERS:
            rows = PEERS[name](data).counted_from(count_from)
            return Understood(rows.understand(), tuple(rows.notes))
        if count_from is not None:
            raise ValueError(f"count_from is {brief(count_from)}, but {name} files count from 0; expected none")
        rows = _ROWS[name](data)
        found = [column for column in DETAILS if column in rows.columns]
        notes = [f"{', '.join(found)}: how the answers came about, for formats.details to read."] if found else []
        return Understood(rows.understand(), tuple(notes))
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from error


def details(path: str | os.PathLike[str], *, format: str | None = None) -> dict[str, list[Any]]:
    """How the answers in one of our own files came about, row by row as in `read`; empty if it doesn't say.

    Parameters
    ----------
    path : path-like
        The file.
    format : {"csv", "jsonl", "parquet"}, optional
        Its format, if that is not what its name ends with.

    Returns
    -------
    dict of str to list
        Those of these columns that the file has, None where an entry is empty: ``study``; ``asked_as``, the kind of
        question: random, adaptive, repeat, catch or holdout; ``place``, the number of the question in its sitting, from
        0; ``expected``, the right answer to a catch question; ``response_ms``, the time it took in milliseconds;
        ``answered_at``; ``answer_id``.

    Examples
    --------
    >>> import tempfile
    >>> from oddkernel import formats
    >>> said = Comparisons.odd_one_out([[0, 1, 2]], [2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     formats.write(said, Path(folder, "said.csv"), details={"response_ms": [1250]})
    ...     formats.details(Path(folder, "said.csv"))
    {'response_ms': [1250]}
    """
    rows = _ROWS[_format_of(path, format, READERS)](Path(path).read_bytes())
    try:
        return parse_details(rows.columns, rows.places)
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}") from None


def write(
    comparisons: Comparisons,
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    details: Details | None = None,
) -> None:
    """Write comparisons to a file that `read` turns into equal ones.

    Formats of others may have no place for all that is said: a warning then tells what was left out. The file appears
    complete or not at all: an interrupted write leaves an older file of that name as it was.

    Parameters
    ----------
    comparisons : Comparisons
        What to write.
    path : path-like
        The file.
    format : str, optional
        Its format: csv, jsonl or parquet, which by default is what its name ends with, or another of `WRITERS`, which
        must be named.
    details : mapping of str to sequence, optional
        How the answers came about, in columns that `details` reads; only in our own formats.

    Examples
    --------
    >>> import tempfile
    >>> from oddkernel import formats
    >>> said = Comparisons.closer([0], [1], [2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     formats.write(said, Path(folder, "said.jsonl"))
    ...     formats.read(Path(folder, "said.jsonl")) == said
    True
    """
    replace(path, dump(comparisons, _format_of(path, format, WRITERS), details=details))


def dump(comparisons: Comparisons, format: str, *, details: Details | None = None) -> bytes:
    """What `write` would write to a file.

    Examples
    --------
    >>> from oddkernel import formats
    >>> formats.dump(Comparisons.closer([4], [1], [2]), "cblearn-list-order")
    b'4 1 2\\n'
    """
    if format not in READERS:
        if details:
            raise ValueError(f"details in the format {format}; expected one of {', '.join(READERS)}")
        return WRITERS[format](comparisons)
    return _OWN_WRITERS[format](comparisons, check_details(details, len(comparisons)))


def _format_of(path: str | os.PathLike[str], format: str | None, known: Collection[str]) -> str:
    if format is not None and format in known:
        return format
    suffix = Path(path).suffix.lower().removeprefix(".")
    if format is None and suffix in READERS:
        return suffix
    if format is not None:
        raise ValueError(f"format {format!r}; expected one of {', '.join(known)}")
    named = ", ".join(name for name in known if name not in READERS)
    raise ValueError(
        f"{os.fspath(path)}: the name doesn't end with a known format; expected one of {', '.join(READERS)}, or the "
        f"format to be named: {named}"
    )


def _check_columns(names: Sequence[str], required: Iterable[str] = REQUIRED) -> None:
    for name in names:
        known = name in COLUMNS or name in DETAILS
        if not known or names.count(name) > 1:
            problem = "stands twice" if known else "is unknown"
            raise ValueError(f"column {brief(name)} {problem}; expected {', '.join(COLUMNS)}, each once at most")
    missing = [name for name in required if name not in names]
    if missing:
        raise ValueError(f"column {', '.join(missing)} is missing; expected at least {', '.join(REQUIRED)}")


def _check_version(version: object) -> None:
    if type(version) is not int or version < 1:
        raise ValueError(f"version {brief(version)}; expected a whole number from 1 to {VERSION}")
    if version > VERSION:
        raise ValueError(f"version {version} of the format is newer than this oddkernel, which reads up to {VERSION}")


# CSV: the first line says whether items stand by name or by index; rows of kind "item" list all names in order.

_DECLARATION = "# oddkernel comparisons {version}; items: {items}"
_DECLARED = re.compile(_DECLARATION.format(version=r"(\d{1,9})", items="(names|indices)"), re.ASCII)
_INDEX = re.compile(r"\d{1,15}", re.ASCII)
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def _write_csv(comparisons: Comparisons, details: Details) -> bytes:
    items, columns = comparisons.items, comparisons.to_dict()
    for text in chain(items or (), columns["rater"]):
        if text is not None and len(text) > csv.field_size_limit():
            raise ValueError(f"{brief(text)} is too long for a CSV field; expected jsonl or parquet as format")
    sheet = io.StringIO(newline="")
    sheet.write(_DECLARATION.format(version=VERSION, items="indices" if items is None else "names") + "\r\n")
    # The default line ending, CRLF, makes every supported Python quote a lone CR or LF within a name.
    writer = csv.writer(sheet)
    header = [*COLUMNS, *details]
    writer.writerow(header)
    writer.writerows(["item", name, *[None] * (len(header) - 2)] for name in items or ())
    writer.writerows(zip(*(columns[name] for name in COLUMNS), *details.values(), strict=True))
    return sheet.getvalue().encode()


def _csv_rows(data: bytes) -> Rows:
    text = decode(data)
    records = csv_records(text)
    declared = _csv_declaration(records[0][1]) if records else None
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
        row = dict(zip(names, cells, strict=True))
        if row.get("kind") == "item":
            items.append(_csv_item(row, place))
        else:
            places.append(place)
            rows.append(row)
    named = _csv_named(declared, items, [row[name] for row in rows for name in POSITIONS if row[name]])
    columns = {name: [_csv_value(name, row[name], named) for row in rows] for name in names}
    return Rows(columns, places, named, items or None)


def _csv_declaration(cells: list[str]) -> str | None:
    if not cells or not cells[0].startswith("# oddkernel"):
        return None
    # Spreadsheets pad every line to the same number of cells.
    declared = None if any(cells[1:]) else _DECLARED.fullmatch(cells[0])
    if declared is None:
        wanted = _DECLARATION.format(version=VERSION, items="names")
        raise ValueError(f"line 1: {brief(','.join(cells))}; expected {wanted!r}, or indices in place of names")
    _check_version(int(declared[1]))
    return declared[2]


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


def _write_jsonl(comparisons: Comparisons, details: Details) -> bytes:
    columns = {**comparisons.to_dict(), **details}
    rows = zip(*columns.values(), strict=True)
    said = ({name: value for name, value in zip(columns, row, strict=True) if value is not None} for row in rows)
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in chain([_header(comparisons)], said)).encode()


def _jsonl_rows(data: bytes) -> Rows:
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


def _write_parquet(comparisons: Comparisons, details: Details) -> bytes:
    arrow = pyarrow()
    item = arrow.int64() if comparisons.items is None else arrow.string()
    types = dict.fromkeys(POSITIONS, item) | {"bound": arrow.float64(), "weight": arrow.float64()}
    types |= {name: arrow.int64() for name in details if DETAILS[name] is int}
    schema = arrow.schema(
        [(name, types.get(name, arrow.string())) for name in (*COLUMNS, *details)],
        metadata={"oddkernel": json.dumps(_header(comparisons))},
    )
    sink = arrow.BufferOutputStream()
    arrow.parquet.write_table(arrow.table({**comparisons.to_dict(), **details}, schema=schema), sink)
    return bytes(sink.getvalue())


def _parquet_rows(data: bytes) -> Rows:
    arrow = pyarrow()
    try:
        table = arrow.parquet.ParquetFile(arrow.BufferReader(data)).read()
    except (arrow.ArrowException, OSError) as error:
        raise ValueError(f"not a readable Parquet file: {error}") from None
    _check_columns(table.column_names)
    metadata = (table.schema.metadata or {}).get(b"oddkernel")
    header = None if metadata is None else _parse(metadata, "metadata")
    columns = {name: table.column(name).to_pylist() for name in table.column_names}
    return _from_records(columns, [f"row {row}" for row in range(table.num_rows)], header)


_ROWS: dict[str, Callable[[bytes], Rows]] = {"csv": _csv_rows, "jsonl": _jsonl_rows, "parquet": _parquet_rows}

READERS: dict[str, Callable[[bytes], Comparisons]] = {
    "csv": lambda data: _csv_rows(data).understand(),
    "jsonl": lambda data: _jsonl_rows(data).understand(),
    "parquet": lambda data: _parquet_rows(data).understand(),
}
"""Our own forms, which leave nothing to settle; each is what a file's name ends with."""

PEERS: dict[str, Callable[[bytes], Rows]] = {
    "cblearn-list-order": cblearn.read_order,
    "cblearn-list-count": cblearn.read_count,
    "cblearn-list-boolean": cblearn.read_boolean,
    "metric-learn-triplets": metric_learn.read_triplets,
    "metric-learn-quadruplets": metric_learn.read_quadruplets,
    "spose": spose.read,
    "salmon": salmon.read,
    "triplettools": triplettools.read,
    "jspsych": jspsych.read,
    "meadows": meadows.read,
    "central": central.read,
    "psiz": psiz.read,
}
"""The forms of others."""

_OWN_WRITERS: dict[str, Callable[[Comparisons, Details], bytes]] = {
    "csv": _write_csv,
    "jsonl": _write_jsonl,
    "parquet": _write_parquet,
}

WRITERS: dict[str, Callable[[Comparisons], bytes]] = {
    "csv": lambda comparisons: _write_csv(comparisons, {}),
    "jsonl": lambda comparisons: _write_jsonl(comparisons, {}),
    "parquet": lambda comparisons: _write_parquet(comparisons, {}),
    "cblearn-list-order": cblearn.write_order,
    "cblearn-list-count": cblearn.write_count,
    "cblearn-list-boolean": cblearn.write_boolean,
    "metric-learn-triplets": metric_learn.write_triplets,
    "metric-learn-quadruplets": metric_learn.write_quadruplets,
    "spose": spose.write,
    "salmon": salmon.write,
    "triplettools": triplettools.write,
    "jspsych": jspsych.write,
    "meadows": meadows.write,
    "psiz": psiz.write,
}
