"""Reading answers, for every command that takes a file of them."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..formats import Understood

ENDINGS = ".csv, .tsv, .txt, .xlsx, .jsonl or .parquet"
"""What the name of a file of answers may end with."""


def add_columns(parser: argparse._ActionsContainer) -> None:
    """Describe the option that says what the columns of the answers are called."""
    parser.add_argument(
        "--columns",
        metavar="OURS=THEIRS,...",
        type=_columns,
        help="what a table of answers calls its columns, if not a, b, c, answer, rater, weight: "
        "a=left,b=mid,c=right,answer=chosen",
    )


def read_answers(path: Path, arguments: argparse.Namespace, **options: Any) -> Understood:
    """Read a file of answers, and refuse one without any."""
    from .. import formats

    understood = formats.examine(path, columns=arguments.columns, **options)
    if not len(understood.said):
        raise ValueError(f"{path}: no answers")
    return understood


def _columns(text: str) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in text.split(",")]
    columns = {ours.strip(): theirs.strip() for ours, _, theirs in pairs}
    if len(columns) < len(pairs) or not all(columns) or not all(columns.values()):
        raise argparse.ArgumentTypeError(f"{text!r}; expected pairs such as a=left,b=mid,c=right,answer=chosen")
    return columns
