"""Running the application until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import uvicorn

from .app import create_app
from .connections import Connections, Protocol, defer, raise_limit
from .keys import Keys
from .study import Study
from .throttle import throttled

LOOPBACK = ("127.0.0.1", "localhost", "::1")

QUEUE = 4096
"""Largest number of connections in the system's queue, not yet accepted: the limit of Linux (net.core.somaxconn)."""


class Server:
    """A study's server, on a port of this machine.

    Parameters
    ----------
    study : Study
        What to ask.
    database : str, optional
        Address of the database; by default a file inside the study's folder.
    host : str, default="127.0.0.1"
        The address to listen on; by default only this machine can reach it.
    port : int, default=0
        The port; 0 takes any that is free.
    """

    def __init__(self, study: Study, *, database: str | None = None, host: str = "127.0.0.1", port: int = 0) -> None:
        self._database = study.connect(database)
        try:
            self._socket = _listen(host, port)
        except ValueError:
            self._database.close()
            raise
        self._stopped = False
        self._uvicorn: _Uvicorn | None = None
        self.connections = Connections(raise_limit())
        try:
            self.app = create_app(study, self._database, self.connections.is_crowded)
        except ValueError:
            self._socket.close()
            self._database.close()
            raise
        self.keys: Keys = self.app.state.judge.keys
        shown = f"[{host}]" if ":" in host else host
        self.url = f"http://{shown}:{self._socket.getsockname()[1]}/"
        self.experimenter_url = f"{self.url}experimenter?token={self.keys.token}"

    def n_answers(self) -> int:
        """How many answers the study has."""
        return self._database.read(lambda records: records.n_answers())

    def run(self, on_start: Callable[[], None] | None = None) -> int:
        """Serve until SIGINT, SIGTERM or `stop`; store what was accepted, and return the number of all answers."""
        # No access log: addresses of requests hold participants' names and the token.
        config = uvicorn.Config(
            self.app,
            ws="none",
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=10,
        )
        self._uvicorn = _Uvicorn(config, self.connections, on_start)
        try:
            if not self._stopped:
                with throttled(), _few_pauses():
                    self._uvicorn.run(sockets=[self._socket])
        except KeyboardInterrupt:
            pass  # the usual way to stop it, raised once all is stored
        finally:
            self._socket.close()
            n_answers = self.n_answers()
            self._database.close()
        return n_answers

    def stop(self) -> None:
        """End `run`, from another thread."""
        self._stopped = True
        if self._uvicorn is not None:
            self._uvicorn.should_exit = True


class _Uvicorn(uvicorn.Server):
    """Uvicorn, with connections accepted by `Connections`."""

    def __init__(self, config: uvicorn.Config, connections: Connections, on_start: Callable[[], None] | None) -> None:
        super().__init__(config)
        self._accepted = connections
        self._accepting: list[asyncio.Task[None]] = []
        self._on_start = on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])
        self._accepting = [
            asyncio.create_task(self._accepted.accept(listener, self._protocol)) for listener in sockets or ()
        ]
        if self._on_start is not None:
            self._on_start()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for task in self._accepting:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
        await super().shutdown(sockets)

    def _protocol(self) -> Protocol:
        return Protocol(
            self._accepted, config=self.config, server_state=self.server_state, app_state=self.lifespan.state
        )


@contextmanager
def _few_pauses() -> Iterator[None]:
    """Exclude all objects that exist now from garbage collection, which stops every thread while it runs.

    Most of them live as long as the server: modules, classes, the study's items. With them a full collection took
    180 ms on average in ``python -m oddkernel_benchmarks.judge_load choosing --policy uncertain``.
    """
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        defer(listener)
        listener.listen(QUEUE)
    except (OSError, OverflowError) as error:
        listener.close()
        raise ValueError(f"can't listen on {host}, port {port}: {error}; choose another --host or --port") from None
    return listener
