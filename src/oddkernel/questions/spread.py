"""What answers to a pool of questions would tell about the kernel."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .belief import Belief
from .history import Indices, Triple

Array = NDArray[Any]

# An answer tells how two distances compare up to this, as the variance of a relative difference: never quite.
NOISE = 0.1
# What an answer can be about: how three distances differ from one another. How large they are together, it leaves open.
CONTRASTS = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]])


# So many questions are taken for answered at a time: a bound on what a choice costs.
MOST_TOLD = 50


class Spread:
    """How unsure the distances are that a pool of questions is about.

    A question shows three pairs of items. With R the covariance of their squared distances, each relative to its own
    size, and the rows of A the two ways in which three numbers can differ, an answer of any kind, *can't tell*
    included, tells about

        ½ logdet(I + A R Aᵀ / noise)

    nats about the kernel: much where the three distances are open, little where answers have settled them or where
    they follow from others. R comes from Laplace's approximation at the optimum; see `oddkernel.uncertainty`.

    Parameters
    ----------
    belief : Belief
        What was learned.
    pool : ndarray of shape (m, 3)
        The questions.
    """

    def __init__(self, belief: Belief, pool: Indices) -> None:
        self.pool = pool
        sides = np.stack([pool[:, [(p + 1) % 3, (p + 2) % 3]] for p in range(3)], axis=1)
        pairs, place = np.unique(np.sort(sides, axis=-1).reshape(-1, 2), axis=0, return_inverse=True)
        self._pairs_of = place.reshape(-1, 3)
        self._place = {(first, second): number for number, (first, second) in enumerate(pairs.tolist())}
        covariance, squared = belief.covariance(pairs)
        size = np.where(squared > 0, squared, np.inf)  # the distance between copies is no question
        self._relative = covariance / np.outer(size, size)
        self._told: set[Triple] = set()

    def copy(self) -> Spread:
        """Another one, to be told other things."""
        other = copy(self)
        other._told = set(self._told)
        return other

    def information(self) -> Array:
        """(m,): what each question's answer would tell."""
        blocks = self._relative[self._pairs_of[:, :, None], self._pairs_of[:, None, :]]
        differ = CONTRASTS @ blocks @ CONTRASTS.T
        return np.asarray(0.5 * np.linalg.slogdet(np.eye(2) + differ / NOISE)[1])

    def tell(self, questions: Iterable[Triple]) -> None:
        """Take questions, as sorted items, for answered, whatever the answers will be: the others tell less then.

        Those about pairs of items that are not in the pool are passed over.
        """
        new = {
            each: pairs for each in questions if each not in self._told and (pairs := self._places(each)) is not None
        }
        now = list(new)[:MOST_TOLD]
        if not now:
            return
        self._told.update(now)
        differ = np.kron(np.eye(len(now)), CONTRASTS)
        told = np.concatenate([new[each] for each in now])
        across = self._relative[:, told] @ differ.T
        own = differ @ self._relative[np.ix_(told, told)] @ differ.T
        self._relative = self._relative - across @ np.linalg.solve(own + NOISE * np.eye(len(own)), across.T)

    def _places(self, question: Triple) -> Indices | None:
        first, second, third = question
        pairs = ((second, third), (first, third), (first, second))
        known = all(pair in self._place for pair in pairs)
        return np.array([self._place[pair] for pair in pairs]) if known else None
