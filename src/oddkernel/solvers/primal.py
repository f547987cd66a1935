"""A first guess for the dual from the primal: where many soft answers outweigh the divergence.

The dual's steps must keep S(α) positive definite, and far from the optimum they are short for it. A smooth loss can be
met in the primal, f(W) = tr W − logdet W + Σψ(tr(K C_c) + b_c), which knows no such edge: Newton's method gets near its
minimum in a few steps, and the violations there say which multipliers the dual should start from.
"""

from __future__ import annotations

from collections.abc import Callable

from .._arrays import Array, cholesky, namespace
from ..dual import Point

STEPS = 30
CG_STEPS = 120


def first_guess(point: Point) -> Array:
    """Multipliers near the optimum of a problem whose loss is soft, found from a point's metric.

    W = LLᵀ is moved to L(I + X)Lᵀ, with X a Newton step by conjugate gradients: the Hessian is X ↦ X + what the loss
    adds, and so well conditioned unless the answers outweigh everything. At the multipliers α that the violations ask
    for, LᵀS(α)L is the identity plus the gradient: the dual takes over once that is within a factor of two.
    """
    problem, loss, xp = point.problem, point.problem.loss, namespace(point.alpha)
    factor = point.inverse_factor.T
    images, violation, log_determinant = point.images, point.violation, -point.log_determinant
    value = _dot(factor, factor) - log_determinant + float(xp.sum(loss.primal(violation)))
    for _ in range(STEPS):
        gradient = factor.T @ factor + problem.spread(images, loss.wanted(violation)) - problem.unit
        if cholesky(gradient + 0.5 * problem.unit) is not None and cholesky(problem.unit - gradient) is not None:
            break

        def hessian(x: Array, images: Array = images, violation: Array = violation) -> Array:
            return x + problem.spread(images, loss.stiffness(violation, problem.sandwich(images, x)))

        step = _conjugate_gradients(hessian, -gradient, 0.1)
        slope, length = _dot(gradient, step), 1.0
        while length > 1e-6:
            turn = cholesky(problem.unit + length * step)
            if turn is not None and float(xp.min(xp.linalg.diagonal(turn))) > 0.1:
                moved = factor @ turn
                images_there = problem.coordinates @ moved
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


def _conjugate_gradients(product: Callable[[Array], Array], right: Array, tolerance: float) -> Array:
    """Roughly the solution of product(X) = right, for symmetric matrices."""
    x, rest = namespace(right).zeros_like(right), right
    towards, size = rest, _dot(rest, rest)
    goal = tolerance**2 * size
    for _ in range(CG_STEPS):
        bent = product(towards)
        length = size / _dot(towards, bent)
        x = x + length * towards
        rest = rest - length * bent
        before, size = size, _dot(rest, rest)
        if size <= goal:
            break
        towards = rest + (size / before) * towards
    return x


def _dot(one: Array, other: Array) -> float:
    return float(namespace(one).sum(one * other))
