"""SKLR whose penalty held-out answers choose, judged in the leading dimensions of the learned kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from oddkernel import SKLR, Comparisons, choices
from oddkernel.tuning import folds_of

Array = NDArray[Any]


class LeadingSKLR:
    """SKLR with the penalty at which held-out answers agree best with the leading dimensions of the learned kernel.

    Clustering averages over many items and so lives on the few directions in which the kernel varies most. Single
    distances in hundreds of dimensions are mostly noise: judged by them, learning from noisy answers seems to do harm
    even where it makes the clusters better, and the penalty comes out too small. No class label takes part.

    Parameters
    ----------
    dimensions : int
        How many leading dimensions judge.
    penalties : sequence of float
        To choose from.
    folds : int
        Of cross-validation.
    settings
        Of `SKLR`, but for the penalty.
    """

    def __init__(self, dimensions: int, penalties: Sequence[float], folds: int, **settings: Any) -> None:
        self.dimensions = dimensions
        self.penalties = penalties
        self.folds = folds
        self.settings = settings

    def fit(self, X: Array, said: Comparisons) -> SKLR:
        """The model with the chosen penalty, fitted to all answers."""
        held_out = list(folds_of(said, self.folds, np.random.RandomState(0)))
        agreement = [sum(self._agreement(X, said, out, penalty) for out in held_out) for penalty in self.penalties]
        return self._model(self.penalties[int(np.argmax(agreement))]).fit(X, said)

    def _model(self, penalty: float) -> SKLR:
        return SKLR(penalty=penalty, **self.settings)

    def _agreement(self, X: Array, said: Comparisons, out: Array, penalty: float) -> float:
        """How many held-out answers agree with what is learned from the others."""
        learned = self._model(penalty).fit(X, said[np.setdiff1d(np.arange(len(said)), out)]).transform(X)
        centred = learned - learned.mean(axis=0)
        _, axes = np.linalg.eigh(centred.T @ centred)
        sides = choices.sides(centred @ axes[:, -self.dimensions :], said.shown[out])
        return float(choices.agreement(sides, said[out]).sum())
