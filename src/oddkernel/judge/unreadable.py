"""Files of items that nobody could see or hear, found before people are asked about them."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from ..items.encoders import NONE
from ..items.feature_cache import FOLDER, up_to_date
from ..items.image_files import IMAGES, problem_with
from ..support.files import replace
from .item_features import source_of
from .items import Item
from .pictures import CONVERTED

FILE = "readable.json"
"""Which files were read to their end, with their sizes and dates, in the folder where features are kept."""


def unreadable(items: Sequence[Item], home: Path, progress: Callable[[str], None] | None = None) -> dict[str, str]:
    """Why items can't be shown, or have no features, by name.

    Images are decoded as for features; a file that has not changed since is not read again.

    Parameters
    ----------
    items : sequence of Item
    home : Path
        The study's folder.
    progress : callable, optional
        Called with a sentence after each image.
    """
    known = _read(home)
    found: dict[str, tuple[int, int, str]] = {}
    with ThreadPoolExecutor(os.cpu_count()) as several:  # decoders work outside Python's lock
        paths = [(item.name, item.path) for item in items if item.path is not None]
        looked_at = several.map(lambda each: _look(each[1], known.get(each[0])), paths)
        for number, ((name, _), state) in enumerate(zip(paths, looked_at, strict=True), start=1):
            found[name] = state
            if progress is not None:
                progress(f"looked at file {number} of {len(paths)}")
    if found != known:
        _write(home, found)
    problems = {name: problem for name, (_, _, problem) in found.items() if problem}
    source = source_of(items)
    kept = None if source is None else up_to_date(source, home)
    return problems if kept is None or kept.option == NONE else {**kept.left_out, **problems}


def _look(path: Path, known: tuple[int, int, str] | None) -> tuple[int, int, str]:
    """Size and date of a file, and what is wrong with it."""
    try:
        state = path.stat()
    except OSError as error:
        return -1, 0, error.strerror or "can't be opened"
    if known is not None and known[:2] == (state.st_size, state.st_mtime_ns):
        return known
    return state.st_size, state.st_mtime_ns, _problem(path, state.st_size)


def _problem(path: Path, size: int) -> str:
    if not size:
        return "the file is empty"
    ending = path.suffix.lower()
    if ending not in IMAGES:
        return ""
    if find_spec("PIL") is not None:
        return problem_with(path)
    return 'needs Pillow to be shown: pip install "oddkernel[images]"' if ending in CONVERTED else ""


def _read(home: Path) -> dict[str, tuple[int, int, str]]:
    with suppress(OSError, ValueError, TypeError, AttributeError):  # it can be made anew
        told = json.loads((home / FOLDER / FILE).read_text(encoding="utf-8"))
        return {str(name): (int(size), int(date), str(problem)) for name, (size, date, problem) in told.items()}
    return {}


def _write(home: Path, found: dict[str, tuple[int, int, str]]) -> None:
    with suppress(OSError):  # a folder that can't be written to
        (home / FOLDER).mkdir(mode=0o700, exist_ok=True)
        replace(home / FOLDER / FILE, json.dumps(found).encode())
