"""The result of a solver."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np

from ..support.types import Array


class Status(Enum):
    """How solving ended; the value is a sentence."""

    OPTIMAL = "The kernel is the optimum, to the tolerance asked for."
    FEASIBLE = "Every answer holds. The projection method stops here; the kernel is in general not the closest one."
    SETTLED = "The slack no longer changes. The projection method stops here; the kernel is in general not the optimum."
    CONTRADICTORY = "Some answers contradict one another: no kernel satisfies them all."
    EXHAUSTED = "The passes allowed by max_iter were used up before the tolerance was reached."
    STALLED = "No step improves the kernel any more at working precision, though the tolerance was not reached."

    def __str__(self) -> str:
        return self.value

    @property
    def success(self) -> bool:
        """Whether the solver reached what it aims for."""
        return self in (Status.OPTIMAL, Status.FEASIBLE, Status.SETTLED)


@dataclass(frozen=True, eq=False)
class Solution:
    """The optimum of the dual problem, with multipliers and slack of every row.

    Attributes
    ----------
    status : Status
        How solving ended, as a sentence.
    n_iter : int
        Passes over the rows (ascent, projection) or steps (newton). Steps in the primal that lead to the
        start are not counted.
    residual : float
        The largest projected gradient, relative to the scale of its row.
    gap : float
        Duality gap over ``1 + abs(dual)``.
    divergence : float
        D_ld(K, K₀), the log-determinant divergence of the learned from the initial kernel.
    objective : float
        The dual objective.
    multipliers : (m,) array
        α of each row, in the order of ``constraints``; of answers that contradict one another, how much each row takes
        part in the proof.
    slack : (m,) array
        tr(K C_c) + b_c: positive where an inequality is violated; for an equality, the deviation.
    answer : (m,) int array
        Index of the answer or link that each row belongs to.
    history : dict of str to (n_iter + 1,) arrays
        ``objective``, ``residual``, ``gap`` and ``divergence`` after each pass.
    gain, gain_interval : float, (float, float)
        By how much learning raises the share of held-out answers that are predicted, and its 95% interval; NaN if no
        answers were held out (``penalty="auto"`` holds some out).
    """

    status: Status
    n_iter: int
    residual: float
    gap: float
    divergence: float
    objective: float
    multipliers: Array
    slack: Array
    answer: Array
    history: dict[str, Array]
    gain: float = np.nan
    gain_interval: tuple[float, float] = (np.nan, np.nan)

    @property
    def influence(self) -> Array:
        """The sum of ``abs(α)`` over the rows of each answer or link: its influence on the kernel."""
        size = int(self.answer.max(initial=-1)) + 1
        return np.asarray(np.bincount(self.answer, np.abs(self.multipliers), minlength=size))

    def __str__(self) -> str:
        return (
            f"{self.status} {self.n_iter} passes, residual {self.residual:.1e}, gap {self.gap:.1e}, "
            f"divergence {self.divergence:.6g}."
        )
