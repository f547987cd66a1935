"""The optimisation problem: value, gradient, Hessian, residual. All the mathematics is here.

With K₀ = ΦΦᵀ and K = ΦWΦᵀ the best kernel solves, over one multiplier α_c for each row,

    maximise  logdet S(α) + bᵀα − Σ_c ψ*_c(α_c),    S(α) = I + Σ_c α_c ΦᵀC_cΦ ≻ 0,    W = S(α)⁻¹.

Rows only see differences of constrained items, so three reductions come first, none of which changes the answer: the
items are centred; coordinates in which no constrained item differs are left out (W is the identity there); and rows are
written over the p distinct *pairs* they mention: with one difference vector d_p a pair and the rows' factors in the
sparse matrix B (m × p), S = I + Σ_p (Bᵀα)_p d_p d_pᵀ.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import linalg, sparse

from ._interruptible import interruptible
from .constraints import Constraints
from .losses import Conjugate

Array = npt.NDArray[Any]

# Below this share of K_ii + K_jj, δ(i, j) read off K has lost more than three digits and is recomputed.
CANCELLATION = 1e-3
# From this share of all pairs on, dense products with them are faster than sparse ones.
DENSE = 0.02
# Items closer than this, relative to the spread of all, are taken for copies: their distance is rounding.
COINCIDENT = 1e-13


class Dual:
    """The dual problem of one set of rows over one set of features.

    Parameters
    ----------
    features : (n, r) array
        Φ: one row for each item that a constraint may mention.
    rows : Constraints
        The constraints; their items are rows of ``features``.
    loss : Conjugate
        ψ* of every row.
    """

    def __init__(self, features: Array, rows: Constraints, loss: Conjugate) -> None:
        self.features = features
        self.rows = rows
        self.loss = loss
        self.items, local = np.unique(np.stack([rows.near, rows.far]), return_inverse=True)
        local = np.sort(local.reshape(2, -1, 2), axis=-1)  # δ(i, j) = δ(j, i): one pair, however it was written
        n_items = max(len(self.items), 1)

        centred = features[self.items] - features[self.items].mean(axis=0) if len(rows) else features[:0]
        self.basis, self.coordinates = _span(centred)
        self.rank = self.coordinates.shape[1]

        code, pair = np.unique(local[..., 0] * n_items + local[..., 1], return_inverse=True)
        self.pairs = np.stack(np.divmod(code, n_items), axis=1)
        self.near, self.far = pair.reshape(2, -1)
        initial = self.differences(np.arange(len(self.pairs)))
        length = np.linalg.norm(initial, axis=1)
        spread = np.linalg.norm(self.coordinates, axis=1).max(initial=0.0)
        # Between copies δ = 0 whatever W is: that part of the row is absent.
        apart = length > COINCIDENT * spread
        self.near_factor = rows.near_factor * apart[self.near]
        self.far_factor = rows.far_factor * apart[self.far]

        #: (m,) rows that compare nothing: only their offset counts
        self.void = (self.near_factor == 0) & (self.far_factor == 0)
        squared = np.square(length)
        near, far = self.near_factor * squared[self.near], self.far_factor * squared[self.far]
        #: (m,) what each row compares before learning: near_factor·δ_near + far_factor·δ_far + abs(b)
        self.initial_scale = near + far + np.abs(rows.offset)
        #: by how much a squared distance must grow for its row to hold: b/(far_factor·δ_far), the largest of all rows
        self.growth = float((rows.offset[far > 0] / far[far > 0]).max(initial=0.0))

    def hardened(self, part: Array) -> Dual:
        """The problem in which these rows, and no others, must hold."""
        rows = self.rows[part]
        return Dual(self.features, rows, Conjugate.hard(rows.equality))

    def __len__(self) -> int:
        return len(self.rows)

    def relaxed(self, barrier: float) -> Dual:
        """The same rows with logdet S weighted by ``barrier`` (and all divided by it): offsets and ψ* count for less.

        Its optimum tends to α = 0 as the barrier grows and is this problem's at 1: a path along which a row that asks
        for far more than K₀ offers can be approached.
        """
        other = copy(self)
        other.rows = replace(self.rows, offset=self.rows.offset / barrier)
        other.loss = self.loss.divided(barrier)
        return other

    def differences(self, pairs: Array) -> Array:
        """d_p = φ_i − φ_j of these pairs, in the reduced coordinates."""
        i, j = self.pairs[pairs].T
        return np.asarray(self.coordinates[i] - self.coordinates[j])

    def pair_weights(self, alpha: Array) -> Array:
        """Bᵀα: with which factor each pair enters S − I."""
        p = len(self.pairs)
        near = np.bincount(self.near, self.near_factor * alpha, minlength=p)
        return np.asarray(near - np.bincount(self.far, self.far_factor * alpha, minlength=p))

    def row_sums(self, per_pair: Array) -> Array:
        """B·(one number a pair): near minus far, row by row."""
        return np.asarray(self.near_factor * per_pair[self.near] - self.far_factor * per_pair[self.far])

    def laplacian(self, alpha: Array) -> sparse.csr_array | Array:
        """Σ_c α_c C_c over the constrained items: the Laplacian of the pairs weighted by Bᵀα; sparse if that pays."""
        weight = self.pair_weights(alpha)
        if len(self.pairs) > DENSE * len(self.items) ** 2:
            matrix = np.zeros((len(self.items), len(self.items)))
            i, j = self.pairs.T
            matrix[i, j] = matrix[j, i] = -weight  # a pair is there only once
            np.fill_diagonal(matrix, 0.0)  # an absent part may name one item twice
            np.fill_diagonal(matrix, -matrix.sum(axis=1))
            return matrix
        used = np.flatnonzero(weight)
        i, j = self.pairs[used].T
        w = weight[used]
        n = len(self.items)
        entries = (np.r_[w, w, -w, -w], (np.r_[i, j, i, j], np.r_[i, j, j, i]))
        return sparse.coo_array(entries, shape=(n, n)).tocsr()

    def squared_distances(self, images: Array) -> Array:
        """(p,): δ of every pair, where the constrained items have these (s, q) images."""
        i, j = self.pairs.T
        if len(i) <= 4 * len(images):
            apart = images[i] - images[j]
            return np.asarray(np.einsum("pq,pq->p", apart, apart))
        delta, total = _gather(images @ images.T, i, j)
        close = np.flatnonzero(delta < CANCELLATION * total)
        if len(close):
            delta[close] = np.square(images[i[close]] - images[j[close]]).sum(axis=1)
        return np.asarray(delta)

    def sandwich(self, images: Array, middle: Array) -> Array:
        """(m,): tr(Z X Zᵀ C_c) of every row c, for images Z and a symmetric (q, q) matrix X."""
        i, j = self.pairs.T
        return self.row_sums(_gather((images @ middle) @ images.T, i, j)[0])

    def spread(self, images: Array, alpha: Array) -> Array:
        """(q, q): Zᵀ(Σ_c α_c C_c)Z for images Z, the counterpart of `sandwich`."""
        return np.asarray(images.T @ (self.laplacian(alpha) @ images))

    def curvature_matrix(self, alpha: Array) -> Array:
        """S(α) = I + Σ_c α_c ΦᵀC_cΦ, in the reduced coordinates."""
        bent = self.spread(self.coordinates, alpha)
        bent[np.diag_indices(self.rank)] += 1.0
        return np.asarray(bent)

    def at(self, alpha: Array) -> Point | None:
        """Everything about one α, or None where S(α) is not positive definite."""
        bent = self.curvature_matrix(alpha)
        factor = cholesky(bent)
        return None if factor is None else Point(self, alpha, bent, factor)


@dataclass(frozen=True, eq=False)
class Point:
    """The dual problem at one α: what it is worth there, and which way is up.

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

    @cached_property
    def inverse_factor(self) -> Array:
        """(q, q): L⁻¹ of S = LLᵀ. LAPACK's own inverse and a product are faster than solving for every item."""
        return inverse_lower(self.factor)

    @cached_property
    def images(self) -> Array:
        """(s, q): the constrained items in coordinates where the learned metric is Euclidean, φ_i L⁻ᵀ."""
        return np.asarray(self.problem.coordinates @ self.inverse_factor.T)

    @cached_property
    def metric(self) -> Array:
        """W = S⁻¹, in the reduced coordinates."""
        return np.asarray(self.inverse_factor.T @ self.inverse_factor)

    @cached_property
    def squared_distances(self) -> Array:
        """(p,): δ of every pair."""
        return self.problem.squared_distances(self.images)

    @cached_property
    def violation(self) -> Array:
        """(m,): tr(K C_c) + b_c, positive where an answer doesn't hold."""
        return np.asarray(self.problem.row_sums(self.squared_distances) + self.problem.rows.offset)

    @cached_property
    def scale(self) -> Array:
        """(m,): the size of what a row compares: near_factor·δ_near + far_factor·δ_far + abs(b)."""
        problem, delta = self.problem, self.squared_distances
        near, far = problem.near_factor * delta[problem.near], problem.far_factor * delta[problem.far]
        return np.asarray(near + far + np.abs(problem.rows.offset))

    @cached_property
    def gradient(self) -> Array:
        """(m,): tr(K C_c) + b_c − ψ*_c'(α_c)."""
        return np.asarray(self.violation - self.problem.loss.slope(self.alpha))

    @cached_property
    def free(self) -> Array:
        """(m,) bool: rows whose α may still move uphill, not held at the end of its interval."""
        return np.asarray(~self.problem.loss.held(self.alpha, self.gradient))

    @cached_property
    def log_determinant(self) -> float:
        """logdet S(α)."""
        return float(2.0 * np.log(np.diagonal(self.factor)).sum())

    @cached_property
    def objective(self) -> float:
        """The dual objective."""
        problem = self.problem
        return float(self.log_determinant + problem.rows.offset @ self.alpha - problem.loss.value(self.alpha))

    @cached_property
    def divergence(self) -> float:
        """D_ld(K, K₀) = tr W − logdet W − q."""
        return float(np.square(self.inverse_factor).sum() - self.problem.rank + self.log_determinant)

    @cached_property
    def residual(self) -> float:
        """The largest projected gradient, each relative to what its row compares (0/0 = 0)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            relative = np.where(self.free & (self.scale > 0), np.abs(self.gradient) / self.scale, 0.0)
        # An entropy's slope is endless at its ends: there, how far p is from what the violation asks for.
        loss, rows = self.problem.loss, self.problem.loss.entropic
        relative[rows] = np.abs(self.alpha - loss.start(self.violation))[rows] / loss.upper[rows]
        return float(relative.max(initial=0.0))

    @cached_property
    def gap(self) -> float:
        """Primal minus dual objective, summed row by row and so free of cancellation, over 1 + abs(dual)."""
        return float(self.problem.loss.fenchel_gap(self.alpha, self.violation) / (1.0 + abs(self.objective)))

    @cached_property
    def root(self) -> Array:
        """(r, r): a root of W in all coordinates of Φ, W = root·rootᵀ; the identity where no constrained item differs.

        Not the symmetric one of `whole_metric`, but at the price of a triangular inverse.
        """
        basis, identity = self.problem.basis, np.eye(self.problem.rank)
        change = self.inverse_factor.T - identity
        return np.asarray(np.eye(len(basis)) + basis @ change @ basis.T)

    def whole_metric(self) -> tuple[Array, Array]:
        """W and its symmetric root in all r coordinates of Φ; the identity where no constrained item differs."""
        # From S's Cholesky factor, not from W: no negative eigenvalue by rounding, and small ones keep their digits.
        _, roots, directions = interruptible(lambda: np.linalg.svd(self.inverse_factor))
        span = self.problem.basis @ directions.T
        whole = np.eye(len(span))
        return whole + (span * (np.square(roots) - 1.0)) @ span.T, whole + (span * (roots - 1.0)) @ span.T

    def hessian(self, rows: Array) -> Array:
        """−∇² of the dual on these rows: tr(K C_c K C_d) + [c = d]·ψ*_c''."""
        problem = self.problem
        near, far = problem.near[rows], problem.far[rows]
        used, local = np.unique(np.r_[near, far], return_inverse=True)
        near, far = local.reshape(2, -1)
        i, j = problem.pairs[used].T
        moved = self.images[i] - self.images[j]
        squared = moved @ moved.T
        squared *= squared
        m = len(rows)
        factors = np.r_[problem.near_factor[rows], -problem.far_factor[rows]]
        across = sparse.csr_array((factors, (np.r_[:m, :m], local)), shape=(m, len(used)))
        bent = np.asarray(across @ (across @ squared).T)
        own, shared = self._loss_bend
        diagonal = np.diag_indices(m)
        bent[diagonal] = np.maximum(bent[diagonal], 0.0) + own[rows]
        if shared.any():
            group = problem.loss.group[rows]
            bent += np.where(group[:, None] == group[None, :], shared[rows], 0.0)
        return bent

    @cached_property
    def _loss_bend(self) -> tuple[Array, Array]:
        return self.problem.loss.bend(self.alpha)

    @cached_property
    def hessian_diagonal(self) -> Array:
        """(m,): tr(K C_c K C_c) + ψ*_c'' = a² + d² − 2g² + ψ*_c'', with a, d and g as in the one-row step."""
        problem, z, delta = self.problem, self.images, self.squared_distances
        a, d = problem.near_factor * delta[problem.near], problem.far_factor * delta[problem.far]
        (i, j), (k, h) = problem.pairs[problem.near].T, problem.pairs[problem.far].T
        kernel = z @ z.T
        cross = kernel[i, k] - kernel[i, h] - kernel[j, k] + kernel[j, h]
        bend = a * a + d * d - 2.0 * problem.near_factor * problem.far_factor * cross * cross
        own, shared = self._loss_bend
        return np.asarray(np.maximum(bend, 0.0) + own + shared)

    def hessian_product(self, x: Array) -> Array:
        """−∇² of the dual times x: every row of K(Σ_d x_d C_d)K, plus ψ*''·x. Rows enter through gathers only."""
        problem, z = self.problem, self.images
        own, shared = self._loss_bend
        product = problem.sandwich(z, problem.spread(z, x)) + own * x
        if shared.any():
            group = problem.loss.group
            product += shared * np.bincount(group, x)[group]
        return np.asarray(product)


def cholesky(matrix: Array) -> Array | None:
    """The lower Cholesky factor, or None where the matrix is not positive definite."""
    try:
        factor = linalg.cholesky(matrix, lower=True, check_finite=False)
    except linalg.LinAlgError:
        return None
    return factor if np.isfinite(factor).all() else None


def _gather(kernel: Array, i: Array, j: Array) -> tuple[Array, Array]:
    """K_ii + K_jj − 2K_ij of pairs, and K_ii + K_jj beside it."""
    norm = np.diagonal(kernel)
    total = norm[i] + norm[j]
    return total - 2.0 * kernel[i, j], total


def _span(centred: Array) -> tuple[Array, Array]:
    """An orthonormal basis (r, q) of the rows' span and the rows' coordinates (s, q) in it."""
    s, r = centred.shape
    if s > r:
        return np.eye(r), np.ascontiguousarray(centred)
    # Centred, the last row depends on the others: its direction in the QR factorisation is rounding.
    basis, coordinates = np.linalg.qr(centred.T)
    q = max(s - 1, 0)
    return basis[:, :q], np.ascontiguousarray(coordinates[:q].T)


def inverse_lower(factor: Array) -> Array:
    """The inverse of a lower triangular matrix."""
    # LAPACK refuses a matrix without entries.
    return np.asarray(linalg.lapack.dtrtri(factor, lower=1)[0]) if factor.size else factor
