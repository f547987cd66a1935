"""Running the application until it is told to stop."""

from __future__ import annotations

import asyncio
import gc
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

import uvicorn

from . import study_key
from .app import create_app
from .connections import Connections, Protocol, defer, raise_limit
from .log_throttle import throttled
from .logs import LOGGING
from .running_study import RunningStudy, root_of
from .signing import Keys
from .store import Database
from .study import Study

LOOPBACK = ("127.0.0.1", "localhost", "::1")

QUEUE = 4096
"""Largest number of connections in the system's queue, not yet accepted: the limit of Linux (net.core.somaxconn)."""


class Address(NamedTuple):
    """Where a study is.

    Attributes
    ----------
    study : Study
        The study.
    url : str
        The participants' page.
    experimenter_url : str
        The experimenter's page, with the token.
    """

    study: Study
    url: str
    experimenter_url: str


class Server:
    """The server of one study or several, on a port of this machine.

    Parameters
    ----------
    *studies : Study
        What to ask. One study is at ``/``; of several, each is at an address with its id.
    database : str, optional
        Address of a database for all of them; by default each has a file inside its folder.
    host : str, default="127.0.0.1"
        The address to listen on; by default only this machine can reach it.
    port : int, default=0
        The port; 0 takes any that is free.
    """

    def __init__(self, *studies: Study, database: str | None = None, host: str = "127.0.0.1", port: int = 0) -> None:
        _check_distinct(studies)
        self._stopped = False
        self._uvicorn: _Uvicorn | None = None
        with ExitStack() as opened:
            databases: list[Database] = []
            for study in studies:
                shared = databases[0] if databases and database is not None else database
                databases.append(study.connect(shared))
                opened.callback(databases[-1].close)
            self._socket = opened.enter_context(_listen(host, port))
            judges: list[RunningStudy] = []
            for study, its_own in zip(studies, databases, strict=True):
                judges.append(RunningStudy(study, its_own, root_of(study) if len(studies) > 1 else ""))
                opened.callback(judges[-1].close)
            self.connections = Connections(raise_limit())
            self.app = create_app(judges, self.connections.is_crowded)
            opened.pop_all()
        self.judges = tuple(judges)
        self.addresses = [_address(judge, host, self._socket.getsockname()[1]) for judge in judges]
        self.keys: Keys = judges[0].keys
        _, self.url, self.experimenter_url = self.addresses[0]

    def n_answers(self) -> int:
        """How many answers the studies have."""
        return sum(judge.database.read(lambda records: records.n_answers()) for judge in self.judges)

    def run(self, on_start: Callable[[], None] | None = None) -> int:
        """Serve until SIGINT, SIGTERM or `stop`; store what was accepted, and return the number of all answers."""
        config = uvicorn.Config(
            self.app,
            ws="none",
            log_config=LOGGING,
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
            for judge in self.judges:
                judge.database.close()
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
    180 ms on average in ``python -m oddkernel_benchmarks.judge_load choosing --policy uncertain``. Where the program
    around the server has excluded most of its objects already, they stay excluded when the server ends.
    """
    if gc.get_freeze_count() > len(gc.get_objects()):
        yield
        return
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def _check_distinct(studies: Sequence[Study]) -> None:
    """Two folders with one id would be one study with two sets of items."""
    homes: dict[str, Path] = {}
    for study in studies:
        home = homes.setdefault(study.settings.id, study.home)
        own = study_key.read(study.home)
        # With one secret, the token of one study would open the other.
        if own is not None and own.secret and home is study.home:
            home = homes.setdefault(own.secret, study.home)
        if home is not study.home:
            raise ValueError(
                f"{home} and {study.home} are one study, with the same id or the same secret; expected each study "
                "once. In a copy that is another study, delete study.key and answers.sqlite3, and the line that begins "
                "with id in study.toml"
            )


def _address(judge: RunningStudy, host: str, port: int) -> Address:
    shown = f"[{host}]" if ":" in host else host
    url = f"http://{shown}:{port}{judge.root}/"
    return Address(judge.study, url, f"{url}experimenter?token={judge.keys.token}")


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
