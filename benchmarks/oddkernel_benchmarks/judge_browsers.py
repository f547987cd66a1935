"""Browsers, as far as a server sees them: whole pages over six connections, and clients that never finish a request."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urljoin, urlsplit

PER_HOST = 6
"""Connections that a browser opens to one host."""

PATIENCE = 180.0
"""Seconds until a browser gives a file up; Chromium waits longer."""

EAGER = 3
"""Questions whose pictures the page loads at once."""

BUSY = (429, 503)

Item = dict[str, Any]


class Broken(Exception):
    """What a page can't do without did not come."""


@dataclass
class Seen:
    """What browsers went through.

    Attributes
    ----------
    seconds : dict of str to list of float
        By kind of request or of wait, how long each took.
    stored : dict of str to tuple
        For each client_id that was confirmed: the question, and the answer.
    again : int
        Requests that the page or the browser sent once more.
    broken : list of str
        What went wrong for good.
    """

    seconds: dict[str, list[float]] = field(default_factory=dict)
    stored: dict[str, tuple[str, int]] = field(default_factory=dict)
    again: int = 0
    broken: list[str] = field(default_factory=list)

    def took(self, kind: str, seconds: float) -> None:
        """Note how long something took."""
        self.seconds.setdefault(kind, []).append(seconds)


class Connection:
    """One connection to the server, kept open as long as the server lets it."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, head: bytes) -> tuple[int, dict[str, str], bytes]:
        """Send a request; one that a kept connection loses before any answer is sent again, as browsers do."""
        while True:
            is_kept = self._streams is not None
            try:
                return await self._send(head)
            except (OSError, asyncio.IncompleteReadError) as error:
                self.close()
                begun = isinstance(error, asyncio.IncompleteReadError) and error.partial
                if not is_kept or begun:
                    raise ConnectionError(str(error)) from None

    async def _send(self, head: bytes) -> tuple[int, dict[str, str], bytes]:
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port, limit=1 << 20)
        reader, writer = self._streams
        writer.write(head)
        await writer.drain()
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines) if name}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if headers.get("connection") == "close":
            self.close()
        return int(first.split()[1]), headers, body

    def close(self) -> None:
        """Let go of it."""
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


class Browser:
    """Someone's browser, with the study's page in it.

    Parameters
    ----------
    url : str
        Where the server is.
    seen : Seen
        Where to note what happens.
    """

    def __init__(self, url: str, seen: Seen) -> None:
        address = urlsplit(url)
        self._origin = f"{address.scheme}://{address.netloc}"
        self._host = address.netloc
        self._free: asyncio.LifoQueue[Connection] = asyncio.LifoQueue()
        self._all = [Connection(address.hostname or "", address.port or 80) for _ in range(PER_HOST)]
        for connection in self._all:
            self._free.put_nowait(connection)
        self._cookie = ""
        self._tag = ""
        self._seen = seen

    def close(self) -> None:
        """Close the window."""
        for connection in self._all:
            connection.close()

    async def request(self, method: str, path: str, body: object = None) -> tuple[int, bytes]:
        """One request, over whichever connection is free."""
        content = b"" if body is None else json.dumps(body).encode()
        lines = [f"{method} {path} HTTP/1.1", f"Host: {self._host}", "Connection: keep-alive"]
        lines += [f"Cookie: {self._cookie}"] if self._cookie else []
        lines += [f"Oddkernel-Sitting: {self._tag}"] if self._tag else []
        if body is not None:
            lines += [f"Origin: {self._origin}", "Content-Type: application/json", f"Content-Length: {len(content)}"]
        connection = await self._free.get()
        try:
            head = "\r\n".join([*lines, "", ""]).encode() + content
            status, headers, told = await asyncio.wait_for(connection.send(head), PATIENCE)
        except BaseException:
            connection.close()
            raise
        finally:
            self._free.put_nowait(connection)
        self._cookie = headers.get("set-cookie", self._cookie).partition(";")[0]
        return status, told

    async def file(self, path: str) -> bytes:
        """A file that the page can't do without; a browser asks for it once."""
        try:
            status, content = await self.request("GET", path)
        except (OSError, TimeoutError, ValueError) as error:
            raise Broken(f"{path}: {error or 'no answer'}") from None
        if status != 200:
            raise Broken(f"{path}: {status}")
        return content

    async def api(self, method: str, path: str, body: object = None, kind: str = "") -> Any:
        """A request that the page repeats while the server is busy or away."""
        began, until = time.perf_counter(), time.monotonic() + PATIENCE
        while True:
            try:
                status, told = await self.request(method, path, body)
            except (OSError, TimeoutError) as error:
                status, told = 0, str(error).encode()
            if status == 200:
                self._seen.took(kind or path, time.perf_counter() - began)
                return json.loads(told)
            if status not in (0, *BUSY) or time.monotonic() > until:
                raise Broken(f"{method} {path}: {status} {told[:200]!r}")
            self._seen.again += 1
            await asyncio.sleep(1.0 if status else 0.2)

    async def open_page(self) -> None:
        """The page and all of its files, each as soon as something names it."""
        page = (await self.file("/")).decode()
        known = {urljoin("/", path) for path in re.findall(r'(?:href|src)="(static/[^"]+)"', page)}
        if not known:
            raise Broken("the page names no files")
        waiting = set(known)
        while waiting:
            async with asyncio.TaskGroup() as group:
                files = [group.create_task(self.file(path)) for path in waiting]
            contents = [file.result() for file in files]
            named = {
                urljoin(path, found)
                for path, content in zip(waiting, contents, strict=True)
                if path.endswith(".js")
                for found in re.findall(r'(?:from|URL\()\s*"(\.{0,2}/?[\w./]+\.(?:js|json))"', content.decode())
            }
            waiting = named - known
            known |= named

    async def sit_down(self, participant: str) -> None:
        """Begin a sitting."""
        entrance = {"participant": participant, "key": str(uuid.uuid4())}
        begun = await self.api("POST", "/api/sitting", entrance, "sitting")
        self._tag = begun["sitting"]["tag"]
        if begun["study"].get("consent") is not None:
            await self.api("POST", "/api/consent", {"agreed": True})

    async def questions(self, count: int) -> list[dict[str, Any]]:
        """The next questions."""
        found: list[dict[str, Any]] = (await self.api("GET", f"/api/questions?count={count}", kind="question"))[
            "questions"
        ]
        return found

    async def picture(self, url: str) -> None:
        """A picture, which the page asks for up to three times."""
        path = f"{url}{'&' if '?' in url else '?'}w=640&h=1280"
        for attempt in range(3):
            with contextlib.suppress(Broken):
                await self.file(path)
                return
            self._seen.again += 1
            await asyncio.sleep(2**attempt)
        raise Broken(f"{url}: no picture after three attempts")

    async def say(self, question: str, odd: int) -> None:
        """Answer a question."""
        client_id = str(uuid.uuid4())
        said = {
            "client_id": client_id,
            "question": question,
            "answer": odd,
            "response_ms": 1500,
            "answered_at": datetime.now(UTC).isoformat(),
        }
        await self.api("POST", "/api/answers", said, "answer")
        self._seen.stored[client_id] = question, odd


