"""Text that a spreadsheet would run as a formula, made harmless by an apostrophe."""

from __future__ import annotations

import re

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
"""A number as our files hold it."""
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")


def guard(value: object) -> object:
    """What to write in place of a value: text that a spreadsheet would run gets an apostrophe, all else stays.

    Examples
    --------
    >>> guard("=1+1"), guard("'=1+1"), guard("-5"), guard("cat")
    ("'=1+1", "''=1+1", '-5', 'cat')
    """
    is_formula = isinstance(value, str) and _FORMULA.match(value) and not NUMBER.fullmatch(value)
    return f"'{value}" if is_formula else value


def unguard(cell: str) -> str:
    """What `guard` was given.

    Examples
    --------
    >>> unguard("'=1+1"), unguard("'tis")
    ('=1+1', "'tis")
    """
    return cell[1:] if cell[:1] == "'" and guard(cell[1:]) == cell else cell
