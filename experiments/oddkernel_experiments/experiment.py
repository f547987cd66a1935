"""An experiment: its trials, and the outcome from their results."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from .outcome import Outcome
from .runner import run
from .trials import Trial, results, select

# The subfolder of results that all these experiments share.
TRIALS = "trials"


@dataclass(frozen=True)
class Experiment:
    """Trials of methods on draws, and the tables and figures from their results.

    Experiments share their results: none measures what another has measured.

    Attributes
    ----------
    trials : callable
        The trials for a number of draws.
    outcome : callable
        Turns results into an Outcome.
    """

    trials: Callable[[int], list[Trial]]
    outcome: Callable[[pd.DataFrame], Outcome]

    def compute(self, folder: Path, *, draws: int, jobs: int, tell: Callable[[str], None]) -> int:
        """Measure what is missing; return the number of trials measured."""
        return run(self.trials(draws), results(folder / TRIALS), jobs=jobs, tell=tell)

    def show(self, folder: Path, *, draws: int) -> Outcome:
        """The outcome of the results in the folder, up to ``draws`` draws."""
        return self.outcome(select(self.trials(draws), results(folder / TRIALS).read()))
