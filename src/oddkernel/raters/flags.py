"""Flags for careless answers, as text; None where there is no sign of carelessness."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import bdtr, bdtrc

from ..support.types import Array, Indices

RARE = 0.001
"""Significance level of every flag: the probability that a careful rater is flagged by it. Chosen by hand."""

FASTEST = 0.3
"""Seconds; nobody can look at three items in less. Chosen by hand: about a simple reaction time."""

SLIPS = 0.05
"""The share of catch questions that a careful rater fails. Chosen by hand."""

CHANCE = 1 / 3
"""Derived: the probability of naming one of three items by chance."""


def too_fast_below(seconds: Array) -> float:
    """Shortest plausible time for an answer, in seconds: 0.3, or a third of the median of all if that is more."""
    return max(FASTEST, float(np.median(seconds)) / 3) if len(seconds) else FASTEST


def hurried(seconds: Array, limit: float) -> str | None:
    """Half of the answers or more took less than `limit` seconds."""
    n_fast = np.count_nonzero(seconds < limit)
    if not n_fast or n_fast < len(seconds) / 2:
        return None
    return f"takes less than {limit:.2g} seconds for {n_fast / len(seconds):.0%} of answers"


def same_place(named: Indices) -> str | None:
    """One place got half of the answers or more, and significantly more than chance; `named` counts them by place."""
    most, total = int(named.max()), int(named.sum())
    # Bonferroni correction: any of the three places could have been the most frequent.
    if most < total / 2 or 3 * bdtrc(most - 1, total, CHANCE) >= RARE:
        return None
    return f"names place {named.argmax()} in {most / total:.0%} of answers"


def fell_for_catches(failed: Array) -> str | None:
    """Significantly more catch questions failed than a careful rater would fail; `failed` is 1 or 0 for each."""
    n_failed = int(failed.sum())
    if not n_failed or bdtrc(n_failed - 1, len(failed), SLIPS) >= RARE:
        return None
    return f"failed {n_failed} of {len(failed)} catch questions"


def apart(agreed: Array, usual: float | None, whom: str) -> str | None:
    """Agreement nearer to the chance level than to the average; `agreed` holds a number from 0 to 1 for each answer."""
    if usual is None or not len(agreed):
        return None
    share = float(agreed.mean())
    if share >= (usual + CHANCE) / 2 or bdtr(math.ceil(agreed.sum()), len(agreed), usual) >= RARE:
        return None
    return f"agrees with {whom} in {share:.0%} of answers, where {usual:.0%} is usual"
