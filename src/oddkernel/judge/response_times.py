"""Bounds on response times, which browsers could claim wrongly."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta

from .store import Answer


def possible_seconds(answers: Sequence[Answer]) -> list[float]:
    """The seconds that each answer took as claimed, or the most that it can have taken if that is less.

    A person looks at a question after it was handed out and before its answer was stored, and at one question at a
    time. So the answers of a sitting are placed as early as possible, in the order in which they were stored, and each
    claimed time is cut at the moment of storage. True times are never cut, also of people who were offline for a while.
    Simulated people answer at once, and what they claim counts.

    Examples
    --------
    >>> def answer(client_id, handed, stored, ms):
    ...     times = [f"2026-01-01T12:00:{second:06.3f}+00:00" for second in (handed, stored)]
    ...     return Answer("ann", "ann", True, client_id, 0, "random", ("a", "b", "c"), None, None, client_id, 0, ms,
    ...                   times[1], times[1], times[0])
    >>> possible_seconds([answer("1", 0, 2.0, 1500), answer("2", 0, 2.1, 1500)])
    [1.5, 0.6]
    """
    of_sitting: dict[str, list[tuple[datetime, int, int]]] = defaultdict(list)
    for row, answer in enumerate(answers):
        of_sitting[answer.sitting].append((datetime.fromisoformat(answer.stored_at), answer.place, row))
    seconds = [0.0] * len(answers)
    for rows in of_sitting.values():
        free = datetime.fromisoformat("0001-01-01T00:00:00+00:00")
        for stored, _, row in sorted(rows):
            start = max(free, datetime.fromisoformat(answers[row].handed_at))
            took = min(timedelta(milliseconds=answers[row].response_ms), max(stored - start, timedelta()))
            free = start + took
            seconds[row] = answers[row].response_ms / 1000 if answers[row].simulated else took / timedelta(seconds=1)
    return seconds
