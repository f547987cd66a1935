"""Signs of careless answering, in words; None where there is no sign."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import bdtr, bdtrc

from ..support.types import Array, Indices

RARE = 0.001
"""A count raises a flag if a careful rater would show it, or more, with less than this probability."""

FASTEST = 0.3
"""Seconds below which nobody has looked at three items."""

SLIPS = 0.05
"""The share of catch questions that a careful rater fails."""

CHANCE = 1 / 3


def too_fast_below(seconds: Array) -> float:
    """How many seconds an answer takes at least: 0.3, or a third of the median of all if that is more."""
    return max(FASTEST, float(np.median(seconds)) / 3) if len(seconds) else FASTEST


def hurried(seconds: Array, limit: float) -> str | None:
    """Half of the answers or more took less than `limit` seconds."""
    n_fast = np.count_nonzero(seconds < limit)
    if not n_fast or n_fast < len(seconds) / 2:
        return None
    return f"takes less than {limit:.2g} seconds for {n_fast / len(seconds):.0%} of answers"


def same_place(named: Indices) -> str | None:
    """One place got half of the answers or more, and more than chance would give; `named` counts them by place."""
    most, total = int(named.max()), int(named.sum())
    # Any of the three could have been the favourite, so chance had three tries.
    if most < total / 2 or 3 * bdtrc(most - 1, total, CHANCE) >= RARE:
        return None
    return f"names place {named.argmax()} in {most / total:.0%} of answers"


def fell_for_catches(failed: Array) -> str | None:
    """More catch questions failed than by slips; `failed` is 1 or 0 for each."""
    n_failed = int(failed.sum())
    if not n_failed or bdtrc(n_failed - 1, len(failed), SLIPS) >= RARE:
        return None
    return f"failed {n_failed} of {len(failed)} catch questions"


def apart(agreed: Array, usual: float | None, whom: str) -> str | None:
    """Agreement nearer to chance than to what is usual; `agreed` holds a number from 0 to 1 for each answer."""
    if usual is None or not len(agreed):
        return None
    share = float(agreed.mean())
    if share >= (usual + CHANCE) / 2 or bdtr(math.ceil(agreed.sum()), len(agreed), usual) >= RARE:
        return None
    return f"agrees with {whom} in {share:.0%} of answers, where {usual:.0%} is usual"
