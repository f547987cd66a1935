"""A first guess for the dual from the primal: where many soft answers outweigh the divergence.

The dual's steps must keep S(α) positive definite, and far from the optimum they are short for it. A smooth loss can be
met in the primal, f(W) = tr W − logdet W + Σψ(tr(K C_c) + b_c), which knows no such edge: Newton's method gets near its
minimum in a few steps, and the violations there say which multipliers the dual should start from.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg

from ..dual import Point, cholesky

Array = npt.NDArray[Any]

STEPS = 30
CG_STEPS = 40
# A gradient this small, for each dimension, is near enough: the dual takes over.
NEAR = 1e-2


def first_guess(point: Point) -> Array:
    """Multipliers near the optimum of a problem whose loss is soft, found from a point's metric.

    W = LLᵀ is moved to L(I + X)Lᵀ, with X a Newton step by conjugate gradients: the Hessian is X ↦ X + what the loss
    adds, and so well conditioned unless the answers outweigh everything.
    """
    problem, loss, q = point.problem, point.problem.loss, point.problem.rank
    factor = linalg.solve_triangular(point.factor, np.eye(q), lower=True, check_finite=False).T
    images, violation, log_determinant = point.images, point.violation, -point.log_determinant
    value = float(np.square(factor).sum()) - log_determinant + float(loss.primal(violation).sum())
    for _ in range(STEPS):
        gradient = factor.T @ factor + problem.spread(images, loss.wanted(violation)) - np.eye(q)
        size = float(np.linalg.norm(gradient))
        if size <= NEAR * np.sqrt(q):
            break

        def hessian(x: Array, images: Array = images, violation: Array = violation) -> Array:
            return x + problem.spread(images, loss.stiffness(violation, problem.sandwich(images, x)))

        step = _conjugate_gradients(hessian, -gradient, 0.1)
        slope, length = float(np.vdot(gradient, step)), 1.0
        while length > 1e-6:
            turn = cholesky(np.eye(q) + length * step)
            if turn is not None and np.diagonal(turn).min() > 0.1:
                moved = factor @ turn
                images_there = problem.coordinates @ moved
                there = problem.row_sums(problem.squared_distances(images_there)) + problem.rows.offset
                log_there = log_determinant + 2.0 * float(np.log(np.diagonal(turn)).sum())
                worth = float(np.square(moved).sum()) - log_there + float(loss.primal(there).sum())
                if worth <= value + 1e-4 * length * slope:
                    break
            length *= 0.5
        else:
            break
        factor, images, violation, log_determinant, value = moved, images_there, there, log_there, worth
    return loss.wanted(violation)


def _conjugate_gradients(product: Callable[[Array], Array], right: Array, tolerance: float) -> Array:
    """Roughly the solution of product(X) = right, for symmetric matrices."""
    x, rest = np.zeros_like(right), right
    towards, size = rest, float(np.vdot(rest, rest))
    goal = tolerance**2 * size
    for _ in range(CG_STEPS):
        bent = product(towards)
        length = size / float(np.vdot(towards, bent))
        x = x + length * towards
        rest = rest - length * bent
        before, size = size, float(np.vdot(rest, rest))
        if size <= goal:
            break
        towards = rest + (size / before) * towards
    return x
