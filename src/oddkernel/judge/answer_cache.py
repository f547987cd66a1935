"""The answers so far, kept in memory for the policies."""

from __future__ import annotations

import threading
from collections.abc import Sequence

import numpy as np

from ..comparisons import Comparisons
from .question_forms import ODD, Given, comparisons, n_rows


class AnswerCache:
    """All answers, with items as numbers, in the order in which they came. Any thread may call any method.

    New answers wait in a list until someone asks for all answers; then only the new ones are checked and appended.

    Examples
    --------
    >>> said = AnswerCache()
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
            self._ends = [0]  # where each answer's rows end
            self._known = Comparisons.empty()
            self._new: list[tuple[str, Sequence[int], Given]] = []

    def add(self, question: str, items: Sequence[int], odd: Given, form: str = ODD) -> None:
        """Add the answer to a question: the items as shown, and the position of the one named or -1."""
        with self._lock:
            self._questions.append(question)
            self._ends.append(self._ends[-1] + n_rows(items, odd))
            self._new.append((form, items, odd))

    def remove(self, question: str) -> None:
        """Forget the answer to a question, if there is one. The search starts with the latest answer."""
        with self._lock:
            self._append_new()
            for place in range(len(self._questions) - 1, -1, -1):
                if self._questions[place] == question:
                    start, end = self._ends[place : place + 2]
                    self._known = self._known[np.r_[:start, end : len(self._known)]]
                    self._ends[place + 1 :] = [each - (end - start) for each in self._ends[place + 2 :]]
                    del self._questions[place]
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
