"""A study: the items, and the settings in its ``study.toml``."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from reprlib import repr as brief
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..items import tables
from ..questions.policies import POLICIES
from ..support.files import replace
from . import identity
from . import items as _items
from .describing import in_order, kept_features
from .items import Item
from .keys import Keys
from .store import Database

SETTINGS_FILE = "study.toml"
DATABASE_FILE = "answers.sqlite3"
MOST_QUESTIONS = 5000
"""Largest number of questions for one person. Chosen by hand: more than anybody answers, and the plan stays small."""

ID_COMMENT = "Tells this study from all others in a database; keep it, and take it out of a copy that is another study."


def _is_text(value: object) -> bool:
    return isinstance(value, str) and "\0" not in value


def _is_line(value: object) -> bool:
    return isinstance(value, str) and value.isprintable() and len(value) <= 200


def _is_name(value: object) -> bool:
    return _is_line(value) and bool(value)


def _is_share(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _is_whole(least: int, most: int) -> Callable[[object], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_seconds(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 60


def _setting(default: Any, comment: str, check: Callable[[Any], bool], accepted: str) -> Any:
    return field(default=default, metadata={"comment": comment, "check": check, "accepted": accepted})


@dataclass(frozen=True)
class Catch:
    """A question whose answer is known.

    Attributes
    ----------
    items : tuple of str
        The names of its three items.
    odd : str
        The name of the odd one.
    """

    items: tuple[str, str, str]
    odd: str


@dataclass(frozen=True)
class Settings:
    """What ``study.toml`` says; every setting has a default."""

    name: str = _setting("", "What the study is called in exported files.", _is_name, "")
    title: str = _setting("Which one is different?", "The heading of the page.", _is_line, "a line of text")
    question: str = _setting(
        "Which one is least like the other two?", "The question above the three items.", _is_line, "a line of text"
    )
    instructions: str = _setting(
        "You will see three items at a time. Choose the one that is least like the other two.\n\nThere is no right or "
        "wrong: your own impression counts. If all three seem equally alike or different, choose “can't tell”.",
        "What people read first. An empty line starts a new paragraph.",
        _is_text,
        "a text",
    )
    language: str = _setting("en", "The language of your texts, as in HTML (en, de, pt-BR).", _is_name, "a code: en")
    questions: int = _setting(
        60,
        "How many questions each person answers, all kinds together.",
        _is_whole(1, MOST_QUESTIONS),
        f"a whole number from 1 to {MOST_QUESTIONS}",
    )
    practice: int = _setting(
        2, "How many practice questions come first; they aren't recorded.", _is_whole(0, 20), "a number from 0 to 20"
    )
    catch_share: float = _setting(
        0.05, "Share of questions with a known answer, from the [[catch]] tables below.", _is_share, "a number, 0 to 1"
    )
    repeat_share: float = _setting(
        0.1, "Share of questions that repeat an earlier one, in another order.", _is_share, "a number from 0 to 1"
    )
    holdout_share: float = _setting(
        0.1, "Share of random questions kept apart for an honest evaluation.", _is_share, "a number from 0 to 1"
    )
    policy: str = _setting(
        "random",
        f"How the other questions are chosen: {' or '.join(POLICIES)}.",
        lambda value: value in POLICIES,
        " or ".join(POLICIES),
    )
    consent: str = _setting("", "A text that people must agree to first; empty for none.", _is_text, "a text")
    completion_code: str = _setting("", "A code that people see at the end; empty for none.", _is_line, "a line")
    entry: str = _setting(
        "open",
        'Who may answer: "open" for anyone with the link, "invitation" for those with a link of their own\n'
        "(oddkernel judge STUDY --invite 20 makes such links).",
        lambda value: value in ("open", "invitation"),
        "open or invitation",
    )
    too_fast: float = _setting(
        0.3, "An answer that took fewer seconds counts as too fast.", _is_seconds, "seconds from 0 to 60"
    )
    features: str = _setting(
        "",
        "A file of features, with item names; empty: oddkernel makes features itself, and keeps them in .oddkernel.",
        _is_line,
        "a file",
    )
    id: str = _setting("", ID_COMMENT, _is_name, "")
    words: dict[str, str] = field(default_factory=dict)
    catch: tuple[Catch, ...] = ()

    @classmethod
    def read(cls, text: str) -> Self:
        """Read settings from TOML; raises a ValueError that names the first wrong one."""
        try:
            given = tomllib.loads(text)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"not TOML: {error}") from None
        known = {item.name: item for item in fields(cls)}
        for key, value in given.items():
            if key not in known:
                raise ValueError(f"the setting {brief(key)} is unknown; expected {', '.join(known)}")
            meta = known[key].metadata
            if meta and not meta["check"](value):
                raise ValueError(f"{key} = {brief(value)}; expected {meta['accepted'] or 'a short name'}")
        given["words"] = _words(given.get("words", {}))
        given["catch"] = tuple(_catch(number, table) for number, table in enumerate(given.get("catch", ()), start=1))
        settings = cls(**given)
        if settings.catch_share + settings.repeat_share + settings.holdout_share > 1:
            raise ValueError("catch_share, repeat_share and holdout_share add up to more than 1; expected at most 1")
        return settings

    def text(self) -> str:
        """The settings as TOML, each with its comment."""
        parts = ["# Settings of this study. The server reads them when it starts.\n"]
        for item in fields(self):
            if item.metadata:
                comment = "".join(f"# {line}\n" for line in item.metadata["comment"].splitlines())
                parts.append(f"{comment}{item.name} = {json.dumps(getattr(self, item.name), ensure_ascii=False)}\n")
        return "\n".join(parts) + _EXAMPLES


_EXAMPLES = """
# Other words for the buttons and sentences of the page; those that can be replaced are in words.en.json.
# [words]
# cant_tell = "I can't tell"

