"""Runs missing trials, optionally on several cores, and stores results as they come."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from .samples import everything
from .store import Store
from .trials import Trial, measure, missing

# Seconds between two writes of results to disk: a crash loses at most this much. Chosen by hand.
EVERY = 5.0

T = TypeVar("T")
Row = Mapping[str, Any]


def run(trials: list[Trial], store: Store, *, jobs: int, tell: Callable[[str], None]) -> int:
    """Measure the trials that have no results yet.

    Parameters
    ----------
    trials : list of Trial
    store : Store
        The stored results, to which new ones are added. After Ctrl-C it holds all that was measured.
    jobs : int
        Number of processes, as in joblib.
    tell : callable
        Called with a sentence after each measurement.

    Returns
    -------
    int
        Number of trials measured.
    """
    from joblib import Parallel, delayed

    # In the order of draws, so that an interrupted run has measured everything equally often.
    todo = sorted(missing(trials, store.read()), key=lambda trial: (trial.draw, trial.dataset))
    if not todo:
        return 0
    for dataset in {trial.dataset for trial in todo}:
        everything(dataset)  # fails early if a file is missing
    rows, started = [], time.monotonic()
    due = started + EVERY
    try:
        measured = Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(measure)(trial) for trial in todo)
        for done, found in enumerate(measured, 1):
            rows += found
            now = time.monotonic()
            if now >= due:
                store.append(rows)
                rows, due = [], now + EVERY
            left = (now - started) / done * (len(todo) - done)
            tell(f"{_bar(done / len(todo))} {done} of {len(todo)} trials, about {_span(left)} left")
    finally:
        store.append(rows)
        store.merge()
    return len(todo)


def run_all(
    measure: Callable[[T], Sequence[Row]],
    todo: Sequence[T],
    store: Store,
    *,
    jobs: int,
    tell: Callable[[str], None],
    named: Callable[[Row], str],
) -> int:
    """Measure what takes long each time: rows are stored at once, and a sentence names the first of them.

    Returns the number of measurements. After Ctrl-C the store holds all that was measured.
    """
    from joblib import Parallel, delayed

    found = Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(measure)(each) for each in todo)
    try:
        for number, rows in enumerate(found, 1):
            store.append(rows)
            tell(f"{number} of {len(todo)}: {named(rows[0])}")
    finally:
        store.merge()
    return len(todo)


def _bar(share: float, width: int = 30) -> str:
    full = round(share * width)
    return "[" + "#" * full + "." * (width - full) + "]"


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
