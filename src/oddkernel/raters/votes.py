"""Odd-one-out answers as a table of question, answer and rater numbers, for counting."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..comparisons import Comparisons, Kind
from ..support.types import Array, Indices

CANT_TELL = 3
"""The number of the answer *can't tell*; 0 to 2 name one of the three items."""


@dataclass(frozen=True, eq=False)
class Votes:
    """The odd-one-out answers of `Comparisons`, numbered; other kinds are left out.

    Attributes
    ----------
    row : ndarray of shape (v,)
        Position of each answer in the `Comparisons`.
    question : ndarray of shape (v,)
        Number of the question: the set of three items, in any order.
    answer : ndarray of shape (v,)
        Rank 0 to 2 of the odd item among the three, or 3 for *can't tell*.
    person : ndarray of shape (v,)
        Number of the rater, in the order of `raters`. Each answer without a rater counts as by a different person.
    raters : tuple of str
        The raters' names, sorted.
    """

    row: Indices
    question: Indices
    answer: Indices
    person: Indices
    raters: tuple[str, ...]

    @classmethod
    def of(cls, said: Comparisons) -> Self:
        """Number the odd-one-out answers."""
        row = np.flatnonzero(said.kind == Kind.ODD_ONE_OUT)
        answers = said[row]
        question = np.unique(answers.item_sets(), axis=0, return_inverse=True)[1].reshape(-1)
        rank = np.argsort(np.argsort(answers.shown, axis=1), axis=1)
        odd_rank = np.take_along_axis(rank, np.maximum(answers.odd, 0)[:, None].astype(np.intp), axis=1)[:, 0]
        name = np.full(len(row), "") if answers.rater is None else answers.rater
        raters, person = np.unique(name[name != ""], return_inverse=True)
        everyone = len(raters) + np.arange(len(row))
        everyone[name != ""] = person
        return cls(row, question, np.where(answers.undecided, CANT_TELL, odd_rank), everyone, tuple(raters.tolist()))

    def __len__(self) -> int:
        return len(self.row)

    @property
    def named(self) -> NDArray[np.bool_]:
        """Mask of shape (v,): answers with a named rater."""
        mask: NDArray[np.bool_] = self.person < len(self.raters)
        return mask

    def check_raters(self) -> None:
        """Raise a ValueError unless some answer says who gave it."""
        if not self.raters:
            raise ValueError(
                f"none of the {len(self)} odd-one-out answers says who gave it; build the Comparisons with rater=, or "
                "read them from a file with a rater column"
            )

    def by_others(self, weight: Array | None = None) -> Array:
        """(v, 4): how often other people gave each answer to the same question, each answer weighted by `weight`."""
        weight = np.ones(len(self)) if weight is None else weight
        return self._tally(self.question, weight) - self.by_self(weight)

    def by_self(self, weight: Array | None = None) -> Array:
        """(v, 4): how often the same person gave each answer to the same question, including this answer."""
        weight = np.ones(len(self)) if weight is None else weight
        return self._tally(self._occasion, weight)

    def with_others(self) -> Array:
        """(v,): 1 where an answer is the majority of the others, 1/k if k answers tie; NaN if nobody else answered."""
        others = self.by_others()
        top = others == others.max(axis=1, keepdims=True)
        agreed = top[np.arange(len(self)), self.answer] / top.sum(axis=1)
        return np.where(others.sum(axis=1) > 0, agreed, np.nan)

    def with_self(self) -> Array:
        """(v,): the share of the person's other answers to the same question that equal this one; NaN if none."""
        own = self.by_self()
        same, others = own[np.arange(len(self)), self.answer] - 1, own.sum(axis=1) - 1
        share: Array = np.divide(same, others, out=np.full(len(self), np.nan), where=others > 0)
        return share

    @cached_property
    def _occasion(self) -> Indices:
        """Number of each combination of question and person."""
        both = self.question * (self.person.max(initial=0) + 1) + self.person
        return np.unique(both, return_inverse=True)[1].reshape(-1)

    def _tally(self, group: Indices, weight: Array) -> Array:
        """(v, 4): for each answer, the weight of each answer within its group."""
        n_answers = CANT_TELL + 1
        n_groups = int(group.max(initial=-1)) + 1
        counts = np.bincount(group * n_answers + self.answer, weight, n_answers * n_groups)
        return np.asarray(counts.reshape(n_groups, n_answers)[group], dtype=np.float64)
