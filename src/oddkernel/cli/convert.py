"""``oddkernel convert``: a file of answers in another format."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .answers import add_reading
from .items import add_names
from .outputs import add_output, check_output
from .summary import Summary, working


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "convert",
        help="turn a file of answers into another format",
        description="Reads answers, says what it understood and writes them in another format. The ending of a name\n"
        "tells .csv, .jsonl and .parquet, and for IN also .tsv, .txt and .xlsx; other formats are\n"
        "named with --from and --to:\n"
        "  cblearn-list-order, cblearn-list-count, cblearn-list-boolean, metric-learn-triplets,\n"
        "  metric-learn-quadruplets, spose, salmon, triplettools, jspsych, meadows, psiz,\n"
        "  central (--from only)",
        epilog="examples:\n"
        "  oddkernel convert answers.csv answers.parquet\n"
        "  oddkernel convert survey.xlsx answers.csv --columns a=left,b=mid,c=right,answer=chosen\n"
        "  oddkernel convert train_90.txt answers.csv --from spose\n"
        "  oddkernel convert numbered.csv named.csv --items animals.csv --count-from 1",
    )
    parser.add_argument("source", metavar="IN", type=Path, help="answers")
    add_output(parser, "target", metavar="OUT", help="file to write")
    parser.add_argument("--from", dest="source_format", metavar="FORMAT", help="format of IN")
    parser.add_argument("--to", dest="target_format", metavar="FORMAT", help="format of OUT")
    add_reading(parser)
    parser.add_argument(
        "--items",
        metavar="TABLE",
        type=Path,
        help="a table with the items' names in order, such as their features; a column called index holds what IN "
        "calls them, if not by row number",
    )
    parser.add_argument(
        "--numbers-are",
        choices=("positions", "names"),
        help="what the numbers of items in IN mean if the names in TABLE have others, as 1.jpg, 10.jpg, 2.jpg do: "
        "places in TABLE, or the numbers in which the names end",
    )
    add_names(parser)
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Read, write."""
    with working("converting"):
        from .. import formats

        check_output(arguments, formats.listing_of(arguments.target))
        items = None
        if arguments.items is not None:
            from ..items.tables import read_names  # its package takes a second to import

            items = read_names(arguments.items, names=arguments.names)
        said, notes = formats.examine(
            arguments.source,
            format=arguments.source_format,
            count_from=arguments.count_from,
            columns=arguments.columns,
            items=items,
            numbers_are=arguments.numbers_are,
        )
        details, more = _details(arguments)
        formats.write(said, arguments.target, format=arguments.target_format, details=details)
        notes = (*notes, *more)
        beside = formats.listing_of(arguments.target)
        listing = beside if said.items is not None and beside.is_file() else None
        conflicts = said.conflicts()
    by = "row number" if said.items is None else "name"
    return Summary(
        [
            f"{said}, given by {by}.",
            *notes,
            *([f"{len(conflicts)} groups of answers contradict one another on their face."] if conflicts else []),
            f"Written: {arguments.target}",
            *([] if listing is None else [f"Its items, in order: {listing}"]),
        ],
        {
            "out": str(arguments.target),
            "items": None if listing is None else str(listing),
            "n_answers": len(said),
            "n_undecided": int(said.undecided.sum()),
            "n_asked": len(said.constrained),
            "items_by": by,
            "notes": list(notes),
            "n_conflicts": len(conflicts),
        },
    )


def _details(arguments: argparse.Namespace) -> tuple[dict[str, list[Any]] | None, list[str]]:
    """How the answers came about, if both files can hold that, and what is to be said about it."""
    from .. import formats

    for path, format in (
        (arguments.source, arguments.source_format),
        (arguments.target, arguments.target_format),
    ):
        if (format or path.suffix.lower().removeprefix(".")) not in formats.OWN:
            return None, []
    try:
        return formats.details(arguments.source, format=arguments.source_format, columns=arguments.columns), []
    except ValueError as error:
        return None, [f"Left aside: {error}"]
