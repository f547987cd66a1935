"""Losses of violated rows, and their conjugates.

The dual depends only on the conjugate ψ* of a loss. All losses here belong to one family, so that the same solvers work
for all. Over the multipliers α_c of one answer's rows, with p_c = α_c/cap and p₀ = 1 − Σp_c,

    ψ*(α) = Σ_c ½·curvature_c·α_c²  +  temperature·cap·(Σ_c p_c ln p_c + p₀ ln p₀),    lower ≤ α ≤ upper.

The second part, an entropy, is present where the temperature is positive, and then keeps α inside its interval. An
equality has no lower bound and no entropy.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from .arrays import Array, Device, largest_by, namespace, sum_by

# Probabilities below this count as 0. Derived: p₀ = 1 − Σp has a rounding error of this size.
VANISHING = 1e-15
# Lower bound of p₀ in the curvature 1/p₀. It is small enough to hold the sum of an answer's rows where p₀ is 0, and
# large enough that the rounding error of 1/p₀, about 1e-4, does not hide the curvature that divides the sum among the
# rows.
RIGID = 1e-12
# Lower bound of every other probability. Derived: 1/p and its products must not overflow.
LEAST = 1e-200


@dataclass(frozen=True, eq=False)
class Conjugate:
    """ψ* of every row: a quadratic and an entropy on an interval.

    Attributes
    ----------
    curvature : (m,) array
        Curvature of the quadratic; 0 without an entropy means that the loss has a kink.
    lower, upper : (m,) arrays
        Bounds of α.
    temperature : (m,) array
        Temperature of the entropy, 0 where there is none. It is a squared distance.
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
        """Hard constraints: ψ* = 0 on α ≥ 0, and on all α for equalities."""
        size = len(equality)
        lower, upper = np.where(equality, -np.inf, 0.0), np.full(size, np.inf)
        return cls(np.zeros(size), lower, upper, np.zeros(size), np.arange(size))

    @cached_property
    def entropic(self) -> Array:
        """(m,) bool: rows with an entropy."""
        return self.temperature > 0

    @cached_property
    def has_entropy(self) -> bool:
        """Whether any row has an entropy; most losses have none."""
        return bool(namespace(self.temperature).any(self.entropic))

    @cached_property
    def walls(self) -> Array:
        """(m,) bool: rows whose loss has a kink: neither a quadratic nor an entropy."""
        return (self.curvature == 0) & ~self.entropic

    @cached_property
    def groups(self) -> int:
        """Number of groups: one more than the largest number in ``group``."""
        return int(namespace(self.group).max(self.group)) + 1 if self.group.shape[0] else 0

    @cached_property
    def cap(self) -> Array:
        """``upper`` where there is an entropy, 1 elsewhere."""
        return namespace(self.upper).where(self.entropic, self.upper, 1.0)

    @cached_property
    def unit(self) -> Array:
        """temperature·cap: the weight of an entropy, 0 where there is none."""
        return self.temperature * self.cap

    @cached_property
    def share(self) -> Array:
        """1 divided by the number of rows in a row's group."""
        xp = namespace(self.group)
        together = self.by_group(xp.astype(self.entropic, self.cap.dtype))
        return 1.0 / xp.where(together > 0, together, 1.0)

    def on(self, device: Device) -> Conjugate:
        """The same with its arrays on another device."""
        return Conjugate(**{field.name: device.put(getattr(self, field.name)) for field in fields(self)})

    def divided(self, barrier: float) -> Conjugate:
        """ψ*/barrier."""
        return replace(self, curvature=self.curvature / barrier, temperature=self.temperature / barrier)

    def probabilities(self, alpha: Array) -> tuple[Array, Array]:
        """p_c and the p₀ of its answer; 0 and 1 where there is no entropy."""
        xp = namespace(alpha)
        p = xp.where(self.entropic, alpha / self.cap, 0.0)
        return p, _not_below(1.0 - self.by_group(p), 0.0)

    def value(self, alpha: Array) -> float:
        """ψ*(α), summed over the rows; α must lie in the interval."""
        total = 0.5 * ((self.curvature * alpha) @ alpha)
        if self.has_entropy:
            p, rest = self.probabilities(alpha)
            total = total + self.unit @ (_xlogx(p) + self.share * _xlogx(rest))
        return float(total)

    def slope(self, alpha: Array) -> Array:
        """ψ*'(α), row by row."""
        slope = self.curvature * alpha
        if self.has_entropy:
            xp = namespace(alpha)
            p, rest = self.probabilities(alpha)
            slope = slope + self.temperature * (xp.log(_positive(p)) - xp.log(_at_least(rest)))
        return slope

    def bend(self, alpha: Array) -> tuple[Array, Array]:
        """ψ*'' as its diagonal, and as the constant that all pairs of rows in a group share; both for each row."""
        if not self.has_entropy:
            return self.curvature, namespace(alpha).zeros_like(alpha)
        p, rest = self.probabilities(alpha)
        unit = self.temperature / self.cap
        return self.curvature + unit / _positive(p), unit / _not_below(rest, RIGID)

    def held(self, alpha: Array, gradient: Array) -> Array:
        """Rows at a bound of their interval whose gradient points outside."""
        held = ((alpha <= self.lower) & (gradient <= 0)) | ((alpha >= self.upper) & (gradient >= 0))
        if self.has_entropy:
            # Several rows whose p sum to 1 can still exchange probability, so that only single rows are held.
            p, _ = self.probabilities(alpha)
            held = held | (self.entropic & (1.0 - p <= VANISHING) & (gradient >= 0))
        return held

    def moved(self, alpha: Array, step: Array) -> Array:
        """α + step, kept inside the interval: clipped at bounds, and strictly inside where there is an entropy.

        There, a probability that grows, grows by the step; one that shrinks, shrinks by a factor with the same
        derivative. Then the probabilities of an answer are normalised to sum to 1. To first order this is α + step.
        """
        xp = namespace(alpha)
        target = xp.clip(alpha + step, self.lower, self.upper)
        if self.has_entropy:
            p, rest = self.probabilities(alpha)
            change = xp.where(self.entropic, step / self.cap, 0.0)
            p, rest = _grown(p, change), _grown(_at_least(rest), -self.by_group(change))
            whole = self.by_group(p) + rest
            target = xp.where(self.entropic, self.cap * (p / whole), target)
        return target

    def start(self, violation: Array) -> Array:
        """Initial multipliers: ψ'(t) of these violations where there is an entropy, 0 elsewhere."""
        xp = namespace(violation)
        if not self.has_entropy:
            return xp.zeros_like(violation)
        return xp.where(self.entropic, self.cap * xp.exp(self._log_softmax(violation)[0]), 0.0)

    def wanted(self, violation: Array) -> Array:
        """ψ'(t): the optimal multipliers for these violations; 0 for hard rows, which have none."""
        xp = namespace(violation)
        soft = self.curvature > 0
        quadratic = xp.clip(violation / xp.where(soft, self.curvature, 1.0), self.lower, self.upper)
        return xp.where(self.entropic, self.start(violation), xp.where(soft, quadratic, self._wall(violation)))

    def stiffness(self, violation: Array) -> tuple[Array, Array]:
        """ψ''(t) as ``own`` and the probabilities p, with ψ''x = own·x − own·Σ_group p·x."""
        xp = namespace(violation)
        soft = self.curvature > 0
        asked = violation / xp.where(soft, self.curvature, 1.0)
        bending = soft & (asked > self.lower) & (asked < self.upper)
        own = xp.where(bending, 1.0 / xp.where(soft, self.curvature, 1.0), 0.0)
        p = xp.zeros_like(own)
        if self.has_entropy:
            p = xp.where(self.entropic, self.start(violation) / self.cap, 0.0)
            own = xp.where(self.entropic, self.cap / xp.where(self.entropic, self.temperature, 1.0) * p, own)
        return own, p

    def weakened(self, factor: float) -> Conjugate:
        """The conjugate of ψ/factor."""
        return replace(self, curvature=factor * self.curvature, lower=self.lower / factor, upper=self.upper / factor)

    def proximal(self, curvature: Array) -> Conjugate:
        """ψ* plus ½·curvature·α², row by row."""
        return replace(self, curvature=self.curvature + curvature)

    def inside(self, alpha: Array) -> Array:
        """α clipped to its interval, and strictly inside where there is an entropy."""
        xp = namespace(alpha)
        alpha = xp.clip(alpha, self.lower, self.upper)
        if self.has_entropy:
            _, rest = self.probabilities(alpha)
            alpha = alpha * xp.where(rest < 1e-3, (1.0 - 1e-3) / _not_below(1.0 - rest, 1e-3), 1.0)
            _, rest = self.probabilities(alpha)
            alpha = xp.where(rest <= VANISHING, 0.5 * alpha, alpha)
        return alpha

    def primal(self, violation: Array) -> Array:
        """ψ(t), divided among an answer's rows; 0 for hard rows, whose violation the residual measures."""
        xp = namespace(violation)
        soft = self.curvature > 0
        curvature = xp.where(soft, self.curvature, 1.0)
        wanted = xp.clip(violation / curvature, self.lower, self.upper)
        cost = xp.where(soft, wanted * (violation - 0.5 * curvature * wanted), self._wall(violation) * violation)
        if self.has_entropy:
            log_rest = self._log_softmax(violation)[1]
            cost = xp.where(self.entropic, -self.unit * log_rest * self.share, cost)
        return cost

    def fenchel_gap(self, alpha: Array, violation: Array) -> float:
        """The Fenchel gap ψ(t) + ψ*(α) − αt, summed over the rows: never negative, and zero exactly at the optimum.

        Each answer's part is computed without cancellation. The loss of a hard row is 0 or infinite; ``abs(αt)``
        replaces it, and the residual measures the violation.
        """
        xp = namespace(alpha)
        soft, bounded = self.curvature > 0, xp.isfinite(self.upper)
        curvature = xp.where(soft, self.curvature, 1.0)
        wanted = xp.clip(violation / curvature, self.lower, self.upper)
        quadratic = _not_below((wanted - alpha) * (violation - 0.5 * curvature * (wanted + alpha)), 0.0)
        linear = (self._wall(violation) - alpha) * violation
        gap = xp.where(soft, quadratic, xp.where(bounded, linear, xp.abs(alpha * violation)))
        if self.has_entropy:
            # temperature·cap times the Kullback–Leibler divergence between an answer's two distributions
            log_p, log_rest = self._log_softmax(violation)
            p, rest = self.probabilities(alpha)
            apart = _relative_entropy(p, log_p) + self.share * _relative_entropy(rest, log_rest)
            gap = xp.where(self.entropic, self.unit * apart, gap)
        return float(xp.sum(gap))

    def _wall(self, violation: Array) -> Array:
        """The bound of the interval that a violation drives α to; 0 where that is infinite."""
        xp = namespace(violation)
        return xp.where(xp.isfinite(self.upper), xp.where(violation > 0, self.upper, self.lower), 0.0)

    def by_group(self, values: Array) -> Array:
        """For each row, the sum over the rows of its group."""
        return namespace(values).take(sum_by(self.group, values, self.groups), self.group, axis=0)

    def _log_softmax(self, violation: Array) -> tuple[Array, Array]:
        """ln p_c and ln p₀ of the softmax of t/temperature; rows without an entropy are ignored."""
        xp = namespace(violation)
        z = xp.where(self.entropic, violation / xp.where(self.entropic, self.temperature, 1.0), 0.0)
        top = xp.take(largest_by(self.group, z, self.groups), self.group, axis=0)
        total = xp.exp(-top) + self.by_group(xp.where(self.entropic, xp.exp(z - top), 0.0))
        log_total = xp.log(total)
        # In this order: where z is large, top + log_total has lost digits of log_total.
        return (z - top) - log_total, -top - log_total


