"""What people are asked about: pictures, sounds, videos or texts, each with a name."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from reprlib import repr as brief
from typing import Literal, NamedTuple

from ..comparisons.names import as_items
from ..items.image_files import DRAWING, IMAGES, warn_passed_over
from ..items.name_column import NAME_COLUMNS, called_so
from ..items.sources import source_columns
from ..items.tables import text_columns

Medium = Literal["image", "audio", "video", "text"]

TYPES: dict[str, str] = {
    **IMAGES,
    DRAWING: "image/svg+xml",
    ".flac": "audio/flac",
    ".m4a": "audio/mp4",
    ".mp3": "audio/mpeg",
    ".oga": "audio/ogg",
    ".ogg": "audio/ogg",
    ".opus": "audio/ogg",
    ".wav": "audio/wav",
    ".m4v": "video/mp4",
    ".mp4": "video/mp4",
    ".ogv": "video/ogg",
    ".webm": "video/webm",
}
"""The media type of each file ending that can be shown."""

LONGEST_TEXT = 5000
"""Longest text of an item, in characters. Chosen by hand: three of them should fit on a page."""
FEWEST = 3
"""A question shows three items."""


class Item(NamedTuple):
    """One of the things that people compare.

    Attributes
    ----------
    name : str
        What it is called in files of answers.
    medium : {"image", "audio", "video", "text"}
        How it is shown.
    path : Path or None
        Its file.
    text : str or None
        Its text.
    """

    name: str
    medium: Medium
    path: Path | None = None
    text: str | None = None

    @property
    def media_type(self) -> str:
        """The type that the browser is told."""
        return "text/plain" if self.path is None else TYPES[self.path.suffix.lower()]


def read(source: Path) -> tuple[Item, ...]:
    """Items from a folder of media files, or from a CSV or Parquet table of texts or of paths.

    A table has a column called text or one called path, and may name its items in a column called item or name.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = Path(folder, "sayings.csv")
    ...     _ = table.write_text("item,text\\nant,I work.\\nbee,I hum.\\ncat,I sleep.\\n")
    ...     read(table)[1]
    Item(name='bee', medium='text', path=None, text='I hum.')
    """
    items = tuple(_of_folder(source) if source.is_dir() else _of_table(source))
    try:
        as_items(item.name for item in items)
    except ValueError as error:
        raise ValueError(f"{source}: {error}") from None
    if len(items) < FEWEST:
        wanted = f"a folder with at least {FEWEST} files that end with {', '.join(TYPES)}"
        raise ValueError(f"{source}: {len(items)} items; expected at least {FEWEST}: {wanted}, or a table of texts")
    return items


def open_inside(path: Path, root: Path) -> Path:
    """The path of a media file with links resolved; raises a ValueError if that is outside the study's folder."""
    true = path.resolve()
    if not true.is_relative_to(root.resolve()) or not true.is_file():
        raise ValueError(f"{path}: not a file inside {root}; copy it there, as links that lead outside aren't followed")
    if true.suffix.lower() not in TYPES:  # settings, answers and keys lie in the same folder
        raise ValueError(f"{path}: a link to {true.name}; expected a file that ends with {', '.join(TYPES)}")
    return true


def _of_folder(folder: Path) -> Iterator[Item]:
    seen: list[Path] = []
    for parent, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        seen += (Path(parent, name) for name in sorted(files) if not name.startswith("."))
    for path in seen:
        if path.suffix.lower() in TYPES:
            yield _of_file(path.relative_to(folder).as_posix(), path, folder, may_be_dead=True)
    warn_passed_over(seen, TYPES)


def _of_file(name: str, path: Path, root: Path, *, may_be_dead: bool = False) -> Item:
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{brief(name)}: the file's name is not UTF-8; expected another name") from None
    if path.exists() or not may_be_dead:  # a link to nothing is treated like an empty file, by `unreadable`
        open_inside(path, root)
    kind = TYPES[path.suffix.lower()].split("/")[0]
    return Item(name, kind, path)  # type: ignore[arg-type]


def _of_table(source: Path) -> Iterator[Item]:
    columns = text_columns(source, "a folder")
    shown = source_columns(columns)
    if len(shown) != 1:
        seen = ", ".join(columns)
        raise ValueError(f"{source}: columns {seen}; expected one called text or one called path, and not both")
    values = columns[shown[0]]
    named = called_so(columns, NAME_COLUMNS)
    names = columns[named[0]] if named else values
    for row, (name, value) in enumerate(zip(names, values, strict=True)):
        if not value or len(value) > LONGEST_TEXT or "\0" in name + value:
            raise ValueError(f"{source}: row {row}: {shown[0]} is {brief(value)}; expected 1 to {LONGEST_TEXT} letters")
        if shown[0].strip().casefold() == "text":
            yield Item(name, "text", text=value)
            continue
        path = source.parent / value
        if path.suffix.lower() not in TYPES:
            raise ValueError(f"{source}: row {row}: {brief(value)}; expected a file that ends with {', '.join(TYPES)}")
        try:
            yield _of_file(name, path, source.parent)
        except ValueError as error:
            raise ValueError(f"{source}: row {row}: {error}") from None
