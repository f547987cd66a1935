"""``oddkernel query``: the items of an index that are most like given ones."""

from __future__ import annotations

import argparse
from itertools import chain
from pathlib import Path
from typing import Any

from .fit import add_names
from .summary import Summary, working


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "query",
        help="find the items most like given ones in an index",
        description="Writes, for each query, the nearest items of an index that oddkernel index wrote, nearest first.",
        epilog="example:\n  oddkernel query animals.index new.csv -k 5 --out alike.csv",
    )
    parser.add_argument("index", metavar="INDEX", type=Path, help="a folder that oddkernel index wrote")
    parser.add_argument("features", metavar="FEATURES", type=Path, help="features: .npy, .npz, .csv or .parquet")
    add_names(parser)
    parser.add_argument("-k", metavar="N", type=int, default=10, help="how many items for each query (10)")
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="file to write: .csv or .parquet")
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Read, search, write."""
    with working("searching"):
        import numpy as np

        from ..items import tables
        from ..scale import Index

        tables.check_writable(arguments.out)
        index = Index.load(arguments.index)
        queries = tables.read(arguments.features, names=arguments.names)
        X = queries.features(getattr(index.model, "feature_names_in_", None))
        found = index.query(X, arguments.k)
        n, k = found.rows.shape
        asked = np.arange(n) if queries.names is None else np.array(queries.names, dtype=object)
        tables.write(
            arguments.out,
            {
                "query": np.repeat(asked, k),
                "place": np.tile(np.arange(1, k + 1), n),
                "item": found.rows.ravel() if found.names is None else list(chain.from_iterable(found.names)),
                "distance": found.distance.ravel().astype(float),
            },
        )
    return Summary(
        [f"{k} of {len(index)} items for each of {n} queries: {arguments.out}"],
        {"out": str(arguments.out), "n_items": len(index), "n_queries": n, "k": k},
    )
