"""``oddkernel convert``: a file of answers in another format."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .summary import Summary, working


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "convert",
        help="turn a file of answers into another format",
        description="Reads answers, says what it understood and writes them in another format. The ending of a name\n"
        "tells .csv, .jsonl and .parquet; other formats are named with --from and --to:\n"
        "  cblearn-list-order, cblearn-list-count, cblearn-list-boolean, metric-learn-triplets,\n"
        "  metric-learn-quadruplets, spose, salmon, triplettools, jspsych, meadows, psiz,\n"
        "  central (--from only)",
        epilog="examples:\n"
        "  oddkernel convert answers.csv answers.parquet\n"
        "  oddkernel convert train_90.txt answers.csv --from spose",
    )
    parser.add_argument("source", metavar="IN", type=Path, help="answers")
    parser.add_argument("target", metavar="OUT", type=Path, help="file to write")
    parser.add_argument("--from", dest="source_format", metavar="FORMAT", help="format of IN")
    parser.add_argument("--to", dest="target_format", metavar="FORMAT", help="format of OUT")
    parser.add_argument(
        "--count-from", type=int, choices=(0, 1), help="number of the first item in IN, where that is in doubt"
    )
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Read, write."""
    with working("converting"):
        from .. import formats

        said, notes = formats.examine(arguments.source, format=arguments.source_format, count_from=arguments.count_from)
        formats.write(said, arguments.target, format=arguments.target_format)
        conflicts = said.conflicts()
    by = "row number" if said.items is None else "name"
    return Summary(
        [
            f"{said}, given by {by}.",
            *notes,
            *([f"{len(conflicts)} groups of answers contradict one another on their face."] if conflicts else []),
            f"Written: {arguments.target}",
        ],
        {
            "out": str(arguments.target),
            "n_answers": len(said),
            "n_undecided": int(said.undecided.sum()),
            "n_asked": len(said.constrained),
            "items_by": by,
            "notes": list(notes),
            "n_conflicts": len(conflicts),
        },
    )
