"""``oddkernel transform``: learned coordinates of items."""

from __future__ import annotations

import argparse
import io
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .fit import add_names
from .summary import Summary, working

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..items.tables import Items
    from ..learning.sklr import SKLR


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "transform",
        help="write the learned coordinates of items, also of new ones",
        description="Writes coordinates of items in which plain Euclidean distance is the learned one.\n\n"
        "From .npy and Parquet, also folders of Parquet files, items are read in blocks: memory stays the same\n"
        "however many they are.",
        epilog="example:\n  oddkernel transform animals.oddkernel animals.csv --out coordinates.csv",
    )
    add_model_and_features(parser)
    parser.add_argument("--out", metavar="FILE", type=Path, required=True, help="file to write: .npy, .csv or .parquet")
    parser.add_argument("--float32", action="store_true", help="coordinates of half the size, with 7 digits")
    parser.set_defaults(run=run)
    return parser


def add_model_and_features(parser: argparse.ArgumentParser) -> None:
    """Describe the arguments of all commands that use a model."""
    parser.add_argument("model", metavar="MODEL", type=Path, help="a model that oddkernel fit wrote")
    parser.add_argument(
        "features", metavar="FEATURES", type=Path, help="features: .npy, .npz, .csv, .parquet, or a folder of .parquet"
    )
    add_names(parser)


def read_model_and_features(arguments: argparse.Namespace) -> tuple[SKLR, Items, NDArray[np.float64]]:
    """The model, the items, and their features in the model's order."""
    import warnings

    from ..items import tables
    from ..learning import models

    model = models.load(arguments.model)
    items = tables.read(arguments.features, names=arguments.names)
    X = items.features(getattr(model, "feature_names_in_", None))
    # scikit-learn checks the names of features in data frames only; here they have just been checked.
    warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
    return model, items, X


def streams(features: Path) -> bool:
    """Whether items are read from there in blocks."""
    return features.is_dir() or features.suffix.lower() in (".npy", ".parquet")


def run(arguments: argparse.Namespace) -> Summary:
    """Read, transform, write."""
    n, r = (_in_blocks if streams(arguments.features) else _at_once)(arguments)
    return Summary(
        [f"{n} items, {r} coordinates each: {arguments.out}"],
        {"out": str(arguments.out), "n_items": n, "n_coordinates": r},
    )


def _in_blocks(arguments: argparse.Namespace) -> tuple[int, int]:
    with working("reading"):
        from .. import scale
        from ..items import tables
        from ..learning import models
        from ..support.progress import Progress

        tables.check_writable(arguments.out, ".npy")
        model = models.load(arguments.model)
        n = scale.count(model, arguments.features, names=arguments.names)
    dtype = "float32" if arguments.float32 else "float64"
    scale.transform(model, arguments.features, arguments.out, dtype=dtype, names=arguments.names, progress=Progress())
    return n, model.rank_


def _at_once(arguments: argparse.Namespace) -> tuple[int, int]:
    with working("transforming"):
        import numpy as np

        from ..items import tables
        from ..support.files import replace

        tables.check_writable(arguments.out, ".npy")
        model, items, X = read_model_and_features(arguments)
        coordinates = model.transform(X).astype(np.float32 if arguments.float32 else np.float64, copy=False)
        if arguments.out.suffix.lower() == ".npy":
            file = io.BytesIO()
            np.save(file, coordinates, allow_pickle=False)
            replace(arguments.out, file.getvalue())
        else:
            columns = dict(zip(model.get_feature_names_out(), coordinates.T, strict=True))
            tables.write(arguments.out, {**({} if items.names is None else {"item": items.names}), **columns})
    n, r = coordinates.shape
    return n, r
