from __future__ import annotations

import os
import sqlite3
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import alembic.command
import pytest
import sqlalchemy
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from judge_databases import address, cluster  # noqa: F401
from properties import examples

from oddkernel.judge.signing import fingerprint
from oddkernel.judge.store import Database, Question, Records, Refused, Sitting, Unavailable, Unknown, back_up
from oddkernel.judge.store import database as database_module

T = TypeVar("T")
WHEN = "2026-05-04T10:00:00.000+00:00"
ITEMS = ("ant", "bee", "cat")


@pytest.fixture
def database(address: str) -> Iterator[Database]:  # noqa: F811
    opened = Database(address, f"study {uuid.uuid4()}")
    opened.write(lambda records: records.register()).result()
    yield opened
    opened.close()


def do(database: Database, work: Callable[[Records], T]) -> T:
    return database.write(work).result(timeout=60)


def begin(database: Database, participant: str, n: int = 3) -> tuple[Sitting, list[Question]]:
    def work(records: Records) -> tuple[Sitting, list[Question]]:
        sitting = records.begin(participant, ["chosen"] * n, 1)
        return sitting, [records.hand_out(sitting, place, "random", ITEMS) for place in range(n)]

    return do(database, work)


def say(database: Database, sitting: Sitting, client_id: str, question: Question, odd: int = 0) -> bool:
    return do(database, lambda records: records.answer(sitting, client_id, question.id, odd, 900, WHEN))[1]


def test_an_answer_is_stored_once_however_often_it_is_sent(database: Database) -> None:
    sitting, (first, second, _) = begin(database, "ann")
    assert say(database, sitting, "x", first, 2)
    assert not say(database, sitting, "x", first, 2)
    with pytest.raises(Refused, match="under this client_id"):
        say(database, sitting, "x", first, 1)
    with pytest.raises(Refused, match="under this client_id"):
        say(database, sitting, "x", second, 2)
    with pytest.raises(Refused, match="has an answer already"):
        say(database, sitting, "y", first, 2)
    (answer,) = database.read(lambda records: records.answers())
    assert answer[:8] == (sitting.id, "ann", False, first.id, 0, "random", ITEMS, None)
    assert (answer.client_id, answer.odd, answer.response_ms, answer.answered_at) == ("x", 2, 900, WHEN)


def test_nobody_answers_for_another(database: Database) -> None:
    ann, (question, *_) = begin(database, "ann")
    bob, _ = begin(database, "bob")
    with pytest.raises(Unknown):
        say(database, bob, "x", question)
    assert say(database, ann, "x", question)
    with pytest.raises(Unknown):
        do(database, lambda records: records.undo(bob, "u", "x"))


def test_the_last_answer_can_be_taken_back_and_given_anew(database: Database) -> None:
    sitting, (first, second, _) = begin(database, "ann")
    say(database, sitting, "x", first, 0)
    say(database, sitting, "y", second, 1)
    with pytest.raises(Refused, match="Only the last"):
        do(database, lambda records: records.undo(sitting, "u", "x"))
    for is_new in (True, False):
        assert do(database, lambda records: records.undo(sitting, "u", "y")) == (second, is_new)
    assert not say(database, sitting, "y", second, 1)  # sent again by a page that heard no answer: still taken back
    assert say(database, sitting, "z", second, -1)
    assert [(a.client_id, a.odd) for a in database.read(lambda records: records.answers())] == [("x", 0), ("z", -1)]
    with pytest.raises(Unknown):
        do(database, lambda records: records.undo(sitting, "u2", "never sent"))


def test_a_participant_who_withdraws_is_gone_and_others_stay(database: Database) -> None:
    for name in ("ann", "bob"):
        sitting, questions = begin(database, name)
        for number, question in enumerate(questions):
            say(database, sitting, f"{name} {number}", question)
    assert do(database, lambda records: records.withdraw("ann")) == 3
    database.forget_deleted()
    assert {a.participant for a in database.read(lambda records: records.answers())} == {"bob"}
    with pytest.raises(Unknown, match="'ann'"):
        do(database, lambda records: records.withdraw("ann"))
    begin(database, "ann")  # may begin anew


