"""``oddkernel features``: features from a folder of images or a table of texts."""

from __future__ import annotations

import argparse
import io
import time
from pathlib import Path
from typing import Any

from .fit import add_names
from .summary import Summary, working


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "features",
        help="make features from a folder of images or a table of texts",
        description="Makes features for items that have none: of images, by their GIST descriptor and their colours;\n"
        "of texts, by the words and parts of words that they share. Items keep their names, so that answers\n"
        "join by name: an image is called by its path in the folder.",
        epilog="examples:\n"
        "  oddkernel features photos --out photos.csv\n"
        "  oddkernel features recipes.csv --out recipes.npz   (columns item and text)",
    )
    parser.add_argument(
        "source",
        metavar="SOURCE",
        type=Path,
        help="a folder of images, or a table (.csv, .parquet) with a column called text, or path (of images)",
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        type=Path,
        required=True,
        help="file to write: .csv, .parquet, .npz, or .npy (no names)",
    )
    parser.add_argument(
        "--dimensions", metavar="N", type=int, default=100, help="most features of texts (100); images have 560"
    )
    add_names(parser)
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Find the items, describe them, write."""
    started = time.perf_counter()
    with working("reading"):
        from ..items import from_images, from_texts, read_source, tables
        from ..items.images import require_pillow
        from ..support.parquet import pyarrow
        from ..support.progress import Progress

        # Whatever would spoil the result is found before the long work.
        tables.check_writable(arguments.out, ".npz", ".npy")
        if not arguments.out.resolve().parent.is_dir():
            raise ValueError(f"{arguments.out}: the folder doesn't exist")
        if arguments.out.suffix.lower() == ".parquet":
            pyarrow()
        source = read_source(arguments.source, names=arguments.names)
        if source.kind == "image":
            require_pillow()
    if source.kind == "image":
        items = from_images(source.paths, source.names, progress=Progress())
        if len(items.X) < len(source.paths) and arguments.out.suffix.lower() == ".npy":
            raise ValueError(f"{arguments.out}: an .npy file holds no names, so that no item may be left out of it")
    else:
        with working("weighing words"):
            items = from_texts(source.texts, source.names, n_features=arguments.dimensions)
    _write(arguments.out, items)
    n, d = items.X.shape
    seconds = time.perf_counter() - started
    sentences = [
        f"{n} {source.kind}s, {d} features each: {arguments.out} ({seconds:.1f} s)",
        *(
            ["An .npy file holds no names; its rows are in the order of the names, sorted for a folder."]
            if arguments.out.suffix.lower() == ".npy"
            else []
        ),
    ]
    facts = {
        "out": str(arguments.out),
        "kind": source.kind,
        "n_items": n,
        "n_features": d,
        "n_left_out": len(source.names) - n,
        "seconds": round(seconds, 3),
    }
    return Summary(sentences, facts)


def _write(path: Path, items: Any) -> None:
    import numpy as np

    from ..items import tables
    from ..support.files import replace

    file = io.BytesIO()
    if path.suffix.lower() == ".npy":
        np.save(file, items.X, allow_pickle=False)
    elif path.suffix.lower() == ".npz":
        np.savez_compressed(file, X=items.X, names=np.array(items.names))
    else:
        tables.write(path, {"item": items.names, **dict(zip(items.columns, items.X.T, strict=True))})
        return
    replace(path, file.getvalue())
