"""The outcome of an experiment: tables, figures and remarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Table:
    """Cells of text under a header."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """As a Markdown table with the caption above."""
        lines = [self.header, ["---"] * len(self.header), *self.rows]
        return f"{self.caption}\n\n" + "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def text(self) -> str:
        """As aligned columns, for a terminal."""
        widths = [max(map(len, column)) for column in zip(self.header, *self.rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in [self.header, *self.rows]
        ]
        return "\n".join([self.caption, *lines])


@dataclass(frozen=True)
class Outcome:
    """The outcome of an experiment.

    Attributes
    ----------
    title : str
    question : str
        Description of the experiment for a reader who doesn't know the paper.
    tables : sequence of Table
    figures : dict
        File name to content.
    remarks : sequence of str
        Differences from the paper, and their reasons.
    facts : dict
        The numbers, for JSON.
    """

    title: str
    question: str
    tables: Sequence[Table] = ()
    figures: dict[str, bytes] = field(default_factory=dict)
    remarks: Sequence[str] = ()
    facts: dict[str, Any] = field(default_factory=dict)

    def markdown(self, figures_at: str = ".") -> str:
        """A section of a page."""
        pictures = [f"![{self.title}]({figures_at}/{name})" for name in self.figures]
        remarks = ["\n".join(f"- {remark}" for remark in self.remarks)] if self.remarks else []
        parts = [f"## {self.title}", self.question, *pictures, *(table.markdown() for table in self.tables), *remarks]
        return "\n\n".join(parts) + "\n"


def listed(names: Sequence[str]) -> str:
    """Names in a sentence: a, b and c."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