def _not_below(values: Array, least: float) -> Array:
    return namespace(values).where(values < least, least, values)


def _positive(p: Array) -> Array:
    return _not_below(p, LEAST)


def _at_least(rest: Array) -> Array:
    return _not_below(rest, VANISHING)


def _grown(p: Array, change: Array) -> Array:
    xp = namespace(p)
    shrunk = p * xp.exp(xp.where(change < 0, change, 0.0) / _positive(p))
    return xp.where(change >= 0, p + change, _positive(shrunk))


def _xlogx(p: Array) -> Array:
    return p * namespace(p).log(_positive(p))


def _relative_entropy(p: Array, log_q: Array) -> Array:
    """p ln(p/q) − p + q: never negative; summed over a distribution it is the Kullback–Leibler divergence."""
    xp = namespace(p)
    return _not_below(p * (xp.log(_positive(p)) - log_q) - p + xp.exp(log_q), 0.0)


class Loss(Protocol):
    """A loss turns rows into their conjugates, and says how its settings are chosen.

    ``temperature`` is that of logistic and softmax losses (``entropic``): differences of squared distances are divided
    by it. `learning.recipe` computes it as softness times the mean initial squared distance. ``answer`` says which rows
    belong to one answer.

    Attributes
    ----------
    entropic : bool
        Whether the loss is a log-likelihood: it then has a unit of distance, and its conjugate an entropy.
    ratio : float
        The ratio of squared distances that suits it, where none is given.
    penalties : (int, int)
        The smallest and the largest penalty that are tried, as powers of ten.
    unit_power : int
        The unit of these penalties is the mean initial squared distance to the power ``-unit_power``, so that they
        don't depend on the kernel's unit.
    """

    entropic: bool
    ratio: float
    penalties: tuple[int, int]
    unit_power: int

    def conjugate(
        self, weight: Array, equality: Array, penalty: float, *, temperature: float = 1.0, answer: Array | None = None
    ) -> Conjugate: ...


