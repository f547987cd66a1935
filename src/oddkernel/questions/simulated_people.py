"""Simulated people, who answer by class, by a hidden metric, or with recorded answers of real people."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..comparisons import Comparisons, Kind
from ..items.frames import join
from ..support.checks import refuse, require
from ..support.types import Indices
from .history import Triple, as_triple, key

CANT_TELL = -1

Seed = int | np.random.Generator | None


class _Simulated(ABC):
    """A simulated person who guesses with a given probability, and answers every form of question."""

    def __init__(self, noise: float, random_state: Seed) -> None:
        require(0 <= noise <= 1, "noise", noise, "a share between 0 and 1")
        self.noise = noise
        self._rng = np.random.default_rng(random_state)

    def __call__(self, shown: Any, rng: np.random.Generator | None = None) -> int:
        """The position of the odd one of three items, or -1 for *can't tell*; ``rng`` replaces the person's own."""
        rng = self._rng if rng is None else rng
        if rng.random() < self.noise:
            return int(rng.integers(3))
        return self._opinion([int(item) for item in shown])

    def anchor(self, shown: Any, rng: np.random.Generator | None = None) -> int:
        """The position, 1 or 2, of the item that is more like the first of three, or -1 for *can't tell*."""
        rng = self._rng if rng is None else rng
        if rng.random() < self.noise:
            return int(rng.integers(1, 3))
        first, *others = (int(item) for item in shown)
        one, other = self._apart(first, others).tolist()
        if one == other or max(one, other) < (1.0 + self.unclear) * min(one, other):
            return CANT_TELL
        return 1 if one < other else 2

    def central(self, shown: Any, rng: np.random.Generator | None = None) -> int:
        """The position of the most central of three items: the other two are the farthest apart; ties by chance."""
        rng = self._rng if rng is None else rng
        if rng.random() < self.noise:
            return int(rng.integers(3))
        first, second, third = (int(item) for item in shown)
        apart = [*self._apart(third, [second, first]), *self._apart(first, [second])]
        return int(np.lexsort((rng.random(3), -np.array(apart)))[0])

    def grid(self, middle: int, around: Any, k: int = 2, rng: np.random.Generator | None = None) -> list[int]:
        """The positions of the k items around that are most like the one in the middle, the likest first.

        Ties are decided by chance. Each of the k picks is a guess with the probability `noise`.
        """
        rng = self._rng if rng is None else rng
        others = [int(item) for item in around]
        require(0 < k < len(others), "k", k, f"a whole number from 1 to {len(others) - 1}")
        left = np.lexsort((rng.random(len(others)), self._apart(int(middle), others))).tolist()
        return [left.pop(int(rng.integers(len(left))) if rng.random() < self.noise else 0) for _ in range(k)]

    unclear = 0.0
    """By which share the larger of two distances must exceed the smaller one to be told from it."""

    @abstractmethod
    def _opinion(self, shown: list[int]) -> int:
        """The answer without guessing."""

    @abstractmethod
    def _apart(self, item: int, others: list[int]) -> NDArray[np.float64]:
        """How far apart the person finds an item and each of some others."""


class ByLabels(_Simulated):
    """People who answer by class: the odd one is the item whose class differs from that of the other two.

    They answer *can't tell* if all three items are of the same class, or of three classes. Asked in another form
    (`anchor`, `central`, `grid`), they take items of one class for alike and all others for equally far apart.

    Parameters
    ----------
    labels : array-like of shape (n,)
        The class of each item.
    noise : float, default=0.0
        The share of answers that are a guess among the three.
    random_state : int, Generator or None
        Seed of the guesses.

    Examples
    --------
    >>> answer = ByLabels(["bird", "bird", "fish"])
    >>> answer([0, 2, 1])
    1
    """

    def __init__(self, labels: ArrayLike, *, noise: float = 0.0, random_state: Seed = None) -> None:
        super().__init__(noise, random_state)
        self.labels: NDArray[Any] = np.asarray(labels)

    def _opinion(self, shown: list[int]) -> int:
        first, second, third = self.labels[shown].tolist()
        same = [second == third, first == third, first == second]
        return same.index(True) if sum(same) == 1 else CANT_TELL

    def _apart(self, item: int, others: list[int]) -> NDArray[np.float64]:
        return np.asarray(self.labels[others] != self.labels[item], dtype=np.float64)


