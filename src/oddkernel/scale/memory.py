"""Check for enough memory before the work starts."""

from __future__ import annotations

import os
from pathlib import Path

GIB = 2**30


def available() -> int | None:
    """Bytes of memory available to this process, by the machine and by its control group; None if unknown."""
    found = [size for size in (_of_machine(), _of_group()) if size is not None]
    return min(found) if found else None


def require(n_bytes: float, what: str, instead: str) -> None:
    """Raise a MemoryError unless ``n_bytes`` are available."""
    there = available()
    if there is not None and n_bytes > there:
        raise MemoryError(
            f"{what} takes about {n_bytes / GIB:.2g} GiB of memory, and {there / GIB:.2g} GiB are free; {instead}"
        )


def _of_machine() -> int | None:
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))
    except (OSError, StopIteration):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _of_group(folder: Path = Path("/sys/fs/cgroup")) -> int | None:
    try:
        return int((folder / "memory.max").read_text()) - int((folder / "memory.current").read_text())
    except (OSError, ValueError):  # no such group, or no limit: "max"
        return None
