"""A list of questions: the file, how it is used, and who gets which lines."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from reprlib import repr as brief
from typing import NamedTuple, Self

import numpy as np

from ..support.formulas import unguard
from ..support.spelling import did_you_mean
from ..support.text import Records, check_distinct, csv_table

ENDINGS = (".csv", ".tsv", ".txt")
ITEMS = ("a", "b", "c")
COLUMNS = (*ITEMS, "order", "block", "odd")
THEN = ("policy", "nothing")
LISTED = "listed"
"""The kind of a question from a list; in a plan, with its key behind a colon."""

LONGEST_BLOCK = 100
"""Longest name of a block, in characters. Chosen by hand."""


@dataclass(frozen=True)
class ListSettings:
    """The table ``[list]`` of the settings.

    Attributes
    ----------
    file : str
        The file, relative to the study's folder.
    draw : int
        How many of its questions each person gets, drawn at random; 0 for all.
    shuffle : bool
        Whether each person gets the questions of a block, and the three items of a question, in an order of their own.
    then : {"policy", "nothing"}
        What follows: questions that the policy chooses, up to the number that the settings say, or nothing.
    """

    file: str
    draw: int = 0
    shuffle: bool = False
    then: str = "nothing"

    @classmethod
    def read(cls, table: object) -> Self:
        """Check the table; raises a ValueError that names the first wrong entry."""
        if not isinstance(table, dict) or not table.get("file") or not isinstance(table["file"], str):
            raise ValueError(f'list is {brief(table)}; expected a table [list] with file = "questions.csv"')
        known = [field.name for field in fields(cls)]
        for key in table:
            if key not in known:
                raise ValueError(f"[list] {brief(key)} is unknown; expected {', '.join(known)}")
        draw, shuffle, then = table.get("draw", 0), table.get("shuffle", False), table.get("then", THEN[1])
        if not isinstance(draw, int) or isinstance(draw, bool) or draw < 0:
            raise ValueError(f"[list] draw = {brief(draw)}; expected a whole number, 0 for all")
        if not isinstance(shuffle, bool):
            raise ValueError(f"[list] shuffle = {brief(shuffle)}; expected true or false")
        if then not in THEN:
            raise ValueError(f"[list] then = {brief(then)}; expected {' or '.join(THEN)}")
        return cls(**table)


class Listed(NamedTuple):
    """A question of a list.

    Attributes
    ----------
    key : str
        A hash of all that it says, by which a sitting's plan knows it.
    line : int
        Where it is in the file, from 1.
    items : tuple of str
        Its three items, in the order in which they are shown.
    block : str or None
        What its block is called.
    odd : str or None
        The item that is the known answer.
    """

    key: str
    line: int
    items: tuple[str, str, str]
    block: str | None
    odd: str | None

    @property
    def kind(self) -> str:
        """What a plan calls it."""
        return f"{LISTED}:{self.key}"


def read(file: Path, names: Collection[str]) -> tuple[Listed, ...]:
    """Read a list, in the order in which its questions are asked; an error names file, line and item.

    Parameters
    ----------
    file : Path
        A CSV file with the columns a, b and c, the names of three items, and optionally order (a number; questions
        are asked from the smallest up), block (a word that is exported) and odd (the known answer, one of the three).
    names : collection of str
        The items of the study.
    """
    if file.suffix.lower() not in ENDINGS:
        raise ValueError(f"{file}: expected a list of questions whose name ends with {', '.join(ENDINGS)}")
    try:
        header, records = csv_table(file.read_bytes())
        check_distinct(header)
        return _parsed(header, records, names)
    except FileNotFoundError:
        raise ValueError(f"{file}: no such file; [list] names it as the list of questions") from None
    except ValueError as error:
        raise ValueError(f"{file}: {error}") from None


def _parsed(header: Sequence[str], records: Records, names: Collection[str]) -> tuple[Listed, ...]:
    for name in header:
        if name not in COLUMNS:
            known = did_you_mean(name, COLUMNS)
            raise ValueError(f"column {brief(name)} is unknown; expected {', '.join(COLUMNS)}{known}")
    if not set(ITEMS) <= set(header):
        raise ValueError("expected the columns a, b and c, with the names of three items")
    if not records:
        raise ValueError("the list is empty; expected a question a line")
    found: list[tuple[float, Listed]] = []
    times: Counter[str] = Counter()
    for place, cells in records:
        row = dict(zip(header, map(unguard, cells), strict=True))
        items = _items(row, place, names)
        odd, block = row.get("odd") or None, row.get("block") or None
        if odd is not None and odd not in items:
            raise ValueError(f"{place}: odd is {brief(odd)}; expected one of the line's three items, or nothing")
        if block is not None and (len(block) > LONGEST_BLOCK or not block.isprintable()):
            raise ValueError(f"{place}: block is {brief(block)}; expected at most {LONGEST_BLOCK} printable characters")
        content = json.dumps([items, block, odd])
        times[content] += 1
        key = hashlib.sha256(f"{content} {times[content]}".encode()).hexdigest()[:12]
        found.append((_order(row, place), Listed(key, int(place.split()[-1]), items, block, odd)))
    return tuple(listed for _, listed in sorted(found, key=lambda each: each[0]))  # a stable sort


def _items(row: dict[str, str], place: str, names: Collection[str]) -> tuple[str, str, str]:
    items = (row["a"], row["b"], row["c"])
    for name in items:
        if name not in names:
            raise ValueError(f"{place}: no item is called {brief(name)}{did_you_mean(name, names)}")
    if len(set(items)) < 3:
        raise ValueError(f"{place}: {brief(items)}; expected three different items")
    return items


def _order(row: dict[str, str], place: str) -> float:
    if "order" not in row:
        return 0.0
    try:
        order = float(row["order"])
        if np.isfinite(order):
            return order
    except ValueError:
        pass
    raise ValueError(f"{place}: order is {brief(row['order'])}; expected a number")


def length(table: ListSettings, listed: Sequence[Listed]) -> int:
    """How many questions of the list each person gets."""
    return table.draw or len(listed)


def arranged(table: ListSettings, listed: Sequence[Listed], rng: np.random.Generator) -> list[Listed]:
    """The questions of one person, in order. Blocks come in the order of the list, whether shuffled or not."""
    chosen = list(listed)
    if table.draw:
        chosen = [listed[int(place)] for place in np.sort(rng.choice(len(listed), table.draw, replace=False))]
    if not table.shuffle:
        return chosen
    blocks: dict[str | None, list[Listed]] = {}
    for row in chosen:
        blocks.setdefault(row.block, []).append(row)
    return [block[int(place)] for block in blocks.values() for place in rng.permutation(len(block))]