# Questions with a known answer, asked now and then to see who looks at them. As many as you like.
# [[catch]]
# items = ["cat.jpg", "dog.jpg", "hammer.jpg"]
# odd = "hammer.jpg"
"""


def _words(given: object) -> dict[str, str]:
    if not isinstance(given, dict) or not all(_is_text(value) for value in given.values()):
        raise ValueError('[words] holds something else than texts; expected lines such as cant_tell = "I can\'t tell"')
    return given


def _catch(number: int, table: object) -> Catch:
    wanted = "items, the names of three items, and odd, one of them"
    if not isinstance(table, dict) or table.keys() != {"items", "odd"}:
        raise ValueError(f"[[catch]] number {number} is {brief(table)}; expected {wanted}")
    items, odd = table["items"], table["odd"]
    if not isinstance(items, list) or len(items) != 3 or len(set(map(str, items))) != 3 or odd not in items:
        raise ValueError(f"[[catch]] number {number} has items {brief(items)} and odd {brief(odd)}; expected {wanted}")
    return Catch((items[0], items[1], items[2]), odd)


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
    """

    home: Path
    media_root: Path
    items: tuple[Item, ...]
    settings: Settings
    features: NDArray[np.float64] | None = None
    features_file: Path | None = None
    source: Path | None = None

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
        items = _items.read(source)
        home = source if is_folder else source.with_name(f"{source.stem}-study")
        home.mkdir(exist_ok=True)
        file = home / SETTINGS_FILE
        if not file.exists():
            id = identity.find(home, "", is_new=True).id
            replace(file, Settings(name=_default_name(home), id=id).text().encode())
        text = file.read_text(encoding="utf-8")
        try:
            settings = Settings.read(text)
        except ValueError as error:
            raise ValueError(f"{file}: {error}") from None
        id = identity.find(home, settings.id, is_new=False).id
        if not settings.id:
            settings = dataclasses.replace(settings, id=id)
            replace(file, f'# {ID_COMMENT}\nid = "{id}"\n\n{text}'.encode())
        study = cls(home, source if is_folder else source.parent, items, settings)
        for number, catch in enumerate(settings.catch, start=1):
            for name in catch.items:
                if name not in study.index_of:
                    raise ValueError(f"{file}: [[catch]] number {number}: no item is called {brief(name)}")
        if features is None and settings.features:
            features = home / settings.features
        found = kept_features(items, home) if features is None else in_order(features, tables.read(features), items)
        return cls(home, study.media_root, items, settings, found, features, source)

    @property
    def name(self) -> str:
        """What the study is called in exported files."""
        return self.settings.name or _default_name(self.home)

    @property
    def keys(self) -> Keys:
        """The keys that the server signs with; they exist once a database was opened."""
        found = identity.read(self.home)
        if found is None or not found.secret:
            raise ValueError(f"{self.home / identity.KEY_FILE}: holds no secret; expected a study that was opened")
        return Keys(found.secret)

    def connect(self, address: str | None = None) -> Database:
        """Open the study's database: the one in its folder, or the one at an address; to be closed by the caller."""
        database = Database(address or self.database, self.settings.id)
        try:
            identity.settle(database, self.home, self.index_of, None if address is None else self.name)
        except BaseException:
            database.close()
            raise
        return database

    @cached_property
    def index_of(self) -> dict[str, int]:
        """The number of each item, by name."""
        return {item.name: index for index, item in enumerate(self.items)}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the items, in order."""
        return tuple(item.name for item in self.items)

    @property
    def database(self) -> Path:
        """The database inside the study's folder."""
        return self.home.resolve() / DATABASE_FILE


def _default_name(home: Path) -> str:
    name = "".join(letter for letter in home.resolve().name if letter.isprintable())
    return name.encode(errors="ignore").decode()[:200] or "study"
