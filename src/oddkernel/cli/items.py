"""The items, for every command that takes some: a study, a folder of images, a table of features or of texts."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .summary import working

if TYPE_CHECKING:
    from ..items.feature_cache import Kept
    from ..items.sources import Source
    from ..items.tables import Items
    from ..judge.export import Filter
    from ..judge.study import Study
    from ..judge.study_data import StudyData

MODEL_SUFFIX = ".oddkernel"
DROPS = ("failed_catches", "too_fast", "incomplete")


def add_items(parser: argparse.ArgumentParser) -> None:
    """Describe the argument that says which items are meant, the same for all commands."""
    parser.add_argument(
        "items",
        metavar="ITEMS",
        type=Path,
        help="a study's folder, a folder of images, a table of texts (a column called text) or of paths (path), or "
        "features: .npy, .npz, .csv, .tsv, .txt, .xlsx, .parquet",
    )
    parser.add_argument(
        "--with",
        dest="encoder",
        metavar="ENCODER",
        help="what makes features of images (clip, gist) or texts (sentences, tfidf): also an .onnx file, a file of "
        "features, or none; by default what the kept ones were made with",
    )
    add_names(parser)


def add_names(parser: argparse.ArgumentParser) -> None:
    """Describe the option that says where the items' names are."""
    parser.add_argument(
        "--names", metavar="COLUMN", help="column with the items' names (item or name, if there is one)"
    )


def add_study(parser: argparse.ArgumentParser) -> None:
    """Describe the options that choose a study's answers."""
    group = parser.add_argument_group("answers of a study")
    add_drop(group)
    group.add_argument("--database", metavar="URL", help="where they are, if not in the study's folder")


def add_drop(parser: argparse._ActionsContainer) -> None:
    """Describe the option that leaves answers out."""
    parser.add_argument(
        "--drop",
        action="append",
        choices=DROPS,
        default=[],
        help="leave out people who failed half of their catch questions, answers that were too fast, or people who "
        "haven't finished; may be repeated",
    )


@dataclass(frozen=True)
class Given:
    """Items that a command was given.

    Attributes
    ----------
    path : Path
        What was typed.
    items : Items
        Features, and names if there are any.
    source : Source or None
        The images or texts.
    kept : Kept or None
        How the features came about, if they were made here.
    """

    path: Path
    items: Items
    source: Source | None = None
    kept: Kept | None = None

    @property
    def sentences(self) -> list[str]:
        """What is to be said about the features."""
        n, d = self.items.X.shape
        if self.kept is None:
            return [f"{n} items with {d} features{'' if self.items.names is None else ', joined by name'}."]
        return told_of(self.kept, self.source)

    @property
    def facts(self) -> dict[str, Any]:
        """The same, for programs."""
        n, d = self.items.X.shape
        told = {"n_items": n, "n_features": d, "joined_by": "position" if self.items.names is None else "name"}
        return told if self.kept is None else told | {"encoder": self.kept.option, "n_encoded": self.kept.n_made}


def told_of(kept: Kept, source: Source | None) -> list[str]:
    """Sentences about features: how many, by which encoder, whether there is a better one."""
    from ..items.encoders import NONE, fallback
    from ..items.pretrained import PRETRAINED

    n, d = kept.items.X.shape
    if kept.option == NONE:
        return [f"{n} items without features: only the answers tell them apart."]
    what = "items" if source is None else f"{source.kind}s"
    if kept.file is None and not kept.n_made:
        return [f"{n} {what}, {d} features each from {kept.option}."]
    how = "kept from before" if not kept.n_made else "made now" if kept.n_made >= n else f"{kept.n_made} made now"
    where = ", not kept: the folder can't be written to" if kept.file is None else f", in {kept.file}"
    sentences = [f"{n} {what}, {d} features each by {kept.encoder} ({how}{where})."]
    if kept.left_out:
        one = len(kept.left_out) == 1
        sentences.append(
            f"{len(kept.left_out)} {what[:-1] if one else what} without features {'is' if one else 'are'} left out."
        )
    if source is not None and kept.option == fallback(source.kind):
        better = next(each for each in PRETRAINED if each.kind == source.kind)
        if not better.is_installed():
            how = f'pip install "oddkernel[encoders]", then --with {better.name}'
        else:
            how = f"--with {better.name}{'' if better.is_cached() else f', which downloads {better.megabytes} MB once'}"
        says = "what images show, not how they look" if source.kind == "image" else "what texts mean, not their words"
        sentences.append(f"Another encoder describes {says}: {how}.")
    return sentences


