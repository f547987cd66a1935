"""The answers so far, kept in memory for the policies."""

from __future__ import annotations

import threading

import numpy as np

from ..comparisons import Comparisons
from ..questions.history import Triple
from .forms import ODD, comparisons


class Said:
    """All answers, with items as numbers, in the order in which they came. Any thread may call any method.

    New answers wait in a list until someone asks for all answers; then only the new ones are checked and appended.

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
        """Forget all answers."""
        with self._lock:
            self._questions: list[str] = []
            self._known = Comparisons.empty()
            self._new: list[tuple[str, Triple, int]] = []

    def add(self, question: str, items: Triple, odd: int, form: str = ODD) -> None:
        """Add the answer to a question: the items as shown, and the position of the one named or -1."""
        with self._lock:
            self._questions.append(question)
            self._new.append((form, items, odd))

    def remove(self, question: str) -> None:
        """Forget the answer to a question, if there is one. The search starts with the latest answer."""
        with self._lock:
            self._append_new()
            for row in range(len(self._questions) - 1, -1, -1):
                if self._questions[row] == question:
                    del self._questions[row]
                    self._known = self._known[np.arange(len(self._known)) != row]
                    return

    def comparisons(self) -> Comparisons:
        """All answers."""
        with self._lock:
            self._append_new()
            return self._known

    def _append_new(self) -> None:
        if self._new:
            self._known = self._known + comparisons(self._new)
            self._new.clear()
