"""Where images and texts are: a folder, or a table."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..comparisons.names import as_items
from .image_files import IMAGES, passed_over, warn_passed_over
from .name_column import NAME_COLUMNS, called_so
from .tables import text_columns


@dataclass(frozen=True)
class Source:
    """Items before they have features.

    Attributes
    ----------
    kind : {"image", "text"}
    names : tuple of str
        The items' names, all different.
    paths : tuple of Path
        Their files, if they are images.
    texts : tuple of str
        Their texts, if they are texts.
    """

    kind: Literal["image", "text"]
    names: tuple[str, ...]
    paths: tuple[Path, ...] = ()
    texts: tuple[str, ...] = ()

    def only(self, names: Collection[str]) -> Source:
        """The items of these names, in the same order."""
        rows = [row for row, name in enumerate(self.names) if name in names]
        return Source(
            self.kind,
            tuple(self.names[row] for row in rows),
            tuple(self.paths[row] for row in rows if self.paths),
            tuple(self.texts[row] for row in rows if self.texts),
        )


def read_source(source: str | os.PathLike[str], *, names: str | None = None) -> Source:
    """Find out which items there are, and what they are called.

    Parameters
    ----------
    source : path-like
        A folder of images: an item is called by its path in the folder, such as ``birds/wren.jpg``. Or a ``.csv`` or
        ``.parquet`` table with a column called text, or one called path with image files that are beside the table.
    names : str, optional
        The table's column with the items' names; by default the one called item or name or, where there is none, the
        texts or paths themselves.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = Path(folder, "fruit.csv")
    ...     _ = file.write_text("item,text\\napple,round and red\\nbanana,long and yellow\\n")
    ...     read_source(file).texts
    ('round and red', 'long and yellow')
    """
    path = Path(source)
    found = _of_folder(path) if path.is_dir() else _of_table(path, names)
    try:
        as_items(found.names)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    return found


def source_columns(columns: Iterable[str]) -> list[str]:
    """The columns called text or path."""
    return called_so(columns, ("text", "path"))


def _of_folder(folder: Path) -> Source:
    files: list[Path] = []
    for parent, folders, names_there in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        files += [Path(parent, name) for name in names_there if not name.startswith(".")]
    paths = [path for path in files if path.suffix.lower() in IMAGES]
    if not paths:
        others = passed_over(files)
        raise ValueError(
            f"{folder}: no images; expected files that end with {', '.join(IMAGES)}{others and f' ({others})'}"
        )
    warn_passed_over(files)
    by_name = {path.relative_to(folder).as_posix(): path for path in paths}
    names = tuple(sorted(by_name))  # one order, whatever the file system's
    return Source("image", names, paths=tuple(by_name[name] for name in names))


def _of_table(path: Path, names: str | None) -> Source:
    columns = text_columns(path, "a folder of images")
    shown = source_columns(columns)
    if len(shown) != 1:
        raise ValueError(f"{path}: columns {', '.join(columns)}; expected one called text or one called path, not both")
    values = columns[shown[0]]
    named = called_so(columns, NAME_COLUMNS) if names is None else [name for name in columns if name == names]
    if names is not None and not named:
        raise ValueError(f"{path}: no column called {names}; there are {', '.join(columns)}")
    if len(named) > 1:
        raise ValueError(f"{path}: both {named[0]} and {named[1]} are there; choose one of them for the names")
    called = tuple(columns[named[0]] if named else values)
    empty = next((row for row, value in enumerate(values) if not value.strip()), None)
    if empty is not None:
        raise ValueError(f"{path}: row {empty}: no {shown[0]}; expected one in each row")
    if shown[0].strip().casefold() == "text":
        return Source("text", called, texts=tuple(values))
    return Source("image", called, paths=tuple(path.parent / value for value in values))
