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
from functools import cached_property

import numpy as np
from scipy import sparse

from ..support.numbered import numbered
from .arrays import Array, Device, cholesky, namespace, placed, plus_diagonal, sum_by
from .constraints import Constraints
from .distances import BLOCK, PLENTY, apart, blocks, from_products, gathered, squares, upper, upper_times
from .losses import Conjugate
from .point import Point

# From this share of all pairs on, matrix products are dense and not sparse. Chosen by hand; only speed depends on it.
DENSE = 0.02
# Items closer than this, relative to the extent of all, count as copies. Derived: a few hundred times float64's
# precision, so that their computed distance is only rounding.
COINCIDENT = 1e-13
# Directions in which items extend by less than this share of the largest extent are mostly rounding. Derived: features
# of a kernel come from the eigenvalues of a matrix, known to float64's precision, and extents are their roots.
RESOLVED = 1e-8
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
        #: the distance of the farthest item from the centre, before learning
        self.extent = float(np.sqrt(np.square(self.coordinates).sum(axis=1).max(initial=0.0)))
        # Between copies δ = 0 for every W, so that this part of the row is absent.
        apart = squared > (COINCIDENT * self.extent) ** 2
        self.near_factor = rows.near_factor * apart[self.near]
        self.far_factor = rows.far_factor * apart[self.far]

        #: (m,) rows with neither part: they consist of their offset alone
        self.void = (self.near_factor == 0) & (self.far_factor == 0)
        near, far = self.near_factor * squared[self.near], self.far_factor * squared[self.far]
        #: (m,) the scale of each row before learning: near_factor·δ_near + far_factor·δ_far + abs(b)
        self.initial_scale = near + far + np.abs(rows.offset)
        #: (m,) near_factor·δ_near − far_factor·δ_far of each row before learning
        self.initial_excess = near - far

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

    def under(self, loss: Conjugate) -> Dual:
        """The same rows with another loss."""
        other = copy(self)
        other.loss = loss
        return other

    def weakened(self, factor: float) -> Dual:
        """The same rows with the loss divided by ``factor``."""
        return self.under(self.loss.weakened(factor))

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
        columns = ("offset", "equality", "near", "far", "near_factor", "far_factor", "void")
        for name in ("coordinates", "place", "first", "second", *columns, "initial_scale", "initial_excess"):
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
    def whitened(self) -> Dual:
        """The rows in NumPy, hard and without offsets, over coordinates that extend equally in every direction.

        Directions below RESOLVED are left out: as long as the others, they would be mostly rounding.
        """
        other = copy(self.host)
        other.__dict__.pop("unit", None)
        directions, extents, _ = np.linalg.svd(other.coordinates, full_matrices=False)
        other.coordinates = directions[:, extents > RESOLVED * extents.max(initial=0.0)]
        other.rank = other.coordinates.shape[1]
        other.offset = np.zeros(len(self))
        other.loss = Conjugate.hard(other.equality)
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
        return apart(self.coordinates, self.first[pairs], self.second[pairs])

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
        if kernel is None and self.place.shape[0] <= PLENTY * images.shape[0]:
            return squares(apart(images, self.first, self.second))
        return from_products(upper(images, images) if kernel is None else kernel, images, self.first, self.second)

    def sandwich(self, images: Array, middle: Array) -> Array:
        """(m,): tr(Z X Zᵀ C_c) of every row c, for images Z and a symmetric (q, q) matrix X."""
        return self.between(images @ middle, images)

    def between(self, left: Array, right: Array) -> Array:
        """(m,): tr(G C_c) of every row c, for the symmetric (s, s) matrix G = left·rightᵀ."""
        return self.row_sums(self.gather(upper(left, right))[0])

    def spread(self, images: Array, alpha: Array) -> Array:
        """(q, q): Zᵀ(Σ_c α_c C_c)Z for images Z, the counterpart of `sandwich`.

        Σ_c α_c C_c is the Laplacian of the pairs weighted by Bᵀα.
        """
        xp = namespace(images)
        weight, s = self.pair_weights(alpha), images.shape[0]
        degree = sum_by(self.first, weight, s) + sum_by(self.second, weight, s)
        if xp is not np or len(weight) > DENSE * s * s:
            # Half the diagonal and the upper triangle suffice.
            matrix = xp.reshape(placed(self.place, -weight, s * s, images.dtype), (s, s))
            matrix = plus_diagonal(matrix, xp.astype(0.5 * degree, images.dtype))
            half = images.T @ upper_times(matrix, images)
            return half + half.T
        above, below, on = (self.first, self.second), (self.second, self.first), (np.arange(s), np.arange(s))
        places = np.concatenate([above, below, on], axis=1)
        laplacian = np.concatenate([-weight, -weight, degree]).astype(images.dtype)
        moved = sparse.csr_array((laplacian, tuple(places)), shape=(s, s)) @ images
        spread = np.empty((images.shape[1],) * 2, images.dtype)
        for a, b in blocks(len(spread), BLOCK // 2):
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

    @property
    def origin(self) -> Point:
        """The point at α = 0, where S is the identity."""
        return Point(self, namespace(self.offset).zeros_like(self.offset), self.unit, self.unit)

    def at(self, alpha: Array) -> Point | None:
        """The point at α, or None if S(α) is not positive definite."""
        bent = self.curvature_matrix(alpha)
        factor = cholesky(bent)
        return None if factor is None else Point(self, alpha, bent, factor)

    def gather(self, gram: Array) -> tuple[Array, Array]:
        """G_ii + G_jj − 2G_ij and G_ii + G_jj of every pair, from the upper triangle of G."""
        return gathered(gram, self.first, self.second, self.place)


def _span(centred: Array) -> tuple[Array, Array]:
    """An orthonormal basis (r, q) of the rows' span and the rows' coordinates (s, q) in it."""
    s, r = centred.shape
    if s >= r:  # at most one direction could be left out
        return np.eye(r), np.ascontiguousarray(centred)
    # The rows are centred, so that the last depends on the others: its direction in a QR factorisation is rounding.
    basis, coordinates = np.linalg.qr(centred.T)
    q = max(s - 1, 0)
    return basis[:, :q], np.ascontiguousarray(coordinates[:q].T)
