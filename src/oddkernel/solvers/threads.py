"""How many threads BLAS takes while a problem is solved."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import lru_cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

from ..problem.dual import Dual

# Multiplications in the larger products of the items' coordinates from which a second thread pays. Below, to wake
# threads takes longer than what they save: NumPy's BLAS and SciPy's have threads of their own, which wait busily and
# get in one another's way.
WORTH = 5e8

_lock = Lock()
_solving: list[Any] = []


@contextmanager
def fitting_threads(problem: Dual) -> Iterator[None]:
    """One BLAS thread for a small problem, and as many as were set for a large one."""
    s, q = len(problem.items), problem.rank
    with one_thread() if s * q * max(s, q) < WORTH else nullcontext():
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """One BLAS thread; however many ask for it at the same time, the last one restores what was set."""
    with _lock:
        # Limits are those of the whole process: only the first may remember what to restore.
        if _solving:
            _solving.append(_solving[0])
        else:
            _solving.append(_controller(len(sys.modules)).limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            limit = _solving.pop()
            if not _solving:
                limit.restore_original_limits()


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    """The BLAS libraries of this process, looked up again once modules were imported: these may bring another one."""
    return ThreadpoolController()
