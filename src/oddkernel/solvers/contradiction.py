"""Which answers can't all hold: a small set of rows that exclude one another."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..problem.dual import Dual
from ..problem.solution import Status
from .auto import Auto
from .solving import solve

Array = npt.NDArray[Any]

# Rows with less than this share of the certificate are not part of it.
NEGLIGIBLE = 1e-6
# Up to so many answers are thinned a second time; more would take seconds.
FEW = 20
# Multipliers that grow for ever show it within a hundred or two of steps.
STEPS = 300


def contradiction(problem: Dual) -> Array | None:
    """Comparisons that no metric on these features satisfies together, none of them superfluous; None if all can hold.

    Hard rows exclude one another exactly if the multipliers of the dual can grow for ever. The rows along which they
    do contradict one another; answers are then left out one after another as long as the rest still does.
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
    hard = problem.hardened(np.isin(problem.rows.answer, answers))
    solution, point = solve(hard, Auto(), tol=1e-6, max_iter=STEPS)
    if solution.status is not Status.CONTRADICTORY:
        return None
    impossible = hard.void & point.free & (point.gradient != 0)
    share = impossible if impossible.any() else np.abs(point.alpha) * hard.initial_scale
    weight = np.bincount(hard.rows.answer, share)
    heavy = np.flatnonzero(weight > NEGLIGIBLE * weight.max())
    return np.asarray(heavy[np.argsort(-weight[heavy], kind="stable")])
