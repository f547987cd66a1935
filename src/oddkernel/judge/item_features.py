"""The features of a study's items: from the file that the study names, or made once and kept in its folder."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..items import tables
from ..items.encoders import NONE
from ..items.feature_cache import Kept, keep_features, up_to_date
from ..items.image_files import IMAGES
from ..items.sources import Source
from .items import Item


def source_of(items: Sequence[Item]) -> Source | None:
    """The items as encoders take them; None for sounds, videos, drawings, and what is mixed with these."""
    names = tuple(item.name for item in items)
    texts = tuple(item.text for item in items if item.text is not None)
    paths = tuple(item.path for item in items if item.path is not None and item.path.suffix.lower() in IMAGES)
    if len(texts) == len(items):
        return Source("text", names, texts=texts)
    return Source("image", names, paths=paths) if len(paths) == len(items) else None


def describe(
    items: Sequence[Item],
    home: Path,
    *,
    file: Path | None = None,
    wanted: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Kept:
    """Features of a study's items.

    Parameters
    ----------
    items : sequence of Item
        The items.
    home : Path
        The study's folder.
    file : Path, optional
        A file of features that the study names; it isn't used if an encoder is wanted.
    wanted : str, optional
        An encoder, as `find_encoder` takes it.
    progress : callable, optional
        Called with a sentence after each item.
    """
    if file is not None and wanted is None:
        table = tables.read(file)
        return Kept(tables.Items(in_order(file, table, items), _names(items), table.columns), str(file), str(file))
    source = source_of(items)
    if source is None:
        if wanted not in (None, NONE):
            raise ValueError(f"--with {wanted}: the items are neither all images nor all texts; expected --with {NONE}")
        names = _names(items)
        return Kept(tables.Items(np.arange(float(len(names)))[:, None], names, ("number0",)), NONE, NONE)
    return keep_features(source, home, wanted, progress)


def kept_features(items: Sequence[Item], home: Path) -> NDArray[np.float64] | None:
    """The kept features of all items, in order; None if there are none, or items have changed since.

    An item whose file could not be read gets the mean of the others.
    """
    source = source_of(items)
    kept = None if source is None else up_to_date(source, home)
    return None if kept is None else of_all(kept, items)


def of_all(kept: Kept, items: Sequence[Item]) -> NDArray[np.float64] | None:
    """Features of all items, in order, the mean where an item has none; None without an encoder."""
    if kept.option == NONE:
        return None
    row_of = {name: row for row, name in enumerate(kept.items.names or ())}
    X = np.tile(kept.items.X.mean(axis=0), (len(items), 1))
    for index, item in enumerate(items):
        if item.name in row_of:
            X[index] = kept.items.X[row_of[item.name]]
    return X


def in_order(file: Path, table: tables.Items, items: Sequence[Item]) -> NDArray[np.float64]:
    """The features in a table, a row for each item; an error names an item that has none."""
    if table.names is None:
        raise ValueError(f"{file}: the features don't name their items; expected a column called item with their names")
    row_of = {name: row for row, name in enumerate(table.names)}
    missing = [item.name for item in items if item.name not in row_of]
    if missing:
        raise ValueError(f"{file}: {len(missing)} items have no features, first {missing[0]!r}; expected all names")
    return np.asarray(table.X[[row_of[item.name] for item in items]])


def _names(items: Sequence[Item]) -> tuple[str, ...]:
    return tuple(item.name for item in items)
