"""Descent in the primal: where soft answers are many, or outweigh the divergence.

The dual's steps must keep S(α) positive definite, and far from the optimum they are short for it. A smooth loss can be
met in the primal, f(W) = tr W − logdet W + Σψ(tr(K C_c) + b_c), which knows no such edge: Newton's method gets near its
minimum in a few steps, and the violations there say which multipliers the dual should start from.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..problem.arrays import Array, cholesky, namespace
from ..problem.dual import Dual, Point

# Most steps, and most products with the Hessian for one.
STEPS = 40
CG_STEPS = 120
# How exact a direction is, as a share of the gradient: far from the minimum, and near it.
ROUGH, FINE = 0.3, 0.05
# What a full step leaves of the damping.
RELIEF = 0.1


def descend(point: Point, close: float) -> Array:
    """Multipliers near the optimum of a problem whose loss is soft, found from a point's metric.

    W = LLᵀ is moved to L(I + X)Lᵀ, with X a Newton step. At the multipliers α that the violations ask for, LᵀS(α)L is
    the identity plus the gradient: once that is within ``close``, α is as near to the optimum.
    """
    problem, loss, xp = point.problem, point.problem.loss, namespace(point.alpha)
    factor = point.inverse_factor.T
    images, violation, log_determinant = point.images, point.violation, -point.log_determinant
    value = _dot(factor, factor) - log_determinant + float(xp.sum(loss.primal(violation)))
    change, damping = _usual_change(problem), 0.0
    for _ in range(STEPS):
        gradient = factor.T @ factor + problem.spread(images, loss.wanted(violation)) - problem.unit
        if _dot(gradient, gradient) <= close**2:
            break
        step = _direction(problem, images, violation, gradient, change, damping)
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
        # As much damping as would have made the step so short, but only where the loss does not.
        damping = (1.0 + damping) / length - 1.0 if length < 1.0 else RELIEF * damping
    return loss.wanted(violation)


def _direction(problem: Dual, images: Array, violation: Array, gradient: Array, change: Array, damping: float) -> Array:
    """Roughly the X with (1 + damping)X + Zᵀ(Σ_c ψ''_c tr(Z X Zᵀ C_c) C_c)Z = −gradient, by conjugate gradients.

    If items were drawn normally, with variances σ along the axes of ZᵀZ, and people asked about any of them, the
    second part would, on the whole, multiply X_ab by kσ_aσ_b, with k = Σ_c ψ''_c change_c². Divided by what that makes,
    the whole is near enough to the identity for a few products to do.
    """
    xp, unit = namespace(images), _largest(images)
    slim = images / unit
    variances, axes = xp.linalg.eigh(xp.astype(slim.T @ slim / images.shape[0], xp.float32))
    axes = xp.astype(axes, images.dtype)
    deviations = unit * xp.sqrt(xp.astype(xp.where(variances > 0, variances, 0.0), images.dtype))
    stiff = change @ problem.loss.stiffness(violation, change)
    scale = 1.0 + damping + stiff * xp.square(deviations[:, None] * deviations[None, :])
    product = _hessian(problem, slim @ axes, unit, violation)
    x, rest = xp.zeros_like(gradient), -(axes.T @ gradient @ axes)
    size = _dot(rest, rest)
    goal = (ROUGH if size > 1.0 else FINE) ** 2 * size
    towards = rest / scale
    left = _dot(rest, towards)
    for _ in range(CG_STEPS):
        bent = product(towards) + damping * towards
        length = left / _dot(towards, bent)
        x, rest = x + length * towards, rest - length * bent
        if _dot(rest, rest) <= goal:
            break
        scaled = rest / scale
        before, left = left, _dot(rest, scaled)
        towards = scaled + (left / before) * towards
    return axes @ x @ axes.T


def _hessian(problem: Dual, slim: Array, unit: Array, violation: Array) -> Callable[[Array], Array]:
    """X ↦ X + Zᵀ(Σ_c ψ''_c tr(Z X Zᵀ C_c) C_c)Z, with Z = unit·slim.

    The sum is taken in single precision, as a direction need not be exact, and of numbers scaled to fit in.
    """
    xp = namespace(slim)
    slim = xp.astype(slim, xp.float32)

    def product(x: Array) -> Array:
        size = _largest(x)
        felt = xp.astype(problem.sandwich(slim, xp.astype(x / size, xp.float32)), x.dtype)
        pull = problem.loss.stiffness(violation, size * unit**2 * felt)
        most = _largest(pull)
        return x + most * unit**2 * xp.astype(problem.spread(slim, pull / most), x.dtype)

    return product


def _usual_change(problem: Dual) -> Array:
    """(m,): tr(Y C_c) of every row c for a random Y: what one random X would do if the items were drawn normally."""
    rng, xp = np.random.default_rng(0), namespace(problem.offset)
    own, between = (problem.put(rng.normal(size=n)) for n in (len(problem.items), problem.place.shape[0]))
    ends = xp.take(own, problem.first, axis=0) + xp.take(own, problem.second, axis=0)
    # Y_ii has twice the variance of Y_ij, as z_iᵀXz_i has of z_iᵀXz_j.
    return problem.row_sums(2**0.5 * ends - 2.0 * between)


def _largest(array: Array) -> Array:
    """The size of its largest entry, 1 if all are 0."""
    xp = namespace(array)
    largest = xp.max(xp.abs(array))
    return xp.where(largest > 0, largest, 1.0)


def _dot(one: Array, other: Array) -> float:
    return float(namespace(one).sum(one * other))
