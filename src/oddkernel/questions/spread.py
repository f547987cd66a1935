"""What answers to a pool of questions would tell about the kernel."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy

import numpy as np

from ..support.types import Array, Indices
from .belief import Belief
from .history import Triple

# An answer tells how two distances compare up to this, as the variance of a relative difference: never quite.
NOISE = 0.1
# What an answer can be about: how three distances differ from one another. How large they are together, it leaves open.
CONTRASTS = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]])


# So many questions are taken for answered at a time: a bound on what a choice costs.
MOST_TOLD = 50
# What three distances may be is drawn so often, by the same chance for all questions, so that chance favours none.
DRAWS = np.random.default_rng(0).standard_normal((64, 3))


class Spread:
    """How unsure the distances are that a pool of questions is about.

    A question shows three pairs of items. With R the covariance of their squared distances, each relative to its own
    size, and the rows of A the two ways in which three numbers can differ, an answer of any kind, *can't tell*
    included, tells about

        ½ logdet(I + A R Aᵀ / noise)

    nats about the kernel: much where the three distances are open, little where answers have settled them or where
    they follow from others. R comes from Laplace's approximation at the optimum; see `oddkernel.learning.Uncertainty`.

    *Can't tell* tells less than it seems to: that three items are all unlike one another, or all alike, groups none of
    them. So a question's worth is what it tells times how likely its answer names one of the three. What would be
    likely if the learned distances were right won't do: sure answers are those that are known. The distances are drawn
    log-normally about the learned ones, as unsure as they are.

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
        self._decided = self._likely_decided(belief)
        self._told: set[Triple] = set()

    def copy(self) -> Spread:
        """Another one, to be told other things."""
        other = copy(self)
        other._told = set(self._told)
        return other

    def worth(self) -> Array:
        """(m,): what each question's answer would tell, times how likely it names one of the three."""
        return self.information() * self._decided

    def information(self) -> Array:
        """(m,): what each question's answer would tell."""
        differ = CONTRASTS @ self._blocks() @ CONTRASTS.T
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

    def _blocks(self) -> Array:
        """(m, 3, 3): the covariance of every question's distances."""
        return np.asarray(self._relative[self._pairs_of[:, :, None], self._pairs_of[:, None, :]])

    def _likely_decided(self, belief: Belief) -> Array:
        """(m,): how likely an answer names one of the three; as likely for all before the first answer."""
        if not belief.n_answers:
            return np.ones(len(self.pool))
        blocks = self._blocks()
        variances, axes = np.linalg.eigh(blocks)
        apart = DRAWS @ (axes * np.sqrt(np.maximum(variances, 0.0))[:, None, :]).transpose(0, 2, 1)
        apart -= 0.5 * np.diagonal(blocks, axis1=1, axis2=2)[:, None, :]  # so that their mean is what was learned
        may_be = belief.sides(self.pool)[:, None, :] * np.exp(apart)
        proba = belief.probabilities(may_be.reshape(-1, 3))
        return np.asarray(1.0 - proba[:, 3].reshape(-1, len(DRAWS)).mean(axis=1))

    def _places(self, question: Triple) -> Indices | None:
        first, second, third = question
        pairs = ((second, third), (first, third), (first, second))
        known = all(pair in self._place for pair in pairs)
        return np.array([self._place[pair] for pair in pairs]) if known else None