def test_what_was_deleted_is_not_in_the_files_any_more(tmp_path: Path) -> None:
    opened = Database(f"sqlite:///{tmp_path / 'a.sqlite3'}", "study")
    do(opened, lambda records: records.register())
    begin(opened, "someone-quite-unmistakable")
    do(opened, lambda records: records.withdraw("someone-quite-unmistakable"))
    opened.forget_deleted()
    for file in tmp_path.iterdir():
        assert b"someone-quite-unmistakable" not in file.read_bytes()
    opened.close()


def test_studies_that_share_a_database_do_not_meet(database: Database, address: str) -> None:  # noqa: F811
    begin(database, "ann")
    other = Database(address, f"other {uuid.uuid4()}")
    try:
        assert other.read(lambda records: records.sittings()) == []
        do(other, lambda records: records.register())
        begin(other, "ann")
    finally:
        other.close()


def test_a_participant_begins_once(database: Database) -> None:
    begin(database, "ann")
    with pytest.raises(Refused, match="in another browser"):
        begin(database, "ann")


def test_invitations(database: Database) -> None:
    do(database, lambda records: records.invite(["one", "two"]))
    assert database.read(lambda records: [records.invited(code) for code in ("one", "two", "three")]) == [
        True,
        True,
        False,
    ]
    sitting = do(database, lambda records: records.begin("ann", ["chosen"], 1, "one"))
    assert database.read(lambda records: records.sitting_by("one")) == sitting


def test_everything_is_there_after_a_restart(address: str) -> None:  # noqa: F811
    study = f"study {uuid.uuid4()}"
    opened = Database(address, study)
    do(opened, lambda records: records.register())
    sitting, questions = begin(opened, "ann")
    say(opened, sitting, "x", questions[0])
    do(opened, lambda records: records.pause(True))
    opened.close()
    again = Database(address, study)
    assert again.read(lambda records: records.sitting(sitting.id)) == sitting._replace(answered=1, paused=True)
    asked = again.read(lambda records: records.asked(sitting))
    assert asked == list(zip(questions, [True, False, False], strict=True))
    assert again.read(lambda records: records.paused())
    again.close()


def test_work_that_is_refused_leaves_the_work_beside_it_alone(database: Database) -> None:
    sitting, (first, second, third) = begin(database, "ann")
    blocked = threading.Event()
    waiting: list[Future[Any]] = [database.write(lambda records: blocked.wait(60))]

    def clash(records: Records) -> None:
        for _ in range(2):
            records.hand_out(sitting, 0, "random", ITEMS)  # the place is taken: the database objects

    for client_id, question in (("x", first), ("y", second), ("z", third)):
        waiting.append(
            database.write(
                lambda records, client_id=client_id, question=question: records.answer(  # type: ignore[misc]
                    sitting, client_id, question.id, 0, 1, WHEN
                )
            )
        )
    refused = database.write(lambda records: records.question(sitting, "nothing"))
    clashing = database.write(clash)
    blocked.set()
    assert waiting[0].result(timeout=60)
    assert [future.result(timeout=60)[1] for future in waiting[1:]] == [True] * 3
    with pytest.raises(Unknown):
        refused.result(timeout=60)
    with pytest.raises(Unavailable):
        clashing.result(timeout=60)
    assert len(database.read(lambda records: records.answers())) == 3


def test_work_that_nobody_waits_for_is_not_begun(database: Database) -> None:
    blocked = threading.Event()
    first = database.write(lambda records: blocked.wait(60))
    given_up = database.write(lambda records: records.pause(True))
    assert given_up.cancel()
    blocked.set()
    assert first.result(timeout=60)
    assert not do(database, lambda records: records.paused())


def test_sqlite_is_told_to_wait_for_the_disk(tmp_path: Path) -> None:
    opened = Database(f"sqlite:///{tmp_path / 'a.sqlite3'}", "study")
    settings_of = opened.read(
        lambda records: [
            records._connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys")
        ]
    )
    assert settings_of == ["wal", 2, 1]
    opened.close()


