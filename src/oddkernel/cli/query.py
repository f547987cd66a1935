"""``oddkernel query``: the items that are most like given ones."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .items import check_there
from .model import Learned, add_learned, is_learned, read_learned, unlearned
from .outputs import add_output
from .summary import Summary, working

if TYPE_CHECKING:
    from ..learning.sklr import SKLR
    from ..scale.index import Found, Index
    from ..support.types import Array

SHOWN = 20
"""The neighbours of so many queries are printed."""


class Answer(NamedTuple):
    """The nearest items of each query: by name, or by row number where items have no names."""

    queries: Sequence[str | int]
    items: list[list[Any]]
    distance: Array
    n_items: int


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "query",
        help="find the items most like given ones",
        description="Says which items are most like given ones by the learned distance, nearest first; an item itself\n"
        "is left out. A QUERY is the name of an item (its row number, if items have no names), an image file that is\n"
        "none of the items, or a file of features. ITEMS may also be a folder that oddkernel index wrote.",
        epilog="examples:\n"
        "  oddkernel query photos/ beetle.jpg\n"
        "  oddkernel query photos/ ../new/moth.jpg -k 5\n"
        "  oddkernel query animals.csv ant bee --model animals.oddkernel\n"
        "  oddkernel query animals.index new.csv -k 5 --out alike.csv",
    )
    add_learned(parser)
    parser.add_argument("queries", metavar="QUERY", nargs="+", help="names of items, an image file, or features")
    parser.add_argument("-k", metavar="N", type=int, default=10, help="how many items for each query (10)")
    add_output(parser, "--out", metavar="FILE", help="write them to a file: .csv or .parquet")
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Read, search, say or write."""
    import numpy as np

    from ..items import tables

    check_there(arguments.items)
    if arguments.out is not None:
        tables.check_writable(arguments.out)
    told: list[str] = []
    facts: dict[str, Any] = {}
    if (arguments.items / "index.json").is_file():
        with working("searching"):
            answer, model = _in_index(arguments)
    else:
        learned = read_learned(arguments)
        told, facts, model = learned.sentences, learned.facts, learned.model
        with working("searching"):
            answer = _among_items(arguments, learned)
    distances = "the learned distance" if is_learned(model) else "the initial distance, as nothing was learned"
    n, k = answer.distance.shape
    if arguments.out is not None:
        columns: dict[str, Any] = {
            "query": np.repeat(np.array(answer.queries, dtype=object), k),
            "place": np.tile(np.arange(1, k + 1), n),
            "item": list(chain.from_iterable(answer.items)),
            "distance": answer.distance.ravel().astype(float),
        }
        tables.write(arguments.out, columns)
        told = [
            *told,
            *unlearned(model, "neighbours"),
            f"{k} of {answer.n_items} items for each of {n} queries: {arguments.out}",
        ]
    else:
        told = [*told, *_lines(answer, distances)]
    found = [
        {"query": query, "items": items, "distance": [round(float(each), 6) for each in distance]}
        for query, items, distance in zip(answer.queries, answer.items, answer.distance, strict=True)
    ]
    out = None if arguments.out is None else str(arguments.out)
    facts |= {"out": out, "learned": is_learned(model), "n_items": answer.n_items}
    return Summary(told, {**facts, "n_queries": n, "k": k, **({} if arguments.out else {"found": found})})


def _lines(answer: Answer, distances: str) -> list[str]:
    lines = []
    for query, items, distance in list(zip(answer.queries, answer.items, answer.distance, strict=True))[:SHOWN]:
        lines += [f"Most like {query}, with {distances}:"]
        width = max(len(str(item)) for item in items)
        lines += [f"  {item!s:<{width}}  {away:.3f}" for item, away in zip(items, distance, strict=True)]
    left = len(answer.queries) - SHOWN
    return [*lines, *([f"and {left} more queries: --out FILE writes them all"] if left > 0 else [])]


