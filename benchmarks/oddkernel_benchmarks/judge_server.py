"""The judging page's server as a process of its own: limited in descriptors, killed and started again, weighed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

SERVE = """
import sys
from pathlib import Path
database, port, features, descriptors, *sources = sys.argv[1:]
if int(descriptors):
    import resource
    resource.setrlimit(resource.RLIMIT_NOFILE, (int(descriptors), int(descriptors)))
from oddkernel.judge.server import Server
from oddkernel.judge.study import Study
studies = [Study.open(Path(source), features=Path(features) if features else None) for source in sources]
server = Server(*studies, database=database or None, port=int(port))
server.run(lambda: print(server.url, flush=True))
"""


class Weight(NamedTuple):
    """What the server uses at a moment.

    Attributes
    ----------
    at : float
        The time, in seconds.
    server_mb, learner_mb : float
        Resident memory in megabytes of the server, and of the processes that it started.
    cpu : float
        CPU time in seconds that the server has used since it started, without those processes.
    """

    at: float
    server_mb: float
    learner_mb: float
    cpu: float


class ServerProcess:
    """A server; use it in a ``with`` block.

    Parameters
    ----------
    *sources : Path
        The studies.
    database : str
        Address of the database; empty for each study's own.
    features : Path, optional
        Features of the items.
    descriptors : int
        The hard limit on open files; 0 leaves it as it is.

    Attributes
    ----------
    url : str
        Where it is; of several studies, where the first is.
    weights : list of Weight
        What it used, every second.
    """

    def __init__(self, *sources: Path, database: str = "", features: Path | None = None, descriptors: int = 0) -> None:
        self._database = database
        self._more = ["" if features is None else str(features), str(descriptors), *map(str, sources)]
        self._log = sources[0].with_name("server.log")
        self.weights: list[Weight] = []
        self._is_over = threading.Event()
        self._process = self._start("0")

    def __enter__(self) -> ServerProcess:
        threading.Thread(target=self._weigh_every_second, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._process.send_signal(signal.SIGINT)  # so that it ends the processes that it started
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._process.communicate()

    @property
    def log_bytes(self) -> int:
        """How much it has logged."""
        return self._log.stat().st_size

    def kill_and_restart(self) -> None:
        """End it without a warning, and start another on the same port."""
        self._process.kill()
        self._process.communicate()
        self._process = self._start(str(urlsplit(self.url).port))

    def _start(self, port: str) -> subprocess.Popen[str]:
        with self._log.open("a") as log:
            process = subprocess.Popen(
                [sys.executable, "-c", SERVE, self._database, port, *self._more],
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )
        assert process.stdout is not None
        self.url = process.stdout.readline().strip()
        if not self.url:
            raise RuntimeError(f"the server did not start: {self._log.read_text()[-500:]}")
        return process

    def weigh(self) -> Weight:
        """What it uses now."""
        pid = self._process.pid
        others = sum(megabytes(child) for child in children(pid))
        return Weight(time.monotonic(), megabytes(pid), others, cpu_seconds(pid))

    def _weigh_every_second(self) -> None:
        while not self._is_over.wait(1.0):
            self.weights.append(self.weigh())


def megabytes(pid: int) -> float:
    """The memory that a process holds; 0 if it is gone."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except (OSError, IndexError):
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def cpu_seconds(pid: int) -> float:
    """The CPU time that a process has used, in user and kernel mode; 0 if it is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children(pid: int) -> list[int]:
    """The processes that a process started."""
    try:
        return [
            int(each)
            for task in Path(f"/proc/{pid}/task").iterdir()
            for each in (task / "children").read_text().split()
        ]
    except OSError:
        return []
