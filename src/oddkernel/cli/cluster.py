"""``oddkernel cluster``: groups of items by the learned similarity."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from .fit import add_random_state
from .summary import Summary, working
from .transform import add_model_and_features, read_model_and_features, streams

MANY = 10_000
"""Above, the kernel between all items takes too much memory, and groups are found in learned coordinates."""


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "cluster",
        help="group items by the learned similarity",
        description="Groups items by kernel k-means on the learned kernel, into one number of groups or several.\n\n"
        f"More than {MANY} items in .npy or Parquet, also a folder of Parquet files, are read in blocks and grouped\n"
        "by mini-batch k-means in learned coordinates: memory stays the same however many they are.",
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
        from .. import models, scale, tables

        tables.check_writable(arguments.out)
        counts = list(dict.fromkeys(arguments.k))
        many = False
        if streams(arguments.features):
            n = scale.count(models.load(arguments.model), arguments.features, names=arguments.names)
            _check_counts(counts, n)
            many = n > MANY
    n, sizes = (_many if many else _few)(arguments, counts)
    how = [f"By mini-batch k-means in learned coordinates, as there are more than {MANY} items."] if many else []
    return Summary(
        [f"{k} groups of {_listed(sizes[k])} items." for k in counts] + how + [f"Groups: {arguments.out}"],
        {"out": str(arguments.out), "n_items": n, "sizes": {str(k): size for k, size in sizes.items()}},
    )


def _few(arguments: argparse.Namespace, counts: list[int]) -> tuple[int, dict[int, list[int]]]:
    import numpy as np

    from .. import tables
    from ..cluster import KernelKMeans

    with working("comparing all items"):
        model, items, X = read_model_and_features(arguments)
        _check_counts(counts, len(X))
        K = model.kernel_matrix(X)
    groups = {}
    for k in counts:
        with working(f"finding {k} groups"):
            groups[k] = KernelKMeans(n_clusters=k, random_state=arguments.random_state).fit_predict(K)
    # Without names the row number keeps the file readable by itself.
    who = {"row": np.arange(len(X))} if items.names is None else {"item": items.names}
    tables.write(arguments.out, {**who, **{f"group_of_{k}": labels for k, labels in groups.items()}})
    return len(X), {k: _sizes(np.bincount(labels, minlength=k)) for k, labels in groups.items()}


def _many(arguments: argparse.Namespace, counts: list[int]) -> tuple[int, dict[int, list[int]]]:
    from .. import models, scale
    from ..progress import Progress

    model = models.load(arguments.model)
    found = scale.cluster(
        model,
        arguments.features,
        counts,
        arguments.out,
        names=arguments.names,
        random_state=arguments.random_state,
        progress=Progress(),
    )
    sizes = found.sizes or ()
    return int(sizes[0].sum()), {k: _sizes(size) for k, size in zip(counts, sizes, strict=True)}


def _check_counts(counts: list[int], n: int) -> None:
    for k in counts:
        if not 1 <= k <= n:
            raise ValueError(f"-k {k}; expected a number from 1 to {n}, as there are {n} items")


def _sizes(counted: Any) -> list[int]:
    return sorted(counted.tolist(), reverse=True)


def _listed(sizes: list[int], most: int = 12) -> str:
    return ", ".join(map(str, sizes[:most])) + (", ..." if len(sizes) > most else "")
