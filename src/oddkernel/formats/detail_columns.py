"""How answers came about: columns that a file may have beside what was said."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from reprlib import repr as brief
from typing import Any

DETAILS: dict[str, type] = {
    "study": str,
    "asked_as": str,
    "place": int,
    "expected": str,
    "response_ms": int,
    "list_line": int,
    "list_block": str,
    "simulated": int,
    "answered_at": str,
    "answer_id": str,
}
"""The columns, and what they hold; any of them may be absent, and any entry be empty (None)."""

# Derived: float64 represents every whole number of 15 digits.
_WHOLE = re.compile(r"-?\d{1,15}", re.ASCII)

Details = Mapping[str, Sequence[Any]]


def check_details(details: Details | None, n_rows: int) -> dict[str, list[Any]]:
    """The columns as lists, or a ValueError that says which of them can't be written."""
    checked: dict[str, list[Any]] = {}
    for name, values in (details or {}).items():
        if name not in DETAILS:
            raise ValueError(f"details: column {brief(name)} is unknown; expected {', '.join(DETAILS)}")
        if len(values) != n_rows:
            raise ValueError(f"details: {name} has {len(values)} entries; expected {n_rows}, one for each row")
        checked[name] = [_checked(name, value, f"row {row}") for row, value in enumerate(values)]
    return checked


def parse_details(columns: Mapping[str, Sequence[Any]], places: Sequence[str]) -> dict[str, list[Any]]:
    """The columns as a file holds them, where whole numbers may be text."""
    return {
        name: [
            _checked(
                name, int(value) if kind is int and isinstance(value, str) and _WHOLE.fullmatch(value) else value, place
            )
            for value, place in zip(columns[name], places, strict=True)
        ]
        for name, kind in DETAILS.items()
        if name in columns
    }


def _checked(name: str, value: Any, place: str) -> Any:
    if value is not None and type(value) is not DETAILS[name]:
        wanted = "a whole number" if DETAILS[name] is int else "text"
        raise ValueError(f"{place}: {name} is {brief(value)}; expected {wanted}, or nothing")
    return value
