"""Each answer compared with the distances before and after learning."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..comparisons import Comparisons, Kind
from ..comparisons.kinds import compared
from ..problem import choices
from ..support.types import Array, Indices


@dataclass(frozen=True, eq=False)
class Verdicts:
    """Answers compared with the distances, before and after learning.

    Attributes
    ----------
    said : Comparisons
        The answers.
    before, after : ndarray of shape (m,)
        1 where distances agree with an answer, 0 where not, 1/k in a tie of k; NaN for *can't tell* and links.
    pick : ndarray of shape (m,)
        The position that the learned distances call odd, or central; for *closer*, 2 if they agree, else 1; -1 for
        links.
    probability : ndarray of shape (m,)
        The model's probability of the answer; NaN for links.
    spread_before, spread_after : ndarray of shape (m,)
        Ratio of the largest to the smallest of the three distances; NaN for links.
    influence : ndarray of shape (m,), or None
        Influence of each answer on the kernel, Σ|α|; None for answers that it was not learned from.
    conflicts : list of ndarray
        Groups of answers that directly contradict each other.
    """

    said: Comparisons
    before: Array
    after: Array
    pick: Indices
    probability: Array
    spread_before: Array
    spread_after: Array
    influence: Array | None
    conflicts: list[Indices]

    def agreement(self) -> tuple[float, float] | None:
        """The weighted share of decided answers that distances agree with, before and after; None if there are none."""
        known = ~np.isnan(self.after)
        if not known.any():
            return None
        weight = self.said.weight[known]
        first, then = (float(np.average(share[known], weights=weight)) for share in (self.before, self.after))
        return first, then

    def disagreeing(self) -> Indices:
        """Answers that the learned distances contradict, the most surprising first."""
        return self._surprising(np.flatnonzero(self.after < 0.5))

    def agreeing(self) -> Indices:
        """Answers that the learned distances agree with, the least certain first."""
        return self._surprising(np.flatnonzero(self.after >= 0.5))

    def surprising(self) -> Indices:
        """Answers, *can't tell* included, the least probable first."""
        return self._surprising(np.flatnonzero(~np.isnan(self.probability)))

    def influential(self) -> Indices:
        """Answers with an influence on the kernel, the largest first."""
        if self.influence is None:
            return np.empty(0, dtype=np.intp)
        return np.argsort(-self.influence, kind="stable")[: np.count_nonzero(self.influence)]

    def undecided(self) -> Indices:
        """*Can't tell* answers, those with the most unequal distances first."""
        rows = np.flatnonzero(self.said.undecided)
        return rows[np.argsort(-self.spread_after[rows], kind="stable")]

    def _surprising(self, rows: Indices) -> Indices:
        return rows[np.argsort(self.probability[rows], kind="stable")]


def judge(
    said: Comparisons,
    before: Array,
    after: Array,
    temperature: float,
    tie: float,
    influence: Array | None,
    guess: float = 0.0,
) -> Verdicts:
    """Compare answers with two sets of coordinates.

    Parameters
    ----------
    said : Comparisons
        Answers about rows of the coordinates.
    before, after : ndarray of shape (n, r)
        Coordinates whose Euclidean distances are the initial and the learned ones.
    temperature, tie, guess : float
        Turn learned distances into probabilities, see `SKLR.odd_one_proba`.
    influence : ndarray of shape (m,), or None
        Influence of each answer on the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> said = Comparisons.odd_one_out([[0, 1, 2], [0, 1, 2]], [2, -1])
    >>> points = np.array([[0.0], [1.0], [3.0]])
    >>> verdicts = judge(said, points, points, 1.0, 0.5, None)
    >>> verdicts.after.tolist(), verdicts.spread_after.tolist()
    ([1.0, nan], [3.0, 3.0])
    """
    m = len(said)
    triples = np.flatnonzero(~said.links)
    known = np.flatnonzero(choices.decided(said))
    columns = {name: np.full(m, np.nan) for name in ("before", "after", "probability", "spread_before", "spread_after")}
    pick = np.full(m, -1)
    if len(triples):
        shown = said.shown[triples]
        for when, points in (("before", before), ("after", after)):
            opposite = np.full((m, 3), np.nan)
            opposite[triples] = choices.sides(points, shown)
            columns[when][known] = choices.agreement(opposite[known], said[known])
            columns[f"spread_{when}"][triples] = _spread(opposite[triples], said.kind[triples])
        pick[triples] = np.argmin(choices.eligible(opposite[triples], said[triples]), axis=1)
        columns["probability"][known] = np.exp(choices.log_likelihood(opposite[known], said[known], temperature, guess))
        asked = np.flatnonzero(said.kind == Kind.ODD_ONE_OUT)
        if len(asked):
            chances = choices.probabilities(opposite[asked], temperature, tie, guess)
            columns["probability"][asked] = chances[
                np.arange(len(asked)), said.odd[asked]
            ]  # index -1 is the last column: can't tell
    return Verdicts(said=said, pick=pick, influence=influence, conflicts=said.conflicts(), **columns)


def _spread(opposite: Array, kind: Array) -> Array:
    """The longest distance divided by the shortest; for *equally close*, of the two that it compares."""
    among = compared(kind) | (kind != Kind.EQUALLY_CLOSE)[:, None]
    shortest = np.where(among, opposite, np.inf).min(axis=1)
    longest = np.where(among, opposite, -np.inf).max(axis=1)
    ratio = np.divide(longest, shortest, out=np.full(len(opposite), np.inf), where=shortest > 0)
    return np.asarray(np.sqrt(np.where(longest > 0, ratio, 1.0)))
