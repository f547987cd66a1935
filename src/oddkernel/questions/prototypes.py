"""Show each typical item with prototypes of the two groups that it most likely belongs to.

An answer joins two items or separates items, and joining is transitive: an item joined with *a* is joined with all of
*a*'s group. So the policy places typical items one after another, the most typical first. Each group that the answers
have joined so far is represented by its most typical item, the prototype. The policy uses only the answers and the
initial kernel. Nothing has to be learned before the next question, and even the latest answer counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..comparisons import Comparisons, Kind
from .adaptive import uncertain
from .history import History, Indices, Triple, key
from .unlearned import random

if TYPE_CHECKING:
    from .belief import Space

Array = NDArray[Any]

# The constants below were chosen by hand. `oddkernel reproduce next_question` measures the policy as a whole.
# Each 0.1 median squared distances lower the log-odds that two items belong together by 1; an answer counts 3.
SHARPNESS, VOTE = 0.1, 3.0
# Number of groups at the start, of one item each: an odd-one-out question needs three.
FIRST = 3
# People who sort items into groups answer *can't tell* to items of three groups, and the first questions show many of
# these. If none of the first 20 answers is *can't tell*, people compare by degree and not by group.
EARLY = 20


def prototypes(history: History, n: int, rng: np.random.Generator, *, once: int = 0) -> Indices:
    """A typical item without a group, with prototypes of the two groups that it most likely belongs to.

    First each of the ``once`` most typical items is shown once, then one after another is placed.
    Falls back to `uncertain` when all typical items have a group, when only certain questions can be asked, when
    people turn out not to answer by group, and when there are answers but none to odd-one-out questions.
    """
    space = history.space()
    if space is None:
        return random(history, n, rng)
    chosen: list[Triple] = []
    chosen_keys: set[Triple] = set()
    said = history.said()
    groups = Groups(space, said)
    silent = len(said) > 0 and not (said.kind == Kind.ODD_ONE_OUT).any()  # groups come from odd-one-out answers alone
    if history.allowed is None and not groups.gradual and not silent:
        taken = (history.asked, history.open, chosen_keys)
        busy = {item for question in history.open for item in question}
        for item, candidates in groups.to_place(once):
            if len(chosen) == n:
                break
            question = next((each for each in candidates if not any(key(each) in known for known in taken)), None)
            if item not in busy and question is not None:
                chosen_keys.add(key(question))
                chosen.append(question)
    placing = np.array([rng.permutation(question) for question in chosen], dtype=np.intp).reshape(-1, 3)
    if len(chosen) == n:
        return placing
    besides = replace(history, open=history.open | chosen_keys)
    return np.concatenate([placing, uncertain(besides, n - len(chosen), rng)])


class Groups:
    """Groups of typical items that the answers have joined, and likely groups for the others.

    Parameters
    ----------
    space : Space
        The items before learning.
    said : Comparisons
        All answers; only odd-one-out answers about three typical items are used.

    Attributes
    ----------
    members : list of arrays
        The items of each group, the most typical, its prototype, first.
    gradual : bool
        Whether people seem not to answer by group: none of the first 20 answers is *can't tell*.

    Examples
    --------
    >>> from oddkernel.questions.belief import Space
    >>> space = Space(np.array([[0.0], [0.1], [5.0], [5.1], [9.0]]), np.arange(5))
    >>> groups = Groups(space, Comparisons.odd_one_out([[0, 1, 2]], [2]))
    >>> groups.members
    [array([0, 1]), array([2])]
    >>> [(item, questions[0]) for item, questions in groups.to_place()]
    [(3, (2, 0, 3)), (4, (2, 0, 4))]
    """

    def __init__(self, space: Space, said: Comparisons) -> None:
        self._items, self._apart = space.typical, space.typical_apart / SHARPNESS
        place = np.full(len(space.phi), -1)
        place[self._items] = np.arange(len(self._items))
        shown = place[said.shown]
        first, second, third = shown.T  # faster than all(axis=1) on three columns
        known = (first >= 0) & (second >= 0) & (third >= 0) & (said.kind == Kind.ODD_ONE_OUT)
        self._votes = _votes(shown[known], said.odd[known], len(self._items))
        there = np.union1d(np.arange(min(FIRST, len(self._items))), shown[known])
        early = said.undecided[known][:EARLY]
        self.gradual = len(early) == EARLY and not early.any()
        label = joined(self._votes[np.ix_(there, there)])
        self._places = [there[label == group] for group in np.unique(label)]
        self._there = there
        self.members = [self._items[places] for places in self._places]

    def to_place(self, once: int = 0) -> Iterator[tuple[int, list[Triple]]]:
        """Typical items without a group, the most typical first, each with candidate questions, the best first.

        Before all others come those of the ``once`` most typical items that no answer is about.
        A question shows the item with the prototypes of two groups: the most likely one from which no answer has
        separated it, and another likely one. An item that was separated from all groups remains a group of its own.
        """
        belongs = np.zeros((len(self._items), len(self._places)), dtype=np.bool_)
        for group, places in enumerate(self._places):
            belongs[places, group] = True
        votes = self._votes @ belongs
        odds = self._log_odds(belongs, votes)
        there = np.isfinite(odds)  # an item that is a group of its own can't join itself
        placed = (belongs & there).any(axis=1)
        possible = there & (votes >= 0)
        open_ = np.flatnonzero(~placed & possible.any(axis=1))
        known = (open_ >= once) | np.isin(open_, self._there)
        for place in np.concatenate([open_[~known], open_[known]]):
            item = int(self._items[place])
            likely = int(np.where(possible[place], odds[place], -np.inf).argmax())
            others = [int(group) for group in np.argsort(-odds[place]) if there[place, group] and group != likely]
            yield item, [(int(self.members[likely][0]), int(self.members[group][0]), item) for group in others]

    def _log_odds(self, belongs: Array, votes: Array) -> Array:
        """(k, g): how likely each typical item belongs to each group, as logarithms, up to a constant for each item."""
        apart = self._apart
        nearest = np.column_stack([apart[:, places].min(axis=1) for places in self._places])
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(belongs.sum(axis=0) - belongs) - nearest + VOTE * votes)


def _votes(shown: Indices, odd: Array, n: int) -> Array:
    """(n, n): number of answers that join two items minus number of answers that separate them.

    *Can't tell* separates all three items: that all three belong together is the less frequent reason for it.
    """
    votes = np.zeros(n * n)
    for position, (one, other) in enumerate(((1, 2), (0, 2), (0, 1))):
        said = np.where(odd == position, 1.0, -1.0)
        votes += np.bincount(shown[:, one] * n + shown[:, other], said, n * n)
    return votes.reshape(n, n) + votes.reshape(n, n).T


def joined(votes: Array) -> Indices:
    """(m,): the group of each item, by correlation clustering of the votes.

    Greedy additive edge contraction: join the two groups with the largest positive sum of votes, until no sum is
    positive. A single wrong vote is outvoted.

    Examples
    --------
    >>> joined(np.array([[0, 2, -1], [2, 0, 1], [-1, 1, 0]]))
    array([0, 0, 2])
    """
    votes = np.array(votes, dtype=np.float64)
    np.fill_diagonal(votes, -np.inf)
    label = np.arange(len(votes), dtype=np.intp)
    while len(votes) > 1:
        one, other = divmod(int(votes.argmax()), len(votes))
        if votes[one, other] <= 0:
            break
        votes[one] += votes[other]
        votes[:, one] = votes[one]
        votes[other] = votes[:, other] = -np.inf
        label[label == other] = one
    return label
