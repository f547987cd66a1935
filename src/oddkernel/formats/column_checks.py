"""Checks of our own files: whether the columns are known, and whether this version of the format can be read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from reprlib import repr as brief

from ..comparisons.rows import COLUMNS, REQUIRED
from .detail_columns import DETAILS


def check_columns(names: Sequence[str], required: Iterable[str] = REQUIRED) -> None:
    """Refuse columns that are unknown, that stand twice, or that lack a required one."""
    for name in names:
        known = name in COLUMNS or name in DETAILS
        if not known or names.count(name) > 1:
            problem = "stands twice" if known else "is unknown"
            raise ValueError(f"column {brief(name)} {problem}; expected {', '.join(COLUMNS)}, each once at most")
    missing = [name for name in required if name not in names and not (name == "answer" and "kind" in names)]
    if missing:
        raise ValueError(f"column {', '.join(missing)} is missing; expected at least {', '.join(REQUIRED)}")


def check_version(version: object, newest: int) -> None:
    """Refuse versions that are none, or newer than what can be read."""
    if type(version) is not int or version < 1:
        raise ValueError(f"version {brief(version)}; expected a whole number from 1 to {newest}")
    if version > newest:
        raise ValueError(f"version {version} of the format is newer than this oddkernel, which reads up to {newest}")
