"""The direction of a Newton step in the primal, in whichever space is smallest.

The system of descent.py is solved over the q(q + 1)/2 unknowns of X, over the rows (by Woodbury's identity, whose
matrix is the dual's Hessian), or, where both are large, by conjugate gradients.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg, sparse

from ..problem.arrays import Array, cholesky, dot, largest_entry, namespace, plus_diagonal
from ..problem.dual import Dual
from .costs import PRODUCTS, SLIGHT, Budget, least_squares_cost, products_cost, rows_cost, unknowns_cost
from .preconditioner import Preconditioner
from .primal import Primal
from .unknowns import Unknowns, on_pairs

# Most products with the Hessian for one direction.
CG_STEPS = 120
# How exact conjugate gradients make a direction, as a share of the gradient: far from the minimum, and near it. By
# trial on THINGS with all its answers: choosing takes 1.09 to 1.42 times as long with 0.03, 0.1, 0.3, 0.7 or 0.9 far
# from it, 1.05 times with 0.01, 0.02 or 0.1 near it. On a GPU products cost less beside the rest of a step.
ROUGH, ROUGH_ON_DEVICE, FINE = 0.5, 0.3, 0.05
# Directions are accurate above this pivot of a Cholesky factor, of a matrix with a unit diagonal (its square is 1e-9,
# which leaves seven of float64's sixteen digits), and, over the rows, up to this product of ψ'' and tr(K C_c K C_c):
# on draw(800079) of the random problems 1e9 made an error of 2e-3, which outweighs the divergence. Conservative.
LOST, STIFF = 3e-5, 1e6
# From this size on, systems are factorised in single precision first. Iterative refinement then reduces the residual to
# this share of the right-hand side; each of at most so many steps must reduce it by this factor, or double precision
# takes over. Chosen by hand.
REFINED, EXACT, REFINEMENTS, CONTRACTION = 1000, 1e-8, 6, 0.1
# Operations that a dense factorisation may take where conjugate gradients don't arrive.
DENSE = 1e11


def direction(primal: Primal, change: Array, damping: float, budget: Budget) -> tuple[Array, Array | None]:
    """The X with (1 + damping)X + Zᵀ(Σ_c ψ''_c tr(Z X Zᵀ C_c) C_c)Z = −gradient, in the cheapest of three ways.

    Beside it stands tr(Z X Zᵀ C_c) of every row c, to single precision, or None if unknown.
    """
    if not isinstance(primal.images, np.ndarray):
        step, felt, _ = _by_products(primal, change, damping)
        return step, felt
    problem, rows = primal.problem, np.flatnonzero(primal.stiffness[0])
    if not len(rows):  # f is the divergence and a linear function: exact
        return -primal.gradient / (1.0 + damping), None
    by_unknowns, by_rows = unknowns_cost(problem), rows_cost(len(rows))
    dense, cost = (_by_unknowns, by_unknowns) if by_unknowns < by_rows else (_by_rows, by_rows)
    if cost > max(products_cost(problem), SLIGHT):
        step, felt, arrived = _by_products(primal, change, damping)
        budget.spend((1 if arrived else CG_STEPS / PRODUCTS) * products_cost(problem))
        if arrived or cost > DENSE:
            return step, felt
    budget.spend(cost)
    step, accurate = dense(primal, rows, damping)
    if accurate or problem.loss.has_entropy or least_squares_cost(problem, len(rows)) > DENSE:
        return step, None
    budget.spend(least_squares_cost(problem, len(rows)))
    return _by_least_squares(primal, rows, damping), None


def _by_unknowns(primal: Primal, rows: Array, damping: float) -> tuple[Array, bool]:
    """The direction by a factorisation over the entries of X on and above the diagonal, and whether it is accurate."""
    problem, loss = primal.problem, primal.problem.loss
    own, p = primal.stiffness
    unknowns = Unknowns(problem.rank)
    across, pairs = on_pairs(problem, rows), unknowns.pairs(problem, primal.images)
    between = across.T @ (across * own[rows, None])
    if loss.has_entropy:
        entropic = loss.entropic[rows]
        strength = np.sqrt(np.where(entropic, loss.cap[rows] / np.where(entropic, loss.temperature[rows], 1.0), 0.0))
        _, group = np.unique(loss.group[rows], return_inverse=True)
        members = (strength * p[rows], (group, np.arange(len(rows))))
        shared = sparse.csr_array(members, shape=(group.max() + 1, len(rows))) @ across
        between = between - shared.T @ shared
    matrix = plus_diagonal(pairs.T @ (between @ pairs), np.full(pairs.shape[1], 1.0 + damping))
    found, least = _solved(matrix, -unknowns.vector(primal.gradient))
    return unknowns.matrix(found), least > LOST


def _by_rows(primal: Primal, rows: Array, damping: float) -> tuple[Array, bool]:
    """The direction by a factorisation over the rows that bend, and whether it is accurate. By Woodbury's identity,

    (1 + damping)X = Zᵀ(Σ_c y_c C_c)Z − gradient, where ((1 + damping)/ψ'' + tr(K C_c K C_d))y = tr(Z·gradient·Zᵀ C_c).
    """
    problem, loss = primal.problem, primal.problem.loss
    felt = problem.sandwich(primal.images, primal.gradient)[rows]
    matrix = primal.row_products(rows)
    # 1/ψ'' is ψ*'' at the multipliers that the violations ask for.
    own, shared = loss.bend(primal.wanted)
    soft = (1.0 + damping) * own[rows]
    stiff = (np.diagonal(matrix) > STIFF * soft).any()
    matrix = plus_diagonal(matrix, soft)
    if loss.has_entropy:
        _, group = np.unique(loss.group[rows], return_inverse=True)
        members = sparse.csr_array((np.ones(len(rows)), (group, np.arange(len(rows)))))
        row, other = (members.T @ members).nonzero()
        matrix[row, other] += (1.0 + damping) * shared[rows[other]]
    found, least = _solved(matrix, felt)
    y = np.zeros(len(problem))
    y[rows] = found
    return (problem.spread(primal.images, y) - primal.gradient) / (1.0 + damping), not stiff and least > LOST


def _by_least_squares(primal: Primal, rows: Array, damping: float) -> Array:
    """The direction as the solution of a least-squares problem, by QR factorisations. For losses without entropy.

    Where ψ'' outweighs the divergence 1e9 times and more, a Hessian in double precision has lost what the divergence
    says. Its root has not: X minimises ½(1 + damping)‖X‖² + tr(G X) + ½Σ_c ψ''_c(tr(Z X Zᵀ C_c) + ψ'_c/ψ''_c)², with
    the gradient G of everything but these rows.
    """
    problem, unknowns = primal.problem, Unknowns(primal.problem.rank)
    own, weight = primal.stiffness[0][rows], 1.0 + damping
    root = np.sqrt(own)
    others = primal.wanted.copy()
    others[rows] = 0.0
    rest = primal.inner + problem.spread(primal.images, others) - problem.unit
    own_pull = primal.wanted[rows] / root
    if dot(primal.gradient, primal.gradient) < dot(rest, rest):
        # Near the optimum these rows all but cancel the rest: their sum has digits that the two have lost.
        rest, own_pull = primal.gradient, np.zeros(len(rows))
    start = -unknowns.vector(rest) / weight
    felt = (on_pairs(problem, rows) @ unknowns.pairs(problem, primal.images)) * root[:, None]
    missing = -own_pull - felt @ start
    if len(rows) < len(start):  # the rest of the space needs no change of its start
        space, triangle = linalg.qr(felt.T, mode="economic", check_finite=False)
        return unknowns.matrix(start + space @ _ridge(triangle.T, missing, weight))
    return unknowns.matrix(start + _ridge(felt, missing, weight))


def _ridge(matrix: Array, right: Array, weight: float) -> Array:
    """The y that minimises ‖matrix·y − right‖² + weight·‖y‖²."""
    size = matrix.shape[1]
    stacked = np.vstack([matrix, weight**0.5 * np.eye(size)])
    turned, triangle = linalg.qr_multiply(stacked, np.r_[right, np.zeros(size)], mode="right")
    return np.asarray(linalg.solve_triangular(triangle, turned, check_finite=False))


def _solved(matrix: Array, right: Array) -> tuple[Array, float]:
    """The solution of a positive definite system, scaled to a unit diagonal, and the least pivot of its factor.

    Zeros and 0 where rounding leaves the matrix indefinite. The matrix is overwritten.
    """
    if not (np.diagonal(matrix) > 0).all():
        return np.zeros_like(right), 0.0
    scale = 1.0 / np.sqrt(np.diagonal(matrix))
    if len(matrix) >= REFINED and matrix.dtype == np.float64:
        refined = _refined(matrix, scale, right)
        if refined is not None:
            return refined
    matrix *= scale[:, None]
    matrix *= scale
    factor = cholesky(plus_diagonal(matrix, np.full(len(matrix), 1e-14)), overwrite=True)
    if factor is None:
        return np.zeros_like(right), 0.0
    known = (scale * right).astype(factor.dtype)  # LAPACK would copy a factor in single precision
    found = linalg.cho_solve((factor, True), known, check_finite=False)
    return np.asarray(scale * found), float(np.diagonal(factor).min(initial=1.0))


def _refined(matrix: Array, scale: Array, right: Array) -> tuple[Array, float] | None:
    """The same by a factor in single precision, half the work, and iterative refinement in double precision.

    None where the factor has too few digits for that.
    """
    slim, slim_scale = matrix.astype(np.float32), scale.astype(np.float32)
    slim *= slim_scale[:, None]
    slim *= slim_scale
    factor = cholesky(slim, overwrite=True)
    if factor is None:
        return None
    found, rest = np.zeros_like(right), right
    size = goal = float(np.linalg.norm(scale * right))
    for _ in range(REFINEMENTS):
        known = (scale * rest / (size or 1.0)).astype(np.float32)
        change = linalg.cho_solve((factor, True), known, check_finite=False)
        found = found + size * scale * change
        rest = right - matrix @ found
        size, before = float(np.linalg.norm(scale * rest)), size
        if size <= EXACT * goal:
            return found, float(np.diagonal(factor).min(initial=1.0))
        if not size <= CONTRACTION * before:
            break
    return None


def _by_products(primal: Primal, change: Array, damping: float) -> tuple[Array, Array, bool]:
    """Roughly the direction X by preconditioned conjugate gradients; tr(Z X Zᵀ C_c) of every row; if they arrived."""
    xp, unit = namespace(primal.images), largest_entry(primal.images)
    slim = xp.astype(primal.images / unit, xp.float32)
    stiffness = float(unit) ** 4 * float(change @ primal.stiff(change))
    rough = Preconditioner(primal.problem, slim, 1.0 + damping, stiffness, primal.images.dtype)
    # Single precision has no numbers above 3e38; dividing by a power of two loses no digits.
    product, pull = _hessian(primal, slim, unit), 2.0 ** float(np.frexp(float(largest_entry(primal.gradient)))[1])
    rest = xp.astype(-primal.gradient / pull, rough.dtype)
    x, size = xp.zeros_like(rest), dot(rest, rest)
    far = ROUGH if xp is np else ROUGH_ON_DEVICE
    goal = (far if dot(primal.gradient, primal.gradient) > 1.0 else FINE) ** 2 * size
    towards = rough.divide(rest)
    left = dot(rest, towards)
    moved, arrived = xp.zeros_like(primal.violation), False
    for taken in range(CG_STEPS):
        bent, felt = product(towards)
        bent = bent + damping * towards
        curvature = dot(towards, bent)
        if not curvature > 0:  # where ψ'' outweighs the divergence 1e16 times, products are all rounding
            x, moved = (x, moved) if taken else (towards, felt)
            break
        length = left / curvature
        x, moved, rest = x + length * towards, moved + length * felt, rest - length * bent
        arrived = dot(rest, rest) <= goal
        if arrived:
            break
        scaled = rough.divide(rest)
        before, left = left, dot(rest, scaled)
        towards = scaled + (left / before) * towards
    return pull * xp.astype(x, primal.images.dtype), pull * moved, arrived


def _hessian(primal: Primal, slim: Array, unit: Array) -> Callable[[Array], tuple[Array, Array]]:
    """X ↦ X + Zᵀ(Σ_c ψ''_c tr(Z X Zᵀ C_c) C_c)Z and tr(Z X Zᵀ C_c) of every row c, with Z = unit·slim.

    The sum is taken in single precision, as a direction need not be exact, and of numbers scaled to fit in.
    """
    problem, xp, area = primal.problem, namespace(slim), unit**2

    def product(x: Array) -> tuple[Array, Array]:
        size = largest_entry(x)
        felt = xp.astype(problem.sandwich(slim, xp.astype(x / size, xp.float32)), primal.violation.dtype)
        felt = size * area * felt
        pull = primal.stiff(felt)
        most = largest_entry(pull)
        return x + xp.astype(most * area, x.dtype) * xp.astype(problem.spread(slim, pull / most), x.dtype), felt

    return product


def usual_change(problem: Dual) -> Array:
    """(m,): tr(Y C_c) of every row c for a random Y: what one random X would do if the items were drawn normally."""
    rng, xp = np.random.default_rng(0), namespace(problem.offset)
    own, between = (problem.put(rng.normal(size=n)) for n in (len(problem.items), problem.place.shape[0]))
    ends = xp.take(own, problem.first, axis=0) + xp.take(own, problem.second, axis=0)
    # Y_ii has twice the variance of Y_ij, as z_iᵀXz_i has of z_iᵀXz_j.
    return problem.row_sums(2**0.5 * ends - 2.0 * between)
