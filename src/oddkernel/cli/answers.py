"""Reading answers, for every command that takes a file of them."""

from __future__ import annotations

import argparse
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..formats import Understood
    from ..items.tables import Items

ENDINGS = ".csv, .tsv, .txt, .xlsx, .jsonl or .parquet"
"""What the name of a file of answers may end with."""


def add_answers(parser: argparse.ArgumentParser) -> None:
    """Describe the argument that says which answers are meant."""
    parser.add_argument(
        "answers",
        metavar="ANSWERS",
        type=Path,
        nargs="?",
        help=f"answers: {ENDINGS}; without it, those of the study in the folder",
    )
    add_reading(parser)


def require_answers(arguments: argparse.Namespace) -> None:
    """Raise unless there is a file of answers: say how to get one."""
    if arguments.answers is None:
        items = arguments.items
        raise ValueError(
            f"{items}: nobody was asked about these items; oddkernel judge {quote(str(items))} asks people, or name a "
            f"file of answers after it ({ENDINGS})"
        )


def add_reading(parser: argparse._ActionsContainer) -> None:
    """Describe the options that say how a file of answers is meant."""
    parser.add_argument(
        "--columns",
        metavar="OURS=THEIRS,...",
        type=_columns,
        help="what a table of answers calls its columns, if not a, b, c, answer, rater, weight: "
        "a=left,b=mid,c=right,answer=chosen",
    )
    parser.add_argument(
        "--count-from",
        type=int,
        choices=(0, 1),
        help="number of the first item in the answers or, where items have names, of the first position; if in doubt",
    )


def read_answers(path: Path, arguments: argparse.Namespace, items: Items) -> Understood:
    """Read a file of answers about these items, and refuse one without any."""
    from .. import formats

    options = {"columns": arguments.columns, "count_from": arguments.count_from}
    said, notes = formats.examine(path, **options)
    if not len(said):
        raise ValueError(f"{path}: no answers")
    try:
        return formats.Understood(items.join(said), notes)
    except ValueError as error:
        if said.items is not None and items.names is not None:
            formats.read(path, **options, items=items.names)  # its error tells the line
        raise ValueError(f"{path}: {error}") from None


def _columns(text: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in text.split(",")]
    columns = {ours.strip(): theirs.strip() for ours, _, theirs in pairs}
    if len(columns) < len(pairs) or not all(columns) or not all(columns.values()):
        raise argparse.ArgumentTypeError(f"{text!r}; expected pairs such as a=left,b=mid,c=right,answer=chosen")
    return columns