@pytest.mark.parametrize(
    ("address", "sentence"),
    [("mysql://host/name", "expected sqlite or postgresql"), ("nonsense", "the database's address can't be read")],
)
def test_other_databases_are_refused(address: str, sentence: str) -> None:  # noqa: F811
    with pytest.raises(ValueError, match=sentence):
        Database(address, "study")


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "a.sqlite3").write_text("not a database, and long enough to be taken for one" * 50)
    with pytest.raises(Unavailable, match="can't be opened"):
        Database(f"sqlite:///{tmp_path / 'a.sqlite3'}", "study")


def test_a_server_that_is_not_there_is_told_without_the_password() -> None:
    with pytest.raises(Unavailable) as caught:
        Database("postgresql://ann:hush-hush@127.0.0.1:1/nothing", "study")
    assert "hush-hush" not in str(caught.value)


@given(steps=st.lists(st.tuples(st.sampled_from(["say", "again", "undo", "undo again"]), st.integers(-1, 2))))
@examples(25, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_any_order_of_answers_undos_and_repeats_keeps_one_answer_to_a_question(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int]]
) -> None:
    opened = Database(f"sqlite:///{tmp_path_factory.mktemp('any') / 'a.sqlite3'}", "study")
    do(opened, lambda records: records.register())
    sitting, questions = begin(opened, "ann", 4)
    expected: list[tuple[str, int]] = []
    sent: list[tuple[str, Question, int]] = []
    undone: list[tuple[str, str]] = []
    for number, (step, odd) in enumerate(steps):
        if step == "say" and len(expected) < len(questions):
            one = (f"c{number}", questions[len(expected)], odd)
            assert say(opened, sitting, *one)
            sent.append(one)
            expected.append((one[0], odd))
        elif step == "again" and sent:
            assert not say(opened, sitting, *sent[odd % len(sent)])
        elif step == "undo" and expected:
            client_id, _ = expected.pop()
            undone.append((f"u{number}", client_id))
            do(opened, lambda records: records.undo(sitting, *undone[-1]))
        elif step == "undo again" and undone:
            do(opened, lambda records: records.undo(sitting, *undone[-1]))
        assert [(a.client_id, a.odd) for a in opened.read(lambda records: records.answers())] == expected
    opened.close()


def make_first_schema(file: Path) -> None:
    """A database as the first version of the schema had it, with what someone answered."""
    statements = import_module("oddkernel.judge.migrations.versions.0001_first").STATEMENTS
    connection = sqlite3.connect(file)
    with connection:
        for statement in statements:
            connection.execute(statement)
        for statement in (
            "CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)",
            "INSERT INTO alembic_version VALUES ('0001')",
            "INSERT INTO study VALUES ('study', 'an older secret', 0, '2026-01-01')",
            "INSERT INTO invitation VALUES ('study', 'open sesame')",
            "INSERT INTO sitting VALUES ('s', 'study', 'ann', 'open sesame', '[\"chosen\"]', 7, '2026-01-01', NULL)",
            "INSERT INTO question VALUES ('q', 's', 0, 'random', 'ant', 'bee', 'cat', NULL, NULL, '2026-01-01')",
            f"INSERT INTO answer VALUES ('s', 'w', 'q', 1, 800, '{WHEN}', '{WHEN}', 'undo', '{WHEN}')",
            f"INSERT INTO answer VALUES ('s', 'x', 'q', 2, 900, '{WHEN}', '{WHEN}', NULL, NULL)",
        ):
            connection.execute(statement)
    connection.close()


