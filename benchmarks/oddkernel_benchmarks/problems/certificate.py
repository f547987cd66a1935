"""Independent checks in plain NumPy: whether a kernel is the optimum, and whether answers contradict each other.

Nothing here uses oddkernel's dual, losses or solvers. Rows, losses and conjugates are implemented again from the
formulas in *The mathematics*, so that an error in one implementation does not hide in the other.
"""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import dataclass, fields
from importlib import import_module
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import xlogy

from oddkernel import Comparisons
from oddkernel.comparisons import Kind

Array = npt.NDArray[Any]

# Items closer than this, relative to the extent of all, are copies, as in oddkernel's dual: their distance is rounding.
COPIES = 1e-13
# Directions in which items extend by less than this share of the largest extent are mostly rounding: features of a
# kernel come from the eigenvalues of a matrix, known to float64's precision, and extents are their roots.
RESOLVED = 1e-8
# Eigenvalues of the metric below this share of the largest are taken from S = W⁻¹: in W they have lost most digits.
LOST = 1e-9
# The relative error of coordinates and of sums of squares: float64's precision over some thousands of terms.
ROUNDING = 1e-14
# A contradiction is checked by a semidefinite program up to this many dimensions. Chosen by hand, to bound the time.
LARGEST = 60
# Rows contradict each other if the smallest eigenvalue of a metric of trace 1 can't exceed this. Chosen by hand, above
# the tolerance of the conic solver.
SINGULAR = 1e-6


@dataclass(frozen=True, eq=False)
class Rows:
    """near_factor·δ(near) − far_factor·δ(far) + offset ≤ 0, or = 0: one row each, as columns."""

    near: Array
    far: Array
    near_factor: Array
    far_factor: Array
    offset: Array
    equality: Array
    weight: Array
    answer: Array

    @classmethod
    def of(cls, said: Comparisons, ratio: float, margin: float, bounds: tuple[float, float] = (np.nan, np.nan)) -> Rows:
        """The rows of answers; ``bounds`` are the bounds of links without their own."""
        rows: list[tuple[Any, ...]] = []
        columns = zip(said.kind, said.shown.tolist(), said.odd, said.bound, said.weight, strict=True)
        for answer, (kind, shown, odd, bound, weight) in enumerate(columns):
            rows += [(*row, weight, answer) for row in _meaning(kind, shown, odd, bound, ratio, margin, bounds)]
        columns_of = list(zip(*rows, strict=True)) if rows else [()] * len(fields(cls))
        types = (np.intp, np.intp, float, float, float, bool, float, np.intp)
        near, far, *others = (np.array(column, dtype=kind) for column, kind in zip(columns_of, types, strict=True))
        return cls(near.reshape(-1, 2), far.reshape(-1, 2), *others)

    def __len__(self) -> int:
        return len(self.offset)

    def about(self, answers: list[int]) -> Rows:
        """The rows of these answers."""
        part = np.isin(self.answer, answers)
        return Rows(**{each.name: getattr(self, each.name)[part] for each in fields(self)})

    def sides(self, coordinates: Array, apart: tuple[Array, Array]) -> tuple[Array, Array]:
        """near_factor·δ(near) and far_factor·δ(far) of items with these coordinates; 0 where copies are not apart."""
        near, far = (np.square(coordinates[i] - coordinates[j]).sum(axis=1) for i, j in (self.near.T, self.far.T))
        return self.near_factor * near * apart[0], self.far_factor * far * apart[1]

    def apart(self, features: Array) -> tuple[Array, Array]:
        """Which near and far pairs are not copies."""
        used = np.unique(np.concatenate([self.near, self.far]))
        spread = np.square(features[used] - features[used].mean(axis=0)).sum(axis=1).max(initial=0.0)
        near, far = (np.square(features[i] - features[j]).sum(axis=1) for i, j in (self.near.T, self.far.T))
        return near > COPIES**2 * spread, far > COPIES**2 * spread

    def beyond(self, features: Array) -> Array:
        """Rows that require a distance between copies. SKLR refuses them, although 0 ≤ 0 holds for three copies."""
        asks = (self.near_factor > 0) | (self.offset > 0)
        return ~self.equality & (self.far_factor > 0) & ~self.apart(features)[1] & asks


