"""The database: how to reach it, its schema, and the one thread that writes to it."""

from __future__ import annotations

import copy
import logging
import os
import queue
import shutil
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import sqlalchemy
from sqlalchemy import Connection, Engine, event
from sqlalchemy.exc import IntegrityError, SQLAlchemyError

from ...support.files import is_read_only
from .answers import Records

T = TypeVar("T")
Work = Callable[[Records], T]

PATIENCE = 3.0
"""Seconds to wait for a lock that another program holds on the database. Chosen by hand."""

MIGRATION_LOCK, MIGRATION_PATIENCE = 0x6F64646B, 60
"""Number of the PostgreSQL lock for updating the schema ("oddk" in ASCII), and seconds that other servers wait for it,
chosen by hand."""

MOST_AT_ONCE = 128
"""Largest number of pieces of work in one transaction, which share one wait for the disk. Chosen by hand."""

PRIVATE = 0o600
"""The mode of files that only their owner may read."""

log = logging.getLogger(__name__)


class Unavailable(OSError):
    """The database can't be read or written now; what was to be written is not stored."""


class Job(NamedTuple):
    """Work that changes the records of a study, and the future that gets its result."""

    study: str
    work: Work[Any]
    future: Future[Any]


class Database:
    """A study's records in a database.

    Parameters
    ----------
    address : str or Path
        A file, or ``sqlite:///file`` or ``postgresql://user:password@host/name``. The schema is brought up to date.
    study : str
        The study that all records are about.
    reads : bool, default=False
        Whether nothing is to be written. A file in a folder that can't be written to is read all the same.
    """

    def __init__(self, address: str | Path, study: str, *, reads: bool = False) -> None:
        self.study = study
        self._opened = _Opened(address, reads)

    def share(self, study: str) -> Database:
        """The records of another study in this database, with the same writing thread; each is to be closed."""
        other = copy.copy(self)
        other.study = study
        self._opened.n_users += 1
        return other

    def write(self, work: Work[T]) -> Future[T]:
        """Do some work that changes the records; the future has its result when the change is durable.

        Other work shares the transaction, so the work must raise its errors before it changes anything.
        """
        future: Future[T] = Future()
        self._opened.waiting.put(Job(self.study, work, future))
        return future

    def read(self, work: Work[T]) -> T:
        """Do some work that changes nothing."""
        try:
            with self._opened.engine.connect() as connection:
                if connection.dialect.name == "postgresql":  # all that is read is of one moment, as in SQLite
                    connection = connection.execution_options(isolation_level="REPEATABLE READ")
                return work(Records(connection, self.study))
        except SQLAlchemyError as error:
            raise _unavailable(error) from None

    def forget_deleted(self) -> bool:
        """Clear SQLite's log of changes, where what was deleted lingers.

        False if it can't be cleared, as another program reads the file for longer than `PATIENCE` seconds. It is then
        tried again after later changes, and when the database is closed.
        """
        return self._opened.forget_deleted(PATIENCE)

    def close(self) -> None:
        """Let go of the database; the last that shares it writes what waits first."""
        self._opened.n_users -= 1
        if not self._opened.n_users:
            self._opened.close()


class _Opened:
    """An open database, for one study or for several.

    One thread does all the writing. It puts all work that waits into one transaction, so that many people share one
    wait for the disk. Nobody is told that something is stored before the transaction is committed and, on SQLite, on
    the disk (``synchronous=FULL``).
    """

    def __init__(self, address: str | Path, reads: bool) -> None:
        self.n_users = 1
        self._copy: tempfile.TemporaryDirectory[str] | None = None
        if isinstance(address, Path) and is_read_only(address.parent):
            if not reads:
                raise Unavailable(told_read_only(address.parent))
            self._copy, address = copied(address)
        self.engine = _engine(address)
        self._lingers = False  # whether something that was deleted may still be in SQLite's log
        self._writing = self.engine.execution_options(writes=True)
        self.waiting: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        try:
            _migrate(self._writing)
        except SQLAlchemyError as error:
            raise Unavailable(f"the database can't be opened: {_reason(error)}") from None
        except ValueError:
            self.engine.dispose()
            raise
        self._thread = threading.Thread(target=self._write_what_waits, name="oddkernel-writer", daemon=True)
        self._thread.start()

    def forget_deleted(self, patience: float) -> bool:
        """Clear SQLite's log; False if another program reads the file for longer than `patience` seconds."""
        if self.engine.dialect.name != "sqlite":
            return True
        self._lingers = True
        connection = self.engine.raw_connection()  # a checkpoint can't be part of a transaction
        try:
            cursor = connection.cursor()
            cursor.execute(f"PRAGMA busy_timeout = {round(1000 * patience)}")
            is_busy, *_ = cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
            cursor.execute(f"PRAGMA busy_timeout = {round(1000 * PATIENCE)}")
            self._lingers = bool(is_busy)
        except Exception as error:
            log.warning("the database's log could not be cleared: %s", _reason(error))
        finally:
            connection.close()
        return not self._lingers

    def close(self) -> None:
        """Write what waits, then let go of the database."""
        self.waiting.put(None)
        self._thread.join()
        self._forget_what_lingers()
        self.engine.dispose()
        if self._copy is not None:
            self._copy.cleanup()

    def _forget_what_lingers(self) -> None:
        if self._lingers:
            self.forget_deleted(patience=0)

    def _write_what_waits(self) -> None:
        while (first := self.waiting.get()) is not None:
            batch = [first]
            while len(batch) < MOST_AT_ONCE and not self.waiting.empty():
                following = self.waiting.get()
                if following is None:
                    self.waiting.put(None)
                    break
                batch.append(following)
            # Work that nobody waits for any more is skipped: the person has left.
            self._commit([job for job in batch if job.future.set_running_or_notify_cancel()])
            self._forget_what_lingers()

    def _commit(self, batch: list[Job]) -> None:
        outcomes: list[tuple[Any, Exception | None]] = []
        try:
            with self._writing.begin() as connection:
                for job in batch:
                    try:
                        outcomes.append((job.work(Records(connection, job.study)), None))
                    except SQLAlchemyError:
                        raise
                    except Exception as error:
                        outcomes.append((None, error))
        except IntegrityError as error:
            if len(batch) > 1:  # one piece of work is at fault; each is tried alone
                for job in batch:
                    self._commit([job])
                return
            outcomes = [(None, _unavailable(error))]
        except Exception as error:  # the thread must outlive whatever happens to one transaction
            outcomes = [(None, _unavailable(error))] * len(batch)
        for job, (result, problem) in zip(batch, outcomes, strict=True):
            if problem is None:
                job.future.set_result(result)
            else:
                job.future.set_exception(problem)


