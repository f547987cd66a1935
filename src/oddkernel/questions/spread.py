"""Expected information about the kernel from the answers to a pool of questions."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from typing import TYPE_CHECKING

import numpy as np

from ..support.types import Array, Indices
from .history import Triple

if TYPE_CHECKING:
    from .belief import Belief

# Noise of an answer: the variance of the relative difference of two distances that remains after it. Chosen by hand.
NOISE = 0.1
# Orthonormal contrasts of three distances. Derived: an answer is about their differences, not about their mean.
CONTRASTS = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]])
# Largest number of open questions that are conditioned on at a time. Chosen by hand: it bounds the time for a choice.
MOST_TOLD = 50
# Standard normal draws for three distances; common random numbers for all questions, so that chance favours none. 64
# draws were chosen by hand: they bound the time for a choice.
DRAWS = np.random.default_rng(0).standard_normal((64, 3))


class Spread:
    """The posterior covariance of the distances in a pool of questions, and the worth of each question.

    A question shows three pairs of items. Let R be the covariance of their squared distances, each relative to its own
    size, and let the rows of A be the two orthonormal contrasts of three numbers. The expected information in an
    answer, *can't tell* included, is about

        ½ logdet(I + A R Aᵀ / noise)

    nats: large where the three distances are uncertain, small where earlier answers determine them. R comes from
    Laplace's approximation at the optimum; see `oddkernel.learning.Uncertainty`.

    *Can't tell* is worth less than this formula says: three items that are all different, or all alike, form no group.
    So a question's worth is its information times the probability that its answer is decided. This probability is a
    mean over distances drawn log-normally around the learned ones with covariance R. The learned distances alone would
    favour questions whose answers are already known.

    Parameters
    ----------
    belief : Belief
        What was learned so far.
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
        size = np.where(squared > 0, squared, np.inf)  # the distance between copies is known to be 0
        self._relative = covariance / np.outer(size, size)
        self._decided = self._likely_decided(belief)
        self._told: set[Triple] = set()

    def copy(self) -> Spread:
        """An independent copy."""
        other = copy(self)
        other._told = set(self._told)
        return other

    def worth(self) -> Array:
        """(m,): the information in each question's answer times the probability that the answer is decided."""
        return self.information() * self._decided

    def information(self) -> Array:
        """(m,): the expected information in each question's answer, in nats."""
        differ = CONTRASTS @ self._blocks() @ CONTRASTS.T
        return np.asarray(0.5 * np.linalg.slogdet(np.eye(2) + differ / NOISE)[1])

    def tell(self, questions: Iterable[Triple]) -> None:
        """Condition the covariance on the answers to questions, given as sorted items, whatever the answers will be.

        Questions about pairs of items that are not in the pool are ignored.
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

    def _blocks(self) -> Array:
        """(m, 3, 3): the covariance of each question's three distances."""
        return np.asarray(self._relative[self._pairs_of[:, :, None], self._pairs_of[:, None, :]])

    def _likely_decided(self, belief: Belief) -> Array:
        """(m,): the probability that the answer is decided; the same for all questions before the first answer."""
        if not belief.n_answers:
            return np.ones(len(self.pool))
        blocks = self._blocks()
        variances, axes = np.linalg.eigh(blocks)
        apart = DRAWS @ (axes * np.sqrt(np.maximum(variances, 0.0))[:, None, :]).transpose(0, 2, 1)
        apart -= 0.5 * np.diagonal(blocks, axis1=1, axis2=2)[:, None, :]  # so that the mean is the learned distance
        may_be = belief.sides(self.pool)[:, None, :] * np.exp(apart)
        proba = belief.probabilities(may_be.reshape(-1, 3))
        return np.asarray(1.0 - proba[:, 3].reshape(-1, len(DRAWS)).mean(axis=1))

    def _places(self, question: Triple) -> Indices | None:
        first, second, third = question
        pairs = ((second, third), (first, third), (first, second))
        known = all(pair in self._place for pair in pairs)
        return np.array([self._place[pair] for pair in pairs]) if known else None
