"""What a violated answer costs, through its conjugate.

The dual only sees the conjugate ψ* of a loss. Every loss here belongs to one family, which is why the same solvers
serve them all. Over the multipliers α_c of one answer's rows, with p_c = α_c/cap and p₀ = 1 − Σp_c,

    ψ*(α) = Σ_c ½·curvature_c·α_c²  +  temperature·cap·(Σ_c p_c ln p_c + p₀ ln p₀),    lower ≤ α ≤ upper.

The second part, an entropy, is there where the temperature is positive; it keeps α inside its interval by itself. An
equality has no lower bound and no entropy.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

# A probability this small is as good as none: p₀ = 1 − Σp can't be told from 0.
VANISHING = 1e-15
# No probability counts as smaller: 1/p, and what it is multiplied with, must not overflow.
LEAST = 1e-200


@dataclass(frozen=True, eq=False)
class Conjugate:
    """ψ* of every row: a quadratic and an entropy on an interval.

    Attributes
    ----------
    curvature : (m,) array
        Of the quadratic; 0 with no entropy makes the loss a wall.
    lower, upper : (m,) arrays
        Where α may be.
    temperature : (m,) array
        Of the entropy; 0 where there is none. It is the loss's own unit of distance.
    group : (m,) int array
        Rows with the same number share one entropy.
    """

    curvature: Array
    lower: Array
    upper: Array
    temperature: Array
    group: Array

    @classmethod
    def hard(cls, equality: Array) -> Conjugate:
        """Rows that must hold: ψ* = 0 on α ≥ 0, on all α for equalities."""
        size = len(equality)
        lower, upper = np.where(equality, -np.inf, 0.0), np.full(size, np.inf)
        return cls(np.zeros(size), lower, upper, np.zeros(size), np.arange(size))

    @cached_property
    def entropic(self) -> Array:
        """Rows with an entropy; most losses have none."""
        return np.flatnonzero(self.temperature > 0)

    def divided(self, barrier: float) -> Conjugate:
        """ψ*/barrier."""
        return replace(self, curvature=self.curvature / barrier, temperature=self.temperature / barrier)

    def probabilities(self, alpha: Array) -> tuple[Array, Array]:
        """p_c and its answer's p₀, for the rows with an entropy."""
        rows = self.entropic
        p = alpha[rows] / self.upper[rows]
        size = int(self.group[rows].max(initial=-1)) + 1
        rest = 1.0 - np.bincount(self.group[rows], p, minlength=size)[self.group[rows]]
        return p, np.maximum(rest, 0.0)

    def value(self, alpha: Array) -> float:
        """ψ*(α), summed over the rows; α must lie in the interval."""
        total = float(0.5 * (self.curvature * alpha) @ alpha)
        rows = self.entropic
        if len(rows):
            p, rest = self.probabilities(alpha)
            unit = self.temperature[rows] * self.upper[rows]
            _, first = np.unique(self.group[rows], return_index=True)
            total += float(unit @ _xlogx(p) + unit[first] @ _xlogx(rest[first]))
        return total

    def slope(self, alpha: Array) -> Array:
        """ψ*'(α), row by row."""
        slope = self.curvature * alpha
        rows = self.entropic
        if len(rows):
            p, rest = self.probabilities(alpha)
            slope[rows] += self.temperature[rows] * (np.log(_positive(p)) - np.log(_at_least(rest)))
        return np.asarray(slope)

    def bend(self, alpha: Array) -> tuple[Array, Array]:
        """ψ*'' as its diagonal and the one number that all pairs of rows of a group share, both row by row."""
        diagonal, shared = self.curvature.copy(), np.zeros(len(alpha))
        rows = self.entropic
        if len(rows):
            p, rest = self.probabilities(alpha)
            unit = self.temperature[rows] / self.upper[rows]
            diagonal[rows] += unit / _positive(p)
            shared[rows] = unit / _at_least(rest)
        return diagonal, shared

    def held(self, alpha: Array, gradient: Array) -> Array:
        """Rows at an end of their interval that would leave it."""
        held = ((alpha <= self.lower) & (gradient <= 0)) | ((alpha >= self.upper) & (gradient >= 0))
        rows = self.entropic
        if len(rows):
            _, rest = self.probabilities(alpha)
            held[rows] |= (rest <= VANISHING) & (gradient[rows] >= 0)
        return np.asarray(held)

    def moved(self, alpha: Array, step: Array) -> Array:
        """α + step, bent so that it stays in the interval: cut at walls, and never at the end of an entropy's.

        Where a probability grows it grows by the step; where it shrinks it shrinks by a factor with the same slope;
        then those of an answer are made to sum to one. For small steps that is α + step.
        """
        target = np.clip(alpha + step, self.lower, self.upper)
        rows = self.entropic
        if len(rows):
            p, rest = self.probabilities(alpha)
            change = step[rows] / self.upper[rows]
            size = int(self.group[rows].max(initial=-1)) + 1
            less = -np.bincount(self.group[rows], change, minlength=size)[self.group[rows]]
            p, rest = _grown(p, change), _grown(_at_least(rest), less)
            whole = np.bincount(self.group[rows], p, minlength=size)[self.group[rows]] + rest
            target[rows] = self.upper[rows] * (p / whole)
        return np.asarray(target)

    def start(self, violation: Array) -> Array:
        """The multipliers that these violations ask for where there is an entropy, 0 elsewhere."""
        alpha = np.zeros(len(violation))
        rows = self.entropic
        alpha[rows] = self.upper[rows] * np.exp(self._log_softmax(violation)[0])
        return alpha

    def wanted(self, violation: Array) -> Array:
        """ψ'(t): the multipliers that violations ask for. Walls of endless slope, at which there is none, get 0."""
        soft = self.curvature > 0
        quadratic = np.clip(violation / np.where(soft, self.curvature, 1.0), self.lower, self.upper)
        alpha = np.where(soft, quadratic, self._wall(violation))
        rows = self.entropic
        alpha[rows] = self.start(violation)[rows]
        return alpha

    def stiffness(self, violation: Array, change: Array) -> Array:
        """ψ''(t) times a change of t."""
        soft = self.curvature > 0
        asked = violation / np.where(soft, self.curvature, 1.0)
        bending = soft & (asked > self.lower) & (asked < self.upper)
        product = np.where(bending, change / np.where(soft, self.curvature, 1.0), 0.0)
        rows = self.entropic
        if len(rows):
            p = self.start(violation)[rows] / self.upper[rows]
            group = self.group[rows]
            mean = np.bincount(group, p * change[rows])[group]
            product[rows] = self.upper[rows] / self.temperature[rows] * p * (change[rows] - mean)
        return np.asarray(product)

    def inside(self, alpha: Array) -> Array:
        """α, cut to its interval, and a little inside where that has an entropy."""
        alpha = np.clip(alpha, self.lower, self.upper)
        rows = self.entropic
        if len(rows):
            _, rest = self.probabilities(alpha)
            alpha[rows] *= np.where(rest < 1e-3, (1.0 - 1e-3) / np.maximum(1.0 - rest, 1e-3), 1.0)
            _, rest = self.probabilities(alpha)
            alpha[rows] *= np.where(rest <= VANISHING, 0.5, 1.0)
        return alpha

    def primal(self, violation: Array) -> Array:
        """ψ(t), shared out over an answer's rows; 0 for walls, whose violation the residual measures."""
        soft = self.curvature > 0
        curvature = np.where(soft, self.curvature, 1.0)
        wanted = np.clip(violation / curvature, self.lower, self.upper)
        cost = np.where(soft, wanted * (violation - 0.5 * curvature * wanted), self._wall(violation) * violation)
        rows = self.entropic
        if len(rows):
            _, log_rest, share = self._log_softmax(violation)
            cost[rows] = -self.temperature[rows] * self.upper[rows] * log_rest * share
        return np.asarray(cost)

    def fenchel_gap(self, alpha: Array, violation: Array) -> float:
        """ψ(t) + ψ*(α) − αt, summed over the rows: zero exactly at the optimum, never negative.

        Each answer's part is computed so that nothing cancels. A wall costs nothing or infinitely much; in its place
        stands ``abs(αt)``, and how far t is beyond the wall is the residual's to say.
        """
        soft, bounded = self.curvature > 0, np.isfinite(self.upper)
        curvature = np.where(soft, self.curvature, 1.0)
        wanted = np.clip(violation / curvature, self.lower, self.upper)
        quadratic = np.maximum((wanted - alpha) * (violation - 0.5 * curvature * (wanted + alpha)), 0.0)
        linear = (self._wall(violation) - alpha) * violation
        gap = np.where(soft, quadratic, np.where(bounded, linear, np.abs(alpha * violation)))
        rows = self.entropic
        if len(rows):
            # temperature·cap times the Kullback–Leibler divergence between the two ways of sharing out an answer
            log_p, log_rest, share = self._log_softmax(violation)
            p, rest = self.probabilities(alpha)
            unit = self.temperature[rows] * self.upper[rows]
            gap[rows] = unit * (_relative_entropy(p, log_p) + share * _relative_entropy(rest, log_rest))
        return float(gap.sum())

    def _wall(self, violation: Array) -> Array:
        """The end of the interval that a violation leads to; 0 where that is nowhere."""
        return np.where(np.isfinite(self.upper), np.where(violation > 0, self.upper, self.lower), 0.0)

    def _log_softmax(self, violation: Array) -> tuple[Array, Array, Array]:
        """ln p_c and ln p₀ of the softmax of t/temperature, and one over the number of an answer's rows."""
        rows = self.entropic
        group = self.group[rows]
        size = int(group.max(initial=-1)) + 1
        z = violation[rows] / self.temperature[rows]
        top = np.zeros(size)
        np.maximum.at(top, group, z)
        total = np.exp(-top) + np.bincount(group, np.exp(z - top[group]), minlength=size)
        log_total = (top + np.log(total))[group]
        return z - log_total, -log_total, 1.0 / np.bincount(group, minlength=size)[group]


