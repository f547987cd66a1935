"""Databases of earlier versions: opened, brought up to date, and nothing in them lost."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
import sqlalchemy

pytest.importorskip("alembic", reason="the judge needs oddkernel[judge]")

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from judge_studies import make_folder, running

from oddkernel.judge.signing import Keys

MIGRATIONS = Path(__file__).parents[2] / "src" / "oddkernel" / "judge" / "migrations"
FIRST = Path(__file__).with_name("first_version.sql")
SECRET = "the secret of the first version"


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    return config


VERSIONS = [script.revision for script in ScriptDirectory.from_config(_config()).walk_revisions()][::-1]


def make_database(file: Path, version: str) -> None:
    """The first version's file, as a server of a later version left it when it had opened it."""
    with closing(sqlite3.connect(file)) as connection:
        connection.executescript(FIRST.read_text(encoding="utf-8"))
    engine = sqlalchemy.create_engine(f"sqlite:///{file}")
    config = _config()
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, version)
    engine.dispose()


def rows(file: Path, table: str, columns: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(file)) as connection:
        return connection.execute(f"SELECT {columns} FROM {table} ORDER BY 1, 2").fetchall()


TABLES = {
    "question": "id, sitting, place, kind, a, b, c, expected, repeats, handed_at",
    "answer": "sitting, client_id, question, odd, response_ms, answered_at, stored_at, undo_id, undone_at",
    "sitting": "id, participant, plan, seed, started_at, consented_at",
}


@pytest.fixture(params=VERSIONS)
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    made = make_folder(tmp_path / "birds", settings='name = "birds"\nquestions = 3\n')
    make_database(made / "answers.sqlite3", request.param)
    return made


def test_every_earlier_version_is_opened_and_keeps_every_record(folder: Path) -> None:
    file = folder / "answers.sqlite3"
    before = {table: rows(file, table, columns) for table, columns in TABLES.items()}
    with running(folder) as run:
        assert run.judge.keys.token == Keys(SECRET).token
        answers = run.database.read(lambda records: records.answers())
        assert [(a.participant, a.client_id, a.odd) for a in answers] == [
            ("ann", "c2", 2),
            ("ann", "c3", -1),
            ("ann", "c4", 0),
            ("Jürgen 张", "c5", 1),
        ]
        assert run.database.read(lambda records: records.paused())
        assert {table: rows(file, table, columns) for table, columns in TABLES.items()} == before
    assert rows(file, "alembic_version", "version_num, 0")[0][0] == VERSIONS[-1]


def test_people_of_every_earlier_version_go_on_where_they_were(folder: Path) -> None:
    with running(folder) as run:
        run.database.write(lambda records: records.pause(False)).result(60)
        client = run.client()
        client.cookies.set("oddkernel_sitting", Keys(SECRET).sign("s2"))
        person = client.post("/api/sitting", json={}).json()["sitting"]
        assert (person["answered"], person["total"], person["state"]) == (1, 3, "running")
        assert client.get("/api/questions?count=1").json()["questions"][0]["id"] == "q5"
        invited = run.person(invitation="open sesame").told["sitting"]
        assert (invited["answered"], invited["state"]) == (3, "done")