def _among_items(arguments: argparse.Namespace, learned: Learned) -> Answer:
    """Compare with every item: quick enough for some 100,000."""
    import numpy as np

    items, names = learned.given.items, learned.given.items.names
    rows = _rows(arguments.queries, names, len(items.X))
    if rows is None:
        X, queries = _features(arguments, learned)
        own = [names.index(query) if names is not None and query in names else -1 for query in queries]
    else:
        queries = [names[row] if names is not None else row for row in rows]
        X, own = np.asarray(learned.X)[rows], rows
    k = _check_k(arguments.k, len(items.X) - (max(own) >= 0))
    distance = learned.model.distance(X, learned.X)
    for query, row in enumerate(own):
        if row >= 0:
            distance[query, row] = np.inf
    nearest = np.argsort(distance, axis=1, kind="stable")[:, :k]
    found = [[names[row] if names is not None else row for row in each] for each in nearest.tolist()]
    return Answer(queries, found, np.take_along_axis(distance, nearest, axis=1), len(items.X))


def _in_index(arguments: argparse.Namespace) -> tuple[Answer, SKLR]:
    from ..items import tables
    from ..scale import Index

    index = Index.load(arguments.items)
    names = None if index.names is None else tuple(index.names)
    rows = _rows(arguments.queries, names, len(index))
    if rows is not None:
        found = index.like(rows, _check_k(arguments.k, len(index) - 1))
        queries: Sequence[str | int] = [names[row] if names is not None else row for row in rows]
        return _found(found, queries, index), index.model
    table = tables.read(_only_file(arguments.queries, names, len(index)), names=arguments.names)
    X = table.features(getattr(index.model, "feature_names_in_", None))
    found = index.query(X, _check_k(arguments.k, len(index)))
    return _found(found, table.names or range(len(X)), index), index.model


def _found(found: Found, queries: Sequence[str | int], index: Index) -> Answer:
    items: list[list[Any]] = found.rows.tolist() if found.names is None else found.names
    return Answer(queries, items, found.distance, len(index))


def _rows(queries: list[str], names: tuple[str, ...] | None, n: int) -> list[int] | None:
    """The rows of items that are called so; None if the queries are no items."""
    if names is None:
        rows = [int(query) if query.isdecimal() else -1 for query in queries]
        return rows if all(0 <= row < n for row in rows) else None
    row_of = {name: row for row, name in enumerate(names)}
    return [row_of[query] for query in queries] if all(query in row_of for query in queries) else None


def _only_file(queries: list[str], names: tuple[str, ...] | None, n: int) -> Path:
    """The one file that was given in place of names."""
    from ..support.spelling import did_you_mean

    if len(queries) == 1 and Path(queries[0]).is_file():
        return Path(queries[0])
    if names is None:
        raise ValueError(
            f"{queries[0]}: expected a row number from 0 to {n - 1}, as the items have no names, or a file"
        )
    unknown = next(query for query in queries if query not in names)
    raise ValueError(f"no item is called {unknown!r}{did_you_mean(unknown, names)}")


def _features(arguments: argparse.Namespace, learned: Learned) -> tuple[Array, Sequence[str | int]]:
    """Features of queries that are none of the items."""
    from ..items import tables
    from ..items.encoders import encode, find_encoder
    from ..items.image_files import IMAGES
    from ..items.sources import Source

    given = learned.given
    files = [Path(query) for query in arguments.queries]
    pictures = all(file.is_file() and file.suffix.lower() in IMAGES for file in files)
    if pictures and given.source is not None and given.source.kind == "image" and given.kept is not None:
        encoder = find_encoder(given.kept.option, "image")
        if encoder.together:
            raise ValueError(f"features by {given.kept.option} can't be made for another image; expected clip or gist")
        found = encode(encoder, Source("image", tuple(arguments.queries), paths=tuple(files))).items
        return found.X, list(found.names or ())
    file = _only_file(arguments.queries, given.items.names, len(given.items.X))
    table = tables.read(file, names=arguments.names)
    return table.features(getattr(learned.model, "feature_names_in_", None)), table.names or range(len(table.X))


def _check_k(k: int, most: int) -> int:
    if k < 1:
        raise ValueError(f"-k {k}; expected a number from 1 to {most}")
    return min(k, most)
