"""``oddkernel transform``: learned coordinates of items."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .items import streams
from .model import add_learned, default_out, is_learned, read_learned, require_model, unlearned
from .outputs import add_output
from .summary import Summary, working

if TYPE_CHECKING:
    from ..learning.sklr import SKLR


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "transform",
        help="write the learned coordinates of items, also of new ones",
        description="Writes coordinates of items in which plain Euclidean distance is the learned one.\n\n"
        "From .npy and Parquet, also folders of Parquet files, items are read in blocks: memory stays the same\n"
        "however many they are.",
        epilog="examples:\n  oddkernel transform photos/\n"
        "  oddkernel transform animals.csv --model animals.oddkernel --out coordinates.csv",
    )
    add_learned(parser)
    add_output(
        parser,
        "--out",
        metavar="FILE",
        help="file to write: .npy, .csv or .parquet (coordinates.csv in the study's folder)",
    )
    parser.add_argument("--float32", action="store_true", help="coordinates of half the size, with 7 digits")
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Read, transform, write."""
    from ..items import tables

    out = default_out(arguments, "coordinates.csv")
    tables.check_writable(out, ".npy")
    n, model, told, facts = (_in_blocks if streams(arguments.items) else _at_once)(arguments, out)
    return Summary(
        [*told, *unlearned(model, "coordinates"), f"{n} items, {model.rank_} coordinates each: {out}"],
        {**facts, "out": str(out), "learned": is_learned(model), "n_items": n, "n_coordinates": model.rank_},
    )


def _in_blocks(arguments: argparse.Namespace, out: Path) -> tuple[int, SKLR, list[str], dict[str, Any]]:
    with working("reading"):
        from .. import scale
        from ..learning import models
        from ..support.progress import Progress

        model = models.load(require_model(arguments))
        n = scale.count(model, arguments.items, names=arguments.names)
    dtype = "float32" if arguments.float32 else "float64"
    scale.transform(model, arguments.items, out, dtype=dtype, names=arguments.names, progress=Progress())
    return n, model, [], {}


def _at_once(arguments: argparse.Namespace, out: Path) -> tuple[int, SKLR, list[str], dict[str, Any]]:
    import numpy as np

    from ..items import tables
    from ..support.files import replace

    learned = read_learned(arguments)
    with working("transforming"):
        kind = np.float32 if arguments.float32 else np.float64
        coordinates = learned.model.transform(learned.X).astype(kind, copy=False)
        if out.suffix.lower() == ".npy":
            file = io.BytesIO()
            np.save(file, coordinates, allow_pickle=False)
            replace(out, file.getvalue())
        else:
            columns = dict(zip(learned.model.get_feature_names_out(), coordinates.T, strict=True))
            names = learned.given.items.names
            tables.write(out, columns if names is None else {"item": names, **columns})
    return len(learned.X), learned.model, learned.sentences, learned.facts
