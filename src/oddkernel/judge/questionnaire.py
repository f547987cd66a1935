"""Questions about the person, asked before or after those about the items."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from reprlib import repr as brief
from typing import Any, Self

KINDS = ("choice", "number", "text")
TIMES = ("start", "end")
TAKEN = ("participant", "state", "answered", "simulated")
"""Columns that a table of people has anyway."""

LONGEST_TEXT = 2000
"""Longest reply, in characters. Chosen by hand: it must fit into one request."""
MOST_CHOICES = 200
"""Largest number of choices. Chosen by hand: the countries of the world fit."""

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,49}")

Value = str | int | float | None
"""A reply; None if the question was skipped."""


def is_name(name: str) -> bool:
    """Whether a question about the person may have this name."""
    return bool(_NAME.fullmatch(name)) and name not in TAKEN


@dataclass(frozen=True)
class About:
    """A table ``[[about]]`` of the settings.

    Attributes
    ----------
    name : str
        The column in exported files.
    ask : str
        The question.
    kind : {"choice", "number", "text"}
        How it is answered.
    choices : tuple of str
        What can be chosen.
    least, most : float or None
        The smallest and the largest number that the page accepts.
    optional : bool
        Whether it may be skipped.
    at : {"start", "end"}
        When it is asked.
    screen_out : tuple of str
        Choices that end the person's part.
    """

    name: str
    ask: str
    kind: str
    choices: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None
    optional: bool = False
    at: str = "start"
    screen_out: tuple[str, ...] = ()

    @classmethod
    def read(cls, number: int, table: object) -> Self:
        """Check a table, the one with this number; raises a ValueError that names the first wrong entry."""
        where = f"[[about]] number {number}"
        if not isinstance(table, dict) or not {"name", "ask", "kind"} <= table.keys():
            raise ValueError(f"{where} is {brief(table)}; expected name, ask and kind")
        known = [field.name for field in fields(cls)]
        for key in table:
            if key not in known:
                raise ValueError(f"{where}: {brief(key)} is unknown; expected {', '.join(known)}")
        name, ask, kind, at = table["name"], table["ask"], table["kind"], table.get("at", "start")
        if not isinstance(name, str) or not is_name(name):
            wanted = f"letters, digits and underscores, and not {', '.join(TAKEN)}"
            raise ValueError(f"{where}: name = {brief(name)}; expected {wanted}")
        if not isinstance(ask, str) or not 0 < len(ask) <= LONGEST_TEXT or "\0" in ask:
            raise ValueError(f"{where}: ask = {brief(ask)}; expected a question")
        if kind not in KINDS:
            raise ValueError(f"{where}: kind = {brief(kind)}; expected {', '.join(KINDS)}")
        if at not in TIMES:
            raise ValueError(f"{where}: at = {brief(at)}; expected {' or '.join(TIMES)}")
        if not isinstance(table.get("optional", False), bool):
            raise ValueError(f"{where}: optional = {brief(table['optional'])}; expected true or false")
        cls._check_kind(where, kind, table)
        lists = {key: tuple(table[key]) for key in ("choices", "screen_out") if key in table}
        if "screen_out" in table and at != "start":
            raise ValueError(f'{where}: screen_out needs at = "start"')
        return cls(**{**table, **lists})

    @staticmethod
    def _check_kind(where: str, kind: str, table: dict[str, Any]) -> None:
        for key, of in (("choices", "choice"), ("screen_out", "choice"), ("least", "number"), ("most", "number")):
            if key in table and kind != of:
                raise ValueError(f'{where}: {key} needs kind = "{of}"')
        for key in ("least", "most"):
            if isinstance(table.get(key, 0), bool) or not isinstance(table.get(key, 0), (int, float)):
                raise ValueError(f"{where}: {key} = {brief(table[key])}; expected a number")
        if kind == "choice":
            choices: Any = table.get("choices")
            out = table.get("screen_out", [])
            if not _is_distinct(choices) or not 2 <= len(choices) <= MOST_CHOICES:
                raise ValueError(f"{where}: choices = {brief(choices)}; expected 2 to {MOST_CHOICES} different texts")
            if not isinstance(out, list) or not all(each in choices for each in out):
                raise ValueError(f"{where}: screen_out = {brief(out)}; expected some of the choices")

    def accepts(self, value: Value) -> bool:
        """Whether a reply is of the question's kind: a number, or one of the choices. Texts always are."""
        if self.kind == "choice":
            return value in self.choices
        return self.kind == "text" or (isinstance(value, (int, float)) and not isinstance(value, bool))

    def shown(self) -> dict[str, Any]:
        """The question as the page gets it; it isn't told which choices screen out."""
        return {
            "name": self.name,
            "ask": self.ask,
            "kind": self.kind,
            "choices": list(self.choices),
            "least": self.least,
            "most": self.most,
            "optional": self.optional,
            "at": self.at,
            "longest": LONGEST_TEXT,
            "decides": bool(self.screen_out),
        }


def _is_distinct(choices: object) -> bool:
    if not isinstance(choices, list):
        return False
    fits = all(isinstance(each, str) and 0 < len(each) <= 200 and each.isprintable() for each in choices)
    return fits and len(set(choices)) == len(choices)


def read_all(tables: object, taken: Collection[str]) -> tuple[About, ...]:
    """All of the settings' questions about the person; `taken` are names of a panel's parameters."""
    if not isinstance(tables, list):
        raise ValueError(f"about is {brief(tables)}; expected tables, [[about]]")
    found = tuple(About.read(number, table) for number, table in enumerate(tables, start=1))
    names = [*taken, *(about.name for about in found)]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"[[about]] the name {brief(twice)} stands twice; expected different ones")
    return found


def screens_out(about: Sequence[About], name: str, value: Value) -> bool:
    """Whether a reply ends the person's part."""
    return any(each.name == name and value in each.screen_out for each in about)
