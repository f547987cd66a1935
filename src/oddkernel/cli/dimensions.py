"""``oddkernel dimensions``: interpretable dimensions of the learned similarity."""

from __future__ import annotations

import argparse
import io
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..support.files import is_read_only
from .fit import add_random_state
from .items import home_of
from .model import Learned, add_learned, default_out, is_learned, read_learned
from .outputs import add_output
from .summary import Summary, working

if TYPE_CHECKING:
    from ..dimensions import Dimensions

NAMED, TOLD = 5, 12  # items named for each dimension, and dimensions told of


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "dimensions",
        help="find what similarity is made of: dimensions that people can name",
        description="Finds non-negative dimensions whose products add up to the learned similarity, and writes every\n"
        "item's loadings on them. Each dimension comes with its weight, which is what the prediction of unseen\n"
        "answers loses without it, and its reproducibility between two halves of the answers.\n\n"
        "A study keeps them with their names; oddkernel report then shows them. Elsewhere --save does so.",
        epilog="examples:\n  oddkernel dimensions photos/\n  oddkernel dimensions photos/ --call names.csv\n"
        "  oddkernel dimensions animals.csv --model animals.oddkernel --save animals.oddkernel --out loadings.csv",
    )
    add_learned(parser)
    parser.add_argument("-n", metavar="N", type=int, help="how many (as many as held-out answers ask for)")
    parser.add_argument(
        "--call",
        metavar="NAMES",
        type=Path,
        help="names of dimensions: a table with columns dimension (a number from 1) and name, as the report saves it",
    )
    add_output(
        parser,
        "--out",
        metavar="FILE",
        help="loadings to write: .csv or .parquet (loadings.csv in the study's folder)",
    )
    add_output(parser, "--save", over="model", metavar="MODEL", help="write the model with its dimensions to this file")
    add_output(parser, "--rdm", metavar="FILE", help="dissimilarities of all pairs to write, for rsatoolbox: .npz")
    add_random_state(parser)
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Read, find or take what is kept, name, write."""
    from ..items import tables
    from ..judge.study_report import DIMENSIONS_FILE

    out = default_out(arguments, "loadings.csv")
    tables.check_writable(out)
    if arguments.rdm is not None and arguments.rdm.suffix.lower() != ".npz":
        raise ValueError(f"{arguments.rdm}: expected a name that ends with .npz")
    learned = read_learned(arguments)
    home = home_of(arguments.items)
    kept = arguments.save if learned.data is None else None if is_read_only(home) else home / DIMENSIONS_FILE
    found, told = _found(arguments, learned)
    if arguments.call is not None:
        found.rename(_names(arguments.call, found.n_dimensions_))
    with working("writing"):
        loadings = found.transform(learned.X)
        names = learned.given.items.names or [str(row) for row in range(len(loadings))]
        columns = dict(zip(found.names_, loadings.T, strict=True))
        tables.write(out, {("row" if learned.given.items.names is None else "item"): names, **columns})
        if kept is not None:
            from ..dimensions import save

            save(found, kept)
        if arguments.rdm is not None:
            _write_rdm(arguments.rdm, loadings, names)
    top = [
        [str(names[row]) for row in (-column).argsort(kind="stable")[:NAMED] if column[row] > 0]
        for column in loadings.T
    ]
    return _summary([*learned.sentences, *told], found, learned, top, {"out": out, "model": kept, "rdm": arguments.rdm})


def _found(arguments: argparse.Namespace, learned: Learned) -> tuple[Dimensions, list[str]]:
    """The dimensions that are kept for this model, or new ones; and what is to be said about them."""
    from ..dimensions import Dimensions, load
    from ..judge.study_report import DIMENSIONS_FILE
    from ..support.files import replace

    file = arguments.model if learned.data is None else home_of(arguments.items) / DIMENSIONS_FILE
    kept = None
    if file.is_file():
        try:
            kept = load(file)
        except ValueError:
            if learned.data is not None:
                raise
    if kept is not None and arguments.n is None and kept.model_.comparisons_ == learned.model.comparisons_:
        return kept, ["Dimensions are kept from before."]
    X = learned.model.fit_.items
    if X is None:
        raise ValueError("the model has a precomputed kernel, without items; expected one with features")
    number = "auto" if arguments.n is None else arguments.n
    found = Dimensions(number, random_state=arguments.random_state).fit(X, model=learned.model)
    lost = [] if kept is None else found.inherit(kept)
    if not lost:
        return found, []
    aside = next(each for k in count(1) if not (each := file.with_stem(f"{file.stem}-{k}")).exists())
    replace(aside, file.read_bytes())
    return found, [f"No dimension is like those called {', '.join(lost)}; the earlier ones are kept in {aside}."]


def _names(path: Path, n_dimensions: int) -> dict[int | str, str]:
    """The names in a table, by the dimensions' numbers."""
    from ..items import tables
    from ..support.formulas import unguard

    columns = tables.text_columns(path, "a table of names")
    if not {"dimension", "name"} <= set(columns):
        raise ValueError(f"{path}: columns {', '.join(columns)}; expected dimension and name")
    names: dict[int | str, str] = {}
    for row, (number, name) in enumerate(zip(columns["dimension"], columns["name"], strict=True)):
        if not number.strip().isdecimal() or not 1 <= int(number) <= n_dimensions:
            raise ValueError(f"{path}: row {row}: dimension {number!r}; expected a number from 1 to {n_dimensions}")
        if name.strip():
            names[int(number)] = unguard(name.strip())
    return names


def _write_rdm(path: Path, loadings: Any, names: Any) -> None:
    import numpy as np

    from ..dimensions import rdm
    from ..support.files import replace

    found = rdm(loadings, names)
    file = io.BytesIO()
    np.savez(file, dissimilarities=found["dissimilarities"], item=np.array(found["pattern_descriptors"]["item"]))
    replace(path, file.getvalue())


def _summary(
    sentences: list[str], found: Dimensions, used: Learned, top: list[list[str]], written: dict[str, Path | None]
) -> Summary:
    learned = is_learned(found.model_)
    sure, n = int(found.reproducible_.sum()), found.n_dimensions_
    listed = [
        f"{name}{'' if is_sure else ' (unsure)'}: {', '.join(items) or 'no item'}"
        for name, is_sure, items in zip(found.names_, found.reproducible_, top, strict=True)
    ]
    return Summary(
        [
            *sentences,
            *([] if learned else ["Nothing was learned from the answers: these are dimensions of the features alone."]),
            f"{n} dimensions"
            + (
                f"; {sure} of them are found again in either half of the answers and help to predict the other half."
                if learned
                else "."
            ),
            *listed[:TOLD],
            *([f"... and {n - TOLD} more."] if n > TOLD else []),
            f"Loadings: {written['out']}",
            *([f"Model with dimensions: {written['model']}"] if written["model"] else []),
            *([f"Dissimilarities: {written['rdm']}"] if written["rdm"] else []),
        ],
        {
            **{name: None if path is None else str(path) for name, path in written.items()},
            **used.facts,
            "learned": learned,
            "n_items": len(used.X),
            "n_dimensions": n,
            "n_reproducible": sure,
            "dimensions": [
                {
                    "name": found.names_[k],
                    "weight": float(found.weight_[k]),
                    "weight_error": float(found.weight_error_[k]),
                    "reproducibility": float(found.reproducibility_[k]),
                    "reproducible": bool(found.reproducible_[k]),
                    "items": top[k],
                }
                for k in range(n)
            ],
        },
    )