def home_of(path: Path) -> Path:
    """Where a study about these items keeps what belongs to it."""
    return path if path.is_dir() else path.with_name(f"{path.stem}-study")


def is_study(path: Path) -> bool:
    """Whether people are or were asked about these items."""
    return (home_of(path) / "study.toml").is_file()


def streams(path: Path) -> bool:
    """Whether items are read from there in blocks: arrays, and Parquet files with nothing but features."""
    if path.is_dir():
        return not is_study(path) and any(path.glob("*.parquet"))
    return path.suffix.lower() == ".npy" or (path.suffix.lower() == ".parquet" and not _holds_sources(path))


def read_items(arguments: argparse.Namespace) -> Given:
    """The items of a command; features are made if there are none."""
    from ..items import tables

    path: Path = arguments.items
    check_there(path)
    if is_study(path):
        return of_study(arguments, open_study(path))
    if not path.is_dir():
        try:
            items = tables.read(path, names=arguments.names)
        except ValueError:
            if not _holds_sources(path):
                raise
        else:
            if arguments.encoder is not None:
                raise ValueError(f"--with {arguments.encoder}: {path} holds features already; expected images or texts")
            return Given(path, items)
    return _described(arguments)


def check_there(path: Path) -> None:
    """Raise unless there is something of that name, and it is neither a model nor a single image."""
    from ..items.image_files import IMAGES

    if not path.exists():
        raise ValueError(f"{path}: no such file or folder")
    if path.suffix.lower() == MODEL_SUFFIX and path.is_file():
        raise ValueError(f"{path} is a model; expected the items first, then --model {path}")
    if path.suffix.lower() in IMAGES and path.is_file():
        raise ValueError(f"{path} is one image; expected a folder of images, such as {path.parent}")


def open_study(path: Path, features: Path | None = None) -> Study:
    """The study about these items."""
    from ..judge import check_installed

    check_installed()
    from ..judge.study import Study

    return Study.open(path, features)


def of_study(arguments: argparse.Namespace, study: Study) -> Given:
    """The items of a study, with features."""
    from ..judge.item_features import describe, source_of
    from ..support.progress import Progress

    kept = describe(study.items, study.home, file=study.features_file, wanted=arguments.encoder, progress=Progress())
    return Given(arguments.items, kept.items, source_of(study.items), kept)


def study_data_of(arguments: argparse.Namespace) -> tuple[StudyData, Given]:
    """Features and answers of a study."""
    with working("reading the answers"):
        from ..judge.item_features import source_of
        from ..support.progress import Progress

        study = open_study(arguments.items)
    from ..judge.study_data import gather

    chosen = filter_of(arguments, study)
    found = gather(study, wanted=arguments.encoder, database=arguments.database, chosen=chosen, progress=Progress())
    return found, Given(arguments.items, found.features.items, source_of(study.items), found.features)


def filter_of(arguments: argparse.Namespace, study: Study) -> Filter:
    """Which of a study's answers to take."""
    from ..judge.export import Filter

    return Filter(
        failed_catches="failed_catches" in arguments.drop,
        too_fast=study.settings.too_fast if "too_fast" in arguments.drop else None,
        incomplete="incomplete" in arguments.drop,
    )


def _described(arguments: argparse.Namespace) -> Given:
    from ..items import read_source
    from ..items.feature_cache import keep_features
    from ..support.progress import Progress

    source = read_source(arguments.items, names=arguments.names)
    kept = keep_features(source, home_of(arguments.items), arguments.encoder, Progress())
    return Given(arguments.items, kept.items, source, kept)


def _holds_sources(path: Path) -> bool:
    """Whether a table has a column of texts or of paths."""
    from ..items.sources import source_columns
    from ..items.tables import text_columns
    from ..support.parquet import pyarrow

    if path.suffix.lower() == ".parquet":
        arrow = pyarrow()
        with path.open("rb") as file:
            try:
                schema = arrow.parquet.read_schema(file)
            except arrow.ArrowException:
                return False
        held = [schema.field(name).type for name in source_columns(schema.names)]
        return any(arrow.types.is_string(each) or arrow.types.is_large_string(each) for each in held)
    try:
        return bool(source_columns(text_columns(path, "")))
    except (ValueError, OSError):
        return False
