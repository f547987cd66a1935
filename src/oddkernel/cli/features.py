"""``oddkernel features``: a table of features from a folder of images or a table of texts."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from .summary import Summary, working


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "features",
        help="make features from a folder of images or a table of texts",
        description="Describes images by their shapes and colours, and texts by their words, for those who have no\n"
        "features. A model of sentence-transformers that you have, such as CLIP, usually does better: --model.",
        epilog="examples:\n"
        "  oddkernel features photos/ --out photos.parquet\n"
        "  oddkernel features sayings.csv --out sayings.csv\n"
        "  oddkernel features photos/ --model ~/models/clip-ViT-B-32 --out photos.parquet",
    )
    parser.add_argument("items", metavar="FOLDER|TABLE", type=Path, help="as for oddkernel judge: what to describe")
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="file to write: .csv or .parquet")
    parser.add_argument("--model", metavar="MODEL", help="a model of sentence-transformers: its folder, or its name")
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Read, describe, write."""
    started = time.perf_counter()
    with working("reading"):
        from .. import features, tables
        from ..judge import items as judge_items

        tables.check_writable(arguments.out)
        if not arguments.out.resolve().parent.is_dir():
            raise ValueError(f"{arguments.out}: the folder doesn't exist")
        if arguments.out.resolve() == arguments.items.resolve():
            raise ValueError(f"{arguments.out}: expected another file than the one that is read")
        items = judge_items.read(arguments.items)
        media = sorted({item.medium for item in items})
        if media not in (["image"], ["text"]):
            raise ValueError(
                f"{arguments.items}: {' and '.join(media)}; expected either images or texts, and no others"
            )
        if media == ["image"]:
            features.check_pillow()
    paths = [item.path for item in items if item.path is not None]
    texts = [item.text for item in items if item.text is not None]
    with working(f"describing {len(items)} items"):
        if arguments.model is not None:
            X = features.by_model(arguments.model, paths or texts)
        else:
            X = features.of_images(paths) if paths else features.of_texts(texts)
    names = [item.name for item in items]
    tables.write(arguments.out, {"item": names, **{f"feature{j}": X[:, j] for j in range(X.shape[1])}})
    how = (
        f"by {arguments.model}"
        if arguments.model
        else "by shapes and colours"
        if paths
        else "by words and pieces of them"
    )
    seconds = time.perf_counter() - started
    return Summary(
        [f"{len(items)} {media[0]}s described {how}.", f"Written: {arguments.out} ({X.shape[1]} features)"],
        {
            "features": str(arguments.out),
            "n_items": len(items),
            "n_features": X.shape[1],
            "medium": media[0],
            "model": arguments.model,
            "seconds": round(seconds, 3),
        },
    )
