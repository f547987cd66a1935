"""``oddkernel cluster``: groups of items by the learned similarity."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .fit import add_random_state
from .summary import Summary, working
from .transform import add_model_and_features, read_model_and_features


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "cluster",
        help="group items by the learned similarity",
        description="Groups items by kernel k-means on the learned kernel, into one number of groups or several.",
        epilog="example:\n  oddkernel cluster animals.oddkernel animals.csv -k 5 -k 20 --out groups.csv",
    )
    add_model_and_features(parser)
    parser.add_argument(
        "-k", metavar="N", type=int, action="append", required=True, help="number of groups; may be given several times"
    )
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="file to write: .csv or .parquet")
    add_random_state(parser)
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Read, cluster, write."""
    with working("reading"):
        import numpy as np

        from .. import tables
        from ..cluster import KernelKMeans

        tables.check_writable(arguments.out)
        model, items, X = read_model_and_features(arguments)
    n = len(X)
    for k in arguments.k:
        if not 1 <= k <= n:
            raise ValueError(f"-k {k}; expected a number from 1 to {n}, as there are {n} items")
    with working("comparing all items"):
        K = model.kernel_matrix(X)
    groups = {}
    for k in dict.fromkeys(arguments.k):
        with working(f"finding {k} groups"):
            groups[k] = KernelKMeans(n_clusters=k, random_state=arguments.random_state).fit_predict(K)
    # Without names the row number keeps the file readable by itself.
    who = {"row": np.arange(n)} if items.names is None else {"item": items.names}
    tables.write(arguments.out, {**who, **{f"group_of_{k}": labels for k, labels in groups.items()}})

    sizes = {k: sorted(np.bincount(labels, minlength=k).tolist(), reverse=True) for k, labels in groups.items()}
    return Summary(
        [f"{k} groups of {_listed(sizes[k])} items." for k in groups] + [f"Groups: {arguments.out}"],
        {"out": str(arguments.out), "n_items": n, "sizes": {str(k): size for k, size in sizes.items()}},
    )


def _listed(sizes: list[int], most: int = 12) -> str:
    return ", ".join(map(str, sizes[:most])) + (", ..." if len(sizes) > most else "")
