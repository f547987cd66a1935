"""What the server logs: warnings and errors with a time, and nothing that a person sent."""

from __future__ import annotations

import logging
import time
import traceback
from types import TracebackType
from typing import Any


class Plain(logging.Formatter):
    """One line for each message; an exception as its type and the lines of code.

    What an exception says is left out, because it may quote what a person sent: a name, an answer, the text of a SQL
    statement.

    Examples
    --------
    >>> error = ValueError("ann answered 2")  # not raised, so that no lines of code follow
    >>> print(Plain().formatException((ValueError, error, None)))
    ValueError
    """

    def __init__(self) -> None:
        super().__init__("{asctime}Z {levelname} {message}", "%Y-%m-%dT%H:%M:%S", style="{")
        self.converter = time.gmtime

    def formatException(
        self, ei: tuple[type[BaseException], BaseException, TracebackType | None] | tuple[None, None, None]
    ) -> str:
        """The exception's type, and where it was raised; the same for those that caused it."""
        lines = []
        error: BaseException | None = ei[1]
        while error is not None:
            frames = traceback.extract_tb(error.__traceback__)
            lines += [type(error).__name__, *(f"  {frame.filename}:{frame.lineno} {frame.name}" for frame in frames)]
            error = error.__cause__ or error.__context__
        return "\n".join(lines)


# No access log: addresses of requests hold participants' names and the token.
LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"()": Plain}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "loggers": {
        "uvicorn": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
        "oddkernel": {"handlers": ["stderr"]},
        "asyncio": {"handlers": ["stderr"]},
    },
}