async def visit(url: str, participant: str, seen: Seen) -> None:
    """Open the page, load what it loads until it can be answered and played on, and answer the first question."""
    began = time.perf_counter()
    browser = Browser(url, seen)
    try:
        await browser.open_page()
        await browser.sit_down(participant)
        waiting = await browser.questions(14)
        for number, question in enumerate(waiting[:EAGER]):
            async with asyncio.TaskGroup() as group:
                for item in question["items"]:
                    group.create_task(browser.picture(item["url"]))
            if number == 0:
                seen.took("first_question", time.perf_counter() - began)
        seen.took("page", time.perf_counter() - began)
        await browser.say(waiting[0]["id"], 0)
    except* Broken as errors:
        seen.broken.append(f"{participant}: {errors.exceptions[0]}")
    finally:
        browser.close()


async def answer(
    url: str, participant: str, n_questions: int, odd_of: Callable[[list[Item]], int], seen: Seen, pause: float = 0.0
) -> None:
    """Answer questions one after the other, one of them fetched ahead, without the page's files."""
    browser = Browser(url, seen)
    try:
        await browser.sit_down(participant)
        for _ in range(n_questions):
            waiting = await browser.questions(2)
            if not waiting:
                return
            await browser.say(waiting[0]["id"], odd_of(waiting[0]["items"]))
            await asyncio.sleep(pause)
    except Broken as error:
        seen.broken.append(f"{participant}: {error}")
    finally:
        browser.close()


async def dawdle(url: str) -> None:
    """Begin a request and never end it; begin another when the server has had enough."""
    address = urlsplit(url)
    while True:
        with contextlib.suppress(OSError):
            reader, writer = await asyncio.open_connection(address.hostname, address.port)
            try:
                writer.write(b"GET / HTTP/1.1\r\nHost: localhost\r\n")
                while await reader.read(4096):
                    pass
            finally:
                writer.close()
        await asyncio.sleep(1.0)