def _meaning(
    kind: int, shown: list[int], odd: int, bound: float, ratio: float, margin: float, bounds: tuple[float, float]
) -> list[tuple[Any, ...]]:
    """(near, far, near_factor, far_factor, offset, equality) of one answer's rows, in the order of the multipliers."""
    a, b, c = shown
    match Kind(kind):
        case Kind.ODD_ONE_OUT if odd < 0:
            a, b, c = sorted(shown)
            pairs = ((a, b), (a, c)), ((a, b), (b, c)), ((a, c), (b, c))
            return [(near, far, 1.0, 1.0, 0.0, True) for near, far in pairs]
        case Kind.ODD_ONE_OUT:
            k = shown[odd]
            i, j = sorted(item for item in shown if item != k)
            return [((i, j), (end, k), ratio, 1.0, margin, False) for end in (i, j)]
        case Kind.MOST_CENTRAL:
            b, c = sorted((b, c))
            return [((end, a), (b, c), ratio, 1.0, margin, False) for end in (b, c)]
        case Kind.CLOSER:
            return [((a, b), (a, c), ratio, 1.0, margin, False)]
        case Kind.EQUALLY_CLOSE:
            b, c = sorted((b, c))
            return [((a, b), (a, c), 1.0, 1.0, 0.0, True)]
        case Kind.MUST_LINK:
            return [((a, b), (a, b), 1.0, 0.0, -(bounds[0] if np.isnan(bound) else bound), False)]
        case Kind.CANNOT_LINK:
            return [((a, b), (a, b), 0.0, 1.0, bounds[1] if np.isnan(bound) else bound, False)]
    raise AssertionError(kind)


@dataclass(frozen=True)
class Cost:
    """ψ of every row: loss, λ, and s, the temperature of logistic and softmax. λ = inf: hard rows."""

    loss: str
    penalty: float
    scale: float

    def evaluate(self, rows: Rows, t: Array, alpha: Array, compared: Array, blur: Array) -> tuple[float, float, float]:
        """Σψ(t), Σψ*(α) and the residual of rows with these violations and multipliers.

        The residual of a row is what exceeds ``blur``, relative to ``compared``. The loss of a hard row counts as
        0: the residual measures its violation.
        """
        entropic = self.loss in ("logistic", "softmax") and np.isfinite(self.penalty)
        strength = (self.penalty / self.scale if entropic else self.penalty) * rows.weight
        lower, upper = np.where(rows.equality, -np.inf, 0.0), np.full(len(rows), np.inf)
        slope, cost, conjugate = np.zeros(len(rows)), np.zeros(len(rows)), np.zeros(len(rows))
        pulled = np.where(rows.equality, t, np.maximum(t, 0.0))
        if self.loss == "squared" and np.isfinite(self.penalty):
            slope, cost, conjugate = alpha / strength, 0.5 * strength * pulled**2, 0.5 * alpha**2 / strength
        elif self.loss == "hinge" and np.isfinite(self.penalty):
            lower, upper, cost = np.where(rows.equality, -strength, 0.0), strength, strength * np.abs(pulled)
        elif entropic:  # equalities get the parabola with the same curvature
            stiff = strength / (4.0 * self.scale)
            slope, cost, conjugate = alpha / stiff, 0.5 * stiff * t**2, 0.5 * alpha**2 / stiff
        gradient = t - slope
        held = ((alpha <= lower) & (gradient <= 0)) | ((alpha >= upper) & (gradient >= 0))
        rounding = 1e-12 * np.where(np.isfinite(upper), upper, 0.0)
        assert ((alpha >= lower - rounding) & (alpha <= upper + rounding)).all(), "a multiplier is out of its interval"
        divisor = np.where(compared > 0, compared, 1.0)
        beyond = np.maximum(np.abs(gradient) - blur, 0.0)
        residual = np.where(held | (compared == 0), 0.0, beyond / divisor)
        if entropic:
            mine = np.flatnonzero(~rows.equality)
            parts = self._likelihood(rows.answer[mine], strength[mine], t[mine], alpha[mine])
            cost[mine], conjugate[mine], residual[mine] = parts
        return float(cost.sum()), float(conjugate.sum()), float(residual.max(initial=0.0))

    def _likelihood(self, answer: Array, strength: Array, t: Array, alpha: Array) -> tuple[Array, Array, Array]:
        """ψ, ψ* and the residual of logistic and softmax rows; the first row of an answer holds the shared parts."""
        group = answer if self.loss == "softmax" else np.arange(len(t))
        _, first, group = np.unique(group, return_index=True, return_inverse=True)
        z, p = t / self.scale, alpha / strength
        top = np.zeros(len(first))
        np.maximum.at(top, group, z)
        log_total = top + np.log(np.exp(-top) + np.bincount(group, np.exp(z - top[group]), len(first)))
        rest = 1.0 - np.bincount(group, p, len(first))
        assert (p >= 0).all(), "a multiplier of a likelihood is negative"
        assert (rest >= -1e-12).all(), "the multipliers of an answer exceed its weight"
        rest = np.maximum(rest, 0.0)
        cost, conjugate = np.zeros(len(t)), strength * self.scale * xlogy(p, p)
        cost[first] = strength[first] * self.scale * log_total
        conjugate[first] += strength[first] * self.scale * xlogy(rest, rest)
        return cost, conjugate, np.abs(p - np.exp(z - log_total[group]))


