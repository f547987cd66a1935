"""Learning in a background thread, while questions are chosen with the latest belief."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ..comparisons import Comparisons
from .belief import Belief, Space
from .history import Said

log = logging.getLogger(__name__)

GROWTH = 0.02
"""Smallest growth in the number of answers, as a share, after which to learn again. Chosen by hand."""


class Background:
    """The latest belief, and a thread that learns the next one.

    Parameters
    ----------
    features : ndarray of shape (n_items, d)
        The items' features.
    said : callable
        Returns all answers to learn from; called in the background.
    learn : callable, optional
        Makes a belief of the answers; by default `Belief.learn` does, in this process.
    every : int, default=10
        Number of new answers after which to learn again.
    """

    def __init__(
        self,
        features: NDArray[np.float64],
        said: Said,
        *,
        learn: Callable[[Comparisons], Belief] | None = None,
        every: int = 10,
    ) -> None:
        self._said, self._every = said, every
        self._learn_from = learn or (lambda answers: Belief.learn(features, answers, last=self._latest))
        self._lock = threading.Lock()
        self._latest: Belief | None = None
        self._new = every
        self._worker: threading.Thread | None = None
        self._closed = False

    def latest(self) -> Belief | None:
        """The latest belief, or None if nothing was learned yet; never waits."""
        return self._latest

    def space(self) -> Space | None:
        """The items before learning, or None if not computed yet; never waits."""
        return None if self._latest is None else self._latest.space

    def answered(self, n: int = 1) -> None:
        """Count new answers; start to learn if there are enough and nothing is being learned."""
        with self._lock:
            self._new += n
            busy = self._worker is not None and self._worker.is_alive()
            n_learned = 0 if self._latest is None else self._latest.n_answers
            if self._closed or busy or self._new < max(self._every, GROWTH * n_learned):
                return
            self._new = 0
            self._worker = threading.Thread(target=self._learn, name="oddkernel-questions", daemon=True)
            self._worker.start()

    def wait(self, timeout: float | None = None) -> None:
        """Wait until the learning in progress has ended."""
        worker = self._worker
        if worker is not None:
            worker.join(timeout)

    def close(self) -> None:
        """Start no further learning; learning in progress is abandoned when the program ends."""
        self._closed = True

    def _learn(self) -> None:
        try:
            if self._latest is None:  # the initial kernel is known long before many answers are learned from
                self._latest = self._learn_from(Comparisons.empty())
            self._latest = self._learn_from(self._said())
        except Exception:  # whatever goes wrong here, asking goes on
            if self._closed:
                return
            log.exception("learning from the answers failed; questions are chosen with what was learned before")
