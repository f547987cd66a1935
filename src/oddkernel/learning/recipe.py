"""The settings that a metric is learned with."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..comparisons import Comparisons
from ..problem.constraints import Constraints
from ..problem.dual import Dual
from ..problem.losses import LOSSES, Conjugate
from ..support.types import Array

# The default softness: the temperature of logistic and softmax losses as a share of the mean initial squared distance.
# Differences of squared distances below it are a matter of taste. Chosen by hand.
SOFTNESS = 0.3


@dataclass(frozen=True)
class Recipe:
    """The initial kernel, and what a violated answer costs except for the penalty; see `SKLR` for each.

    Examples
    --------
    >>> Recipe("linear", "softmax", ratio=1.0, margin=0.0)
    Recipe(kernel='linear', loss='softmax', ratio=1.0, margin=0.0, softness=0.3)
    """

    kernel: str
    loss: str
    ratio: float
    margin: float
    softness: float = SOFTNESS

    @property
    def named(self) -> str:
        """The loss, its softness if it has one, and the ratio where it is not the loss's own.

        Examples
        --------
        >>> Recipe("linear", "squared", ratio=2.0, margin=0.0).named
        'squared, ratio 2'
        """
        loss = LOSSES[self.loss]
        softness = f", softness {self.softness:g}" if loss.entropic else ""
        return f"{self.loss}{softness}" + (f", ratio {self.ratio:g}" if self.ratio != loss.ratio else "")

    def rows(self, said: Comparisons) -> Constraints:
        """The rows of the optimisation problem that answers ask for; every link must have a bound."""
        return Constraints.from_comparisons(said, ratio=self.ratio, margin=self.margin)

    def problem(self, phi: Array, rows: Constraints, penalty: float, *, like: Dual | None = None) -> Dual:
        """The dual problem of rows over features ``phi``; a logistic or softmax penalty counts log-likelihoods.

        ``like`` is the same problem with another penalty, if it is known already.
        """
        conjugate = self.conjugate(unit_of(phi), rows, penalty)
        return Dual(phi, rows, conjugate) if like is None else like.under(conjugate)

    def conjugate(self, unit: float, rows: Constraints, penalty: float) -> Conjugate:
        """The conjugate of the loss of these rows, over features with this unit."""
        loss, temperature = LOSSES[self.loss], self.softness * unit
        if loss.entropic:
            penalty = penalty / temperature
        return loss.conjugate(rows.weight, rows.equality, penalty, temperature=temperature, answer=rows.answer)


def unit_of(phi: Array) -> float:
    """The mean squared distance between two items, the unit of penalties and temperatures; 1 if all are copies."""
    return float(2.0 * np.square(phi - phi.mean(axis=0)).sum(axis=1).mean()) or 1.0 if phi.size else 1.0
