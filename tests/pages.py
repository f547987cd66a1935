"""The fenced blocks of README and docs: what they run, and the output that they quote."""

from __future__ import annotations

import doctest
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<language>[^\s`]*)[^`]*$")
ROUNDING = re.compile(r"\b\d(\.\d+)?e-\d\d\b")
"""Residuals and gaps such as 1.5e-09: what rounding leaves, which differs from processor to processor."""


class Block(NamedTuple):
    language: str
    line: int  # of the first line within the fence, counted from 1
    text: str


class Command(NamedTuple):
    line: int
    text: str
    quoted: str  # the output that the page shows below it; may be empty


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a Markdown page."""
    lines = page.splitlines()
    start: re.Match[str] | None = None
    first = 0
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if start is None:
            start, first = fence, number + 1
        elif fence and not fence["language"] and fence["fence"].startswith(start["fence"]):
            inside = (text.removeprefix(start["indent"]) for text in lines[first - 1 : number - 1])
            yield Block(start["language"], first, "\n".join(inside) + "\n")
            start = None


def commands(block: Block) -> Iterator[Command]:
    """Each ``$ oddkernel`` command in a console block; a line that ends with a backslash goes on."""
    joined = block.text.replace("\\\n", "\\\0")  # keeps one entry per command, and its lines countable
    line, found = block.line, list[Command]()
    for entry in joined.splitlines():
        if entry.startswith("$ "):
            found.append(Command(line, entry.removeprefix("$ ").replace("\\\0", " "), ""))
        elif found:
            found[-1] = found[-1]._replace(quoted=f"{found[-1].quoted}{entry}\n")
        line += 1 + entry.count("\0")
    return (command for command in found if command.text.startswith("oddkernel"))


def agrees(quoted: str, told: str) -> bool:
    """Whether a program told what a page quotes: ``...`` stands for anything, long lines may be broken."""
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    quoted, told = (ROUNDING.sub("(rounding)", text).strip() + "\n" for text in (quoted, told))
    return doctest.OutputChecker().check_output(quoted, told, flags)
