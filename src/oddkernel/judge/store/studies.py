"""A study's own record in the database."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cache
from typing import Any

from sqlalchemy import Connection, TextClause
from sqlalchemy import text as _text

# Parsing a statement takes longer than running most of them, and there are few different ones.
text: Callable[[str], TextClause] = cache(_text)


def now() -> str:
    """This moment, in UTC."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


class StudyRecord:
    """One study's row in the database, within one transaction."""

    def __init__(self, connection: Connection, study: str) -> None:
        self._connection = connection
        self._study = study

    def _all(self, statement: str, **values: Any) -> Sequence[Any]:
        return self._connection.execute(text(statement), {"study": self._study, **values}).all()

    def _first(self, statement: str, **values: Any) -> Any:
        return self._connection.execute(text(statement), {"study": self._study, **values}).first()

    def _run(self, statement: str, **values: Any) -> int:
        return self._connection.execute(text(statement), {"study": self._study, **values}).rowcount

    def studies(self) -> list[str]:
        """The ids of all studies in the database."""
        return [id for (id,) in self._all("SELECT id FROM study ORDER BY id")]

    def register(self) -> None:
        """Add the study's row unless it exists; of two servers that do so at once, one waits for the other."""
        self._run(
            "INSERT INTO study (id, secret, paused, created_at) VALUES (:study, '', 0, :now) ON CONFLICT DO NOTHING",
            now=now(),
        )

    def adopt(self, id: str) -> None:
        """Take over all that the database knows about a study that had another id."""
        self.register()
        for column in ("secret", "paused", "created_at"):
            self._run(
                f"UPDATE study SET {column} = (SELECT {column} FROM study WHERE id = :old) WHERE id = :study", old=id
            )
        for table in ("invitation", "sitting"):
            self._run(f"UPDATE {table} SET study = :study WHERE study = :old", old=id)
        self._run("DELETE FROM study WHERE id = :old", old=id)

    def names_asked(self, id: str) -> set[str]:
        """The names of all items that people were asked about in the study with this id."""
        of_study = "FROM question q JOIN sitting s ON s.id = q.sitting WHERE s.study = :id"
        return {name for (name,) in self._all(" UNION ".join(f"SELECT q.{place} {of_study}" for place in "abc"), id=id)}

    def secret(self) -> str:
        """The secret, in databases of earlier versions; empty once a file holds it."""
        row = self._first("SELECT secret FROM study WHERE id = :study")
        return str(row[0]) if row else ""

    def forget_secret(self) -> None:
        """Delete the secret from the database, because the file holds it."""
        self._run("UPDATE study SET secret = '' WHERE id = :study")

    def paused(self) -> bool:
        """Whether no new questions are asked."""
        row = self._first("SELECT paused FROM study WHERE id = :study")
        return bool(row and row[0])

    def pause(self, paused: bool) -> None:
        """Pause the study, or let it go on."""
        self._run("UPDATE study SET paused = :paused WHERE id = :study", paused=int(paused))
