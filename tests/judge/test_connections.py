"""Connections: bounded in number and in time, whoever opens them; and a log that stays short."""

from __future__ import annotations

import logging
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import httpx
import pytest
from judge_studies import Running, make_folder, running

from oddkernel.judge import connections
from oddkernel.judge.connections import Connections
from oddkernel.judge.log_throttle import LOGGERS, throttled

HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\n"
HALF_BODY = (
    b"POST /api/sitting HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"
)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Running]:
    with running(make_folder(tmp_path / "birds", 8)) as started:
        yield started


def slow(run: Running, sent: bytes = HALF) -> socket.socket:
    """A client that begins a request and doesn't end it."""
    url = httpx.URL(run.server.url)
    assert url.port is not None
    client = socket.create_connection((url.host, url.port), timeout=30)
    client.sendall(sent)
    return client


def is_closed(client: socket.socket) -> bool:
    """Whether the server has closed it, or does so within half a minute."""
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def wait_for(run: Running, n_connections: int) -> None:
    """Until the server has so many connections; the test's own time limit ends it otherwise."""
    while len(run.server.connections) != n_connections:
        time.sleep(0.01)


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
@pytest.mark.parametrize(("soft", "hard", "expected"), [(256, 1024, 1024), (256, 300, 300), (700, 700, 700)])
def test_the_limit_on_descriptors_is_raised_as_far_as_it_may(soft: int, hard: int, expected: int) -> None:
    code = (
        f"import resource; resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))\n"
        "from oddkernel.judge.connections import Connections, raise_limit\n"
        "limit = raise_limit(); print(limit, resource.getrlimit(resource.RLIMIT_NOFILE)[0], Connections(limit).most)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    limit, now, most = map(int, done.stdout.split())
    assert limit == now == expected
    assert 2 * most <= limit  # each connection may need a second one, for the file that it is sent


@pytest.mark.parametrize("sent", [b"", HALF, HALF_BODY], ids=["nothing", "headers", "body"])
def test_a_request_that_does_not_arrive_is_given_up(run: Running, sent: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.2)
    with slow(run, sent) as client:
        assert is_closed(client)
    with slow(run, HALF + b"\r\n") as client:  # the next request of a connection that was answered once
        assert client.recv(100_000).startswith(b"HTTP/1.1 200")
        client.sendall(HALF)
        while client.recv(100_000):
            pass


def test_a_client_that_takes_no_answer_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "STALLED_SECONDS", 0.2)
    folder = make_folder(tmp_path / "birds", 8)
    (folder / "picture 0.png").write_bytes(bytes(64_000_000))
    with running(folder) as run:
        path = next(f"/media/{id}" for id, name in run.judge.media.items() if name == "picture 0.png")
        with slow(run, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()) as client:
            wait_for(run, 1)
            wait_for(run, 0)
            taken = 0
            with suppress(ConnectionResetError):
                while part := client.recv(1_000_000):
                    taken += len(part)
            assert taken < 64_000_000


def test_where_connections_are_scarce_those_that_wait_make_room(run: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 1000.0)  # so that nothing else closes them
    run.server.connections.most = 4
    with ExitStack() as stack:
        clients = [stack.enter_context(slow(run)) for _ in range(20)]
        for _ in range(3):
            assert run.client().get("/").status_code == 200
        assert all(is_closed(client) for client in clients[:16])
    assert run.person().answer_all() == 60


def test_where_connections_are_scarce_each_ends_with_its_answer(run: Running) -> None:
    with slow(run):
        assert "connection" not in run.client().get("/").headers
        run.server.connections.most = 2
        assert run.client().get("/").headers["connection"] == "close"


def test_a_request_that_a_busy_server_has_not_read_is_not_given_up(
    run: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "GRACE_SECONDS", 0.0)
    run.server.connections.most = 2
    received = connections.Protocol.data_received

    def late(self: connections.Protocol, data: bytes) -> None:
        time.sleep(0.1)
        received(self, data)

    monkeypatch.setattr(connections.Protocol, "data_received", late)
    with ExitStack() as stack:
        clients = [stack.enter_context(slow(run, HALF + b"\r\n")) for _ in range(20)]
        assert all(client.recv(100).startswith(b"HTTP/1.1 200") for client in clients)


def test_an_address_has_a_share_of_the_connections(run: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 1000.0)  # so that nothing else closes them
    run.server.connections.most_per_address = 3
    with ExitStack() as stack:
        many = [stack.enter_context(slow(run)) for _ in range(6)]  # a proxy on this machine stands for everybody
        assert run.client().get("/").status_code == 200
        assert len(run.server.connections) >= 6
        monkeypatch.setattr(connections, "_is_loopback", lambda address: False)
        time.sleep(2 * connections.GRACE_SECONDS)
        for _ in range(4):  # each takes the place of one that was there before
            many.append(stack.enter_context(slow(run, HALF + b"\r\n")))
            assert many[-1].recv(100).startswith(b"HTTP/1.1 200")
        assert all(is_closed(client) for client in many[:4])


def test_all_that_is_open_is_counted(run: Running) -> None:
    assert run.person().answer_all() == 60
    for client in run._clients:
        client.close()
    with slow(run):
        wait_for(run, 1)
    wait_for(run, 0)
    assert not run.server.connections._waiting
    assert not run.server.connections._per_address


def test_no_descriptors_no_connections() -> None:
    assert Connections(0).most == 16


def test_the_pages_files_are_kept_by_browsers(run: Running) -> None:
    client = run.client()
    page = client.get("/")
    assert page.headers["cache-control"] == "no-cache"
    version = run.judge.pages.version
    assert page.text.count(f'"static/{version}/') == page.text.count('"static/') > 10
    file = client.get(f"/static/{version}/participant/judge.js")
    assert file.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert file.headers["content-type"] == "text/javascript; charset=utf-8"
    for path in ("participant/judge.js", "0123456789abcdef/participant/judge.js"):  # of another version
        other = client.get(f"/static/{path}")
        assert other.text == file.text
        assert other.headers["cache-control"] == "no-cache"
    assert client.get(f"/static/{version}/participant/nothing.js").status_code == 404
    assert client.post("/static/participant/judge.js", json={}).status_code == 405


def test_another_file_is_another_version(tmp_path: Path) -> None:
    from oddkernel.judge.pages import Pages

    (tmp_path / "a.js").write_text("1")
    before = Pages(tmp_path).version
    (tmp_path / "a.js").write_text("2")
    assert Pages(tmp_path).version != before


def test_what_goes_wrong_often_is_logged_a_few_times(caplog: pytest.LogCaptureFixture) -> None:
    with throttled(), caplog.at_level(logging.WARNING):
        for name in LOGGERS[:2]:
            for _ in range(1000):
                logging.getLogger(name).warning("too many open files")
        logging.getLogger("asyncio").warning("something else")
    assert len(caplog.records) == 11
    caplog.clear()
    logging.getLogger("asyncio").warning("afterwards")
    assert len(caplog.records) == 1
