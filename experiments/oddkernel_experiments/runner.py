"""Runs what is missing, on several cores if asked, and keeps every result as it comes."""

from __future__ import annotations

import time
from collections.abc import Callable

from .samples import everything
from .store import Store
from .trials import Trial, measure, missing

# Seconds between two looks at which results to put on disk: a crash costs no more than that.
EVERY = 5.0


def run(trials: list[Trial], store: Store, *, jobs: int, tell: Callable[[str], None]) -> int:
    """Measure the trials that have no results yet.

    Parameters
    ----------
    trials : list of Trial
    store : Store
        Where results are, and go to. Ctrl-C leaves it with all that was measured.
    jobs : int
        Processes at work, as joblib counts them.
    tell : callable
        Hears a sentence after each measurement.

    Returns
    -------
    int
        How many trials were measured.
    """
    from joblib import Parallel, delayed

    # Draw by draw, so that a run that is cut short has measured everything equally often.
    todo = sorted(missing(trials, store.read()), key=lambda trial: (trial.draw, trial.dataset))
    if not todo:
        return 0
    for dataset in {trial.dataset for trial in todo}:
        everything(dataset)  # a missing file is found here, before any work
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


def _bar(share: float, width: int = 30) -> str:
    full = round(share * width)
    return "[" + "#" * full + "." * (width - full) + "]"


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 90 else f"{seconds:.0f} s"
