"""Which study this is, and what only its server knows: the file ``study.key``."""

from __future__ import annotations

import secrets
import tomllib
from collections.abc import Collection
from pathlib import Path
from typing import NamedTuple

from ..support.files import create, replace
from .store import Database, Records

KEY_FILE = "study.key"

NOTE = "# Keep this file to yourself, and with the answers: the experimenter's token is made of it.\n"

FEWEST_KNOWN = 0.5
"""A folder is a study's if it has at least this share of the items that people were asked about. Chosen by hand."""


class Identity(NamedTuple):
    """A study's id and secret.

    Attributes
    ----------
    id : str
        Its name in a database with several studies; random.
    secret : str
        The secret that tokens and cookies are computed from; empty until a database of an earlier version, which may
        hold it, was read.
    """

    id: str
    secret: str

    def data(self) -> bytes:
        """The file's content."""
        return f'{NOTE}id = "{self.id}"\nsecret = "{self.secret}"\n'.encode()


def read(home: Path) -> Identity | None:
    """Read the file in a study's folder; None if there is none."""
    file = home / KEY_FILE
    try:
        told = tomllib.loads(file.read_text(encoding="utf-8"))
        return Identity(str(told["id"]), str(told["secret"]))
    except FileNotFoundError:
        return None
    except (ValueError, KeyError):
        raise ValueError(f"{file}: can't be read; expected the lines id and secret, as they were written") from None


def find(home: Path, id: str, *, is_new: bool) -> Identity:
    """Read the file; write it first if there is none.

    Parameters
    ----------
    home : Path
        The study's folder.
    id : str
        The id in the settings; if empty, a random one is made.
    is_new : bool
        Whether the study begins now. If not, a database may hold its secret.
    """
    there = read(home)
    if there is None:
        secret = secrets.token_hex(32) if is_new else ""
        create(home / KEY_FILE, Identity(id or secrets.token_hex(16), secret).data())
        there = read(home)
        assert there is not None
    return there if id in ("", there.id) else there._replace(id=id)


def settle(database: Database, home: Path, names: Collection[str], earlier: str | None) -> None:
    """Register the study in a database, and check that the database's study of this id has the same items.

    In the first schema a study's id was its name, and the database held its secret. Such a study gets its new id, and
    its secret moves to the file.

    Parameters
    ----------
    database : Database
        The database, opened with the study's id.
    home : Path
        The study's folder.
    names : collection of str
        The names of its items.
    earlier : str or None
        The study's name, which is its id in a database of the first schema; None for the only study in the database.
    """
    kept = read(home)
    assert kept is not None

    def work(records: Records) -> str:
        known = records.studies()
        candidates = known if earlier is None and len(known) == 1 else [earlier]
        old = next((id for id in candidates if id in known), None)
        takes_over = not kept.secret and database.study not in known and old is not None
        _check_items(records.names_asked(old if takes_over and old else database.study), names, home)
        if takes_over and old is not None:
            records.adopt(old)
        records.register()
        return records.secret()

    secret = database.write(work).result()
    if not kept.secret:
        there = read(home)  # another server may have written it meanwhile
        if there is None or not there.secret:
            replace(home / KEY_FILE, kept._replace(secret=secret or secrets.token_hex(32)).data(), private=True)
    if secret:
        database.write(lambda records: records.forget_secret()).result()
        database.forget_deleted()


def _check_items(asked: set[str], names: Collection[str], home: Path) -> None:
    known = asked & set(names)
    if len(known) < FEWEST_KNOWN * len(asked):
        raise ValueError(
            f"{home}: people were asked about {len(asked)} items in this study, and only {len(known)} of them are "
            "here; it seems to be another study. Put the items back; or, to begin a new study in a copy of a folder, "
            f"delete {KEY_FILE} and answers.sqlite3 in the copy, and the line that begins with id in its study.toml"
        )