@dataclass(frozen=True)
class Squared:
    """The paper's squared slack: ψ(t) = ½λw·max(t, 0)², ψ*(α) = α²/(2λw) on α ≥ 0; hard where λ is infinite."""

    entropic = False
    ratio = 4.0
    penalties = (-2, 3)
    unit_power = 2

    def conjugate(
        self, weight: Array, equality: Array, penalty: float, *, temperature: float = 1.0, answer: Array | None = None
    ) -> Conjugate:
        """ψ* of rows with these weights; equalities may have either sign."""
        return replace(Conjugate.hard(equality), curvature=1.0 / (penalty * weight))


@dataclass(frozen=True)
class Hinge:
    """ψ(t) = λw·max(t, 0), ψ* = 0 on [0, λw]; an equality costs λw·abs(t). Robust to a few wrong answers."""

    entropic = False
    ratio = 4.0
    penalties = (-3, 2)
    unit_power = 1

    def conjugate(
        self, weight: Array, equality: Array, penalty: float, *, temperature: float = 1.0, answer: Array | None = None
    ) -> Conjugate:
        """ψ* of rows with these weights."""
        upper = penalty * weight
        return replace(Conjugate.hard(equality), lower=np.where(equality, -upper, 0.0), upper=upper)


@dataclass(frozen=True)
class Logistic:
    """ψ(t) = λws·log(1 + e^{t/s}) for each row: a likelihood under which clear comparisons are rarely wrong.

    Equalities get the parabola with the curvature of ψ at 0: ψ(t) = λw·t²/(8s).
    """

    entropic = True
    ratio = 1.0
    penalties = (-3, 2)
    unit_power = 0

    def conjugate(
        self, weight: Array, equality: Array, penalty: float, *, temperature: float = 1.0, answer: Array | None = None
    ) -> Conjugate:
        """ψ* of rows with these weights."""
        hard = Conjugate.hard(equality)
        if np.isinf(penalty):
            return hard
        return replace(
            hard,
            curvature=np.where(equality, 4.0 * temperature / (penalty * weight), 0.0),
            upper=np.where(equality, np.inf, penalty * weight),
            temperature=np.where(equality, 0.0, temperature),
        )


@dataclass(frozen=True)
class Softmax(Logistic):
    """ψ(t₁, t₂) = λws·log(1 + e^{t₁/s} + e^{t₂/s}): the likelihood of one choice of three, jointly over its rows."""

    def conjugate(
        self, weight: Array, equality: Array, penalty: float, *, temperature: float = 1.0, answer: Array | None = None
    ) -> Conjugate:
        """ψ* of rows with these weights; rows of one answer share an entropy."""
        alone = super().conjugate(weight, equality, penalty, temperature=temperature)
        return alone if answer is None else replace(alone, group=np.asarray(answer))


LOSSES: dict[str, Loss] = {
    "squared": Squared(),
    "hinge": Hinge(),
    "logistic": Logistic(),
    "softmax": Softmax(),
}
