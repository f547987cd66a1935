"""Means over draws, with their standard errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd


class Mean(NamedTuple):
    """A mean over draws.

    ``error`` is its standard error, 0 for a single draw; ``without`` counts draws that gave no value.
    """

    mean: float
    error: float
    draws: int
    without: int

    @property
    def high(self) -> float:
        """The mean and two standard errors."""
        return self.mean + 2 * self.error

    def __str__(self) -> str:
        return f"{self.mean:.3f}" + (f" ± {self.error:.3f}" if self.draws > 1 else "")


Means = dict[tuple[Any, ...], Mean]


def means(rows: pd.DataFrame, by: Sequence[str], value: str = "rand") -> Means:
    """The mean of each group that has one, by the group's values in the columns ``by``."""
    found: Means = {}
    for key, group in rows.groupby(list(by), sort=False)[value]:
        values = group.to_numpy(dtype=float)
        known = values[~np.isnan(values)]
        if len(known):
            error = known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else 0.0
            found[tuple(key)] = Mean(float(known.mean()), float(error), len(known), len(values) - len(known))
    return found


def shown(found: Means, *key: Any) -> str:
    """A mean for a table; a dash where there is none."""
    return str(found[key]) if key in found else "–"


def drawn(found: Means) -> str:
    """How often everything was measured: 30 draws, or 3 to 30 draws."""
    counts = [mean.draws for mean in found.values()]
    if not counts:
        return "no draws yet"
    low, high = min(counts), max(counts)
    return f"{high} draw{'s' * (high > 1)}" if low == high else f"{low} to {high} draws"


def facts(found: Means) -> dict[str, dict[str, float | int]]:
    """For programs: each mean under its key's words."""
    return {
        " ".join(map(str, key)): {"mean": mean.mean, "error": mean.error, "draws": mean.draws}
        for key, mean in found.items()
    }