def test_an_older_database_gets_the_newest_schema_and_keeps_its_answers(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite3"
    make_first_schema(file)
    for _ in range(2):  # a second start finds nothing to do
        opened = Database(f"sqlite:///{file}", "study")
        (answer,) = opened.read(lambda records: records.answers())
        assert (answer.participant, answer.items, answer.odd, answer.answered_at) == ("ann", ITEMS, 2, WHEN)
        (sitting,) = opened.read(lambda records: records.sittings())
        do(opened, partial(Records.set_key, sitting=sitting, key="a hash"))
        assert opened.read(lambda records: records.sittings_with("a hash")) == [sitting]
        assert opened.read(lambda records: records.invited(fingerprint("open sesame")))
        assert opened.read(lambda records: records.sitting_by(fingerprint("open sesame"))) == sitting
        opened.close()
    with sqlite3.connect(file) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [("0007",)]
        taken_back = ("s", "w", "q", 1, 800, WHEN, WHEN, "undo", WHEN, None)
        assert taken_back in connection.execute("SELECT * FROM answer").fetchall()
        # The tables were copied: what they promise still holds.
        assert {row[2] for row in connection.execute("PRAGMA foreign_key_list(answer)")} == {"sitting", "question"}
        assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
        indices = {row[1]: row[2] for row in connection.execute("PRAGMA index_list(answer)")}
        assert (indices["one_answer_counts"], indices["answers_of_question"]) == (1, 0)
    connection.close()


def test_a_newer_database_is_refused_with_what_to_do(tmp_path: Path) -> None:
    file = tmp_path / "a.sqlite3"
    Database(file, "study").close()
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    connection.close()
    with pytest.raises(ValueError, match=r"newer version of oddkernel \(schema 9999, here up to 0007\)"):
        Database(file, "study")


@pytest.mark.parametrize("name", ["which?x=1", "ten%20cars", "a#b", "sqlite:///c", "d&e=f;g"])
def test_a_database_lies_where_it_is_said_whatever_its_folder_is_called(name: str, tmp_path: Path) -> None:
    folder = tmp_path / name
    folder.mkdir(parents=True)
    opened = Database(folder / "a.sqlite3", "study")
    do(opened, lambda records: records.register())
    opened.close()
    assert [path.name for path in folder.iterdir()] == ["a.sqlite3"]
    assert sum(path.is_file() for path in tmp_path.rglob("*")) == 1


def modes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}


@pytest.mark.skipif(os.name != "posix", reason="modes of files are those of POSIX")
def test_only_the_owner_may_read_the_files(tmp_path: Path) -> None:
    opened = Database(tmp_path / "a.sqlite3", "study")
    do(opened, lambda records: records.register())
    assert modes(tmp_path) == dict.fromkeys(("a.sqlite3", "a.sqlite3-wal", "a.sqlite3-shm"), 0o600)
    opened.close()
    old = tmp_path / "old"
    old.mkdir()
    make_first_schema(old / "a.sqlite3")
    (old / "a.sqlite3").chmod(0o644)
    Database(old / "a.sqlite3", "study").close()
    assert modes(old) == {"a.sqlite3": 0o600}
    (old / "a.sqlite3").chmod(0o640)  # whoever shares a study with a group may do so
    Database(old / "a.sqlite3", "study").close()
    assert modes(old) == {"a.sqlite3": 0o640}


