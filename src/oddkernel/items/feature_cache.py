"""Features that are made once and kept beside the items, with the name of their encoder.

They are in ``.oddkernel/features.npz`` of the folder: numbers and JSON, nothing that could be run.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ..support.archive import array_from_bytes, array_to_bytes, pack, unpack
from ..support.files import replace
from ..support.types import Array
from .encoders import Encoder, columns_of, default_encoder, find_encoder, warn_left_out
from .sources import Source
from .tables import Items

FOLDER = ".oddkernel"
FILE = "features.npz"
VERSION = 1
EVERY = 500
"""So many new items are described between two writes of the file: what was done survives Ctrl-C."""


class Print(NamedTuple):
    """What tells whether an item has changed: its size and date, or the checksum of its content."""

    size: int
    changed: int
    checksum: str


@dataclass(frozen=True)
class Kept:
    """Features of items, and how they came about.

    Attributes
    ----------
    items : Items
        The items that have features.
    encoder, option : str
        The encoder's name, and what ``--with`` takes for it.
    left_out : dict of str to str
        Items without features, with the reason.
    n_made : int
        How many items were encoded just now; the others' features were there.
    file : Path or None
        Where they are kept; None if the folder can't be written to.
    """

    items: Items
    encoder: str
    option: str
    left_out: dict[str, str] = field(default_factory=dict)
    n_made: int = 0
    file: Path | None = None
    prints: dict[str, Print] = field(default_factory=dict, repr=False)


def keep_features(
    source: Source, home: Path, wanted: str | None = None, progress: Callable[[str], None] | None = None
) -> Kept:
    """Features of the items of a source: those kept in a folder, made anew as far as items changed.

    Parameters
    ----------
    source : Source
        The items.
    home : Path
        The folder; a folder ``.oddkernel`` in it holds the file.
    wanted : str, optional
        The encoder, as `find_encoder` takes it. By default the one that the kept features were made with, or the best
        that can be used at once.
    progress : callable, optional
        Called with a sentence after each item.
    """
    there = read_kept(home)
    encoder = None if wanted is None else find_encoder(wanted, source.kind)
    if there is not None and encoder is not None and there.encoder != encoder.name:
        there = None
    prints = _prints(source, there)
    changed = [name for name, print_ in prints.items() if there is None or there.prints.get(name) != print_]
    if there is not None and not changed:
        warn_left_out({name: there.left_out[name] for name in prints if name in there.left_out}, source)
        return _chosen(there, prints)
    option = wanted or (default_encoder(source.kind) if there is None else there.option)
    encoder = encoder or _again(option, source, home)
    if there is not None and there.encoder != encoder.name:
        there, changed = None, list(prints)
    return _make(encoder, source, home, there, list(prints) if encoder.together else changed, prints, progress)


def up_to_date(source: Source, home: Path) -> Kept | None:
    """The kept features of these items; None unless they are there for all items as they are now."""
    there = read_kept(home)
    if there is None:
        return None
    prints = _prints(source, there)
    changed = any(there.prints.get(name) != print_ for name, print_ in prints.items())
    return None if changed else _chosen(there, prints)


def read_kept(home: Path) -> Kept | None:
    """What is kept in a folder; None if nothing is, or nothing that can be used."""
    file = home / FOLDER / FILE
    # A damaged file is as good as none: features can be made anew.
    with suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
        parts = unpack(file.read_bytes())
        about = json.loads(parts["about.json"])
        if about["oddkernel"] != "features" or about["version"] != VERSION:
            return None
        X = array_from_bytes(parts["X.npy"])
        prints = {str(name): Print(int(size), int(date), str(check)) for name, size, date, check in about["items"]}
        left_out = {str(name): str(problem) for name, problem in about["left_out"].items()}
        names = tuple(name for name in prints if name not in left_out)
        columns = tuple(map(str, about["columns"]))
        if X.shape != (len(names), len(columns)) or not np.isfinite(X).all():
            return None
        items = Items(X.astype(np.float64, copy=False), names, columns)
        return Kept(items, str(about["encoder"]), str(about["option"]), left_out, 0, file, prints)
    return None


def _make(
    encoder: Encoder,
    source: Source,
    home: Path,
    there: Kept | None,
    changed: Sequence[str],
    prints: dict[str, Print],
    progress: Callable[[str], None] | None,
) -> Kept:
    fresh = set(changed)
    rows: dict[str, Array] = {}
    left_out: dict[str, str] = {}
    if there is not None:
        rows = {name: x for name, x in zip(there.items.names or (), there.items.X, strict=True) if name not in fresh}
        left_out = {name: problem for name, problem in there.left_out.items() if name not in fresh}
    part = source.only(fresh)

    def kept() -> Kept:
        done = {name: prints[name] for name in prints if name in rows or name in left_out}
        names = tuple(name for name in done if name in rows)
        X = np.array([rows[name] for name in names])
        columns = columns_of(encoder, X.shape[1])
        here = Kept(Items(X, names, columns), encoder.name, encoder.option, dict(left_out), 0, None, done)
        return _written(here, home)

    for number, row in enumerate(encoder.rows(part), start=1):
        name = part.names[row.position]
        if row.features is None:
            left_out[name] = row.problem
        else:
            rows[name] = row.features
        if progress is not None:
            progress(f"{source.kind} {number} of {len(part.names)}, encoder {encoder.option}")
        if not encoder.together and number % EVERY == 0 and number < len(part.names) and rows:
            kept()
    warn_left_out({name: left_out[name] for name in prints if name in left_out}, source)
    made = kept()
    return Kept(made.items, made.encoder, made.option, made.left_out, len(part.names), made.file, made.prints)


def _written(kept: Kept, home: Path) -> Kept:
    about = {
        "oddkernel": "features",
        "version": VERSION,
        "encoder": kept.encoder,
        "option": kept.option,
        "columns": kept.items.columns,
        "left_out": {name: kept.left_out[name] for name in kept.prints if name in kept.left_out},
        "items": [[name, *print_] for name, print_ in kept.prints.items()],
    }
    file = home / FOLDER / FILE
    try:
        file.parent.parent.mkdir(exist_ok=True)
        file.parent.mkdir(mode=0o700, exist_ok=True)  # a model learned from answers may come to lie there
        replace(file, pack({"about.json": json.dumps(about).encode(), "X.npy": array_to_bytes(kept.items.X)}))
    except OSError:
        return kept  # a folder that can't be written to: they are made anew next time
    return Kept(kept.items, kept.encoder, kept.option, kept.left_out, kept.n_made, file, kept.prints)


def _chosen(there: Kept, prints: dict[str, Print]) -> Kept:
    """The features of these items, where the folder's file holds those of others, too."""
    row_of = {name: row for row, name in enumerate(there.items.names or ())}
    left_out = {name: there.left_out[name] for name in prints if name in there.left_out}
    names = tuple(name for name in prints if name in row_of)
    items = Items(there.items.X[[row_of[name] for name in names]], names, there.items.columns)
    return Kept(items, there.encoder, there.option, left_out, 0, there.file, prints)


def _again(option: str, source: Source, home: Path) -> Encoder:
    try:
        return find_encoder(option, source.kind)
    except ValueError as error:
        raise ValueError(f"{home}: items have changed, and their features were made with {option}: {error}") from None


def _prints(source: Source, there: Kept | None) -> dict[str, Print]:
    """The print of each item; a file with the size and date that are known isn't read."""
    known = {} if there is None else there.prints
    if source.kind == "text":
        return {
            name: Print(len(text), 0, hashlib.sha256(text.encode()).hexdigest())
            for name, text in zip(source.names, source.texts, strict=True)
        }
    return {name: _of_file(path, known.get(name)) for name, path in zip(source.names, source.paths, strict=True)}


def _of_file(path: Path, known: Print | None) -> Print:
    try:
        state = path.stat()
        if known is not None and (state.st_size, state.st_mtime_ns) == (known.size, known.changed):
            return known
        with path.open("rb") as file:
            checksum = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return Print(-1, 0, "")  # the encoder will say what is wrong with it
    if known is not None and checksum == known.checksum:
        return known  # only its date is new
    return Print(state.st_size, state.st_mtime_ns, checksum)
