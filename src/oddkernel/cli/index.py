"""``oddkernel index``: items made ready for search by the learned similarity."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .fit import add_random_state
from .summary import Summary, working
from .transform import add_model_and_features


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "index",
        help="make items ready for search by the learned similarity",
        description="Writes a folder that oddkernel query searches: the items' learned coordinates in a FAISS index,\n"
        "their names and the model.",
        epilog="example:\n  oddkernel index animals.oddkernel animals.csv --out animals.index",
    )
    add_model_and_features(parser)
    parser.add_argument("--out", metavar="DIR", type=Path, required=True, help="new folder to write")
    parser.add_argument(
        "--factory", metavar="KIND", help="kind of index in FAISS's own words, such as IVF1000,SQ8 (a fitting one)"
    )
    add_random_state(parser)
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Read, index, write."""
    with working("reading"):
        from ..learning import models
        from ..scale.index import Index, check_installed
        from ..support.progress import Progress

        check_installed(arguments.out)
        model = models.load(arguments.model)
    index = Index.build(
        model,
        arguments.features,
        factory=arguments.factory,
        names=arguments.names,
        random_state=arguments.random_state,
        progress=Progress(),
    )
    with working("writing"):
        index.save(arguments.out)
    named = "with their names" if index.names is not None else "by row number"
    return Summary(
        [f"{len(index)} items, {named}, by {model.rank_} coordinates.", f"Index: {arguments.out}"],
        {
            "out": str(arguments.out),
            "n_items": len(index),
            "n_coordinates": model.rank_,
            "items_by": "row number" if index.names is None else "name",
        },
    )