def test_servers_that_start_at_once_on_a_new_database_agree(
    cluster: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    engine = sqlalchemy.create_engine(cluster.replace("postgresql:", "postgresql+psycopg:"))
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.exec_driver_sql("CREATE DATABASE fresh")
    fresh = f"{cluster.rpartition('/')[0]}/fresh"
    created, go = threading.Event(), threading.Event()
    upgrade = alembic.command.upgrade

    def held(*given: Any) -> None:
        upgrade(*given)
        if not created.is_set():
            created.set()
            go.wait(60)  # the tables are there, and nobody else sees them yet

    def until_someone_waits() -> None:
        waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = 'fresh'"
        while True:
            with engine.connect() as connection:
                if connection.exec_driver_sql(waiting).scalar_one():
                    return
            time.sleep(0.01)

    monkeypatch.setattr(alembic.command, "upgrade", held)
    with ThreadPoolExecutor() as pool:
        first = pool.submit(Database, fresh, "birds")
        assert created.wait(60)
        second = pool.submit(Database, fresh, "birds")
        until_someone_waits()
        go.set()
        databases = [first.result(timeout=60), second.result(timeout=60)]

    inserted, go = threading.Event(), threading.Event()

    def register(records: Records) -> None:
        records.register()
        inserted.set()
        go.wait(60)

    done = [databases[0].write(register)]
    assert inserted.wait(60)
    done.append(databases[1].write(lambda records: records.register()))
    until_someone_waits()
    go.set()
    assert [each.result(timeout=60) for each in done] == [None, None]
    for database in databases:
        database.close()
    engine.dispose()


def test_a_name_that_was_deleted_while_another_program_read_the_file_leaves_it_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(database_module, "PATIENCE", 0.1)
    opened = Database(tmp_path / "a.sqlite3", "study")
    do(opened, lambda records: records.register())
    begin(opened, "someone-quite-unmistakable")

    def is_there() -> bool:
        return any(b"someone-quite-unmistakable" in file.read_bytes() for file in tmp_path.iterdir())

    reader = sqlite3.connect(tmp_path / "a.sqlite3", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM sitting").fetchall()
    do(opened, lambda records: records.withdraw("someone-quite-unmistakable"))
    assert not opened.forget_deleted()
    begin(opened, "bob")  # tried again, and the other program is still there
    assert is_there()
    reader.execute("ROLLBACK")
    begin(opened, "cem")
    until_idle(opened)
    assert not is_there()
    assert opened.forget_deleted()
    reader.close()
    opened.close()


def until_idle(opened: Database) -> None:
    """Wait until the writing thread has done what it does after a change."""
    do(opened, lambda records: records.paused())


@pytest.mark.parametrize("name", ["a.sqlite3", "with ? and %20.sqlite3"])
def test_a_backup_while_the_server_runs_holds_all_that_was_confirmed(name: str, tmp_path: Path) -> None:
    opened = Database(tmp_path / name, "study")
    do(opened, lambda records: records.register())
    copy = tmp_path / "copy" / "backup.sqlite3"
    copy.parent.mkdir()
    for number in range(3):
        sitting, questions = begin(opened, f"person {number}", 5)
        for place, question in enumerate(questions):
            say(opened, sitting, f"{number} {place}", question)
        waiting = [opened.write(lambda records: records.pause(False)) for _ in range(50)]  # goes on meanwhile
        assert back_up(tmp_path / name, copy) == 5 * (number + 1)
        assert modes(copy.parent) == {"backup.sqlite3": 0o600}
        for future in waiting:
            future.result(timeout=60)
    assert (tmp_path / f"{name}-wal").stat().st_size > 0  # a plain copy of the one file would lack what is in here
    answers = opened.read(lambda records: records.answers())
    opened.close()
    restored = Database(copy, "study")
    assert restored.read(lambda records: records.answers()) == answers
    restored.close()


def test_backups_that_cannot_be_made_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="nothing to back up"):
        back_up(tmp_path / "a.sqlite3", tmp_path / "b")
    with pytest.raises(ValueError, match="pg_dump --format=custom --file=") as caught:
        back_up("postgresql://ann:hush-hush@host/name", tmp_path / "b")
    assert "hush-hush" not in str(caught.value)
    Database(tmp_path / "a.sqlite3", "study").close()
    for other in ("a.sqlite3", "a.sqlite3-wal"):
        with pytest.raises(ValueError, match="the database itself"):
            back_up(f"sqlite:///{tmp_path / 'a.sqlite3'}", tmp_path / other)
    with pytest.raises(ValueError, match=r"the folder .*absent doesn't exist"):
        back_up(tmp_path / "a.sqlite3", tmp_path / "absent" / "b")
    (tmp_path / "c.sqlite3").write_text("no database, and long enough to be taken for one" * 50)
    (tmp_path / "b").write_text("an older copy")
    with pytest.raises(ValueError, match="can't be backed up"):
        back_up(tmp_path / "c.sqlite3", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "an older copy"
