"""The experimenter's statistics, computed only when answers have changed; the page asks every few seconds."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import Any

from .statistics import statistics
from .store import Database, Unavailable
from .study import Study

QUICK = 0.2
"""Statistics that take less than 0.2 seconds of CPU time are computed while the page waits. Chosen by hand."""

REST = 20.0
"""Other statistics are computed in the background, and at most 1/20 of the time is spent on them. Chosen by hand."""


class StatisticsCache:
    """The latest `statistics` of a study. Any thread may call any method."""

    def __init__(self, study: Study, database: Database) -> None:
        self._study, self._database = study, database
        self._lock = threading.Lock()
        self._worker: threading.Thread | None = None
        self._generation = 0
        self.forget()

    def forget(self) -> None:
        """Discard the latest statistics, because they must no longer be shown; the next page waits for new ones."""
        self._generation += 1
        self._facts: dict[str, Any] | None = None
        self._version: object = None
        self._cost, self._made_at = 0.0, -float("inf")

    def latest(self) -> dict[str, Any]:
        """Facts ready for JSON; with very many answers they may be half a minute old."""
        version, paused = self._database.read(lambda records: (records.version(), records.paused()))
        with self._lock:
            facts = self._facts
            if facts is None or (version != self._version and self._cost < QUICK):
                facts = self._make(version)
            elif version != self._version and time.monotonic() > self._made_at + REST * self._cost:
                self._make_elsewhere(version)
            return {"state": "paused" if paused else "running", **facts}

    def _make(self, version: object) -> dict[str, Any]:
        generation = self._generation
        began = time.thread_time()  # of this thread alone: others may keep it waiting
        sittings, answers = self._database.read(lambda records: (records.sittings(), records.answers()))
        facts = statistics(sittings, answers, self._study.names, too_fast=self._study.settings.too_fast)
        if generation == self._generation:
            self._cost, self._made_at = time.thread_time() - began, time.monotonic()
            self._facts, self._version = facts, version
        return facts

    def _make_elsewhere(self, version: object) -> None:
        if self._worker is None or not self._worker.is_alive():

            def make() -> None:
                with suppress(Unavailable):  # which the log says; the page asks again
                    self._make(version)

            self._worker = threading.Thread(target=make, name="oddkernel-statistics", daemon=True)
            self._worker.start()
