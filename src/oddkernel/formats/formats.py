"""Reading and writing `Comparisons`, in our own forms and in those of others.

Ours are CSV, JSON Lines and Parquet, all with the columns of `Comparisons.to_dict`; those of others are in
`formats.peers`. `formats.registry` lists them all. Tables that people have, as CSV or Excel files, are read by
`formats.csv_tables`.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..comparisons import Comparisons
from ..comparisons.answers import NumberedAnswer
from ..comparisons.names import as_items, numbers_in_names
from ..comparisons.rows import PART_OF, Rows
from ..support.files import replace
from .detail_columns import DETAILS, Details, check_details, parse_details
from .find_columns import MissingColumns
from .listing import listing_of, read_listing, write_listing
from .registry import ENDINGS, FORMATS, OWN

_HINTS = {
    "xls": "save it as .xlsx",
    "ods": "save it as .xlsx or .csv",
    "sav": "export it as .csv",
    "json": "name its format, such as jspsych",
    "gz": "unpack it",
    "feather": "save it as .parquet",
}
_WRITABLE = [name for name, format in FORMATS.items() if format.write is not None]


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


def read(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    count_from: int | None = None,
    columns: Mapping[str, str] | None = None,
    items: Sequence[str] | Mapping[str, str] | None = None,
    numbers_are: str | None = None,
) -> Comparisons:
    """Read comparisons from a file.

    Parameters
    ----------
    path : path-like
        The file.
    format : str, optional
        Its format: csv, jsonl, parquet or xlsx, which by default is what its name ends with (.tsv and .txt are read as
        csv), or another of `FORMATS`, which must be named.
    count_from : {0, 1}, optional
        The number of the first item, where items have numbers, or of the first position, where only answers have. By
        default it is what the format has it to be; a file that leaves this in doubt, as no item has the number 0 or as
        numbers could be names, is refused. Answers of which some are 3 and none is 0 are counted from 1.
    columns : mapping of str to str, optional
        For csv and xlsx: the heads of those columns that are called otherwise, such as
        ``{"a": "left", "b": "mid", "c": "right", "answer": "chosen"}``. Whole numbers are names in a_name, b_name,
        c_name, and indices counted from 0 in a_index, b_index, c_index.
    items : sequence of str or mapping of str to str, optional
        All items: their names in order, or the name of each item by what the file calls it, a number or another name.
    numbers_are : {"positions", "names"}, optional
        What numbers mean where ``items`` lists names that have other numbers, as 1.jpg, 10.jpg, 2.jpg do: places in the
        list, counted from ``count_from``, or the numbers in which the names end. By default such items are refused.

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
    return examine(
        path, format=format, count_from=count_from, columns=columns, items=items, numbers_are=numbers_are
    ).said


def examine(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,
    count_from: int | None = None,
    columns: Mapping[str, str] | None = None,
    items: Sequence[str] | Mapping[str, str] | None = None,
    numbers_are: str | None = None,
) -> Understood:
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
    name = _format_of(path, format, FORMATS)
    if numbers_are not in (None, "positions", "names"):
        raise ValueError(f"numbers_are is {numbers_are!r}; expected 'positions', 'names' or None")
    if numbers_are is not None and (items is None or isinstance(items, Mapping)):
        given = "is given without items" if items is None else "is given, but items say what each number means"
        raise ValueError(f"numbers_are {given}; expected it with a list of the items' names")
    if items is not None and not isinstance(items, Mapping):
        items = as_items(items)
    data = Path(path).read_bytes()
    listed = ""
    try:
        rows = _rows(data, name, columns)
        if items is None and rows.named and rows.items is None and FORMATS[name].table:
            items = read_listing(path)
            listed = f" (the items are listed in {listing_of(path).name})" if items is not None else ""
        elif numbers_are == "names" and items is not None and not isinstance(items, Mapping):
            items = _by_number(items)
        by_name = rows.named and rows.doubt is None  # then it can only be answers that are counted
        if not (by_name or items is None or isinstance(items, Mapping) or numbers_are == "positions"):
            rows.check_numbers(items, count_from)
        rows = rows.counted_from(count_from) if by_name else rows
        if isinstance(items, Mapping):
            rows = rows.called(items)
        rows = rows if by_name else rows.counted_from(count_from)
        if items is not None and not isinstance(items, Mapping):
            rows = rows.called(items)
        found = [column for column in DETAILS if column in rows.columns]
        kept = [f"{', '.join(found)}: how the answers came about, for formats.details to read."] if found else []
        return Understood(rows.understand(), (*rows.notes, *kept))
    except MissingColumns as error:
        others = ", ".join(each for each in FORMATS if each not in ENDINGS)
        named = f"; or the format to be named: {others}" if format is None else ""
        raise ValueError(f"{os.fspath(path)}: {error}{named}") from error
    except NumberedAnswer as error:
        how = "the number of the first position: count_from=0 or count_from=1 (--count-from)"
        raise ValueError(f"{os.fspath(path)}: {error}; or {how}") from error
    except ValueError as error:
        raise ValueError(f"{os.fspath(path)}: {error}{listed}") from error