class ByMetric(_Simulated):
    """People who answer by a metric that is hidden from the learner: the odd one is the item outside the closest pair.

    They answer every form of question: `anchor`, `central` and `grid` beside odd-one-out.

    Parameters
    ----------
    coordinates : array-like of shape (n, d)
        Coordinates of the items in the hidden metric.
    undecided : float, default=0.0
        They answer *can't tell* where the distance of the second closest pair exceeds that of the closest by less than
        this share.
    noise : float, default=0.0
        The share of answers that are a guess among the three.
    random_state : int, Generator or None
        Seed of the guesses.

    Examples
    --------
    >>> answer = ByMetric([[0.0], [1.0], [2.1], [9.0]], undecided=0.2)
    >>> answer([0, 3, 1]), answer([0, 1, 2])
    (1, -1)
    """

    def __init__(
        self, coordinates: ArrayLike, *, undecided: float = 0.0, noise: float = 0.0, random_state: Seed = None
    ) -> None:
        super().__init__(noise, random_state)
        require(undecided >= 0, "undecided", undecided, "a share of at least 0")
        self.coordinates = np.asarray(coordinates, dtype=np.float64)
        self.undecided = self.unclear = undecided

    def _opinion(self, shown: list[int]) -> int:
        first, second, third = self.coordinates[shown]
        apart = np.linalg.norm([second - third, first - third, first - second], axis=1)
        closest, next_closest = np.sort(apart)[:2]
        if self.undecided and next_closest < (1.0 + self.undecided) * closest:
            return CANT_TELL
        return int(np.argmin(apart))

    def _apart(self, item: int, others: list[int]) -> NDArray[np.float64]:
        return np.asarray(np.linalg.norm(self.coordinates[others] - self.coordinates[item], axis=1))


class Recorded:
    """Recorded answers of real people, replayed: each recorded question can be asked as often as it was answered.

    Parameters
    ----------
    said : Comparisons
        Odd-one-out, most-central or equally-close answers, or *closer* answers; all *closer* answers about the same
        three items count as one.

    Examples
    --------
    >>> answer = Recorded(Comparisons.odd_one_out([[4, 7, 9]], [2]))
    >>> answer.questions
    array([[4, 7, 9]])
    >>> answer([9, 4, 7])
    0
    >>> answer.questions.shape
    (0, 3)
    """

    def __init__(self, said: Comparisons) -> None:
        refuse(
            said.links,
            lambda row: "a link is no answer about three items; expected odd-one-out, most-central or closer",
        )
        self._said = said
        self._rows: dict[Triple, list[int]] = {}
        for row, shown in enumerate(said.shown.tolist()):
            self._rows.setdefault(key(tuple(shown)), []).append(row)

    def about(self, X: ArrayLike, n_items: int) -> Recorded:
        """The same answers, about rows of X: joined by name where both sides have names.

        What is asked of one of the two is no longer left in the other.
        """
        joined = Recorded(join(self._said, X, n_items))
        joined._rows = {key(tuple(joined._said.shown[rows[0]].tolist())): rows for rows in self._rows.values() if rows}
        return joined

    @property
    def questions(self) -> Indices:
        """(m, 3): the questions that can still be asked."""
        return np.array([triple for triple, rows in self._rows.items() if rows], dtype=np.intp).reshape(-1, 3)

    def __call__(self, shown: Any) -> int | Comparisons:
        """The next recorded answer about three items: the odd one's position, or `Comparisons` of another kind."""
        items = [int(item) for item in shown]
        triple = key(as_triple(np.array(items), max(*items, 2) + 1))
        rows = self._rows.get(triple)
        if not rows:
            raise ValueError(f"no recorded answer about {items} is left; expected one of the recorded questions")
        together = [row for row in rows if self._said.kind[row] == Kind.CLOSER] or rows[:1]
        rows[:] = [row for row in rows if row not in together]
        row = together[0]
        if self._said.kind[row] == Kind.CLOSER:
            return self._said[np.array(together)]
        if self._said.kind[row] in (Kind.MOST_CENTRAL, Kind.EQUALLY_CLOSE):
            return self._said[row]
        odd = int(self._said.odd[row])
        return CANT_TELL if odd == CANT_TELL else items.index(int(self._said.shown[row, odd]))
