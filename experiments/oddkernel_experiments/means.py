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
        return f"{self}"

    def __format__(self, sign: str) -> str:
        return f"{self.mean:{sign}.3f}" + (f" ± {self.error:.3f}" if self.draws > 1 else "")


Means = dict[tuple[Any, ...], Mean]


def mean_of(values: Sequence[float] | np.ndarray[Any, Any]) -> Mean | None:
    """The mean of the values that are not NaN; None if there are none."""
    values = np.asarray(values, dtype=float)
    known = values[~np.isnan(values)]
    if not len(known):
        return None
    error = known.std(ddof=1) / np.sqrt(len(known)) if len(known) > 1 else 0.0
    return Mean(float(known.mean()), float(error), len(known), len(values) - len(known))


def lead(rows: pd.DataFrame, one: str, other: str, value: str = "rand") -> Mean | None:
    """Mean paired difference between two methods over the same draws; None if no draw has both."""
    table = rows.pivot(index="draw", columns="method", values=value)
    return mean_of((table[one] - table[other]).to_numpy()) if {one, other} <= set(table) else None


def means(rows: pd.DataFrame, by: Sequence[str], value: str = "rand") -> Means:
    """The mean of each group that has one, by the group's values in the columns ``by``."""
    found: Means = {}
    for key, group in rows.groupby(list(by), sort=False)[value]:
        if (mean := mean_of(group.to_numpy())) is not None:
            found[tuple(key)] = mean
    return found


def shown(found: Means, *key: Any) -> str:
    """A mean for a table; a dash where there is none."""
    return str(found[key]) if key in found else "–"


def drawn(found: Means) -> str:
    """The number of draws as text: 30 draws, or 3 to 30 draws."""
    counts = [mean.draws for mean in found.values()]
    if not counts:
        return "no draws yet"
    low, high = min(counts), max(counts)
    return f"{high} draw{'s' * (high > 1)}" if low == high else f"{low} to {high} draws"


def facts(found: Means) -> dict[str, dict[str, float | int]]:
    """The means for JSON, by key."""
    return {
        " ".join(map(str, key)): {"mean": mean.mean, "error": mean.error, "draws": mean.draws}
        for key, mean in found.items()
    }
