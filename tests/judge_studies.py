"""Studies to try the judging page on, and someone who answers."""

from __future__ import annotations

import struct
import threading
import uuid
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from oddkernel.judge.running_study import RunningStudy
from oddkernel.judge.server import Server
from oddkernel.judge.store import Database
from oddkernel.judge.study import Study

JSON = dict[str, Any]


def png(red: int = 0, green: int = 0, blue: int = 0) -> bytes:
    """A picture of one point."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0)
    body = zlib.compress(bytes([0, red, green, blue]))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")


def make_folder(folder: Path, n_items: int = 8, settings: str = "") -> Path:
    """A folder of pictures, with a study.toml if there are settings."""
    folder.mkdir(exist_ok=True)
    for i in range(n_items):
        (folder / f"picture {i}.png").write_bytes(png(i))
    if settings:
        (folder / "study.toml").write_text(settings)
    return folder


def open_client(**options: Any) -> httpx.Client:
    """A patient client. Servers of tests have no certificates, so none are read, which would take 20 ms."""
    return httpx.Client(verify=False, timeout=60, **options)


class Person:
    """A browser with someone before it."""

    def __init__(self, client: httpx.Client, **entrance: Any) -> None:
        self.client = client
        self.told = self.post("/api/sitting", entrance)

    def post(self, path: str, body: JSON, status: int = 200) -> JSON:
        response = self.client.post(path, json=body)
        assert response.status_code == status, response.text
        told: JSON = response.json()
        return told

    def questions(self, count: int = 3) -> list[JSON]:
        response = self.client.get(f"/api/questions?count={count}")
        assert response.status_code == 200, response.text
        found: list[JSON] = response.json()["questions"]
        return found

    def say(self, question: str, odd: Any, client_id: str | None = None, status: int = 200, ms: int = 1500) -> JSON:
        body = {
            "client_id": client_id or str(uuid.uuid4()),
            "question": question,
            "answer": odd,
            "response_ms": ms,
            "answered_at": "2026-05-04T12:00:00+02:00",
        }
        return self.post("/api/answers", body, status)

    def answer_all(self, odd: Any = 0, ms: int = 1500) -> int:
        """Say the same to every question; how many these were."""
        answered = 0
        while waiting := self.questions():
            for question in waiting:
                self.say(question["id"], odd, ms=ms)
                answered += 1
        return answered


def let_time_pass(database: Database) -> None:
    """As if all questions had been handed out long ago, so that no claimed response time is impossible."""
    database.write(
        lambda records: records._run("UPDATE question SET handed_at = '2020-01-01T00:00:00.000+00:00' WHERE 1 = 1")
    ).result(timeout=60)


class Running:
    """A study that is being run by a server in this process."""

    def __init__(self, study: Study, address: str | None) -> None:
        self.study = study
        self.server = Server(study, database=address)
        self.judge: RunningStudy = self.server.judges[0]
        self.database = self.judge.database
        self._clients: list[httpx.Client] = []
        started = threading.Event()
        self._thread = threading.Thread(target=self.server.run, args=(started.set,), daemon=True)
        self._thread.start()
        assert started.wait(60)

    def client(self) -> httpx.Client:
        client = open_client(base_url=self.server.url)
        self._clients.append(client)
        return client

    def person(self, **entrance: Any) -> Person:
        return Person(self.client(), **entrance)

    def experimenter(self) -> httpx.Client:
        client = self.client()
        client.headers["authorization"] = f"Bearer {self.judge.keys.token}"
        return client

    def close(self) -> None:
        for client in self._clients:
            client.close()
        self.server.stop()
        self._thread.join()


@contextmanager
def running(source: Path, address: str | None = None, features: Path | None = None) -> Iterator[Running]:
    """Run a study for a while."""
    run = Running(Study.open(source, features), address)
    try:
        yield run
    finally:
        run.close()
