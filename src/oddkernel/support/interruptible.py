"""Long calls into compiled libraries, which don't listen to Ctrl-C."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TypeVar

Result = TypeVar("Result")

# Seconds between two looks at Ctrl-C; on some systems a longer wait is deaf to it.
GLANCE = 0.05
INTERRUPTED = 130  # the exit status that shells give to a program that Ctrl-C ended


def interruptible(compute: Callable[[], Result]) -> Result:
    """What ``compute`` returns or raises; meanwhile Ctrl-C raises KeyboardInterrupt at once.

    Python handles Ctrl-C in the main thread and only between two of its own steps. So ``compute`` runs in another
    thread, and the main one waits for it in short steps. After Ctrl-C the computation goes on unheard. It must leave
    alone what others can see, and let other threads run: ``numpy.linalg`` does, most of ``scipy.linalg`` doesn't.

    Outside the main thread, where Ctrl-C is never heard, this is a plain call.

    Examples
    --------
    >>> import numpy as np
    >>> interruptible(lambda: np.linalg.eigvalsh(np.diag([3.0, 1.0])))
    array([1., 3.])
    """
    if threading.current_thread() is not threading.main_thread():
        return compute()
    results: list[Result] = []
    errors: list[BaseException] = []
    done = threading.Event()  # an interrupted Thread.join may take the thread for ended

    def run() -> None:
        try:
            results.append(compute())
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()

    try:
        threading.Thread(target=run, daemon=True).start()  # waits, too, and may be interrupted
        _wait(done)
    except KeyboardInterrupt:
        atexit.register(_wait_at_exit, done)
        raise
    if errors:
        raise errors[0]
    return results[0]


def is_ctrl_c(error: BaseException | None) -> bool:
    """Whether Ctrl-C is behind an error: while Numba hands over its first results, it becomes a SystemError.

    Examples
    --------
    >>> try:
    ...     raise SystemError("returned a result with an exception set") from KeyboardInterrupt()
    ... except SystemError as error:
    ...     is_ctrl_c(error)
    True
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


@contextmanager
def hearing_ctrl_c() -> Iterator[threading.Event]:
    """An event that is set once Ctrl-C was pressed, also where a library turns KeyboardInterrupt into its own error.

    Compiled modules do so while they are imported: what arrives is an ImportError without a cause. Where somebody
    else handles SIGINT, and outside the main thread, nothing is changed and the event stays unset.

    Examples
    --------
    >>> with hearing_ctrl_c() as pressed:
    ...     pressed.is_set()
    False
    """
    pressed = threading.Event()
    raises = signal.default_int_handler
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGINT) is not raises:
        yield pressed
        return

    def hear(number: int, frame: FrameType | None) -> None:
        pressed.set()
        raises(number, frame)

    signal.signal(signal.SIGINT, hear)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, raises)


@contextmanager
def leaving_ctrl_c_to_asyncio() -> Iterator[None]:
    """Within `hearing_ctrl_c`, Python's own handler of SIGINT: asyncio puts its own in the place of that one only."""
    ours = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(ours):
        yield  # SIGINT is ignored
        return
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, ours)


def _wait(done: threading.Event) -> None:
    while not done.wait(GLANCE):
        pass


def _wait_at_exit(done: threading.Event) -> None:
    """Let a computation that was given up come to its end: OpenBLAS hangs if the program ends in the middle of one."""
    ends_by_signal = getattr(sys, "last_type", None) is KeyboardInterrupt and not hasattr(sys, "ps1")
    if ends_by_signal:
        return  # a script in which nobody caught Ctrl-C: libraries don't get to see its end
    try:
        _wait(done)
    except KeyboardInterrupt:
        os._exit(INTERRUPTED)
