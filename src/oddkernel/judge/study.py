"""A study: the items, and the settings in its ``study.toml``."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from reprlib import repr as brief
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..items import tables
from ..support.files import is_read_only, replace
from ..support.text import decode
from . import items as _items
from . import question_list, study_key
from .item_features import in_order, kept_features
from .items import Item
from .question_forms import GRID
from .question_list import Listed
from .settings import ID_COMMENT, MOST_QUESTIONS, Settings
from .signing import Keys
from .store import Database, told_read_only

SETTINGS_FILE = "study.toml"
DATABASE_FILE = "answers.sqlite3"


@dataclass(frozen=True, eq=False)
class Study:
    """Items and settings, and the folder for the study's files.

    Attributes
    ----------
    home : Path
        Where ``study.toml`` and, unless another database is chosen, the answers are.
    media_root : Path
        The folder that media files must lie in.
    items : tuple of Item
        What people are asked about.
    settings : Settings
        What ``study.toml`` says.
    features : ndarray of shape (n, d), or None
        Features of the items, in their order: from the file, or those that are kept in the folder.
    features_file : Path or None
        The file that the study names.
    source : Path or None
        The folder or the table that it was read from.
    listed : tuple of Listed
        The questions of the list, if the settings name one.
    """

    home: Path
    media_root: Path
    items: tuple[Item, ...]
    settings: Settings
    features: NDArray[np.float64] | None = None
    features_file: Path | None = None
    source: Path | None = None
    listed: tuple[Listed, ...] = ()

    @classmethod
    def open(cls, source: Path, features: Path | None = None) -> Self:
        """Read a study. If it has no ``study.toml``, write one with the defaults, for the experimenter to edit.

        Parameters
        ----------
        source : Path
            A folder of media files, or a table of texts or of paths. The files of a table's study are in a folder
            beside it: ``birds-study`` for ``birds.csv``.
        features : Path, optional
            A file of features, in place of the one that ``study.toml`` names.
        """
        if not source.exists():
            raise ValueError(f"{source}: no such folder or table")
        is_folder = source.is_dir()
        is_new = not (_home(source) / SETTINGS_FILE).exists()
        if is_new and is_read_only(source if is_folder else source.parent):
            raise ValueError(f"{source}: nobody was asked about these items yet; {told_read_only(_home(source))}")
        items = _items.read(source)
        home = _home(source)
        home.mkdir(exist_ok=True)
        file = home / SETTINGS_FILE
        if not file.exists():
            id = study_key.find(home, "", is_new=True).id
            replace(file, Settings(name=_default_name(home), id=id).text().encode())
        try:
            text = decode(file.read_bytes(), "UTF-8").replace("\r\n", "\n")
            settings = Settings.read(text)
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None
        id = study_key.find(home, settings.id, is_new=False).id
        if not settings.id:
            settings = dataclasses.replace(settings, id=id)
            replace(file, f'# {ID_COMMENT}\nid = "{id}"\n\n{text}'.encode())
        _check_grid(file, settings, len(items))
        study = cls(home, source if is_folder else source.parent, items, settings)
        for number, catch in enumerate(settings.catch, start=1):
            for name in catch.items:
                if name not in study.index_of:
                    raise ValueError(f"{file}: [[catch]] number {number}: no item is called {brief(name)}")
        if features is None and settings.features:
            features = home / settings.features
        found = kept_features(items, home) if features is None else in_order(features, tables.read(features), items)
        rows = _read_list(settings, home, study.index_of)
        return cls(home, study.media_root, items, settings, found, features, source, rows)

    def without(self, names: Collection[str]) -> Self:
        """The study without some of its items, so that nobody is asked about them; answers about them stay."""
        file = self.home / SETTINGS_FILE
        kept = [row for row, item in enumerate(self.items) if item.name not in names]
        if len(kept) < _items.FEWEST:
            raise ValueError(f"{self.home}: {len(kept)} items that can be shown; expected at least {_items.FEWEST}")
        for asked, where in (
            *((catch.items, f"{file}: [[catch]] number {n}") for n, catch in enumerate(self.settings.catch, start=1)),
            *((row.items, f"the list of questions, line {row.line}") for row in self.listed),
        ):
            for name in asked:
                if name in names:
                    raise ValueError(f"{where}: {brief(name)} can't be shown; expected items that can")
        _check_grid(file, self.settings, len(kept))
        items = tuple(self.items[row] for row in kept)
        features = None if self.features is None else self.features[kept]
        return dataclasses.replace(self, items=items, features=features)

    def check_writable(self) -> None:
        """Raise unless answers can be stored in the study's folder."""
        if is_read_only(self.home):
            raise ValueError(told_read_only(self.home))

    @property
    def name(self) -> str:
        """What the study is called in exported files."""
        return self.settings.name or _default_name(self.home)

    @property
    def keys(self) -> Keys:
        """The keys that the server signs with; they exist once a database was opened."""
        found = study_key.read(self.home)
        if found is None or not found.secret:
            raise ValueError(f"{self.home / study_key.KEY_FILE}: holds no secret; expected a study that was opened")
        return Keys(found.secret)

    def connect(self, address: str | Database | None = None, *, reads: bool = False) -> Database:
        """Open the study's database, in its folder or at an address, or share one that is open; to be closed.

        With ``reads`` a folder that can't be written to will do.
        """
        id = self.settings.id
        if isinstance(address, Database):
            database = address.share(id)
        else:
            database = Database(address or self.database, id, reads=reads)
        try:
            study_key.settle(database, self.home, self.index_of, None if address is None else self.name)
        except BaseException:
            database.close()
            raise
        return database

    @cached_property
    def index_of(self) -> dict[str, int]:
        """The number of each item, by name."""
        return {item.name: index for index, item in enumerate(self.items)}

    @cached_property
    def listed_by(self) -> dict[str, Listed]:
        """The questions of the list, by what a plan calls them."""
        return {row.kind: row for row in self.listed}

    @property
    def n_questions(self) -> int:
        """How many questions each person answers."""
        table = self.settings.list
        if table is None:
            return self.settings.questions
        n = question_list.length(table, self.listed)
        return n if table.then == "nothing" else max(n, self.settings.questions)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the items, in order."""
        return tuple(item.name for item in self.items)

    @property
    def database(self) -> Path:
        """The database inside the study's folder."""
        return self.home.resolve() / DATABASE_FILE


def _home(source: Path) -> Path:
    return source if source.is_dir() else source.with_name(f"{source.stem}-study")


def _check_grid(file: Path, settings: Settings, n_items: int) -> None:
    if GRID in settings.forms and n_items <= settings.grid_size:
        raise ValueError(
            f"{file}: a grid shows {settings.grid_size} items around another, and there are {n_items} items; "
            f"expected grid_size to be at most {n_items - 1}"
        )


def _read_list(settings: Settings, home: Path, names: Mapping[str, int]) -> tuple[Listed, ...]:
    if settings.list is None:
        return ()
    file = home / settings.list.file
    rows = question_list.read(file, names)
    length = question_list.length(settings.list, rows)
    if length > min(len(rows), MOST_QUESTIONS):
        raise ValueError(
            f"{file}: {len(rows)} questions, of which each person gets {length}; expected "
            f"[list] draw to be at most the length of the list and at most {MOST_QUESTIONS}"
        )
    return rows


def _default_name(home: Path) -> str:
    name = "".join(letter for letter in home.resolve().name if letter.isprintable())
    return name.encode(errors="ignore").decode()[:200] or "study"