@dataclass(frozen=True)
class Certificate:
    """Bounds on the distance of a kernel from the optimum.

    Attributes
    ----------
    primal, dual : float
        D_ld(W, I) + Σψ at the kernel, and the dual objective at the multipliers: the optimum lies between them.
    rounding : float
        What the loss changes when every violation grows by the rounding of its distances: the primal is known only
        that well.
    residual : float
        As `oddkernel` defines it, from the kernel's own distances.
    divergence : float
        D_ld(W, I).
    moved : float
        The Frobenius norm of W − I.
    """

    primal: float
    dual: float
    rounding: float
    residual: float
    divergence: float
    moved: float

    @property
    def gap(self) -> float:
        """abs(primal − dual)/(1 + abs(dual)), beyond the rounding.

        The primal may be smaller, as the residual allows violated hard rows.
        """
        return max(abs(self.primal - self.dual) - self.rounding, 0.0) / (1.0 + abs(self.dual))


def certify(
    features: Array, coordinates: Array, metric: Array, multipliers: Array, rows: Rows, cost: Cost
) -> Certificate:
    """The certificate of a learned metric.

    Parameters
    ----------
    features, coordinates : (n, r) arrays
        Φ, and the items in coordinates in which the learned distance is Euclidean.
    metric : (r, r) array
        W.
    multipliers : (m,) array
        α of each row.
    """
    apart = rows.apart(features)
    near, far = rows.sides(coordinates, apart)
    violation, compared = near - far + rows.offset, near + far + np.abs(rows.offset)
    values = np.linalg.eigvalsh(metric)
    asked = features[np.unique(np.concatenate([rows.near, rows.far]))]
    extent = np.square(asked - asked.mean(axis=0)).sum(axis=1).max(initial=0.0) * values.max(initial=0.0)
    blurred = np.sqrt(rows.near_factor * near) + np.sqrt(rows.far_factor * far)
    blur = ROUNDING * (compared + np.sqrt(extent) * blurred)
    paid, conjugate, residual = cost.evaluate(rows, violation, multipliers, compared, blur)
    grown = violation + np.where(violation < 0, -blur, blur)
    more, _, _ = cost.evaluate(rows, grown, multipliers, compared, blur)
    sign, log_determinant = np.linalg.slogdet(_bent(features, rows, multipliers, apart))
    if sign <= 0:
        # Multipliers this large cancel in S, and leave rounding: it must explain how WS differs from the identity.
        # W = LLᵀ may have lost its smallest eigenvalues, too. L has not: its singular values are their roots.
        root = np.linalg.lstsq(features, coordinates)[0]
        assert np.allclose(root @ root.T, metric, rtol=0.0, atol=1e-9 * values[-1]), "the coordinates are not W's"
        _, sizes, axes = np.linalg.svd(root)
        values, moved = np.square(sizes[::-1]), coordinates @ axes[::-1].T
        off = np.diag(values - 1.0)
        for pairs, weight in ((rows.near, rows.near_factor * apart[0]), (rows.far, -rows.far_factor * apart[1])):
            u = moved[pairs[:, 0]] - moved[pairs[:, 1]]
            off += (u * (weight * multipliers)[:, None]).T @ u
        assert np.linalg.norm(off) <= np.abs(multipliers) @ blur, "S(α) is not positive definite"
        log_determinant = -np.log(values).sum()
    kept = len(values) == 0 or values[0] > LOST * values[-1]
    divergence = values.sum() - len(values) + (-np.log(values).sum() if kept else log_determinant)
    dual = log_determinant + rows.offset @ multipliers - conjugate
    moved = float(np.linalg.norm(metric - np.eye(len(metric))))
    return Certificate(float(divergence + paid), float(dual), more - paid, residual, float(divergence), moved)


