"""What must not lose an answer: a killed server, a full disk, a locked database, a database that goes away."""

from __future__ import annotations

import sqlite3
import uuid
from pathlib import Path

import pytest
from judge_databases import cluster  # noqa: F401
from judge_studies import Running, make_folder, running
from oddkernel_benchmarks.judge_load import load
from oddkernel_benchmarks.postgresql import NotHere, private_cluster

from oddkernel.judge.store import database as database_module

pytestmark = pytest.mark.slow  # starts servers

N_PEOPLE, N_QUESTIONS = 12, 10


def test_a_server_killed_in_the_middle_has_stored_what_it_said_on_postgresql(cluster: str, tmp_path: Path) -> None:  # noqa: F811
    # On SQLite the scenario "answers" of test_load.py does the same.
    outcome = load(tmp_path, cluster, N_PEOPLE, N_QUESTIONS, kill=True)
    assert outcome.told.problems == []
    assert outcome.told.retries > 0
    assert (outcome.lost, outcome.doubled, outcome.misplaced) == (0, 0, 0)
    assert len(outcome.told.stored) == outcome.n_stored == N_PEOPLE * N_QUESTIONS


def refused_then_stored(run: Running, begin: object, end: object) -> None:
    """An answer that finds the database in trouble is refused, and taken when the trouble is over."""
    ann = run.person(participant="ann")
    first, second, _ = ann.questions()
    ann.say(first["id"], 1)
    sent = str(uuid.uuid4())
    begin()  # type: ignore[operator]
    refused = ann.client.post(
        "/api/answers",
        json={
            "client_id": sent,
            "question": second["id"],
            "answer": 2,
            "response_ms": 1,
            "answered_at": "2026-05-04T10:00:00Z",
        },
    )
    assert refused.status_code == 503
    assert refused.json() == {"error": "The answers can't be stored at the moment."}
    assert int(refused.headers["retry-after"]) > 0
    end()  # type: ignore[operator]
    assert ann.say(second["id"], 2, sent)["answered"] == 2
    assert [answer.odd for answer in run.database.read(lambda records: records.answers())] == [1, 2]


def test_a_locked_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "PATIENCE", 0.2)
    folder = make_folder(tmp_path / "birds")
    with running(folder) as run:
        other = sqlite3.connect(folder / "answers.sqlite3", isolation_level=None)
        refused_then_stored(run, lambda: other.execute("BEGIN IMMEDIATE"), lambda: other.execute("ROLLBACK"))
        other.close()


def limit_pages(run: Running, most: int | None) -> None:
    """Let the database's file grow no further, as a full disk would."""

    def work(records: database_module.Records) -> None:
        pages = records._connection.exec_driver_sql("PRAGMA page_count").scalar()
        records._connection.exec_driver_sql(f"PRAGMA max_page_count = {pages if most is None else most}")

    run.database.write(work).result(timeout=60)


def test_a_full_disk(tmp_path: Path) -> None:
    # So many people that the answer needs another page: until then there is room in those that are there.
    with running(make_folder(tmp_path / "birds", settings="questions = 400\nrepeat_share = 0.0\n")) as run:
        ann = run.person()
        limit_pages(run, None)
        said, sent = 0, ""
        statuses: list[int] = []
        while 503 not in statuses:
            response = ann.client.get("/api/questions?count=1")
            statuses.append(response.status_code)
            if response.status_code != 200:
                break
            question = response.json()["questions"][0]["id"]
            sent = str(uuid.uuid4())
            body = {"client_id": sent, "question": question, "answer": 0, "response_ms": 1}
            answer = ann.client.post("/api/answers", json={**body, "answered_at": "2026-05-04T10:00:00Z"})
            statuses.append(answer.status_code)
            said += answer.status_code == 200
        assert set(statuses) == {200, 503}
        assert len(run.database.read(lambda records: records.answers())) == said
        limit_pages(run, 1_000_000)
        assert ann.questions(1)[0]["id"]
        if statuses[-1] == 503 and len(statuses) % 2 == 0:
            assert ann.say(question, 0, sent)["answered"] == said + 1


def test_a_disk_that_is_really_full(tmp_path: Path) -> None:
    """The server may write no file beyond a size: the operating system refuses, as it does on a full disk."""
    resource = pytest.importorskip("resource")
    import signal

    with running(make_folder(tmp_path / "birds")) as run:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)

        def fill() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))

        def free() -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

        try:
            refused_then_stored(run, fill, free)
        finally:
            free()
            signal.signal(signal.SIGXFSZ, ignored)


def test_a_postgresql_server_that_is_stopped_and_started_again(tmp_path: Path) -> None:
    try:
        context = private_cluster()
        server = context.__enter__()
    except NotHere as reason:
        pytest.skip(f"not on PostgreSQL: {reason}")
    try:
        with running(make_folder(tmp_path / "birds"), server.address) as run:
            refused_then_stored(run, server.stop, server.start)
    finally:
        context.__exit__(None, None, None)
