"""``oddkernel cluster``: groups of items by the learned similarity."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from .fit import add_random_state
from .items import streams
from .model import add_learned, default_out, is_learned, read_learned, require_model, unlearned
from .outputs import add_output
from .summary import Summary, working

if TYPE_CHECKING:
    from ..items.tables import Items

    _Grouped: TypeAlias = tuple[int, dict[int, list[int]], list[str], dict[str, Any]]

MANY = 10_000
"""Above, the kernel between all items takes too much memory, and groups are found in learned coordinates."""


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "cluster",
        help="group items by the learned similarity",
        description="Groups items by kernel k-means on the learned kernel, into one number of groups or several.\n\n"
        f"More than {MANY} items in .npy or Parquet, also a folder of Parquet files, are read in blocks and grouped\n"
        "by mini-batch k-means in learned coordinates: memory stays the same however many they are.\n\n"
        "With --known, items that have a group keep it, and it spreads from neighbour to neighbour to those that\n"
        "have none: new items, or all but some that were grouped by hand. ITEMS holds them all, old and new.",
        epilog="examples:\n  oddkernel cluster photos/\n"
        "  oddkernel cluster animals.csv --model animals.oddkernel -k 5 -k 20 --out groups.csv\n"
        "  oddkernel cluster all_animals.csv --model animals.oddkernel --known groups.csv --out all_groups.csv",
    )
    add_learned(parser)
    what = parser.add_mutually_exclusive_group()
    what.add_argument(
        "-k",
        metavar="N",
        type=int,
        action="append",
        help="number of groups; may be given several times (the number from 2 to 20 that stands out most)",
    )
    what.add_argument(
        "--known",
        metavar="GROUPS",
        type=Path,
        help="groups of some items: a table that this command wrote, or one like it, .csv or .parquet, with the items' "
        "names, or with their row numbers if they have none",
    )
    add_output(
        parser, "--out", metavar="FILE", help="file to write: .csv or .parquet (groups.csv in the study's folder)"
    )
    add_random_state(parser)
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Read, cluster, write."""
    with working("reading"):
        from .. import scale
        from ..items import tables
        from ..learning import models
        from ..report.wording import plural

        arguments.out = default_out(arguments, "groups.csv")
        tables.check_writable(arguments.out)
        if arguments.known is not None:
            return _spread(arguments)
        counts = list(dict.fromkeys(arguments.k or ()))
        many = False
        if streams(arguments.items):
            n = scale.count(models.load(require_model(arguments)), arguments.items, names=arguments.names)
            _check_counts(counts, n)
            many = n > MANY
            if many and not counts:
                raise ValueError(f"-k is missing; expected a number of groups, as there are more than {MANY} items")
    n, sizes, told, facts = (_many if many else _few)(arguments, counts)
    how = [f"By mini-batch k-means in learned coordinates, as there are more than {MANY} items."] if many else []
    return Summary(
        [
            *told,
            *(f"{plural(k, 'group')} of {_listed(size)} items." for k, size in sizes.items()),
            *how,
            f"Groups: {arguments.out}",
        ],
        {**facts, "out": str(arguments.out), "n_items": n, "sizes": {str(k): size for k, size in sizes.items()}},
    )


def _few(arguments: argparse.Namespace, counts: list[int]) -> _Grouped:
    import numpy as np

    from ..cluster import KernelKMeans
    from ..items import tables
    from ..report.resolutions import counts_of, find_resolutions

    learned = read_learned(arguments)
    model, X = learned.model, learned.X
    _check_counts(counts, len(X))
    told = [*learned.sentences, *unlearned(model, "groups")]
    if not counts:
        with working("finding how many groups there are"):
            found = find_resolutions(
                model.transform(X), counts_of(None, len(X)), random_state=arguments.random_state
            ).suggestion
        counts = [found.k]
        told = [*told, f"{found.k} groups: of 2 to 20, the number that stands out most."]
    with working("comparing all items"):
        K = model.kernel_matrix(X)
    groups = {}
    for k in counts:
        with working(f"finding {k} groups"):
            groups[k] = KernelKMeans(n_clusters=k, random_state=arguments.random_state).fit_predict(K)
    columns = {f"group_of_{k}": labels for k, labels in groups.items()}
    tables.write(arguments.out, {**_who(learned.given.items), **columns})
    return len(X), {k: _sizes(np.bincount(labels, minlength=k)) for k, labels in groups.items()}, told, learned.facts


