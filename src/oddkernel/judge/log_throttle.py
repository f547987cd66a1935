"""A limit on the number of messages in the log."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

LOGGERS = (
    "asyncio",
    "uvicorn.error",
    "oddkernel.judge.choosing",
    "oddkernel.judge.connections",
    "oddkernel.judge.store.database",
    "oddkernel.questions.background",
)


class Throttle(logging.Filter):
    """Lets each line of the program log at most 10 messages a minute; the next message says how many were left out.

    Examples
    --------
    >>> throttle = Throttle(most=1)
    >>> record = logging.LogRecord("name", logging.ERROR, "file.py", 1, "the disk is full", None, None)
    >>> throttle.filter(record), throttle.filter(record)
    (True, False)
    """

    def __init__(self, most: int = 10, seconds: float = 60.0) -> None:
        super().__init__()
        self._most, self._seconds = most, seconds
        self._seen: dict[tuple[str, int], tuple[float, int]] = {}  # by place: when its minute began, and how many since

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to log this."""
        place = record.pathname, record.lineno
        began, n = self._seen.get(place, (-float("inf"), 0))
        now = time.monotonic()
        if now - began >= self._seconds:
            if n > self._most:
                record.msg = f"{record.getMessage()} ({n - self._most} like it were left out)"
                record.args = None
            began, n = now, 0
        self._seen[place] = began, n + 1
        return n < self._most


@contextmanager
def throttled() -> Iterator[None]:
    """Limit what the server logs."""
    throttle = Throttle()
    loggers = [logging.getLogger(name) for name in LOGGERS]
    for logger in loggers:
        logger.addFilter(throttle)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(throttle)
