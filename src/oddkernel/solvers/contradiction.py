"""Which answers can't all hold: a small set of rows that exclude one another."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..problem.dual import Dual
from .feasibility import feasible

Array = npt.NDArray[Any]

# Answers with less than this share of the heaviest one's multipliers are left out first. Chosen by hand: those of a
# contradiction grow for ever, others don't.
NEGLIGIBLE = 1e-4
# Up to so many answers are thinned a second time; more would take seconds.
FEW = 20


def contradiction(problem: Dual) -> Array | None:
    """Comparisons that no metric on these features satisfies together, none of them superfluous; None if all can hold.

    Answers are left out one after another as long as the rest still contradict one another.
    """
    answer = problem.rows.answer
    kept = _taking_part(problem, np.unique(answer))
    if kept is None:
        return None
    # The heaviest answers first: the smallest leading part that still contradicts itself, by bisection.
    low, high = 0, len(kept)
    while high - low > 1:
        middle = (low + high) // 2
        if _taking_part(problem, kept[:middle]) is None:
            low = middle
        else:
            high = middle
    kept = _thinned(problem, kept[:high])
    if len(kept) <= FEW:  # again: among fewer answers a contradiction is told more sharply
        kept = _thinned(problem, kept)
    return np.sort(kept)


def _thinned(problem: Dual, kept: Array) -> Array:
    """These contradicting answers without those that can be left out, one after another."""
    needed: set[int] = set()  # without one of these the others can hold, and so can fewer of them
    while waiting := [each for each in kept[::-1].tolist() if each not in needed]:
        rest = _taking_part(problem, kept[kept != waiting[0]])
        if rest is None:
            needed.add(waiting[0])
        else:
            kept = rest
    return kept


def _taking_part(problem: Dual, answers: Array) -> Array | None:
    """Which of these answers take part in a contradiction, heaviest first; None if they can all hold."""
    part = problem.hardened(np.isin(problem.rows.answer, answers))
    verdict = feasible(part)
    if verdict.holds is not False:
        return None
    weight = np.bincount(part.rows.answer, verdict.weight)
    ordered = answers[np.argsort(-weight[answers], kind="stable")]
    heavy = ordered[weight[ordered] > NEGLIGIBLE * weight.max()]
    # Light rows may be needed, too.
    if len(heavy) < len(ordered) and feasible(problem.hardened(np.isin(problem.rows.answer, heavy))).holds is False:
        return np.asarray(heavy)
    return np.asarray(ordered)
