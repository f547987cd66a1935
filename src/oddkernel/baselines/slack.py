"""What a violated link costs in ITML and SKMS."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ..problem.constraints import Constraints
from ..problem.losses import Conjugate
from ..problem.point import Point
from ..problem.solution import Status
from ..solvers.newton import climb

Array = npt.NDArray[Any]

# No multiplier of a must-link comes closer to the end of its interval, where the dual falls without bound.
EDGE = 1e-12


@dataclass(frozen=True, eq=False)
class LogSlack(Conjugate):
    """ψ and ψ* of links whose slack is measured as the kernel is, by a log-determinant divergence.

    A link bounds δ by ξ. Past its bound it costs γ(x − ln x − 1) with x = δ/ξ; with z = 1 − sαξ/γ, where s = 1 for a
    must-link and −1 for a cannot-link,

        ψ*(α) = −γ ln z − sαξ,    α ≥ 0, z > 0.

    With the offsets b = −sξ the dual becomes logdet S(α) + γ Σ ln z.

    Attributes
    ----------
    bound : (m,) array
        ξ.
    strength : (m,) array
        γ times the weight.
    sign : (m,) array
        s.
    """

    bound: Array
    strength: Array
    sign: Array

    @classmethod
    def of(cls, rows: Constraints, slack: float) -> Self:
        """The slack of rows that are links, with γ = ``slack``."""
        must = rows.near_factor > 0
        bound, strength, sign = np.abs(rows.offset), slack * rows.weight, np.where(must, 1.0, -1.0)
        hard = Conjugate.hard(rows.equality)
        return cls(
            curvature=np.square(bound) / strength,  # ψ*'' at 0
            lower=hard.lower,
            upper=np.where(must, (1.0 - EDGE) * strength / bound, np.inf),
            temperature=hard.temperature,
            group=hard.group,
            bound=bound,
            strength=strength,
            sign=sign,
        )

    def divided(self, barrier: float) -> Self:
        """ψ*/barrier."""
        return replace(
            self,
            curvature=self.curvature / barrier,
            bound=self.bound / barrier,
            strength=self.strength / barrier,
        )

    def weakened(self, factor: float) -> Self:
        """The conjugate of ψ/factor."""
        return replace(
            self, curvature=factor * self.curvature, upper=self.upper / factor, strength=self.strength / factor
        )

    def _z(self, alpha: Array) -> Array:
        return np.asarray(1.0 - self.sign * alpha * self.bound / self.strength)

    def _distance(self, violation: Array) -> Array:
        """δ of rows with these violations."""
        return np.asarray(self.bound + self.sign * violation)

    def value(self, alpha: Array) -> float:
        """ψ*(α), summed over the rows."""
        return float(-self.strength @ np.log(self._z(alpha)) - (self.sign * self.bound) @ alpha)

    def slope(self, alpha: Array) -> Array:
        """ψ*'(α) = sξ(1/z − 1)."""
        return np.asarray(self.sign * self.bound * (1.0 / self._z(alpha) - 1.0))

    def bend(self, alpha: Array) -> tuple[Array, Array]:
        """ψ*''(α) = ξ²/(γz²); no rows share any."""
        return self.curvature / np.square(self._z(alpha)), np.zeros(len(alpha))

    def wanted(self, violation: Array) -> Array:
        """ψ'(t) = sγ(1/ξ − 1/δ) where t > 0."""
        past = self._distance(np.maximum(violation, 0.0))
        return np.asarray(self.sign * self.strength * (1.0 / self.bound - 1.0 / past))

    def stiffness(self, violation: Array) -> tuple[Array, Array]:
        """ψ''(t) = γ/δ² where t > 0; no rows share any."""
        past = self._distance(np.maximum(violation, 0.0))
        return np.where(violation > 0, self.strength / np.square(past), 0.0), np.zeros(len(violation))

    def primal(self, violation: Array) -> Array:
        """ψ(t) = γ(x − ln x − 1) where t > 0."""
        excess = np.where(violation > 0, self.sign * violation / self.bound, 0.0)
        # All of a bound may be missing: a cost without end.
        with np.errstate(divide="ignore"):
            return np.asarray(self.strength * (excess - np.log1p(excess)))

    def fenchel_gap(self, alpha: Array, violation: Array) -> float:
        """ψ(t) + ψ*(α) − αt: γ(y − ln y − 1) with y = zδ/ξ where t > 0, else −γ ln z − sαδ."""
        z, distance = self._z(alpha), self._distance(violation)
        off = z * distance / self.bound - 1.0
        violated = violation > 0
        past = self.strength * (off - np.log1p(np.where(violated, off, 0.0)))
        within = -self.strength * np.log(z) - self.sign * alpha * distance
        return float(np.where(violated, past, within).sum())


class DampedNewton:
    """Newton's method alone: logdet S + γ Σ ln z is self-concordant, so that shortened steps always lead up."""

    exact = True
    default_max_iter = 500

    def step(self, point: Point) -> Array:
        """α after one step."""
        moved = climb(point, np.flatnonzero(point.free))
        return np.asarray(point.alpha if moved is None else moved.alpha)

    def finished(self, before: Point, after: Point, tol: float) -> Status | None:
        """Never: the loop stops an exact solver."""
        return None
