"""What people have said so far, as arrays that grow with each answer."""

from __future__ import annotations

import threading

import numpy as np

from ..comparisons import Comparisons
from ..questions.history import Triple

FIRST_ROOM = 1024


class Said:
    """Answers by number of item, in the order in which they came. Any thread may call any method.

    An answer is appended to arrays, which takes the same time however many there are.

    Examples
    --------
    >>> said = Said()
    >>> said.add("first", (4, 1, 2), -1)
    >>> said.add("second", (0, 1, 2), 2)
    >>> said.remove("first")
    >>> said.comparisons().shown
    array([[0, 1, 2]])
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._questions: list[str] = []
            self._shown = np.empty((FIRST_ROOM, 3), dtype=np.intp)
            self._odd = np.empty(FIRST_ROOM, dtype=np.int8)
            self._latest: Comparisons | None = None

    def add(self, question: str, items: Triple, odd: int) -> None:
        """Note the answer to a question: the items as shown, and the position of the odd one or -1."""
        with self._lock:
            row = len(self._questions)
            if row == len(self._odd):
                self._shown = np.concatenate([self._shown, np.empty_like(self._shown)])
                self._odd = np.concatenate([self._odd, np.empty_like(self._odd)])
            self._shown[row], self._odd[row] = items, odd
            self._questions.append(question)
            self._latest = None

    def remove(self, question: str) -> None:
        """Forget the answer to a question, if there is one; the later it came, the sooner it is found."""
        with self._lock:
            end = len(self._questions)
            for row in range(end - 1, -1, -1):
                if self._questions[row] == question:
                    del self._questions[row]
                    self._shown[row : end - 1] = self._shown[row + 1 : end]
                    self._odd[row : end - 1] = self._odd[row + 1 : end]
                    self._latest = None
                    return

    def comparisons(self) -> Comparisons:
        """All of them."""
        with self._lock:
            if self._latest is None:
                end = len(self._questions)
                shown, odd = self._shown[:end].copy(), self._odd[:end].astype(np.intp)
                self._latest = Comparisons.odd_one_out(shown, odd) if end else Comparisons.empty()
            return self._latest
