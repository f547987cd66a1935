"""``oddkernel index``: items made ready for search by the learned similarity."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .fit import add_random_state
from .items import streams
from .model import add_learned, default_out, is_learned, read_learned, require_model, unlearned
from .summary import Summary, working


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "index",
        help="make items ready for search by the learned similarity",
        description="Writes a folder that oddkernel query searches: the items' learned coordinates in a FAISS index,\n"
        "their names and the model. Up to 100,000 items or so, oddkernel query is quick without an index.",
        epilog="examples:\n  oddkernel index photos/\n"
        "  oddkernel index animals.csv --model animals.oddkernel --out animals.index",
    )
    add_learned(parser)
    parser.add_argument(
        "--out", metavar="DIR", type=Path, help="new folder to write (items.index in the study's folder)"
    )
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

        out = default_out(arguments, "items.index")
        check_installed(out)
    told: list[str] = []
    facts: dict[str, Any] = {}
    if streams(arguments.items):
        model, items, names = models.load(require_model(arguments)), arguments.items, None
    else:
        learned = read_learned(arguments)
        model, items, names = learned.model, learned.X, learned.given.items.names
        told, facts = learned.sentences, learned.facts
    index = Index.build(
        model,
        items,
        factory=arguments.factory,
        names=arguments.names if streams(arguments.items) else None,
        random_state=arguments.random_state,
        progress=Progress(),
    )
    if names is not None:
        index.names = list(names)
    with working("writing"):
        index.save(out)
    named = "with their names" if index.names is not None else "by row number"
    return Summary(
        [
            *told,
            *unlearned(model, "neighbours"),
            f"{len(index)} items, {named}, by {model.rank_} coordinates.",
            f"Index: {out}",
        ],
        {
            **facts,
            "out": str(out),
            "learned": is_learned(model),
            "n_items": len(index),
            "n_coordinates": model.rank_,
            "items_by": "row number" if index.names is None else "name",
        },
    )