def _bent(features: Array, rows: Rows, multipliers: Array, apart: tuple[Array, Array]) -> Array:
    """S(α) = I + Σ_c α_c ΦᵀC_cΦ: Σ_c α_c C_c is the Laplacian of the pairs with these weights."""
    laplacian = np.zeros((len(features), len(features)))
    for pairs, weight in ((rows.near, rows.near_factor * apart[0]), (rows.far, -rows.far_factor * apart[1])):
        i, j = pairs.T
        np.add.at(laplacian, (i, j), -weight * multipliers)
        np.add.at(laplacian, (j, i), -weight * multipliers)
    np.fill_diagonal(laplacian, np.diagonal(laplacian) - laplacian.sum(axis=1))
    used = np.flatnonzero(laplacian.any(axis=1))
    if not len(used):
        return np.eye(features.shape[1])
    centred = features[used] - features[used].mean(axis=0)
    return np.asarray(np.eye(features.shape[1]) + centred.T @ (laplacian[np.ix_(used, used)] @ centred))


def room(features: Array, rows: Rows) -> float | None:
    """The largest possible smallest eigenvalue of a metric that satisfies the rows: 0 if they contradict each other.

    A semidefinite program finds the largest τ with W ⪰ τI, h ≥ τ and tr W + h ≤ 1 such that W/h satisfies every row. W
    is over whitened coordinates of the items that the rows mention. None if there are too many dimensions, or if the
    program is not solved.
    """
    cp: Any = import_module("cvxpy")  # not fully typed
    used, local = np.unique(np.concatenate([rows.near, rows.far]), return_inverse=True)
    near, far = np.split(local.reshape(-1, 2), 2)
    centred = features[used] - features[used].mean(axis=0)
    vectors, sizes, _ = np.linalg.svd(centred, full_matrices=False)
    z = vectors[:, sizes > RESOLVED * max(sizes.max(initial=0.0), np.finfo(float).tiny)]
    if z.shape[1] > LARGEST:
        return None
    apart = rows.apart(features)
    u, v = (z[pair[:, 0]] - z[pair[:, 1]] for pair in (near, far))
    outer = "ci,cj,c->cij"
    matrices = np.einsum(outer, u, u, rows.near_factor * apart[0]) - np.einsum(outer, v, v, rows.far_factor * apart[1])
    flat = matrices.reshape(len(rows), -1)
    size = np.linalg.norm(flat, axis=1)
    size[size == 0] = 1.0
    offset = rows.offset / size
    offset = offset / (np.abs(offset).max(initial=0.0) or 1.0)  # the unit of h is free
    q = z.shape[1]
    least, unit, metric = cp.Variable(), cp.Variable(), cp.Variable((max(q, 1), max(q, 1)), symmetric=True)
    entries, flat = cp.vec(metric, order="C"), flat / size[:, None] if q else np.zeros((len(rows), 1))
    held = [metric - least * np.eye(max(q, 1)) >> 0, unit >= least, cp.trace(metric) + unit <= 1]
    # Redundant equalities, such as the three of *can't tell*, make interior-point solvers fail.
    _, strength, independent = np.linalg.svd(flat[rows.equality], full_matrices=False)
    independent = independent[strength > 1e-10 * strength.max(initial=0.0)]
    held += [independent @ entries == 0] if len(independent) else []
    other = np.flatnonzero(~rows.equality)
    held += [flat[other] @ entries + offset[other] * unit <= 0] if len(other) else []
    program = cp.Problem(cp.Maximize(least), held)
    with warnings.catch_warnings(), contextlib.suppress(cp.SolverError):
        warnings.simplefilter("ignore")  # CVXPY warns that the solution may be inaccurate
        program.solve(solver=cp.CLARABEL)
    return None if least.value is None else float(least.value)