def _many(arguments: argparse.Namespace, counts: list[int]) -> _Grouped:
    from .. import scale
    from ..learning import models
    from ..support.progress import Progress

    model = models.load(require_model(arguments))
    found = scale.cluster(
        model,
        arguments.items,
        counts,
        arguments.out,
        names=arguments.names,
        random_state=arguments.random_state,
        progress=Progress(),
    )
    sizes = found.sizes or ()
    told, facts = unlearned(model, "groups"), {"learned": is_learned(model)}
    return int(sizes[0].sum()), {k: _sizes(size) for k, size in zip(counts, sizes, strict=True)}, told, facts


def _spread(arguments: argparse.Namespace) -> Summary:
    """Groups of some items, handed on to the others."""
    import numpy as np

    from ..cluster import spread
    from ..items import tables

    learned = read_learned(arguments)
    items, X = learned.given.items, learned.X
    known = _known_groups(arguments.known, items, arguments.names)
    groups: dict[str, Any] = {}
    with working("finding the neighbours' groups"):
        coordinates = learned.model.transform(X)
        for column, group_of in known.items():
            labels = np.full(len(X), -1, dtype=object)
            labels[list(group_of)] = list(group_of.values())
            found = spread(coordinates, labels)
            whole = all(str(group).isdecimal() and str(int(group)) == group and len(group) < 19 for group in found)
            groups[column] = found.astype(np.intp) if whole else found
    tables.write(arguments.out, {**_who(items), **groups})
    sizes = {column: _sizes(np.unique(found, return_counts=True)[1]) for column, found in groups.items()}
    return Summary(
        [
            *learned.sentences,
            *unlearned(learned.model, "groups"),
            *(
                f"{column}: {len(known[column])} of {len(X)} items had a group; now all are in groups of "
                f"{_listed(size)} items."
                for column, size in sizes.items()
            ),
            f"Groups: {arguments.out}",
        ],
        {
            **learned.facts,
            "out": str(arguments.out),
            "n_items": len(X),
            "n_known": {column: len(group_of) for column, group_of in known.items()},
            "sizes": sizes,
        },
    )


def _known_groups(path: Path, items: Items, names: str | None) -> dict[str, dict[int, str]]:
    """For each column of groups in a table, the group of each item that has one."""
    from ..items import tables
    from ..support.formulas import unguard

    columns = tables.text_columns(path, "a table of groups")
    usual = ["row"] if items.names is None else [*([names] if names else []), *tables.NAME_COLUMNS]
    who = next((column for column in usual if column in columns), None)
    if who is None:
        raise ValueError(
            f"{path}: no column called {' or '.join(usual)} says which item is meant; there are {', '.join(columns)}"
        )
    row_of = {str(name): row for row, name in enumerate(items.names or range(len(items.X)))}
    # What this command wrote has an apostrophe before names that a spreadsheet would run.
    columns[who] = [name if name in row_of else unguard(name) for name in columns[who]]
    seen: dict[str, int] = {}
    for line, name in enumerate(columns[who]):
        if name not in row_of:
            remedy = "the features of all items, old and new, in one file"
            if items.names is None:
                remedy = f"a whole number from 0 to {len(row_of) - 1}"
            raise ValueError(f"{path}: row {line}: no item {name!r} among the features; expected {remedy}")
        if name in seen:
            raise ValueError(f"{path}: rows {seen[name]} and {line}: both are about {name!r}; expected one row an item")
        seen[name] = line
    groups = {
        column: {row_of[name]: cell.strip() for name, cell in zip(columns[who], cells, strict=True) if cell.strip()}
        for column, cells in columns.items()
        if column != who
    }
    if not groups or "" in groups:
        raise ValueError(f"{path}: a column {'without a name' if groups else 'of groups is missing'} beside {who}")
    for column, group_of in groups.items():
        if not group_of:
            raise ValueError(f"{path}: {column}: every cell is empty; expected a group for at least one item")
        for row, group in group_of.items():
            if group == "-1":
                line = seen[str(items.names[row] if items.names else row)]
                raise ValueError(f"{path}: row {line}, {column}: -1; expected a group, or an empty cell where none is")
    if all(len(group_of) == len(row_of) for group_of in groups.values()):
        raise ValueError(f"{path}: every item has a group; expected features of further items, or empty cells")
    return groups


def _who(items: Items) -> dict[str, Any]:
    """The column that says which item is meant: without names the row number keeps the file readable by itself."""
    return {"row": range(len(items.X))} if items.names is None else {"item": items.names}


def _check_counts(counts: list[int], n: int) -> None:
    for k in counts:
        if not 1 <= k <= n:
            raise ValueError(f"-k {k}; expected a number from 1 to {n}, as there are {n} items")


def _sizes(counted: Any) -> list[int]:
    return sorted(counted.tolist(), reverse=True)


def _listed(sizes: list[int], most: int = 12) -> str:
    return ", ".join(map(str, sizes[:most])) + (", ..." if len(sizes) > most else "")
