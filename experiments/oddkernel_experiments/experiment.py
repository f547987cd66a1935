"""An experiment: what to measure, and what to make of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from .outcome import Outcome
from .runner import run
from .trials import Trial, results, select

# The folder's part that holds what all these experiments share.
TRIALS = "trials"


@dataclass(frozen=True)
class Experiment:
    """Trials of methods on draws, and the tables and figures that they make.

    Experiments share their results: what one has measured, another takes.

    Attributes
    ----------
    trials : callable
        The trials of so many draws.
    outcome : callable
        Turns results into an Outcome.
    """

    trials: Callable[[int], list[Trial]]
    outcome: Callable[[pd.DataFrame], Outcome]

    def compute(self, folder: Path, *, draws: int, jobs: int, tell: Callable[[str], None]) -> int:
        """Measure what is missing; return how many trials that were."""
        return run(self.trials(draws), results(folder / TRIALS), jobs=jobs, tell=tell)

    def show(self, folder: Path, *, draws: int) -> Outcome:
        """What the results in the folder show, up to so many draws."""
        return self.outcome(select(self.trials(draws), results(folder / TRIALS).read()))
