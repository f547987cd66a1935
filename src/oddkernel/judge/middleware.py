"""What stands before every request: bounded bodies and rates, and headers that keep a page to itself."""

from __future__ import annotations

import json
import math
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, MutableMapping
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

LARGEST_BODY = 16 * 1024
"""Largest body of a request in bytes. Chosen by hand: an answer has fewer than 300."""

ROOT = re.compile(r"^/s/[^/]+(?=/)")
"""What the addresses of a study begin with on a server with several."""

SAFE = ("GET", "HEAD", "OPTIONS")
"""Methods that change nothing."""

PAGE_POLICY = "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
MEDIA_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
"""For items: an SVG file may use its own styles, and nothing else, also when it is opened directly."""
REPORT_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'; sandbox allow-scripts allow-downloads"
)
"""For the report: it has its own script, and can reach nothing of the server, not even the cookie."""

HEADERS = {
    "content-security-policy": PAGE_POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def page_policy(changes: Mapping[str, str]) -> str:
    """The content security policy of a page, with some directives replaced.

    Examples
    --------
    >>> page_policy({"frame-ancestors": "https://panel.example.org"}).split("; ")[-1]
    'frame-ancestors https://panel.example.org'
    """
    directives = dict(part.split(" ", 1) for part in PAGE_POLICY.split("; "))
    return "; ".join(f"{name} {value}" for name, value in {**directives, **changes}.items())


class Rate:
    """A rate limit for each client (token bucket): `burst` requests at once, `per_second` in the long run.

    Examples
    --------
    >>> rate = Rate(per_second=1, burst=2)
    >>> [rate.wait("ann", at=0.0), rate.wait("ann", at=0.0), rate.wait("ann", at=0.0), rate.wait("ann", at=1.0)]
    [0.0, 0.0, 1.0, 0.0]
    """

    MOST_REMEMBERED = 20_000
    """Largest number of clients in memory; the one seen longest ago is forgotten. Chosen by hand."""

    def __init__(self, per_second: float, burst: float) -> None:
        self._per_second = per_second
        self._burst = burst
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, who: str, at: float | None = None) -> float:
        """Seconds until `who` may send a request; if 0, a request is counted."""
        at = time.monotonic() if at is None else at
        left = self._now(who, at)
        self._left.pop(who, None)
        allowed = left >= 1
        self._left[who] = (left - 1 if allowed else left, at)
        if len(self._left) > self.MOST_REMEMBERED:
            self._left.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self._per_second

    def left(self, who: str) -> float:
        """Seconds until `who` may send a request; counts none."""
        return max(0.0, 1 - self._now(who, time.monotonic())) / self._per_second

    def _now(self, who: str, at: float) -> float:
        left, since = self._left.get(who, (self._burst, at))
        return min(self._burst, left + (at - since) * self._per_second)


class Guard:
    """The outermost layer of the server: limits on requests, and headers for all responses."""

    def __init__(self, app: ASGIApp, per_address: Rate, is_crowded: Callable[[], bool]) -> None:
        self._app = app
        self._per_address = per_address
        self._is_crowded = is_crowded

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse requests over a limit or from other sites, pass on the others, and add the headers."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        path = ROOT.sub("", scope["path"])

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                present = {name for name, _ in message["headers"]}
                # Browsers may cache pages if they revalidate them, and nothing that was meant for one person.
                keep = "no-store" if path.startswith(("/api", "/experimenter")) else "no-cache"
                wanted = {**HEADERS, "cache-control": keep}
                if self._is_crowded():
                    wanted["connection"] = "close"
                message["headers"] = [
                    *message["headers"],
                    *(
                        (name.encode(), value.encode())
                        for name, value in wanted.items()
                        if name.encode() not in present
                    ),
                ]
            await send(message)

        headers = dict(scope["headers"])
        client = scope.get("client")
        # The page's own files come from memory and don't count: many people behind one address may open it at once.
        counts = not path.startswith("/static/")
        wait = self._per_address.wait(client[0] if client else "") if counts else 0.0
        if wait:
            await _refuse(send_with_headers, 429, "Too many requests; please wait a moment.", wait)
            return
        try:
            body = await _body(receive, headers)
        except ConnectionError:
            return  # the request did not arrive completely
        if body is None:
            await _refuse(send_with_headers, 413, f"The request is larger than {LARGEST_BODY} bytes.")
            return
        if scope["method"] not in SAFE and (refusal := _foreign(headers)) is not None:
            await _refuse(send_with_headers, *refusal)
            return
        replayed = False

        async def receive_again() -> MutableMapping[str, Any]:
            nonlocal replayed
            if replayed:
                return await receive()
            replayed = True
            return {"type": "http.request", "body": body, "more_body": False}

        await self._app(scope, receive_again, send_with_headers)


async def _body(receive: Receive, headers: dict[bytes, bytes]) -> bytes | None:
    """The whole body, or None if it is too large."""
    declared = headers.get(b"content-length", b"0")
    if not declared.isdigit() or int(declared) > LARGEST_BODY:
        return None
    body = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionError("the client went away")
        body += message.get("body", b"")
        if len(body) > LARGEST_BODY:
            return None
        if not message.get("more_body", False):
            return bytes(body)


def _foreign(headers: dict[bytes, bytes]) -> tuple[int, str] | None:
    """The refusal of a request that changes something and that another site may have made the browser send, or None.

    A page of another origin can send forms without permission, but no JSON. Browsers state where a request comes from,
    in Sec-Fetch-Site or, without HTTPS, in Origin; other programs state neither.
    """
    if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != b"application/json":
        return 415, "This needs a body of the type application/json."
    site, origin = headers.get(b"sec-fetch-site"), headers.get(b"origin")
    own = headers.get(b"host", b"").lower()
    if site is not None:
        is_own = site == b"same-origin"
    elif origin is not None:
        scheme, _, host = origin.lower().partition(b"://")
        port = {b"http": b":80", b"https": b":443"}.get(scheme, b"")
        is_own = host.removesuffix(port) == own.removesuffix(port)
    else:
        is_own = True
    return None if is_own else (403, "This was sent by another page; please use the study's own.")


async def _refuse(send: Send, status: int, sentence: str, wait: float = 0.0) -> None:
    headers = [(b"content-type", b"application/json")]
    if wait:
        headers.append((b"retry-after", str(math.ceil(wait)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"error": sentence}).encode()})
