"""How many threads BLAS takes while a problem is solved."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import PurePath
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController

from ..problem.dual import Dual

# Multiplications in the larger products of the items' coordinates from which a second thread pays for a problem by
# itself, and up to which several problems, one thread each, are quicker. Below the first, to wake threads takes longer
# than what they save. The second by trial: choosing settings for digits with 1,000 answers (8e8) took 3.8 s with two
# problems at a time and 4.6 s with two threads for each.
WORTH, SHARED = 5e8, 2e9

_lock = Lock()
_asked: list[bool] = []  # whether every library is to have one thread, for each who asked for less
_usual: dict[Any, int] = {}


@contextmanager
def fitting_threads(problem: Dual) -> Iterator[None]:
    """One BLAS thread for a small problem; for a large one as many as were set, in one library."""
    s, q = len(problem.items), problem.rank
    with one_thread() if s * q * max(s, q) < WORTH else one_library():
        yield


@contextmanager
def one_thread() -> Iterator[None]:
    """One BLAS thread; however many ask for it at the same time, the last one restores what was set."""
    with _limited(every=True):
        yield


@contextmanager
def one_library() -> Iterator[None]:
    """One thread for SciPy's BLAS where NumPy has another, which keeps its threads.

    Threads that have nothing to do wait busily for the next product, and those of two libraries get in one another's
    way: on two cores that doubles the time of a fit, and makes it ten times as long where other programs run, too.
    """
    with _limited(every=False):
        yield


@contextmanager
def _limited(*, every: bool) -> Iterator[None]:
    # Limits are those of the whole process: what was set is known only while nobody has asked for less.
    with _lock:
        if not _asked:
            _usual.update((each, each.num_threads) for each in _libraries(len(sys.modules)))
        _asked.append(every)
        _set_threads()
    try:
        yield
    finally:
        with _lock:
            _asked.remove(every)
            _set_threads()
            if not _asked:
                _usual.clear()


def _set_threads() -> None:
    """As many threads as those allow who asked for less."""
    for library, usual in _usual.items():
        limited = any(_asked) or (bool(_asked) and len(_usual) > 1 and _is_scipys(library.filepath))
        library.set_num_threads(1 if limited else usual)


def _is_scipys(path: str) -> bool:
    """Whether a library came within SciPy's wheel."""
    return bool({"scipy", "scipy.libs"} & set(PurePath(path).parts))


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> tuple[Any, ...]:
    """The BLAS libraries of this process, looked up again once modules were imported: these may bring another one."""
    return tuple(ThreadpoolController().select(user_api="blas").lib_controllers)
