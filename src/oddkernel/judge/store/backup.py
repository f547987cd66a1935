"""A copy of the answers, made while the server runs."""

from __future__ import annotations

import os
import sqlite3
from contextlib import ExitStack, closing
from pathlib import Path
from urllib.parse import quote

import sqlalchemy

from ...support.files import check_file_place, draft, is_read_only
from .database import PATIENCE, PRIVATE, copied


def back_up(address: str | Path, file: Path) -> int:
    """Copy a SQLite database as it stands at one moment, with all that is still in its log; how many answers it holds.

    The copy is checked, readable by its owner only, and takes the place of an older one when it is complete.

    Parameters
    ----------
    address : str or Path
        The database; one of PostgreSQL is refused with the command that copies it.
    file : Path
        The copy.
    """
    source = _file(address, file)
    if not source.is_file():
        raise ValueError(f"{source}: no such file; there is nothing to back up before the study was opened once")
    if file.resolve() in [source.with_name(source.name + ending).resolve() for ending in ("", "-wal", "-shm")]:
        raise ValueError(f"{file}: the database itself; expected another file")
    check_file_place(file)
    try:
        with ExitStack() as stack:
            if is_read_only(source.parent):
                folder, source = copied(source)
                stack.enter_context(folder)
            name = stack.enter_context(draft(file))
            os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
            return _copy(source, name)
    except sqlite3.Error as error:
        raise ValueError(f"{source}: can't be backed up: {error}") from None


def _copy(source: Path, name: Path) -> int:
    opened = sqlite3.connect(f"file:{quote(str(source))}?mode=rw", uri=True, timeout=PATIENCE)
    with closing(opened), closing(sqlite3.connect(name)) as copy:
        opened.backup(copy)  # all at one go: writers go on, and the copy is of the moment when it began
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a log beside it
        ((told,),) = copy.execute("PRAGMA integrity_check(1)").fetchall()
        if told != "ok":
            raise sqlite3.DatabaseError(f"the copy is damaged: {told}")
        ((n_answers,),) = copy.execute("SELECT count(*) FROM answer WHERE undo_id IS NULL").fetchall()
    return int(n_answers)


def _file(address: str | Path, file: Path) -> Path:
    if isinstance(address, Path):
        return address
    url = sqlalchemy.make_url(address)
    if url.get_backend_name() != "sqlite" or not url.database:
        shown = url.set(drivername=url.get_backend_name()).render_as_string(hide_password=True)
        raise ValueError(
            "a PostgreSQL database is backed up by its own program, also while the server runs: "
            f"pg_dump --format=custom --file={file} {shown}"
        )
    return Path(url.database)
