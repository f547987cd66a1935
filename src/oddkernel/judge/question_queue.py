"""Questions chosen ahead, for the moments when many people ask at once."""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..questions.history import Triple

AHEAD = 20
"""Largest number of questions in the queue. `questions.simulate` chooses 20 at a time by default, so `oddkernel
reproduce next_question` measures policies that choose as far ahead."""

SHARE = 0.01
"""Largest share of all possible questions in the queue. Chosen by hand: with few items, nothing is chosen ahead."""

RUSH = 5
"""From this number of requests in a second on, questions are chosen ahead. Chosen by hand: about ten people who answer
every two seconds. When fewer ask, each question is chosen with the latest answer."""

SECOND = 1.0
"""Seconds over which requests are counted."""

OLDEST = 2.0
"""Age in seconds at which a question in the queue is discarded. Chosen by hand."""


class Choice(NamedTuple):
    """A question that was chosen: its kind, as the database calls it, and the items in the order to be shown."""

    kind: str
    items: Triple


class QuestionQueue:
    """Questions chosen ahead, first in, first out. Any thread may call any method.

    The queue holds as many questions as were requested in the last second, at most `AHEAD`, and none while fewer than
    `RUSH` requests came in that second.

    Parameters
    ----------
    n_items : int
        Number of items in the study.
    clock : callable, optional
        Returns the time in seconds.

    Examples
    --------
    >>> queue = QuestionQueue(n_items=100)
    >>> for _ in range(6):
    ...     queue.requested(1)
    >>> queue.missing()
    6
    >>> queue.put([Choice("random", (0, 1, 2)), Choice("random", (3, 4, 5))])
    >>> queue.take(1)
    [Choice(kind='random', items=(0, 1, 2))]
    >>> queue.take(2)
    []
    """

    def __init__(self, n_items: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = min(AHEAD, int(SHARE * math.comb(n_items, 3)))
        self._clock = clock
        self._lock = threading.Lock()
        self._ready: deque[tuple[float, Choice]] = deque()
        self._requests: deque[tuple[float, int]] = deque(maxlen=1000)  # bounds the memory; 20 would fill the queue
        self._closed = 0

    def __bool__(self) -> bool:
        return bool(self._ready) and not self._closed

    def requested(self, n: int) -> None:
        """Count a request for n questions."""
        with self._lock:
            self._requests.append((self._clock(), n))

    def missing(self) -> int:
        """Number of questions to choose now; 0 while at least half of the queue is there."""
        with self._lock:
            since = self._clock() - SECOND
            while self._requests and self._requests[0][0] < since:
                self._requests.popleft()
            if self._closed or len(self._requests) < RUSH:
                return 0
            full = min(self._most, sum(n for _, n in self._requests))
            return full - len(self._ready) if 2 * len(self._ready) < full else 0

    def put(self, choices: Sequence[Choice]) -> None:
        """Add questions that were just chosen."""
        with self._lock:
            now = self._clock()
            self._ready.extend((now, choice) for choice in choices)

    def take(self, n: int) -> list[Choice]:
        """Take n questions out; none if fewer than n are there, or if the queue is closed."""
        with self._lock:
            since = self._clock() - OLDEST
            if self._closed or len(self._ready) < n or self._ready[0][0] < since:
                return []
            return [self._ready.popleft()[1] for _ in range(n)]

    def discard_old(self) -> list[Choice]:
        """Take out and return the questions that were chosen too long ago."""
        with self._lock:
            since = self._clock() - OLDEST
            old = []
            while self._ready and self._ready[0][0] < since:
                old.append(self._ready.popleft()[1])
            return old

    def close(self) -> None:
        """Give nothing out until `reopen` was called as often as this."""
        with self._lock:
            self._closed += 1

    def reopen(self) -> None:
        """Empty the queue and give out again what is put in from now on."""
        with self._lock:
            self._closed -= 1
            self._ready.clear()