def _by_number(items: Sequence[str]) -> dict[str, str]:
    """The items' names by the number in each."""
    name_of = numbers_in_names(items)
    if not name_of:
        raise ValueError(
            "numbers_are is 'names', but the items' names don't end in numbers of their own; expected a mapping of "
            "numbers to names as items= (--items: a table with the columns index and item)"
        )
    return {str(number): name for number, name in name_of.items()}


def _rows(data: bytes, name: str, columns: Mapping[str, str] | None) -> Rows:
    if not columns:
        return FORMATS[name].read(data)
    if not FORMATS[name].table:
        tables = ", ".join(each for each, format in FORMATS.items() if format.table)
        raise ValueError(f"columns are given, but {name} has fixed ones; expected them only for {tables}")
    return FORMATS[name].read(data, columns)


def details(
    path: str | os.PathLike[str], *, format: str | None = None, columns: Mapping[str, str] | None = None
) -> dict[str, list[Any]]:
    """How the answers in one of our own files came about, row by row as in `read`; empty if it doesn't say.

    Parameters
    ----------
    path : path-like
        The file.
    format : {"csv", "jsonl", "parquet"}, optional
        Its format, if that is not what its name ends with.
    columns : mapping of str to str, optional
        For csv: the heads of those columns that are called otherwise, as in `read`.

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
    name, data = _format_of(path, format, OWN), Path(path).read_bytes()
    try:
        rows = _rows(data, name, columns)
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

    A CSV file is a plain table. Where its rows don't tell all items and their order, a list of them is written beside
    it: ``said.items.csv`` beside ``said.csv``. Formats that number the items get such a list as well:
    ``said.txt.items.csv`` beside ``said.txt``.

    Formats of others can't hold everything that Comparisons hold: a warning says what was left out. The file appears
    complete or not at all: an interrupted write leaves an older file of that name as it was.

    Parameters
    ----------
    comparisons : Comparisons
        What to write.
    path : path-like
        The file.
    format : str, optional
        Its format: csv, jsonl or parquet, which by default is what its name ends with, or another of `FORMATS` that can
        be written, which must be named.
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
    name = _format_of(path, format, _WRITABLE)
    data = dump(comparisons, name, details=details)
    first, names = FORMATS[name].first, comparisons.items
    if names is not None and (first is not None or (name == "csv" and _needs_listing(comparisons, path))):
        write_listing(path, names, first or 0)
    replace(path, data)


def _needs_listing(comparisons: Comparisons, path: str | os.PathLike[str]) -> bool:
    """Whether the rows don't tell all items in order, or an older list is there that may tell others."""
    names = comparisons.items or ()
    return read_listing(path) is not None or sorted(names[item] for item in comparisons.constrained) != list(names)


def dump(comparisons: Comparisons, format: str, *, details: Details | None = None) -> bytes:
    """What `write` would write to a file.

    Examples
    --------
    >>> from oddkernel import formats
    >>> formats.dump(Comparisons.closer([4], [1], [2]), "cblearn-list-order")
    b'4 1 2\\n'
    """
    write = FORMATS[format].write
    if write is None:
        raise ValueError(f"the format {format} can only be read; expected one of {', '.join(_WRITABLE)}")
    if format in OWN:
        own = {} if comparisons.part_of is None else {PART_OF: comparisons.to_dict()[PART_OF]}
        return write(comparisons, own | check_details(details, len(comparisons)))
    if details:
        raise ValueError(f"details in the format {format}; expected one of {', '.join(OWN)}")
    return write(comparisons)


def _format_of(path: str | os.PathLike[str], format: str | None, known: Collection[str]) -> str:
    if format is not None and format in known:
        return format
    suffix = Path(path).suffix.lower().removeprefix(".")
    if format is not None:
        raise ValueError(f"format {format!r}; expected one of {', '.join(known)}")
    if ENDINGS.get(suffix) in known and (known is FORMATS or suffix in known):
        return ENDINGS[suffix]
    named = ", ".join(name for name in known if name not in ENDINGS)
    ends = ", ".join(
        ending for ending, name in ENDINGS.items() if name in known and (known is FORMATS or ending in known)
    )
    hint = f" ({_HINTS[suffix]})" if suffix in _HINTS else ""
    raise ValueError(
        f"{os.fspath(path)}: the name doesn't end with a known format; expected one of {ends}{hint}, or the format to "
        f"be named: {named}"
    )
