"""Connections: at most as many as file descriptors allow, each with time limits."""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import logging
import selectors
import socket
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

try:
    import resource
except ImportError:  # on Windows, which has no such limit
    resource = None  # type: ignore[assignment]

log = logging.getLogger(__name__)

WANTED_DESCRIPTORS = 16_384
"""The limit on file descriptors is raised to this, or as far as the system allows: enough for `MOST` connections."""

RESERVED = 128
"""Descriptors kept free for the database, the log, and the processes that learn. Chosen by hand."""

MOST = 4096
"""Largest number of connections, however many descriptors there are. Chosen by hand, as a bound on memory."""

REQUEST_SECONDS = 10.0
"""Time in which a request has to arrive, headers and a body of up to 16 KiB. Chosen by hand."""

STALLED_SECONDS = 30.0
"""A connection whose client reads nothing of a response for this time is closed. Chosen by hand."""

GRACE_SECONDS = 0.5
"""If all connections are in use, one that has sent no request for this time is closed. Chosen by hand."""

FIRST_GRACE_SECONDS = 3.0
"""The same for a connection that has never sent anything, as long as `defer` waits on Linux."""

SOME = 32
"""Largest number of connections that are closed at once to make room. Chosen by hand."""

PAUSE_SECONDS = 0.05
"""Time between two searches for connections that can be closed. Chosen by hand."""

# This one needs no descriptor of its own.
_Selector = getattr(selectors, "PollSelector", selectors.SelectSelector)


def raise_limit() -> int:
    """Raise the limit on open files to `WANTED_DESCRIPTORS`, or as far as permitted; returns the limit."""
    if resource is None:
        return WANTED_DESCRIPTORS
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = WANTED_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, WANTED_DESCRIPTORS)
    if soft == resource.RLIM_INFINITY or soft >= most:
        return WANTED_DESCRIPTORS if soft == resource.RLIM_INFINITY else soft
    with contextlib.suppress(ValueError, OSError):  # macOS may refuse what it says is allowed
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def defer(listener: socket.socket) -> None:
    """On Linux, let the system hold each new connection until its client has sent something, or for three seconds."""
    with contextlib.suppress(AttributeError, OSError):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_DEFER_ACCEPT, 3)


class Connections:
    """Accepts connections up to a limit; further ones wait in the system's queue and are not refused.

    A connection is *waiting* while the server has nothing to do for it: its request has not arrived completely, or no
    other request has followed. At the limit, the connection that has been waiting longest is closed.

    Parameters
    ----------
    descriptors : int
        How many files this process may have open. A connection takes one, and one more while it is sent a file.
    """

    def __init__(self, descriptors: int) -> None:
        self.most = max(16, min(MOST, (descriptors - RESERVED) // 2))
        self.most_per_address = max(16, self.most // 2)
        self._open: dict[Protocol, str] = {}
        self._per_address: Counter[str] = Counter()
        self._waiting: OrderedDict[Protocol, float] = OrderedDict()
        self._changed = asyncio.Event()

    def __len__(self) -> int:
        """Number of open connections."""
        return len(self._open)

    def is_crowded(self) -> bool:
        """Whether more than half of the connections are in use."""
        return len(self._open) > self.most // 2

    async def accept(self, listener: socket.socket, make: Callable[[], Protocol]) -> None:
        """Accept connections until cancelled."""
        loop = asyncio.get_running_loop()
        listener.setblocking(False)
        while True:
            await self._room()
            try:
                connection, address = await loop.sock_accept(listener)
            except OSError as error:
                log.warning("a connection can't be accepted: %s", error)
                await asyncio.sleep(GRACE_SECONDS)
                continue
            if self._is_too_many(address[0]):
                connection.close()
                continue
            with contextlib.suppress(OSError):  # it is gone already
                await loop.connect_accepted_socket(make, connection)

    async def _room(self) -> None:
        while len(self._open) >= self.most:
            for each in self._silent(SOME):
                each.give_up()
            if len(self._open) >= self.most:
                self._changed.clear()
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._changed.wait(), PAUSE_SECONDS)

    def _silent(self, most: int, address: str | None = None) -> list[Protocol]:
        """The connections, of one address if given, that have been waiting longest without sending anything.

        A connection with data that the server has not read yet is left out.
        """
        now = asyncio.get_running_loop().time()
        found = [
            each
            for each, since in self._waiting.items()
            if now - since >= (GRACE_SECONDS if each.has_spoken else FIRST_GRACE_SECONDS)
            and address in (None, self._open[each])
            and not each.transport.is_closing()
        ]
        with _Selector() as selector:
            for each in found:
                selector.register(each.transport.get_extra_info("socket").fileno(), selectors.EVENT_READ, each)
            speaking = {key.data for key, _ in selector.select(0)}
        return [each for each in found if each not in speaking][:most]

    def _is_too_many(self, address: str) -> bool:
        """Whether an address is at its limit and none of its connections can be closed instead.

        The machine's own address has no limit, because a proxy on it forwards everybody's requests.
        """
        if self._per_address[address] < self.most_per_address or _is_loopback(address):
            return False
        silent = self._silent(1, address)
        for each in silent:
            each.give_up()
        return not silent

    def opened(self, protocol: Protocol, address: str) -> None:
        """Record a new connection."""
        self._open[protocol] = address
        self._per_address[address] += 1
        self.waits(protocol)

    def waits(self, protocol: Protocol) -> None:
        """Record that a connection is waiting, unless it was before."""
        if protocol in self._open and protocol not in self._waiting:
            self._waiting[protocol] = asyncio.get_running_loop().time()
            self._changed.set()

    def works(self, protocol: Protocol) -> None:
        """Record that a connection is not waiting."""
        self._waiting.pop(protocol, None)

    def closed(self, protocol: Protocol) -> None:
        """Record that a connection is closed."""
        self._waiting.pop(protocol, None)
        address = self._open.pop(protocol, None)
        if address is not None:
            self._per_address[address] -= 1
            if not self._per_address[address]:
                del self._per_address[address]
            self._changed.set()


class Protocol(H11Protocol):
    """HTTP with time limits: for a request to arrive, and for a client to read its response."""

    def __init__(self, connections: Connections, **given: Any) -> None:
        super().__init__(**given)
        self._all = connections
        self.has_spoken = False
        self._deadline: asyncio.TimerHandle | None = None
        self._stalled: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for the first request."""
        super().connection_made(transport)
        self._all.opened(self, self.client[0] if self.client else "")
        self._expect()

    def data_received(self, data: bytes) -> None:
        """Take a part of a request."""
        self.has_spoken = True
        super().data_received(data)
        if self.conn.their_state in (h11.IDLE, h11.SEND_BODY):
            self._expect()
        else:
            self._expect_nothing()
            if self.cycle is not None and not self.cycle.response_complete:
                self._all.works(self)

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._all.waits(self)
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._expect_nothing()
        if self._stalled is not None:
            self._stalled.cancel()
        self._all.closed(self)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Start the time limit: the client does not read its response."""
        super().pause_writing()
        self._stalled = self.loop.call_later(STALLED_SECONDS, self.give_up)

    def resume_writing(self) -> None:
        """End the time limit: the client reads again."""
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def give_up(self) -> None:
        """Close the connection at once."""
        self._all.closed(self)
        self.transport.abort()

    def _expect(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self.give_up)

    def _expect_nothing(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return False
