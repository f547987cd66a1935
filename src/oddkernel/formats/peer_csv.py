"""CSV files whose first line names the columns, as most of the peers write them."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Collection, Hashable, Iterable, Sequence
from reprlib import repr as brief
from typing import NamedTuple, Self

from ..support.text import csv_table

# Derived: float64 represents every whole number of 15 digits.
_WHOLE = re.compile(r"\d{1,15}", re.ASCII)


class Sheet(NamedTuple):
    """Rows of cells by column name, and where in the file each row stands."""

    names: Sequence[str]
    rows: Sequence[dict[str, str]]
    places: Sequence[str]

    @classmethod
    def read(cls, data: bytes, required: Sequence[str]) -> Self:
        """Read a file that has at least the required columns."""
        names, rows = csv_table(data)
        check_columns(names, required)
        for place, cells in rows:
            if cells == names:
                raise ValueError(f"{place}: the column names again, as in two files joined; expected one file")
        return cls(names, [dict(zip(names, cells, strict=True)) for _, cells in rows], [place for place, _ in rows])

    def without(self, used: Collection[str | None]) -> list[str]:
        """Say which columns are left out, if any."""
        unused = [name for name in self.names if name and name not in used]
        return [f"Columns left out: {', '.join(unused)}."] if unused else []


def check_columns(names: Sequence[str], required: Sequence[str]) -> None:
    """Refuse columns that lack a required one, or that hold one twice."""
    missing = [name for name in required if name not in names]
    if missing:
        seen = f"columns {', '.join(map(brief, names))}" if names else "no columns"
        raise ValueError(f"{seen}: {', '.join(missing)} missing; expected at least {', '.join(required)}")
    for name in names:
        if list(names).count(name) > 1:
            raise ValueError(f"column {brief(name)} stands twice; expected each once")


def only_one(names: Iterable[str], candidates: Collection[str]) -> str | None:
    """The column that goes by one of several names; several such columns could be read two ways."""
    found = [name for name in names if name in candidates]
    if len(found) > 1:
        raise ValueError(f"columns {' and '.join(found)} both say who answered; expected one of them")
    return found[0] if found else None


def whole_number(cell: str, column: str, place: str) -> int:
    """The number of an item."""
    if not _WHOLE.fullmatch(cell):
        raise ValueError(f"{place}: {column} is {brief(cell)}; expected a whole number, 0 or more")
    return int(cell)


def other_choice(row: dict[str, str], place: str, left: str, right: str, chosen: str) -> str:
    """Which of the columns `left` and `right` holds what was not chosen."""
    if row[left] != row[right]:
        if row[chosen] == row[left]:
            return right
        if row[chosen] == row[right]:
            return left
    raise ValueError(
        f"{place}: {chosen} is {brief(row[chosen])}, {left} {brief(row[left])} and {right} {brief(row[right])}; "
        f"expected {chosen} to be one of two different items"
    )


def check_names(called: Iterable[tuple[str, Hashable, str]]) -> None:
    """Refuse items whose number or id goes with two names, or the reverse; each comes as place, number or id, name."""
    name_of: dict[Hashable, str] = {}
    number_of: dict[str, Hashable] = {}
    for place, number, name in called:
        if not name:
            raise ValueError(f"{place}: item {number} has no name; expected one for each item")
        if name_of.setdefault(number, name) != name:
            raise ValueError(
                f"{place}: item {number} is called {brief(name)}; expected {brief(name_of[number])}, as before"
            )
        if number_of.setdefault(name, number) != number:
            raise ValueError(
                f"{place}: items {number_of[name]} and {number} are both called {brief(name)}; expected a name for each"
            )


def write_sheet(names: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    """A CSV file."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(names)
    writer.writerows(rows)
    return text.getvalue().encode()
