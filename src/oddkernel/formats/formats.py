"""Reading and writing `Comparisons`, in our own forms and in those of others.

Ours are CSV, JSON Lines and Parquet, all with the columns of `Comparisons.to_dict`; those of others are in
`formats.peers`. `formats.registry` lists them all.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from pathlib import Path
from reprlib import repr as brief
from typing import Any, NamedTuple

from ..comparisons import Comparisons
from ..support.files import replace
from .detail_columns import DETAILS, Details, check_details, parse_details
from .registry import FORMATS, OWN

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


def read(path: str | os.PathLike[str], *, format: str | None = None, count_from: int | None = None) -> Comparisons:
    """Read comparisons from a file.

    Parameters
    ----------
    path : path-like
        The file.
    format : str, optional
        Its format: csv, jsonl or parquet, which by default is what its name ends with, or another of `FORMATS`, which
        must be named.
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
    name = _format_of(path, format, FORMATS)
    data = Path(path).read_bytes()
    try:
        if name not in OWN:
            rows = FORMATS[name].read(data).counted_from(count_from)
            return Understood(rows.understand(), tuple(rows.notes))
        if count_from is not None:
            raise ValueError(f"count_from is {brief(count_from)}, but {name} files count from 0; expected none")
        rows = FORMATS[name].read(data)
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
    rows = FORMATS[_format_of(path, format, OWN)].read(Path(path).read_bytes())
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
    replace(path, dump(comparisons, _format_of(path, format, _WRITABLE), details=details))


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
        return write(comparisons, check_details(details, len(comparisons)))
    if details:
        raise ValueError(f"details in the format {format}; expected one of {', '.join(OWN)}")
    return write(comparisons)


def _format_of(path: str | os.PathLike[str], format: str | None, known: Collection[str]) -> str:
    if format is not None and format in known:
        return format
    suffix = Path(path).suffix.lower().removeprefix(".")
    if format is None and suffix in OWN:
        return suffix
    if format is not None:
        raise ValueError(f"format {format!r}; expected one of {', '.join(known)}")
    named = ", ".join(name for name in known if name not in OWN)
    raise ValueError(
        f"{os.fspath(path)}: the name doesn't end with a known format; expected one of {', '.join(OWN)}, or the "
        f"format to be named: {named}"
    )
