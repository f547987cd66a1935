"""The primal problem at one metric: its value, gradient and curvature."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ..problem.arrays import Array, dot, namespace, times_lower
from ..problem.dual import Dual
from ..problem.geometry import Geometry
from ..problem.point import ROUNDING, Point


class Primal(Geometry):
    """The primal problem at one metric W = LLᵀ.

    Attributes
    ----------
    factor : (q, q) array
        L.
    log_determinant : float
        logdet W.
    """

    def __init__(self, problem: Dual, images: Array, factor: Array, log_determinant: float) -> None:
        self.problem, self.images = problem, images
        self.factor, self.log_determinant = factor, log_determinant

    @classmethod
    def of(cls, point: Point) -> Primal:
        """At the metric of a point of the dual."""
        factor = point.inverse_factor.T
        return cls(point.problem, point.problem.coordinates @ factor, factor, -point.log_determinant)

    def under(self, problem: Dual) -> Primal:
        """The same metric for other offsets and losses of the same rows."""
        return Primal(problem, self.images, self.factor, self.log_determinant)

    def scaled(self, factor: float) -> Primal:
        """At factor·L."""
        grown = 2.0 * self.problem.rank * float(np.log(factor))
        return Primal(self.problem, factor * self.images, factor * self.factor, self.log_determinant + grown)

    def turned(self, turn: Array) -> Primal:
        """At L·turn, where ``turn`` is lower triangular."""
        xp = namespace(turn)
        grown = 2.0 * float(xp.sum(xp.log(xp.linalg.diagonal(turn))))
        images, factor = (times_lower(rows, turn) for rows in (self.images, self.factor))
        return Primal(self.problem, images, factor, self.log_determinant + grown)

    @cached_property
    def value(self) -> float:
        """f(W)."""
        cost = float(namespace(self.factor).sum(self.problem.loss.primal(self.violation)))
        return dot(self.factor, self.factor) - self.log_determinant + cost

    @cached_property
    def inner(self) -> Array:
        """LᵀL, the slope of tr W along X."""
        return self.factor.T @ self.factor

    @cached_property
    def wanted(self) -> Array:
        """The multipliers that the violations ask for."""
        return self.problem.loss.wanted(self.violation)

    @cached_property
    def gradient(self) -> Array:
        """The slope of f along X, (q, q)."""
        pulled = self.problem.spread(self.images, self.wanted)
        return self.inner + pulled - self.problem.unit

    def rounding(self, alpha: Array) -> float:
        """By how much LᵀS(α)L is off, as S(α) is a sum of the rows' parts."""
        return ROUNDING * float(namespace(alpha).sum(abs(alpha) * self.scale))

    def known(self, alpha: Array) -> Point | None:
        """The point of the dual at α, with S = W⁻¹; None if S(α) differs by more than rounding, or W is singular.

        Where the loss outweighs the divergence 1e10 times, that rounding would hide the optimum, and S(α) might not
        even be positive definite. With LᵀS(α)L = I + E, the gap of W and α is what the point of the dual says plus
        tr E − logdet(I + E), at most ‖E‖² for ‖E‖ ≤ ½. It counts as far as the rounding of S(α) does not explain E.
        """
        xp, unit = namespace(self.factor), self.problem.unit
        apart = self.gradient
        if alpha is not self.wanted:
            apart = self.inner + self.problem.spread(self.images, alpha) - unit
        # The sum of the squares of q eigenvalues, none of them larger than rounding.
        size, rounding = dot(apart, apart) ** 0.5, self.rounding(alpha)
        beyond = max(size - rounding, 0.0)
        if not (size <= unit.shape[0] ** 0.5 * rounding and beyond <= 0.5):
            return None
        turn, triangle = xp.linalg.qr(xp.linalg.solve(self.factor, unit))
        sign = xp.sign(xp.linalg.diagonal(triangle))
        factor, turn = (triangle * sign[:, None]).T, turn * sign
        if not xp.all(xp.linalg.diagonal(factor) > 0):
            return None
        divergence = dot(self.factor, self.factor) - self.log_determinant - unit.shape[0]
        # Inverting S would bring the rounding of two inverses into what W has exactly.
        has = {"divergence": divergence, "images": self.images @ turn, "inverse_factor": (self.factor @ turn).T}
        found = Point(self.problem, alpha, factor @ factor.T, factor).knowing(**has)
        return found if not beyond else found.knowing(**has, gap=found.gap + beyond**2 / (1.0 + abs(found.objective)))

    @cached_property
    def stiffness(self) -> tuple[Array, Array]:
        """ψ'' of every row, as `Conjugate.stiffness` gives it."""
        return self.problem.loss.stiffness(self.violation)

    def stiff(self, change: Array) -> Array:
        """ψ''(t) times a change of t."""
        own, p = self.stiffness
        product = own * change
        return product - own * self.problem.loss.by_group(p * change) if self.problem.loss.has_entropy else product
