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
# Up to so many answers, none is named that can be spared; of more, which nobody reads one by one, one part in PARTS may
# be. By trial: to spare each of 300 answers takes a minute.
FEW, PARTS = 40, 8


def contradiction(problem: Dual, proof: Array | None = None) -> Array | None:
    """Comparisons that no metric on these features satisfies together; None if all can hold.

    Answers are left out as long as the rest still contradict one another. Of up to FEW comparisons none is superfluous.
    ``proof``: how much each row takes part in a contradiction, where a solver has proved one; of other rows another
    look need not prove it again.
    """
    answer = problem.rows.answer
    kept: Array | None
    if proof is not None:
        weight = np.bincount(answer, proof)
        kept = np.argsort(-weight, kind="stable")[: np.count_nonzero(weight)]
    else:
        kept = _taking_part(problem, np.unique(answer), patient=True)
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
    """These contradicting answers without those that can be left out, light ones first, as many at once as possible."""
    needed: set[int] = set()  # without one of these the others can hold, and so can fewer of them
    size = max(len(kept) // 4, 1)
    while waiting := [each for each in kept[::-1].tolist() if each not in needed]:
        least = 1 if len(kept) <= FEW else -(-len(kept) // PARTS)
        some = waiting[: max(size, least)]
        rest = _taking_part(problem, kept[~np.isin(kept, some)])
        if rest is not None:
            kept, size = rest, 2 * size
        elif len(some) <= least:
            needed.update(some)
        else:
            size = len(some) // 2
    return kept


def _taking_part(problem: Dual, answers: Array, *, patient: bool = False) -> Array | None:
    """Which of these answers take part in a contradiction, heaviest first; None if they can all hold."""
    part = problem.hardened(np.isin(problem.rows.answer, answers))
    verdict = feasible(part, patient=patient)
    if verdict.holds is not False:
        return None
    weight = np.bincount(part.rows.answer, verdict.weight)
    ordered = answers[np.argsort(-weight[answers], kind="stable")]
    heavy = ordered[weight[ordered] > NEGLIGIBLE * weight.max()]
    # Light rows may be needed, too.
    if len(heavy) < len(ordered):
        fewer = problem.hardened(np.isin(problem.rows.answer, heavy))
        if feasible(fewer, patient=patient).holds is False:
            return np.asarray(heavy)
    return np.asarray(ordered)
