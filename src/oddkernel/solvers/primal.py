"""Descent in the primal: where soft answers are many, or outweigh the divergence.

The dual's steps must keep S(α) positive definite, and far from the optimum they are short for it. A smooth loss can be
met in the primal, f(W) = tr W − logdet W + Σψ(tr(K C_c) + b_c), which knows no such edge: Newton's method gets near its
minimum in a few steps, and the violations there say which multipliers the dual should start from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .._arrays import Array, cholesky, namespace
from ..dual import Dual, Point

STEPS = 40
CG_STEPS = 120
# How exact a direction is, as a share of the gradient: far from the minimum, and near it.
ROUGH, FINE = 0.3, 0.05


def descend(point: Point, close: float) -> Array:
    """Multipliers near the optimum of a problem whose loss is soft, found from a point's metric.

    W = LLᵀ is moved to L(I + X)Lᵀ, with X a Newton step: the Hessian is X ↦ X + what the loss adds, and so well
    conditioned unless the answers outweigh everything. At the multipliers α that the violations ask for, LᵀS(α)L is the
    identity plus the gradient: once that is within ``close``, α is as near to the optimum.
    """
    problem, loss, xp = point.problem, point.problem.loss, namespace(point.alpha)
    factor = point.inverse_factor.T
    images, violation, log_determinant = point.images, point.violation, -point.log_determinant
    value = _dot(factor, factor) - log_determinant + float(xp.sum(loss.primal(violation)))
    for _ in range(STEPS):
        gradient = factor.T @ factor + problem.spread(images, loss.wanted(violation)) - problem.unit
        if _dot(gradient, gradient) <= close**2:
            break
        step = _direction(problem, images, violation, gradient)
        slope, length = _dot(gradient, step), 1.0
        while length > 1e-6:
            turn = cholesky(problem.unit + length * step)
            if turn is not None and float(xp.min(xp.linalg.diagonal(turn))) > 0.1:
                moved = factor @ turn
                images_there = images @ turn
                there = problem.row_sums(problem.squared_distances(images_there)) + problem.offset
                log_there = log_determinant + 2.0 * float(xp.sum(xp.log(xp.linalg.diagonal(turn))))
                worth = _dot(moved, moved) - log_there + float(xp.sum(loss.primal(there)))
                if worth <= value + 1e-4 * length * slope:
                    break
            length *= 0.5
        else:
            break
        factor, images, violation, log_determinant, value = moved, images_there, there, log_there, worth
    return loss.wanted(violation)


@dataclass(frozen=True, eq=False)
class _Vector:
    """The matrix X = share·G + ZᵀΣ_c rows_c C_c Z, G the direction of descent; ``felt`` is the last part's effect.

    Conjugate gradients never leave such matrices: they need the rows' effect on one another only, not X itself.
    """

    share: float
    rows: Array
    felt: Array

    def plus(self, factor: float, other: _Vector) -> _Vector:
        return _Vector(
            self.share + factor * other.share, self.rows + factor * other.rows, self.felt + factor * other.felt
        )


def _direction(problem: Dual, images: Array, violation: Array, gradient: Array) -> Array:
    """Roughly the X with X + Zᵀ(Σ_c ψ''_c tr(Z X Zᵀ C_c) C_c)Z = −gradient, by conjugate gradients."""
    loss, size = problem.loss, _dot(gradient, gradient)
    felt = -problem.sandwich(images, gradient)
    effect = _effect(problem, images)
    nothing = namespace(felt).zeros_like(felt)

    def dot(one: _Vector, other: _Vector) -> float:
        mixed = one.share * other.rows + other.share * one.rows
        return one.share * other.share * size + float(mixed @ felt) + float(one.rows @ other.felt)

    x, rest = _Vector(0.0, nothing, nothing), _Vector(1.0, nothing, nothing)
    towards, left = rest, size
    goal = (ROUGH if size > 1.0 else FINE) ** 2 * size
    for _ in range(CG_STEPS):
        stiff = loss.stiffness(violation, towards.share * felt + towards.felt)
        bent = towards.plus(1.0, _Vector(0.0, stiff, effect(stiff)))
        length = left / dot(towards, bent)
        x, rest = x.plus(length, towards), rest.plus(-length, bent)
        before, left = left, dot(rest, rest)
        if left <= goal:
            break
        towards = rest.plus(left / before, towards)
    return problem.spread(images, x.rows) - x.share * gradient


def _effect(problem: Dual, images: Array) -> Callable[[Array], Array]:
    """α ↦ tr(K C_c K Σ_d α_d C_d) of every row c, in single precision: a direction need not be exact.

    It goes through the kernel where that is hardly larger than the images, and through these where they are slim.
    """
    xp = namespace(images)
    s, q = images.shape
    through_kernel = 4 * q > 3 * s
    factor = images @ images.T if through_kernel else images
    # Numbers of any size, scaled so that single precision can hold their products.
    unit = xp.max(xp.abs(factor))
    unit = xp.where(unit > 0, unit, 1.0)
    factor, power = xp.astype(factor / unit, xp.float32), 2 if through_kernel else 4

    def effect(alpha: Array) -> Array:
        size = xp.max(xp.abs(alpha))
        pulled = problem.laplacian_product(alpha / xp.where(size > 0, size, 1.0), factor)
        left, right = (factor, pulled.T) if through_kernel else (factor @ (factor.T @ pulled), factor)
        return size * unit**power * problem.between(left, right)

    return effect


def _dot(one: Array, other: Array) -> float:
    return float(namespace(one).sum(one * other))