def told_read_only(folder: Path) -> str:
    """Why nothing can be stored in a folder, and what to do."""
    return f"{folder}: the folder can't be written to, and answers would be stored there; copy it to one that can"


def copied(file: Path) -> tuple[tempfile.TemporaryDirectory[str], Path]:
    """A copy of a database, with the log that it is read with: SQLite writes even where it only reads."""
    folder = tempfile.TemporaryDirectory(prefix="oddkernel-")
    try:
        for ending in ("", "-wal"):
            with suppress(FileNotFoundError):
                shutil.copyfile(f"{file}{ending}", Path(folder.name, file.name + ending))
    except OSError as error:
        folder.cleanup()
        raise Unavailable(f"{file}: can't be read: {error.strerror or error}") from None
    return folder, Path(folder.name, file.name)


def _unavailable(error: Exception) -> Unavailable:
    log.warning("the database refused: %s", _reason(error))
    return Unavailable("The answers can't be stored at the moment.")


def _reason(error: Exception) -> str:
    """The driver's first line, without the statement and its values, which are people's answers."""
    return str(getattr(error, "orig", None) or error).partition("\n")[0]


def _engine(address: str | Path) -> Engine:
    try:
        # A file's name may hold what means something else in an address.
        file = sqlalchemy.URL.create("sqlite", database=str(address))
        url = file if isinstance(address, Path) else sqlalchemy.make_url(address)
    except SQLAlchemyError:
        raise ValueError(
            "the database's address can't be read; expected postgresql://user:password@host/name"
        ) from None
    kind = url.get_backend_name()
    if kind == "sqlite":
        return _sqlite(url)
    if kind != "postgresql":
        raise ValueError(f"a database of the kind {kind}; expected sqlite or postgresql")
    try:
        import psycopg  # noqa: F401
    except ImportError:
        raise ImportError('PostgreSQL needs psycopg: pip install "oddkernel[postgresql]"') from None
    return sqlalchemy.create_engine(
        url.set(drivername="postgresql+psycopg"),
        pool_pre_ping=True,
        hide_parameters=True,
        # A server may be set to confirm before it has written; we may not.
        connect_args={"connect_timeout": 10, "options": "-c synchronous_commit=on -c lock_timeout=3000"},
    )


def _sqlite(url: sqlalchemy.URL) -> Engine:
    if url.database and url.database != ":memory:" and not url.query:
        with suppress(OSError):  # it is there already, or SQLite will say better what the matter is
            os.close(os.open(url.database, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE))  # -wal and -shm get its mode
    engine = sqlalchemy.create_engine(url, connect_args={"timeout": PATIENCE}, hide_parameters=True)

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        connection.isolation_level = None  # transactions begin where SQLAlchemy says, not where the driver guesses
        for setting in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "secure_delete=ON"):
            connection.execute(f"PRAGMA {setting}")

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        # Whoever will write asks for the lock at once: one that is asked for later can fail without a wait.
        writes = connection.get_execution_options().get("writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine


def _migrate(engine: Engine) -> None:
    from alembic import command
    from alembic.config import Config
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parents[1] / "migrations").replace("%", "%%"))
    with engine.begin() as connection:
        if engine.dialect.name == "postgresql":  # one after the other, where two servers start at once
            connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{MIGRATION_PATIENCE}s'")
            connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({MIGRATION_LOCK})")
        found = MigrationContext.configure(connection).get_current_revision()
        known = [script.revision for script in ScriptDirectory.from_config(config).walk_revisions()]
        if found is not None and found not in known:
            raise ValueError(
                f"the database was written by a newer version of oddkernel (schema {found}, here up to {known[0]}); "
                "expected this version or an older one: pip install --upgrade oddkernel"
            )
        if found != known[0]:
            _make_private(engine)
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _make_private(engine: Engine) -> None:
    """Close the files of an older version to other users; from then on their owner decides."""
    if engine.dialect.name == "sqlite" and engine.url.database:
        for ending in ("", "-wal", "-shm"):
            with suppress(OSError):
                Path(engine.url.database + ending).chmod(PRIVATE)