def _positive(p: Array) -> Array:
    return np.maximum(p, LEAST)


def _at_least(rest: Array) -> Array:
    return np.maximum(rest, VANISHING)


def _grown(p: Array, change: Array) -> Array:
    shrunk = p * np.exp(np.minimum(change, 0.0) / _positive(p))
    return np.where(change >= 0, p + change, np.maximum(shrunk, LEAST))


def _xlogx(p: Array) -> Array:
    return np.asarray(p * np.log(_positive(p)))


def _relative_entropy(p: Array, log_q: Array) -> Array:
    """p ln(p/q) − p + q: never negative, and for whole distributions it sums to the Kullback–Leibler divergence."""
    return np.asarray(np.maximum(p * (np.log(_positive(p)) - log_q) - p + np.exp(log_q), 0.0))


class Loss(Protocol):
    """A loss turns rows into their conjugates.

    ``scale`` is the loss's unit of distance, where it has one (``entropic``); ``answer`` says which rows belong to one
    answer.
    """

    entropic: bool

    def conjugate(
        self, weight: Array, equality: Array, penalty: float, *, scale: float = 1.0, answer: Array | None = None
    ) -> Conjugate: ...


@dataclass(frozen=True)
class Squared:
    """The paper's squared slack: ψ(t) = ½λw·max(t, 0)², ψ*(α) = α²/(2λw) on α ≥ 0; hard where λ is infinite."""

    entropic = False

    def conjugate(
        self, weight: Array, equality: Array, penalty: float, *, scale: float = 1.0, answer: Array | None = None
    ) -> Conjugate:
        """ψ* of rows with these weights; equalities may have either sign."""
        return replace(Conjugate.hard(equality), curvature=1.0 / (penalty * weight))


