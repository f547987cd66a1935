"""The heads of a table's columns, and which of our columns each one is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from reprlib import repr as brief
from typing import NamedTuple

from ..comparisons.answers import POSITIONS
from ..comparisons.rows import COLUMNS, refuse_misspelt
from ..support.spelling import did_you_mean
from .detail_columns import DETAILS
from .peers import central, jspsych, meadows, salmon, triplettools

BY = ("", "_index", "_name")
"""Columns of items may be called a, b, c, or a_index, b_index, c_index, or a_name, b_name, c_name."""
KNOWN = (*(f"{letter}{by}" for by in BY for letter in POSITIONS), "answer", *COLUMNS[5:], "kind", *DETAILS)
_PEERS = {
    "jspsych": jspsych.REQUIRED,
    "meadows": meadows.REQUIRED,
    "central": central.SHOWN,
    "salmon": salmon.ROLES,
    "triplettools": triplettools.REQUIRED,
}
_GAPS = re.compile(r"[\s.\-]+")


class MissingColumns(ValueError):
    """A table that lacks columns; perhaps the file is none, and of another format."""


class Heads(NamedTuple):
    """Where our columns stand in a table.

    Attributes
    ----------
    place : dict of str to int
        The position of each of our columns; items are in a, b and c.
    by : {"", "_index", "_name"}
        Whether the items' columns say that they hold indices, or names.
    called : tuple of str
        What the table calls the columns a, b and c.
    aside : tuple of str
        Other columns.
    """

    place: dict[str, int]
    by: str
    called: tuple[str, ...]
    aside: tuple[str, ...]


def plain(head: str) -> str:
    """A head in lower case, without blanks around it."""
    return _GAPS.sub("_", head.strip().casefold())


def lacks(header: Sequence[str], columns: Mapping[str, str]) -> list[str]:
    """The columns that a table needs and doesn't have."""
    there = {plain(head) for head in header} | {key for key, head in columns.items() if _find(header, head) is not None}
    missing = [[column for column in _needed(by) if column not in there] for by in BY]
    if "kind" in there:  # rows of another kind than odd_one_out have no answer
        missing = [[column for column in each if column != "answer"] for each in missing]
    return min(missing, key=len)


def _needed(by: str) -> list[str]:
    return [*(f"{letter}{by}" for letter in POSITIONS), "answer"]


def _find(header: Sequence[str], head: str) -> int | None:
    """Where a column stands, by its head as it is or, failing that, whatever the case."""
    for spelt in (str.strip, plain):
        found = [position for position, each in enumerate(header) if spelt(each) == spelt(head)]
        if len(found) > 1:
            raise ValueError(f"column {brief(head)} stands twice; expected each once")
        if found:
            return found[0]
    return None


def find_heads(header: Sequence[str], columns: Mapping[str, str]) -> Heads:
    """Find our columns among a table's heads.

    Parameters
    ----------
    header : sequence of str
        The heads.
    columns : mapping of str to str
        The heads of those of our columns that are called otherwise.

    Examples
    --------
    >>> heads = find_heads(["Left", "Mid", "Right", "Answer", "when"], {"a": "left", "b": "mid", "c": "right"})
    >>> heads.place, heads.aside
    ({'a': 0, 'b': 1, 'c': 2, 'answer': 3}, ('when',))
    """
    chosen: dict[str, int] = {}
    for key, head in columns.items():
        if key not in KNOWN:
            raise ValueError(f"columns: {key!r} is none of ours; expected {', '.join(KNOWN)}{did_you_mean(key, KNOWN)}")
        position = _find(header, head)
        if position is None:
            there = ", ".join(map(repr, header))
            raise ValueError(f"no column called {head!r}; there are {there}{did_you_mean(head, header)}")
        if position in chosen.values():
            raise ValueError(f"columns: {head!r} is given twice; expected each column to mean one thing")
        chosen[key] = position
    families = {by for by in BY for letter in POSITIONS if f"{letter}{by}" in chosen} or set(BY)
    wanted = {f"{letter}{by}" for by in families for letter in POSITIONS} | set(KNOWN[9:])
    for position, head in enumerate(header):
        key = plain(head)
        if key not in wanted or key in columns or position in chosen.values():
            continue
        if key in chosen:
            raise ValueError(f"column {brief(head)} stands twice; expected {', '.join(COLUMNS)}, each once at most")
        chosen[key] = position
    missing = lacks(header, columns)
    if missing:
        raise MissingColumns(missing_columns(header, missing))
    complete = [by for by in BY if all(f"{letter}{by}" in chosen for letter in POSITIONS)]
    if len(complete) > 1:
        raise ValueError(
            f"columns a{complete[0]} and a{complete[1]} both give items; expected one of them (--columns a=HEAD,...)"
        )
    by = complete[0]
    items = {letter: chosen.pop(f"{letter}{by}") for letter in POSITIONS}
    place = {**items, **{key: position for key, position in chosen.items() if not key.endswith(BY[1:])}}
    aside = [head for position, head in enumerate(header) if position not in place.values()]
    if not columns:
        refuse_misspelt(aside, place)
    return Heads(place, by, tuple(header[items[letter]] for letter in POSITIONS), tuple(aside))


def missing_columns(header: Sequence[str], missing: Sequence[str]) -> str:
    """What to say about a table without these columns."""
    for name, required in _PEERS.items():
        if set(required) <= {head.strip() for head in header}:
            return f"the columns are those of {name}; expected its format to be named: format={name!r} (--from {name})"
    there = ", ".join(map(repr, header)) or "none"
    example = ",".join(f"{column}=HEAD" for column in missing)
    return (
        f"column {', '.join(missing)} is missing; expected at least a, b, c, answer, and there are {there}; say which "
        f"are meant: columns= (--columns {example})"
    )
