"""``oddkernel features``: features from a folder of images or a table of texts."""

from __future__ import annotations

import argparse
import io
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .items import Given, add_items, check_there, read_items
from .outputs import add_output
from .summary import Summary, working

if TYPE_CHECKING:
    from ..items.tables import Items


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "features",
        help="make features from a folder of images or a table of texts",
        description="Makes features for items that have none, and keeps them in the folder, where every other command\n"
        "finds them: of images, by a pretrained network (clip) or by their GIST descriptor and colours (gist);\n"
        "of texts, by a pretrained network (sentences) or by the words and parts of words that they share (tfidf).\n"
        "Other commands make features by themselves; this one chooses the encoder, or writes them to a file.",
        epilog="examples:\n"
        "  oddkernel features photos/ --with clip\n"
        "  oddkernel features photos/ --with encoders/dino.onnx\n"
        "  oddkernel features photos/ --with thingsvision/features.npy   (file_names.txt beside it)\n"
        "  oddkernel features recipes.csv --out recipes.npz   (columns item and text)",
    )
    add_items(parser)
    add_output(
        parser, "--out", metavar="FILE", help="write them to a file, too: .csv, .parquet, .npz, or .npy (no names)"
    )
    parser.add_argument(
        "--dimensions", metavar="N", type=int, help="most features of texts by tfidf (100); they are only written"
    )
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Find the items, describe them, write."""
    started = time.perf_counter()
    out: Path | None = arguments.out
    with working("reading"):
        from ..items import tables
        from ..support.parquet import pyarrow

        # Whatever would spoil the result is found before the long work.
        check_there(arguments.items)
        if out is not None:
            tables.check_writable(out, ".npz", ".npy")
            if out.suffix.lower() == ".parquet":
                pyarrow()
    given = read_items(arguments) if arguments.dimensions is None else _condensed(arguments)
    if given.source is None or given.kept is None:
        raise ValueError(f"{arguments.items}: holds features already; expected images or texts")
    n, d = given.items.X.shape
    is_npy = out is not None and out.suffix.lower() == ".npy"
    if is_npy and given.kept.left_out:
        raise ValueError(f"{out}: an .npy file holds no names, so that no item may be left out of it")
    sentences = given.sentences
    if out is not None:
        with working("writing"):
            _write(out, given.items)
        sentences = [f"{n} {given.source.kind}s, {d} features each: {out}", *sentences[1:]]
        if is_npy:
            sentences.append(
                "An .npy file holds no names; its rows are in the order of the names, sorted for a folder."
            )
    facts = {
        "out": None if out is None else str(out),
        "kept": None if given.kept.file is None else str(given.kept.file),
        "kind": given.source.kind,
        **given.facts,
        "n_left_out": len(given.kept.left_out),
        "seconds": round(time.perf_counter() - started, 3),
    }
    return Summary(sentences, facts)


def _condensed(arguments: argparse.Namespace) -> Given:
    """Features of texts with another number of dimensions, which aren't kept."""
    from ..items import from_texts, read_source
    from ..items.feature_cache import Kept

    source = read_source(arguments.items, names=arguments.names)
    if source.kind != "text" or arguments.encoder not in (None, "tfidf") or arguments.out is None:
        raise ValueError("--dimensions is for texts, with tfidf and --out; other encoders have a fixed number")
    with working("weighing words"):
        items = from_texts(source.texts, source.names, n_features=arguments.dimensions)
    return Given(arguments.items, items, source, Kept(items, "tfidf", "tfidf", n_made=len(items.X)))


def _write(path: Path, items: Items) -> None:
    import numpy as np

    from ..items import tables
    from ..support.files import replace

    file = io.BytesIO()
    if path.suffix.lower() == ".npy":
        np.save(file, items.X, allow_pickle=False)
    elif path.suffix.lower() == ".npz":
        np.savez_compressed(file, X=items.X, names=np.array(items.names))
    else:
        columns = dict(zip(items.columns or (), items.X.T, strict=True))
        tables.write(path, {"item": items.names or (), **columns})
        return
    replace(path, file.getvalue())
