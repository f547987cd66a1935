"""A word on stderr now and then during long work."""

from __future__ import annotations

import sys
import time
from typing import TextIO


class Progress:
    """Says where long work stands, once a second, and nothing at all in the first two seconds."""

    def __init__(self, *, stream: TextIO | None = None, first: float = 2.0, every: float = 1.0) -> None:
        self._stream = stream
        self._begun = time.monotonic()
        self._due = self._begun + first
        self._every = every

    def __call__(self, sentence: str) -> None:
        """Write the sentence, and the seconds so far, if one is due."""
        now = time.monotonic()
        if now >= self._due:
            self._due = now + self._every
            stream = self._stream or sys.stderr
            stream.write(f"oddkernel: {sentence} ({now - self._begun:.0f} s)\n")
            stream.flush()