@dataclass(frozen=True)
class Hinge:
    """ψ(t) = λw·max(t, 0), ψ* = 0 on [0, λw]; an equality costs λw·abs(t). A few answers may be plainly wrong."""

    entropic = False

    def conjugate(
        self, weight: Array, equality: Array, penalty: float, *, scale: float = 1.0, answer: Array | None = None
    ) -> Conjugate:
        """ψ* of rows with these weights."""
        upper = penalty * weight
        return replace(Conjugate.hard(equality), lower=np.where(equality, -upper, 0.0), upper=upper)


@dataclass(frozen=True)
class Logistic:
    """ψ(t) = λws·log(1 + e^{t/s}) row by row: every answer may be wrong, the less likely the clearer it would be.

    Equalities get the parabola that is as steep as ψ at 0: ψ(t) = λw·t²/(8s).
    """

    entropic = True

    def conjugate(
        self, weight: Array, equality: Array, penalty: float, *, scale: float = 1.0, answer: Array | None = None
    ) -> Conjugate:
        """ψ* of rows with these weights."""
        hard = Conjugate.hard(equality)
        if np.isinf(penalty):
            return hard
        return replace(
            hard,
            curvature=np.where(equality, 4.0 * scale / (penalty * weight), 0.0),
            upper=np.where(equality, np.inf, penalty * weight),
            temperature=np.where(equality, 0.0, scale),
        )


@dataclass(frozen=True)
class Softmax(Logistic):
    """ψ(t₁, t₂) = λws·log(1 + e^{t₁/s} + e^{t₂/s}): the likelihood of choosing one of three, the rows taken jointly."""

    def conjugate(
        self, weight: Array, equality: Array, penalty: float, *, scale: float = 1.0, answer: Array | None = None
    ) -> Conjugate:
        """ψ* of rows with these weights; rows of one answer share an entropy."""
        alone = super().conjugate(weight, equality, penalty, scale=scale)
        return alone if answer is None else replace(alone, group=np.asarray(answer))


LOSSES: dict[str, Loss] = {
    "squared": Squared(),
    "hinge": Hinge(),
    "logistic": Logistic(),
    "softmax": Softmax(),
}
