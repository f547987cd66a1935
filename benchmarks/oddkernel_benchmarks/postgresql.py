"""A temporary PostgreSQL server in its own folder, on a free port."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any


class NotHere(Exception):
    """PostgreSQL can't be started here; the message says why."""


def programs() -> tuple[str, str]:
    """Paths of ``initdb`` and ``pg_ctl``, which are not on the PATH on Debian."""
    found = [
        shutil.which(name)
        or next(map(str, sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"), reverse=True)), "")
        for name in ("initdb", "pg_ctl")
    ]
    if not all(found):
        raise NotHere("PostgreSQL (initdb and pg_ctl) is not installed; on Debian: apt-get install postgresql")
    return found[0], found[1]


class Cluster:
    """A temporary PostgreSQL server.

    Attributes
    ----------
    address : str
        The address of a database on it.
    """

    def __init__(self, folder: Path) -> None:
        self._initdb, self._pg_ctl = programs()
        self._folder = folder
        self._user = _who()
        password = secrets.token_hex(16)
        (folder / "password").write_text(password)
        if self._user is not None:
            for path in (folder, folder / "password"):
                shutil.chown(path, self._user, pwd.getpwnam(self._user).pw_gid)
        self._call(
            self._initdb, "-U", "oddkernel", "-A", "scram-sha-256", "--pwfile", str(folder / "password"), "--no-sync"
        )
        self._port = _free_port()  # as late as possible, before another program takes it
        self.address = f"postgresql://oddkernel:{password}@127.0.0.1:{self._port}/postgres"
        self.start()

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-p {self._port} -k {self._folder} -c listen_addresses=127.0.0.1"
        self._call(self._pg_ctl, "start", "-w", "-o", options, "-l", str(self._folder / "server.log"))

    def stop(self) -> None:
        """Stop it immediately, without waiting for clients."""
        self._call(self._pg_ctl, "stop", "-w", "-m", "immediate")

    def _call(self, program: str, *arguments: str) -> None:
        rights: dict[str, Any] = {}
        if self._user is not None:
            rights = {"user": self._user, "group": pwd.getpwnam(self._user).pw_gid, "extra_groups": []}
        log = self._folder / "log"
        with log.open("a") as told:
            done = subprocess.run(
                [program, "-D", str(self._folder / "data"), *arguments],
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=told,
                stderr=told,
                timeout=120,
                **rights,
            )
        if done.returncode:
            raise NotHere(f"{Path(program).name} failed: {log.read_text()[-500:]}")


@contextmanager
def private_cluster() -> Iterator[Cluster]:
    """A server for the duration of the context; its files are removed afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="oddkernel-postgresql-"))
    try:
        cluster = Cluster(folder)
        try:
            yield cluster
        finally:
            with suppress(NotHere):  # it was stopped already
                cluster.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _who() -> str | None:
    """The user to run as: PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name
    raise NotHere("this is root, and there is no user postgres or nobody for PostgreSQL to run as")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
