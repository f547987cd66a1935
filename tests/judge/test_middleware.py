"""Requests that change something come from the study's own pages, or from programs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from judge_studies import Running, make_folder, running
from starlette.types import Message, Receive, Scope, Send

from oddkernel.judge.middleware import Guard, Rate

CHANGING = (
    "/api/sitting", "/api/consent", "/api/answers", "/api/undo",
    "/experimenter/api/pause", "/experimenter/api/resume", "/experimenter/api/withdraw",
)  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder: Path = tmp_path_factory.mktemp("guard")
    with running(make_folder(folder / "birds", 8)) as started:
        yield started


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "none"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "http://localhost"},
        {"origin": "https://other.example.org"},
        {"origin": "null"},
    ],
    ids=str,
)
@pytest.mark.parametrize("path", CHANGING)
def test_other_origins_change_nothing(run: Running, path: str, headers: dict[str, str]) -> None:
    experimenter = run.experimenter()
    assert experimenter.post(path, json={"participant": "ann"}, headers=headers).status_code == 403
    assert experimenter.get("/experimenter/api/summary").json()["state"] == "running"


@pytest.mark.parametrize("type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", "", None])
@pytest.mark.parametrize("path", CHANGING)
def test_what_a_form_could_send_changes_nothing(run: Running, path: str, type: str | None) -> None:
    experimenter = run.experimenter()
    headers = {} if type is None else {"content-type": type}
    assert experimenter.post(path, content=b'{"participant": "ann"}', headers=headers).status_code == 415
    assert experimenter.get("/experimenter/api/summary").json()["people"] == 0


def test_the_own_origin_may(run: Running) -> None:
    client = run.experimenter()
    own = run.server.url.rstrip("/")
    for headers in (
        {"origin": own},
        {"origin": own, "sec-fetch-site": "same-origin"},
        {"origin": "https://study.example.org", "host": "study.example.org"},
        {"origin": "https://study.example.org", "host": "study.example.org:443"},
        {"content-type": "application/json; charset=utf-8"},
        {},
    ):
        assert client.post("/experimenter/api/pause", json={}, headers=headers).status_code == 200, headers
    client.post("/experimenter/api/resume", json={})


def test_the_pages_own_files_do_not_count_against_an_address() -> None:
    """Hundreds of people behind one address may open the page at once."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    def statuses(path: str) -> list[int]:
        guard = Guard(app, per_address=Rate(per_second=0.001, burst=2), is_crowded=lambda: False)
        told: list[int] = []

        async def receive() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                told.append(message["status"])

        scope = {"type": "http", "method": "GET", "path": path, "headers": [], "client": ("1.2.3.4", 5)}
        for _ in range(4):
            asyncio.run(guard(dict(scope), receive, send))
        return told

    assert statuses("/static/1234/participant/outbox.js") == [200] * 4
    assert statuses("/api/question") == [200, 200, 429, 429]
