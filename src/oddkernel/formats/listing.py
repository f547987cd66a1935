"""The list of items beside a file of answers: a table with the columns index and item."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from pathlib import Path

from ..support.files import replace
from ..support.formulas import guard, unguard
from ..support.text import csv_table

HEADER = ["index", "item"]


def listing_of(path: str | os.PathLike[str]) -> Path:
    """The file that lists the items of a file of answers: ``said.items.csv`` for ``said.csv``.

    Examples
    --------
    >>> listing_of("said.csv").name, listing_of("said.txt").name
    ('said.items.csv', 'said.txt.items.csv')
    """
    answers = Path(path)
    if answers.is_symlink():
        answers = answers.resolve()
    return answers.with_name(f"{answers.stem if answers.suffix.lower() == '.csv' else answers.name}.items.csv")


def read_listing(path: str | os.PathLike[str]) -> list[str] | None:
    """The items beside a file of answers, in order; None if nothing lists them."""
    beside = listing_of(path)
    if not beside.is_file():
        return None
    try:
        header, rows = csv_table(beside.read_bytes())
    except ValueError as error:
        raise ValueError(f"{beside.name}, which lists the items: {error}") from None
    return [unguard(cells[1]) for _, cells in rows] if header == HEADER else None


def write_listing(path: str | os.PathLike[str], items: Sequence[str], first: int = 0) -> None:
    """Write the items beside a file of answers, with their numbers in it; a file that is no such list is left alone."""
    beside = listing_of(path)
    if beside.exists() and csv_table(beside.read_bytes())[0] != HEADER:
        raise ValueError(f"{beside}: is there already and lists no items; expected another name for {os.fspath(path)}")
    replace(beside, list_items(items, first))


def list_items(items: Sequence[str], first: int = 0) -> bytes:
    """A table of the items and their numbers, of which ``first`` is the first.

    Examples
    --------
    >>> list_items(["ant", "bee"]).decode().split()
    ['index,item', '0,ant', '1,bee']
    """
    sheet = io.StringIO(newline="")
    writer = csv.writer(sheet)
    writer.writerow(HEADER)
    writer.writerows((index, guard(name)) for index, name in enumerate(items, first))
    return sheet.getvalue().encode()
