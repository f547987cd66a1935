"""A word on stderr now and then during long work."""

from __future__ import annotations

import sys
import threading
import time
from types import TracebackType
from typing import Self, TextIO


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


class Heartbeat:
    """Says every two seconds what is being worked on, for as long as the ``with`` block takes.

    In contrast to `Progress` it also speaks during one long step.
    """

    def __init__(self, sentence: str, *, stream: TextIO | None = None, every: float = 2.0) -> None:
        self._sentence, self._stream, self._every = sentence, stream, every
        self._done = threading.Event()
        self._begun = time.monotonic()
        self._teller = threading.Thread(target=self._tell, daemon=True)

    def __call__(self, sentence: str) -> None:
        """Take the sentence to say from now on."""
        self._sentence = sentence

    def __enter__(self) -> Self:
        self._teller.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._teller.join()

    def _tell(self) -> None:
        while not self._done.wait(self._every):
            stream = self._stream or sys.stderr
            stream.write(f"oddkernel: {self._sentence} ({time.monotonic() - self._begun:.0f} s)\n")
            stream.flush()
