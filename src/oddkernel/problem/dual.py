"""The dual problem: value, gradient, Hessian, residual.

With K₀ = ΦΦᵀ and K = ΦWΦᵀ, and one multiplier α_c for each row, the optimal kernel solves

    maximise  logdet S(α) + bᵀα − Σ_c ψ*_c(α_c),    S(α) = I + Σ_c α_c ΦᵀC_cΦ ≻ 0,    W = S(α)⁻¹.

Rows depend only on differences of constrained items. This allows three reductions that don't change the optimum:

- the items are centred;
- directions in which no constrained items differ are left out (W is the identity there);
- rows are written over the p distinct *pairs* that they mention. With one difference vector d_p for each pair and the
  rows' factors in the sparse matrix B (m × p), S = I + Σ_p (Bᵀα)_p d_p d_pᵀ.

Everything that depends on α uses the array API standard and runs where the arrays are: NumPy, or a GPU (`Dual.on`).
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

# From this share of all pairs on, matrix products are dense and not sparse. Chosen by hand; only speed depends on it.
DENSE = 0.02
# Items closer than this, relative to the extent of all, count as copies. Derived: a few hundred times float64's
# precision, so that their computed distance is only rounding.
COINCIDENT = 1e-13
# Rows of a block of a symmetric product, of which one triangle is formed. Chosen by hand; only speed depends on it.
BLOCK = 256
# Upper bounds on the number of matrices of size s × s, s × q and q × q, and of columns of length m, held at a time.
# Counted by hand; used to check a device's memory.
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
        local = np.sort(local, axis=-1)  # δ(i, j) = δ(j, i), so that (i, j) and (j, i) are one pair
        n_items = max(len(self.items), 1)

        centred = features[self.items] - features[self.items].mean(axis=0) if len(rows) else features[:0]
        self.basis, self.coordinates = _span(centred)
        self.rank = self.coordinates.shape[1]

        #: (p,) index of each pair (i, j), i ≤ j, in a flattened s × s matrix
        self.place, (self.near, self.far) = numbered(local[..., 0] * n_items + local[..., 1], n_items**2)
        self.first, self.second = np.divmod(self.place, n_items)
        squared = self.squared_distances(self.coordinates)
        spread = np.square(self.coordinates).sum(axis=1).max(initial=0.0)
        # Between copies δ = 0 for every W, so that this part of the row is absent.
        apart = squared > COINCIDENT**2 * spread
        self.near_factor = rows.near_factor * apart[self.near]
        self.far_factor = rows.far_factor * apart[self.far]

        #: (m,) rows with neither part: they consist of their offset alone
        self.void = (self.near_factor == 0) & (self.far_factor == 0)
        near, far = self.near_factor * squared[self.near], self.far_factor * squared[self.far]
        #: (m,) the scale of each row before learning: near_factor·δ_near + far_factor·δ_far + abs(b)
        self.initial_scale = near + far + np.abs(rows.offset)
        #: the largest factor by which a squared distance must grow for its row to hold: b/(far_factor·δ_far)
        self.growth = float((rows.offset[far > 0] / far[far > 0]).max(initial=0.0))

    def hardened(self, part: Array) -> Dual:
        """The problem with these rows only, as hard constraints."""
        rows = self.rows[part]
        return Dual(self.features, rows, Conjugate.hard(rows.equality))

    def __len__(self) -> int:
        return len(self.rows)

    def relaxed(self, barrier: float) -> Dual:
        """The same rows with logdet S weighted by ``barrier``, and all divided by it: offsets and ψ* count less.

        Its optimum tends to α = 0 as the barrier grows, and at 1 it is the optimum of this problem. This central path
        leads to rows that ask for distances far from those of K₀.
        """
        other = copy(self)
        other.offset = self.offset / barrier
        other.loss = self.loss.divided(barrier)
        other._host = None if self._host is None else self._host.relaxed(barrier)
        return other

    def weakened(self, factor: float) -> Dual:
        """The same rows with the loss divided by ``factor``."""
        other = copy(self)
        other.loss = self.loss.weakened(factor)
        return other

    def proximal(self, alpha: Array, curvature: Array) -> Dual:
        """The dual minus the proximal term ½·curvature·(α′ − α)² at α′, which smooths a kink of ψ."""
        other = copy(self)
        other.offset = self.offset + curvature * alpha
        other.loss = self.loss.proximal(curvature)
        return other

    def on(self, device: Device | None) -> Dual:
        """The same problem with its arrays on another device, if they fit; for None, the problem itself."""
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
        """The same problem in NumPy with its matrices in single precision: twice as fast, for the first steps."""
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
        """Approximate number of bytes that its points need."""
        s, q, m = len(self.items), self.rank, len(self)
        return 8 * int(HELD["ss"] * s * s + HELD["sq"] * s * q + HELD["qq"] * q * q + HELD["m"] * m)

    def put(self, array: Array) -> Array:
        """Copy a NumPy array to the device of the problem's arrays."""
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
        """(p,): Bᵀα, the factor of each pair in S − I."""
        p = self.place.shape[0]
        return sum_by(self.near, self.near_factor * alpha, p) - sum_by(self.far, self.far_factor * alpha, p)

    def row_sums(self, per_pair: Array) -> Array:
        """(m,): B times one number for each pair: near minus far, for each row."""
        xp = namespace(per_pair)
        near, far = xp.take(per_pair, self.near, axis=0), xp.take(per_pair, self.far, axis=0)
        return self.near_factor * near - self.far_factor * far

    def squared_distances(self, images: Array, kernel: Array | None = None) -> Array:
        """(p,): δ of every pair, for these (s, q) images of the constrained items and, if known, their kernel."""
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
            # The diagonal and twice the upper triangle suffice.
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
        """The point at α, or None if S(α) is not positive definite."""
        bent = self.curvature_matrix(alpha)
        factor = cholesky(bent)
        return None if factor is None else Point(self, alpha, bent, factor)

    def apart(self, images: Array, first: Array, second: Array) -> Array:
        """Differences between the images of two lists of items."""
        xp = namespace(images)
        return xp.take(images, first, axis=0) - xp.take(images, second, axis=0)

    def gather(self, gram: Array) -> tuple[Array, Array]:
        """G_ii + G_jj − 2G_ij and G_ii + G_jj of every pair, from the upper triangle of G."""
        xp = namespace(gram)
        norm = xp.linalg.diagonal(gram)
        total = xp.take(norm, self.first, axis=0) + xp.take(norm, self.second, axis=0)
        return total - 2.0 * entries(gram, self.place), total


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

    def knowing(self, kernel: Array) -> Point:
        """The same point with K on the constrained items given."""
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
        """The largest projected gradient, each relative to the scale of its row (0/0 = 0)."""
        xp, loss = namespace(self.alpha), self.problem.loss
        if not len(self.problem):
            return 0.0
        compares = self.scale > 0
        relative = xp.where(self.free & compares, abs(self.gradient) / xp.where(compares, self.scale, 1.0), 0.0)
        if loss.has_entropy:
            # The slope of an entropy is infinite at its ends. There, the distance of p from its optimum is used.
            relative = xp.where(loss.entropic, abs(self.alpha - loss.start(self.violation)) / loss.cap, relative)
        return float(xp.max(relative))

    @cached_property
    def gap(self) -> float:
        """Duality gap over 1 + abs(dual), summed by row and therefore free of cancellation."""
        return self.problem.loss.fenchel_gap(self.alpha, self.violation) / (1.0 + abs(self.objective))

    @cached_property
    def root(self) -> Array:
        """(r, r): a root of W in all coordinates of Φ, W = root·rootᵀ; the identity where no constrained items differ.

        It is triangular on the reduced coordinates, and cheaper than the symmetric root of `whole_metric`.
        """
        basis, identity = self.problem.basis, np.eye(self.problem.rank)
        change = to_numpy(self.inverse_factor).T - identity
        return np.asarray(np.eye(len(basis)) + basis @ change @ basis.T)

    def whole_metric(self) -> tuple[Array, Array]:
        """W and its symmetric root in all r coordinates of Φ; the identity where no constrained items differ."""
        # From the Cholesky factor of S and not from W: rounding then makes no eigenvalue negative, and small
        # eigenvalues keep their relative precision.
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


def _blocks(size: int, each: int = BLOCK) -> list[tuple[int, int]]:
    """Start and end of each block of rows."""
    return [(a, min(a + each, size)) for a in range(0, size, each)]


def _upper(left: Array, right: Array) -> Array:
    """The upper triangle of the symmetric left·rightᵀ; the lower one is uninitialised."""
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
    # The rows are centred, so that the last depends on the others: its direction in a QR factorisation is rounding.
    basis, coordinates = np.linalg.qr(centred.T)
    q = max(s - 1, 0)
    return basis[:, :q], np.ascontiguousarray(coordinates[:q].T)
