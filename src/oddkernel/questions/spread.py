"""What answers to a pool of questions would tell about the kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .belief import Belief
from .history import Indices, Triple, key

Array = NDArray[Any]

# An answer tells how two distances compare up to this, as the variance of a relative difference: never quite.
NOISE = 0.1
# What an answer can be about: how three distances differ from one another. How large they are together, it leaves open.
CONTRASTS = np.array([[1.0, -1.0, 0.0], [1.0, 1.0, -2.0]]) / np.sqrt([[2.0], [6.0]])


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
        covariance, squared = belief.covariance(pairs)
        size = np.where(squared > 0, squared, np.inf)  # the distance between copies is no question
        self._relative = covariance / np.outer(size, size)
        self._row_of: dict[Triple, int] = {key(tuple(row)): number for number, row in enumerate(pool.tolist())}
        self._told: set[Triple] = set()

    def information(self) -> Array:
        """(m,): what each question's answer would tell."""
        blocks = self._relative[self._pairs_of[:, :, None], self._pairs_of[:, None, :]]
        differ = CONTRASTS @ blocks @ CONTRASTS.T
        return np.asarray(0.5 * np.linalg.slogdet(np.eye(2) + differ / NOISE)[1])

    def tell(self, question: Triple) -> None:
        """Take a question for answered, whatever the answer will be: the others tell less then."""
        row = self._row_of.get(key(question))
        if row is None or key(question) in self._told:
            return
        self._told.add(key(question))
        pairs = self._pairs_of[row]
        across = self._relative[:, pairs] @ CONTRASTS.T
        differ = CONTRASTS @ self._relative[np.ix_(pairs, pairs)] @ CONTRASTS.T
        self._relative = self._relative - across @ np.linalg.solve(differ + NOISE * np.eye(2), across.T)
