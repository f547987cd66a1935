"""Time and memory of a function, in a fresh process."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Measured:
    """Time and memory of a function.

    Attributes
    ----------
    seconds, cpu_seconds : float
        Wall-clock and CPU time of the timed part.
    peak_mib : float
        Peak memory of its process, preparation included.
    facts : dict
        Other results.
    """

    seconds: float
    cpu_seconds: float
    peak_mib: float
    facts: dict[str, Any]


class Clock:
    """Times a call; of several repeats, the fastest counts."""

    def __init__(self) -> None:
        self.seconds = self.cpu_seconds = float("inf")

    def time(self, work: Callable[[], T], repeats: int = 1) -> T:
        """Time ``work`` and return its result."""
        for _ in range(repeats):
            wall, cpu = time.perf_counter(), _cpu()
            result = work()
            seconds = time.perf_counter() - wall
            if seconds < self.seconds:
                self.seconds, self.cpu_seconds = seconds, _cpu() - cpu
        return result


def measure(
    work: Callable[..., Any],
    options: Mapping[str, Any] | None = None,
    *,
    python: str | None = None,
    checkout: Path | None = None,
) -> Measured:
    """Run ``work(clock, **options)`` in a separate process.

    Parameters
    ----------
    work : function
        A function at the top level of its module. It returns a dict of facts, with ``peak_mib`` if another process did
        the work.
    options : mapping, optional
        Options that JSON can represent.
    python : str, optional
        Another interpreter, for libraries that need one.
    checkout : Path, optional
        Another checkout of the project, whose function of the same name is run with its own oddkernel.
    """
    place = f"{work.__module__}:{work.__qualname__}"
    first = [] if checkout is None else [str(checkout / "src"), str(checkout / "benchmarks")]
    path = os.pathsep.join([*first, *filter(None, sys.path)] if python is None else [str(Path(__file__).parents[1])])
    done = subprocess.run(
        [python or sys.executable, "-m", f"{__package__}.measure", place, json.dumps(options or {})],
        env=os.environ | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise RuntimeError(f"{place} failed:\n{done.stderr}")
    return Measured(**json.loads(done.stdout.splitlines()[-1]))


def python_with(library: str) -> str | None:
    """An interpreter with the library: this one, or the one named by, for example, ODDKERNEL_PYTHON_CBLEARN."""
    if find_spec(library) is not None:
        return sys.executable
    return os.environ.get(f"ODDKERNEL_PYTHON_{library.upper()}")


def _cpu() -> float:
    return time.process_time() + sum(os.times()[2:4])  # includes child processes that have ended


def peak_mib() -> float:
    """Peak memory of this process."""
    try:
        # Not getrusage: a process inherits the peak of its parent.
        status = Path("/proc/self/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1024
    except (OSError, IndexError):
        import resource

        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / 1024 / (1024 if sys.platform == "darwin" else 1)


def main() -> None:
    """The entry point of the separate process."""
    module, _, name = sys.argv[1].partition(":")
    clock = Clock()
    facts = getattr(importlib.import_module(module), name)(clock, **json.loads(sys.argv[2]))
    peak = facts.pop("peak_mib", peak_mib())
    told = {"seconds": clock.seconds, "cpu_seconds": clock.cpu_seconds, "peak_mib": peak, "facts": facts}
    sys.stdout.write(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
