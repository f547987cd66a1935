"""Where typical items belong: each is asked about beside prototypes of the two groups that it most likely belongs to.

An answer joins two items or tells items apart, and what it says carries over: what goes with *a* goes with all that go
with *a*. So typical items are placed one after another, the most typical first, and each group of items that answers
have joined is shown by its most typical ones, its prototypes. This looks at the answers themselves and at the initial
kernel: nothing has to be learned before the next question, and the very last answer counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..comparisons import Comparisons, Kind
from .adaptive import uncertain
from .belief import Space
from .history import History, Indices, Triple, key
from .plain import random

Array = NDArray[Any]

# A squared distance of this share of the median one makes it e times less likely that two items belong together; an
# answer counts as much as so many of these.
SHARPNESS, VOTE = 0.1, 3.0
# So many items are there to begin with, each a group of its own.
FIRST = 3
# People who think in groups can't tell when they see items of three, which at first they do. If none of so many answers
# is that, they go by something gradual.
EARLY = 20


def prototypes(history: History, n: int, rng: np.random.Generator) -> Indices:
    """Typical items that have no place yet, beside prototypes of the two groups they most likely belong to.

    Once all of them are placed, where the questions are given, and where people turn out not to think in groups, what
    the model can foretell least is asked.
    """
    space = history.space()
    if space is None:
        return random(history, n, rng)
    chosen: list[Triple] = []
    chosen_keys: set[Triple] = set()
    groups = Groups(space, history.said())
    if history.allowed is None and not groups.gradual:
        taken = (history.asked, history.open, chosen_keys)
        busy = {item for question in history.open for item in question}
        for item, candidates in groups.to_place():
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
    """Typical items as the answers have joined them, and where the others may belong.

    Parameters
    ----------
    space : Space
        The items before anything is learned.
    said : Comparisons
        All answers; which one of three typical items is odd counts.

    Attributes
    ----------
    members : list of arrays
        The items of each group, the most typical first: that is its prototype.
    gradual : bool
        Whether people don't think in groups: none of the first answers is *can't tell*.

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
        known = (shown >= 0).all(axis=1) & (said.kind == Kind.ODD_ONE_OUT)
        self._votes = _votes(shown[known], said.odd[known], len(self._items))
        there = np.union1d(np.arange(min(FIRST, len(self._items))), shown[known])
        early = said.undecided[known][:EARLY]
        self.gradual = len(early) == EARLY and not early.any()
        label = joined(self._votes[np.ix_(there, there)])
        self._places = [there[label == group] for group in np.unique(label)]
        self.members = [self._items[places] for places in self._places]

    def to_place(self) -> Iterator[tuple[int, list[Triple]]]:
        """Typical items that stand alone, the most typical first, with questions that may place them, the best first.

        A question shows the item beside the prototypes of two groups: the likeliest of those that no answer has told it
        apart from, and another likely one. An item that was told apart from all groups is left alone.
        """
        belongs = np.zeros((len(self._items), len(self._places)), dtype=np.bool_)
        for group, places in enumerate(self._places):
            belongs[places, group] = True
        votes = self._votes @ belongs
        odds = self._log_odds(belongs, votes)
        there = np.isfinite(odds)  # without those of single items to be with themselves
        placed = (belongs & there).any(axis=1)
        possible = there & (votes >= 0)
        for place in np.flatnonzero(~placed & possible.any(axis=1)):
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
    """(n, n): how many answers more join two items than tell them apart.

    *Can't tell* tells all three apart: that all three belong together is the rarer reason for it.
    """
    votes = np.zeros((n, n))
    for position, (one, other) in enumerate(((1, 2), (0, 2), (0, 1))):
        said = np.where(odd == position, 1.0, -1.0)
        np.add.at(votes, (shown[:, one], shown[:, other]), said)
    return votes + votes.T


def joined(votes: Array) -> Indices:
    """(m,): a group for each item, such that votes join within groups and tell groups apart.

    The two groups with the most votes for it are joined, until there are no two that votes would join: a wrong vote is
    outvoted. This is greedy additive edge contraction, a heuristic for correlation clustering.

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
