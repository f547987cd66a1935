"""The optimisation problem: value, gradient, Hessian, residual. All the mathematics is here.

With K₀ = ΦΦᵀ and K = ΦWΦᵀ the best kernel solves, over one multiplier α_c for each row,

    maximise  logdet S(α) + bᵀα − Σ_c ψ*_c(α_c),    S(α) = I + Σ_c α_c ΦᵀC_cΦ ≻ 0,    W = S(α)⁻¹.

Rows only see differences of constrained items, so three reductions come first, none of which changes the answer: the
items are centred; coordinates in which no constrained item differs are left out (W is the identity there); and rows are
written over the p distinct *pairs* they mention: with one difference vector d_p a pair and the rows' factors in the
sparse matrix B (m × p), S = I + Σ_p (Bᵀα)_p d_p d_pᵀ.

What depends on α is written in the array API standard and runs where the arrays are: NumPy, or a GPU (`Dual.on`).
The number of rows enters through gathers and sums by index only.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from ..support.interruptible import interruptible
from ..support.numbered import numbered
from .arrays import (
    Array,
    Device,
    cholesky,
    entries,
    inverse_lower,
    namespace,
    placed,
    plus_diagonal,
    sum_by,
    times_inverse,
    to_numpy,
)
from .constraints import Constraints
from .geometry import CANCELLATION, Geometry
from .losses import Conjugate

# From this share of all pairs on, dense products with them are faster than sparse ones.
DENSE = 0.02
# Items closer than this, relative to the spread of all, are taken for copies: their distance is rounding.
COINCIDENT = 1e-13
# Symmetric products are formed for one triangle only, in blocks of so many rows.
BLOCK = 256
# Matrices of size s × s, s × q and q × q, and columns of length m, that are held at one time at most.
HELD = {"ss": 4, "sq": 4, "qq": 14, "m": 40}


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
        self.offset, self.equality = rows.offset, rows.equality
        self._device: Device | None = None
        self._host: Dual | None = None
        self.items, local = numbered(np.stack([rows.near, rows.far]), len(features))
        local = np.sort(local, axis=-1)  # δ(i, j) = δ(j, i): one pair, however it was written
        n_items = max(len(self.items), 1)

        centred = features[self.items] - features[self.items].mean(axis=0) if len(rows) else features[:0]
        self.basis, self.coordinates = _span(centred)
        self.rank = self.coordinates.shape[1]

        #: (p,) where the pairs (i, j), i ≤ j, stand in an s × s matrix whose rows are laid end to end
        self.place, (self.near, self.far) = numbered(local[..., 0] * n_items + local[..., 1], n_items**2)
        self.first, self.second = np.divmod(self.place, n_items)
        squared = self.squared_distances(self.coordinates)
        spread = np.square(self.coordinates).sum(axis=1).max(initial=0.0)
        # Between copies δ = 0 whatever W is: that part of the row is absent.
        apart = squared > COINCIDENT**2 * spread
        self.near_factor = rows.near_factor * apart[self.near]
        self.far_factor = rows.far_factor * apart[self.far]

        #: (m,) rows that compare nothing: only their offset counts
        self.void = (self.near_factor == 0) & (self.far_factor == 0)
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
        other.offset = self.offset / barrier
        other.loss = self.loss.divided(barrier)
        other._host = None if self._host is None else self._host.relaxed(barrier)
        return other

    def weakened(self, factor: float) -> Dual:
        """The same rows, whose violations cost a ``factor`` less."""
        other = copy(self)
        other.loss = self.loss.weakened(factor)
        return other

    def proximal(self, alpha: Array, curvature: Array) -> Dual:
        """The same rows with ½·curvature·(α′ − α)² taken off the dual at α′: a kink of ψ becomes smooth around α."""
        other = copy(self)
        other.offset = self.offset + curvature * alpha
        other.loss = self.loss.proximal(curvature)
        return other

    def on(self, device: Device | None) -> Dual:
        """The same problem with its arrays on another device, if they fit; None: as it is."""
        if device is None:
            return self
        needed, free = self.memory, device.free_memory()
        if free is not None and needed > free:
            raise MemoryError(
                f"the device has {free / 2**30:.1f} GiB of memory free and the problem needs about "
                f"{needed / 2**30:.1f} GiB ({len(self.items)} items, {len(self)} rows); set device=None"
            )
        other = copy(self)
        other.__dict__.pop("unit", None)
        other._device, other._host = device, self
        columns = ("offset", "equality", "near", "far", "near_factor", "far_factor", "void", "initial_scale")
        for name in ("coordinates", "place", "first", "second", *columns):
            setattr(other, name, device.put(getattr(self, name)))
        other.loss = self.loss.on(device)
        return other

    @property
    def single(self) -> Dual:
        """The same problem in NumPy with its matrices in single precision: twice as fast, good for a first guess."""
        other = copy(self.host)
        other.__dict__.pop("unit", None)
        other.coordinates = other.coordinates.astype(np.float32)
        return other

    @property
    def host(self) -> Dual:
        """The same problem in NumPy."""
        return self if self._host is None else self._host

    @property
    def memory(self) -> int:
        """About how many bytes its points take."""
        s, q, m = len(self.items), self.rank, len(self)
        return 8 * int(HELD["ss"] * s * s + HELD["sq"] * s * q + HELD["qq"] * q * q + HELD["m"] * m)

    def put(self, array: Array) -> Array:
        """A NumPy array where the problem's are."""
        return array if self._device is None or not isinstance(array, np.ndarray) else self._device.put(array)

    @property
    def pairs(self) -> Array:
        """(p, 2): the constrained items of every pair."""
        xp = namespace(self.first)
        return xp.stack([self.first, self.second], axis=1)

    def differences(self, pairs: Array) -> Array:
        """d_p = φ_i − φ_j of these pairs, in the reduced coordinates."""
        return self.apart(self.coordinates, self.first[pairs], self.second[pairs])

    def pair_weights(self, alpha: Array) -> Array:
        """Bᵀα: with which factor each pair enters S − I."""
        p = self.place.shape[0]
        return sum_by(self.near, self.near_factor * alpha, p) - sum_by(self.far, self.far_factor * alpha, p)

    def row_sums(self, per_pair: Array) -> Array:
        """B·(one number a pair): near minus far, row by row."""
        xp = namespace(per_pair)
        near, far = xp.take(per_pair, self.near, axis=0), xp.take(per_pair, self.far, axis=0)
        return self.near_factor * near - self.far_factor * far

    def squared_distances(self, images: Array, kernel: Array | None = None) -> Array:
        """(p,): δ of every pair, where the constrained items have these (s, q) images and, if known, this kernel."""
        xp = namespace(images)
        if kernel is None and self.place.shape[0] <= 4 * images.shape[0]:
            return _squares(self.apart(images, self.first, self.second))
        delta, total = self.gather(_upper(images, images) if kernel is None else kernel)
        close = xp.nonzero(delta < CANCELLATION * total)[0]
        if close.shape[0]:
            first, second = xp.take(self.first, close, axis=0), xp.take(self.second, close, axis=0)
            exact = sum_by(close, _squares(self.apart(images, first, second)), delta.shape[0])
            delta = xp.where(delta < CANCELLATION * total, exact, delta)
        return delta

    def sandwich(self, images: Array, middle: Array) -> Array:
        """(m,): tr(Z X Zᵀ C_c) of every row c, for images Z and a symmetric (q, q) matrix X."""
        return self.between(images @ middle, images)

    def between(self, left: Array, right: Array) -> Array:
        """(m,): tr(G C_c) of every row c, for the symmetric (s, s) matrix G = left·rightᵀ."""
        return self.row_sums(self.gather(_upper(left, right))[0])

    def spread(self, images: Array, alpha: Array) -> Array:
        """(q, q): Zᵀ(Σ_c α_c C_c)Z for images Z, the counterpart of `sandwich`.

        Σ_c α_c C_c is the Laplacian of the pairs weighted by Bᵀα.
        """
        xp = namespace(images)
        weight, s = self.pair_weights(alpha), images.shape[0]
        degree = sum_by(self.first, weight, s) + sum_by(self.second, weight, s)
        if xp is not np or len(weight) > DENSE * s * s:
            # Its diagonal and twice its upper triangle do.
            matrix = xp.reshape(placed(self.place, -weight, s * s, images.dtype), (s, s))
            degree = xp.astype(degree, images.dtype)
            upper = xp.concat([matrix[a:b, a:] @ images[a:, :] for a, b in _blocks(s)])
            half = images.T @ (upper + 0.5 * degree[:, None] * images)
            return half + half.T
        above, below, on = (self.first, self.second), (self.second, self.first), (np.arange(s), np.arange(s))
        places = np.concatenate([above, below, on], axis=1)
        laplacian = np.concatenate([-weight, -weight, degree]).astype(images.dtype)
        moved = sparse.csr_array((laplacian, tuple(places)), shape=(s, s)) @ images
        spread = np.empty((images.shape[1],) * 2, images.dtype)
        for a, b in _blocks(len(spread), BLOCK // 2):
            spread[a:b, :b] = images[:, a:b].T @ moved[:, :b]
            spread[:a, a:b] = spread[a:b, :a].T
        return spread

    def curvature_matrix(self, alpha: Array) -> Array:
        """S(α) = I + Σ_c α_c ΦᵀC_cΦ, in the reduced coordinates."""
        return self.spread(self.coordinates, alpha) + self.unit

    @cached_property
    def unit(self) -> Array:
        """The identity, in the reduced coordinates."""
        unit = np.eye(self.rank)
        return self.put(unit) if self._device is not None else unit.astype(self.coordinates.dtype)

    def at(self, alpha: Array) -> Point | None:
        """Everything about one α, or None where S(α) is not positive definite."""
        bent = self.curvature_matrix(alpha)
        factor = cholesky(bent)
        return None if factor is None else Point(self, alpha, bent, factor)

    def apart(self, images: Array, first: Array, second: Array) -> Array:
        """Differences between the images of two lists of items."""
        xp = namespace(images)
        return xp.take(images, first, axis=0) - xp.take(images, second, axis=0)

    def gather(self, gram: Array) -> tuple[Array, Array]:
        """G_ii + G_jj − 2G_ij of every pair, and G_ii + G_jj beside it, for a G whose upper triangle is known."""
        xp = namespace(gram)
        norm = xp.linalg.diagonal(gram)
        total = xp.take(norm, self.first, axis=0) + xp.take(norm, self.second, axis=0)
        return total - 2.0 * entries(gram, self.place), total


@dataclass(frozen=True, eq=False)
class Point(Geometry):
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

    def knowing(self, kernel: Array) -> Point:
        """The same point, where K on the constrained items needs no computing."""
        other = replace(self)
        other.__dict__["kernel"] = kernel
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
        """(m,) bool: rows whose α may still move uphill, not held at the end of its interval."""
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
        """The largest projected gradient, each relative to what its row compares (0/0 = 0)."""
        xp, loss = namespace(self.alpha), self.problem.loss
        if not len(self.problem):
            return 0.0
        compares = self.scale > 0
        relative = xp.where(self.free & compares, abs(self.gradient) / xp.where(compares, self.scale, 1.0), 0.0)
        if loss.has_entropy:
            # An entropy's slope is endless at its ends: there, how far p is from what the violation asks for.
            relative = xp.where(loss.entropic, abs(self.alpha - loss.start(self.violation)) / loss.cap, relative)
        return float(xp.max(relative))

    @cached_property
    def gap(self) -> float:
        """Primal minus dual objective, summed row by row and so free of cancellation, over 1 + abs(dual)."""
        return self.problem.loss.fenchel_gap(self.alpha, self.violation) / (1.0 + abs(self.objective))

    @cached_property
    def root(self) -> Array:
        """(r, r): a root of W in all coordinates of Φ, W = root·rootᵀ; the identity where no constrained item differs.

        Not the symmetric one of `whole_metric`, but at the price of a triangular inverse.
        """
        basis, identity = self.problem.basis, np.eye(self.problem.rank)
        change = to_numpy(self.inverse_factor).T - identity
        return np.asarray(np.eye(len(basis)) + basis @ change @ basis.T)

    def whole_metric(self) -> tuple[Array, Array]:
        """W and its symmetric root in all r coordinates of Φ; the identity where no constrained item differs."""
        # From S's Cholesky factor, not from W: no negative eigenvalue by rounding, and small ones keep their digits.
        inverse = to_numpy(self.inverse_factor)
        _, roots, directions = interruptible(lambda: np.linalg.svd(inverse))
        span = self.problem.basis @ directions.T
        whole = np.eye(len(span))
        return whole + (span * (np.square(roots) - 1.0)) @ span.T, whole + (span * (roots - 1.0)) @ span.T

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
        """Roughly H⁻¹x on the free rows: tr(K C_c K C_d) counts where c = d only, ψ*'' in full."""
        inverse, joined = self._rough_inverse
        scaled = inverse * x
        return scaled if joined is None else scaled - inverse * joined * self.problem.loss.by_group(scaled)

    @cached_property
    def _rough_inverse(self) -> tuple[Array, Array | None]:
        """D⁻¹ and s/(1 + s·Σ D⁻¹), which by Sherman and Morrison make up the inverse of D + s·11ᵀ for each answer."""
        xp, own = namespace(self.alpha), self._own_bend
        inverse = xp.where(self.free & (own > 0), 1.0 / xp.where(own > 0, own, 1.0), 0.0)
        if not self.problem.loss.has_entropy:
            return inverse, None
        shared = self._loss_bend[1]
        return inverse, shared / (1.0 + shared * self.problem.loss.by_group(inverse))

    @cached_property
    def _own_bend(self) -> Array:
        """(m,): tr(K C_c K C_c), and ψ*'' of the row alone."""
        return self.own_products + self._loss_bend[0]

    def hessian_product(self, x: Array) -> Array:
        """−∇² of the dual times x: every row of K(Σ_d x_d C_d)K, plus ψ*''·x. Rows enter through gathers only."""
        problem, z = self.problem, self.images
        own, shared = self._loss_bend
        product = problem.sandwich(z, problem.spread(z, x)) + own * x
        return product + shared * problem.loss.by_group(x) if problem.loss.has_entropy else product


def _blocks(size: int, each: int = BLOCK) -> list[tuple[int, int]]:
    """Where blocks of rows begin and end."""
    return [(a, min(a + each, size)) for a in range(0, size, each)]


def _upper(left: Array, right: Array) -> Array:
    """The upper triangle of the symmetric left·rightᵀ; below it is whatever memory held."""
    xp, s = namespace(left), left.shape[0]
    gram = xp.empty((s, s), dtype=left.dtype, device=left.device)
    for a, b in _blocks(s):
        gram[a:b, a:] = left[a:b, :] @ right[a:, :].T
    return gram


def _squares(vectors: Array) -> Array:
    """(p,): the squared length of each row."""
    if isinstance(vectors, np.ndarray):
        return np.einsum("pq,pq->p", vectors, vectors)  # no copy
    xp = namespace(vectors)
    return xp.sum(xp.square(vectors), axis=1)


def _span(centred: Array) -> tuple[Array, Array]:
    """An orthonormal basis (r, q) of the rows' span and the rows' coordinates (s, q) in it."""
    s, r = centred.shape
    if s > r:
        return np.eye(r), np.ascontiguousarray(centred)
    # Centred, the last row depends on the others: its direction in the QR factorisation is rounding.
    basis, coordinates = np.linalg.qr(centred.T)
    q = max(s - 1, 0)
    return basis[:, :q], np.ascontiguousarray(coordinates[:q].T)
