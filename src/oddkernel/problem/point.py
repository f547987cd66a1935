"""The dual problem at one α: value, gradient, Hessian, residual and gap."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ..support.interruptible import interruptible
from .arrays import Array, eigen, inverse_lower, namespace, plus_diagonal, times_inverse, to_numpy
from .geometry import Geometry

if TYPE_CHECKING:
    from .dual import Dual

# The relative error of coordinates and of sums of squares. Derived: float64's precision, times the square root of the
# number of terms, some thousands.
ROUNDING = 1e-14
# From this rank on, the eigenvectors of W are computed from W itself where its least eigenvalue is above this share of
# the largest, and so known to nine digits. Chosen by hand.
LARGE, CONDITIONED = 500, 1e-6


@dataclass(frozen=True, eq=False)
class Point(Geometry):
    """The dual problem at one α: value, gradient, Hessian, residual and gap.

    Attributes
    ----------
    problem : Dual
    alpha : (m,) array
    bent : (q, q) array
        S(α).
    factor : (q, q) array
        Its lower Cholesky factor.
    """

    problem: Dual
    alpha: Array
    bent: Array
    factor: Array

    @property
    def host(self) -> Point:
        """The same point in NumPy."""
        if self.problem.host is self.problem:
            return self
        return Point(self.problem.host, *(to_numpy(array) for array in (self.alpha, self.bent, self.factor)))

    @cached_property
    def inverse_factor(self) -> Array:
        """(q, q): L⁻¹ of S = LLᵀ."""
        return inverse_lower(self.factor)

    @cached_property
    def images(self) -> Array:
        """(s, q): the constrained items in coordinates where the learned metric is Euclidean, φ_i L⁻ᵀ."""
        return times_inverse(self.problem.coordinates, self.factor)

    def knowing(self, **values: Array | float) -> Point:
        """The same point with some of its properties given, such as K on the constrained items."""
        other = replace(self)
        other.__dict__.update(values)
        return other

    @cached_property
    def metric(self) -> Array:
        """W = S⁻¹, in the reduced coordinates."""
        return self.inverse_factor.T @ self.inverse_factor

    @cached_property
    def gradient(self) -> Array:
        """(m,): tr(K C_c) + b_c − ψ*_c'(α_c)."""
        return self.violation - self.problem.loss.slope(self.alpha)

    @cached_property
    def free(self) -> Array:
        """(m,) bool: free rows, whose α the gradient does not hold at a bound of its interval."""
        return ~self.problem.loss.held(self.alpha, self.gradient)

    @cached_property
    def log_determinant(self) -> float:
        """logdet S(α)."""
        xp = namespace(self.factor)
        return float(2.0 * xp.sum(xp.log(xp.linalg.diagonal(self.factor))))

    @cached_property
    def objective(self) -> float:
        """The dual objective."""
        problem = self.problem
        return self.log_determinant + float(problem.offset @ self.alpha) - problem.loss.value(self.alpha)

    @cached_property
    def divergence(self) -> float:
        """D_ld(K, K₀) = tr W − logdet W − q, where q − tr W = tr W(S − I) = Σ_c α_c tr(K C_c)."""
        return self.log_determinant - float(self.alpha @ (self.violation - self.problem.offset))

    @cached_property
    def residual(self) -> float:
        """The largest projected gradient beyond rounding, each relative to the scale of its row (0/0 = 0)."""
        xp, loss = namespace(self.alpha), self.problem.loss
        if not len(self.problem):
            return 0.0
        compares = self.scale > 0
        beyond = abs(self.gradient - self._rounded)
        relative = xp.where(self.free & compares, beyond / xp.where(compares, self.scale, 1.0), 0.0)
        if loss.has_entropy:
            # The slope of an entropy is infinite at its ends. There, the distance of p from its optimum is used.
            relative = xp.where(loss.entropic, abs(self.alpha - loss.start(self.violation)) / loss.cap, relative)
        return float(xp.max(relative))

    @cached_property
    def gap(self) -> float:
        """Duality gap over 1 + abs(dual), summed by row and therefore free of cancellation.

        Violations count as far as they exceed the rounding of distances: where a loss outweighs the divergence
        1e10 times, what it makes of rounding would hide the optimum.
        """
        gap = self.problem.loss.fenchel_gap(self.alpha, self.violation - self._rounded)
        return gap / (1.0 + abs(self.objective))

    @cached_property
    def _rounded(self) -> Array:
        """(m,): the part of the gradient that the rounding of distances explains.

        Coordinates are known up to ROUNDING times the items' extent, in the metric as far as it stretches them. So a
        squared distance δ is known up to ROUNDING·√δ·extent: for items that almost coincide, hardly at all.
        """
        problem, xp = self.problem, namespace(self.alpha)
        if not len(problem):
            return self.gradient
        least = xp.min(xp.linalg.diagonal(self.factor)) if problem.rank else 1.0
        near, far = self.sides
        blurred = xp.sqrt(problem.near_factor * near) + xp.sqrt(problem.far_factor * far)
        rounding = ROUNDING * (self.scale + problem.extent / least * blurred)
        return xp.clip(self.gradient, -rounding, rounding)

    @cached_property
    def root(self) -> Array:
        """(r, r): a root of W in all coordinates of Φ, W = root·rootᵀ; the identity where no constrained items differ.

        It is triangular on the reduced coordinates, and cheaper than the symmetric root of `whole_metric`.
        """
        basis, root = self.problem.basis, to_numpy(self.inverse_factor).T
        if len(basis) == len(root):  # the basis is the identity
            return root
        change = root - np.eye(len(root))
        return np.asarray(np.eye(len(basis)) + basis @ change @ basis.T)

    def whole_metric(self) -> tuple[Array, Array]:
        """W and its symmetric root in all r coordinates of Φ; the identity where no constrained items differ."""
        roots, directions = self._roots_and_directions()
        span = self.problem.basis @ directions.T
        # Where the span is everything, adding and subtracting the identity would lose eigenvalues near 0.
        complete = len(span) == self.problem.rank
        rest = np.zeros_like(span) if complete else np.eye(len(span)) - self.problem.basis @ self.problem.basis.T
        return rest + (span * np.square(roots)) @ span.T, rest + (span * roots) @ span.T

    def _roots_and_directions(self) -> tuple[Array, Array]:
        """The roots of W's eigenvalues, and its eigenvectors as rows, in the reduced coordinates."""
        if self.problem.rank >= LARGE:
            values, vectors = interruptible(lambda: eigen(self.inverse_factor.T @ self.inverse_factor))
            values = to_numpy(values)
            if values[0] > CONDITIONED * values[-1]:
                return np.sqrt(values), to_numpy(vectors).T
        # From the Cholesky factor of S and not from W: rounding then makes no eigenvalue negative, and small
        # eigenvalues keep their relative precision. It takes three times as long.
        inverse = to_numpy(self.inverse_factor)
        _, roots, directions = interruptible(lambda: np.linalg.svd(inverse))
        return roots, directions

    def hessian(self, rows: Array) -> Array:
        """−∇² of the dual on these rows: tr(K C_c K C_d) + [c = d]·ψ*_c''."""
        xp, loss = namespace(self.alpha), self.problem.loss
        own, shared = self._loss_bend
        hessian = plus_diagonal(self.row_products(rows), xp.take(own, rows, axis=0))
        if loss.has_entropy:
            group = xp.take(loss.group, rows, axis=0)
            hessian = hessian + xp.where(group[:, None] == group[None, :], xp.take(shared, rows, axis=0)[None, :], 0.0)
        return hessian

    @cached_property
    def _loss_bend(self) -> tuple[Array, Array]:
        return self.problem.loss.bend(self.alpha)

    @cached_property
    def hessian_diagonal(self) -> Array:
        """(m,): tr(K C_c K C_c) + ψ*_c''."""
        return self._own_bend + self._loss_bend[1]

    def preconditioned(self, x: Array) -> Array:
        """An approximation of H⁻¹x on the free rows: the diagonal of tr(K C_c K C_d) plus all of ψ*''."""
        inverse, joined = self._rough_inverse
        scaled = inverse * x
        return scaled if joined is None else scaled - inverse * joined * self.problem.loss.by_group(scaled)

    @cached_property
    def _rough_inverse(self) -> tuple[Array, Array | None]:
        """D⁻¹ and s/(1 + s·Σ D⁻¹): by Sherman and Morrison they give the inverse of D + s·11ᵀ for each answer."""
        xp, own = namespace(self.alpha), self._own_bend
        inverse = xp.where(self.free & (own > 0), 1.0 / xp.where(own > 0, own, 1.0), 0.0)
        if not self.problem.loss.has_entropy:
            return inverse, None
        shared = self._loss_bend[1]
        return inverse, shared / (1.0 + shared * self.problem.loss.by_group(inverse))

    @cached_property
    def _own_bend(self) -> Array:
        """(m,): tr(K C_c K C_c) plus the diagonal of ψ*''."""
        return self.own_products + self._loss_bend[0]

    def hessian_product(self, x: Array) -> Array:
        """−∇² of the dual times x: tr(K(Σ_d x_d C_d)K C_c) of every row c, plus ψ*''·x. Rows enter by gathers only."""
        problem, z = self.problem, self.images
        own, shared = self._loss_bend
        product = problem.sandwich(z, problem.spread(z, x)) + own * x
        return product + shared * problem.loss.by_group(x) if problem.loss.has_entropy else product
