"""Random small problems, and CVXPY's answer to them.

Answers are drawn from a hidden metric that is not far from the initial one. Hard problems hold only answers that the
hidden metric gives: it is feasible, so that its divergence bounds the optimum's. Noisy problems mix in answers and
links drawn at random, which may contradict the others.
"""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import cvxpy as cp
import numpy as np
import numpy.typing as npt
import pytest

from oddkernel import Comparisons
from oddkernel.learning.recipe import Recipe
from oddkernel.problem.constraints import Constraints
from oddkernel.problem.dual import Dual
from oddkernel.problem.losses import LOSSES
from oddkernel.problem.point import Point

Array = npt.NDArray[Any]

FARTHEST = 30.0  # divergence of the hidden metric
SCALE = 0.3  # of losses that have a unit of distance


def seeds(n: int) -> list[Any]:
    """0, …, n − 1 as a test's parameter; all but the first are slow."""
    return [pytest.param(seed, marks=[pytest.mark.slow] if seed else []) for seed in range(n)]


@dataclass(frozen=True)
class Problem:
    """Features Φ (n, r) of a few items and what was said about them."""

    features: Array
    said: Comparisons
    ratio: float = 1.0
    margin: float = 0.0

    @property
    def rows(self) -> Constraints:
        return Constraints.from_comparisons(self.said, ratio=self.ratio, margin=self.margin)

    def dual(self, penalty: float = np.inf, loss: str = "squared") -> Dual:
        rows = self.rows
        conjugate = LOSSES[loss].conjugate(rows.weight, rows.equality, penalty, temperature=SCALE, answer=rows.answer)
        return Dual(self.features, rows, conjugate)

    def saying(self, said: Comparisons) -> Problem:
        return replace(self, said=said)


@cache  # many tests ask for the same ones
def random_problem(seed: int, *, noisy: bool = False) -> Problem:
    """Up to 12 items: plain, with copies, collinear ones, or of rank 2; answers of all kinds, some of them repeated."""
    rng = np.random.default_rng(seed)
    features = random_features(rng)
    hidden, alike = hidden_metric(features, rng)
    problem = Problem(features, Comparisons.empty(), ratio=rng.choice([1.0, 2.0, 4.0]), margin=rng.choice([0.0, 0.1]))
    said = _consistent_answers(problem, squared_distances(features, hidden), alike, rng)
    if noisy:
        said += _random_answers(squared_distances(features, np.eye(features.shape[1])), rng)
    if rng.random() < 0.3:
        said += said[:3]
    return problem.saying(said[rng.permutation(len(said))])


def random_features(rng: np.random.Generator) -> Array:
    """Φ of a Gaussian or linear kernel, with a mean squared norm of 1."""
    n = int(rng.integers(4, 13))
    points = rng.normal(size=(n, rng.integers(1, 4)))
    shape = rng.choice(["plain", "copies", "collinear", "rank 2"])
    if shape == "copies":
        points[1] = points[0]
    if shape == "collinear":
        points[2] = (points[0] + points[3]) / 2
    centred = points - points.mean(axis=0)
    kernel = centred @ centred.T
    if rng.random() < 0.6:
        squared = squared_distances(points, np.eye(points.shape[1]))
        kernel = np.exp(-squared / np.median(squared[squared > 0]))
    values, vectors = np.linalg.eigh(kernel)
    kept = np.flatnonzero(values > 1e-6 * values[-1])
    kept = kept[-2:] if shape == "rank 2" else kept
    return np.asarray(vectors[:, kept] * np.sqrt(n * values[kept] / values[kept].sum()))


def squared_distances(features: Array, metric: Array) -> Array:
    kernel = features @ metric @ features.T
    norm = np.diagonal(kernel)
    return np.asarray(np.maximum(norm[:, None] + norm - 2 * kernel, 0.0))


def divergence(metric: Array) -> float:
    """D_ld(W, I), as it is written."""
    return float(np.trace(metric) - np.linalg.slogdet(metric)[1] - len(metric))


def hidden_metric(features: Array, rng: np.random.Generator) -> tuple[Array, Array | None]:
    """A metric, and three items that are equally far from one another in it, or None."""
    n, r = features.shape
    for _ in range(20 if r > 1 else 0):
        alike = rng.choice(n, 3, replace=False)
        sides = features[alike[1:]] - features[alike[0]]
        basis, triangle = np.linalg.qr(sides.T, mode="complete")
        if abs(triangle[1, 1]) < 0.1 * abs(triangle[0, 0]):
            continue
        equilateral = np.linalg.norm(sides) * np.array([[1.0, 0.5], [0.0, np.sqrt(0.75)]])
        stretched = np.eye(r)
        stretched[:2, :2] = equilateral @ np.linalg.inv(triangle[:2, :2])
        metric = basis @ stretched.T @ stretched @ basis.T
        if divergence(metric) <= FARTHEST:
            return metric, alike
    stretched = np.eye(r) + 0.3 * rng.normal(size=(r, r))
    return stretched.T @ stretched + 0.1 * np.eye(r), None


def _consistent_answers(problem: Problem, delta: Array, alike: Array | None, rng: np.random.Generator) -> Comparisons:
    said = Comparisons.empty()
    if alike is not None:
        said += Comparisons.odd_one_out(np.tile(alike, (2, 1)), [-1, -1])
    wanted = len(said) + rng.integers(1, 12)
    for _ in range(100):
        i, j, k = rng.permutation(len(delta))[:3]
        weight = rng.choice([0.5, 1.0, 2.0])
        one = [
            Comparisons.odd_one_out([[i, j, k]], [rng.integers(3)], weight=weight),
            Comparisons.closer([i], [j], [k], weight=weight),
            Comparisons.must_link([[i, j]], 1.2 * delta[i, j] + 0.01, weight=weight),
            Comparisons.cannot_link([[i, j]], max(0.8 * delta[i, j] - 1e-6, 0.0), weight=weight),
        ][rng.choice(4, p=[0.5, 0.2, 0.15, 0.15])]
        rows = problem.saying(one).rows
        near, far = (delta[tuple(pair.T)] for pair in (rows.near, rows.far))
        if (rows.near_factor * near - rows.far_factor * far + rows.offset <= 0).all():
            said += one
        if len(said) == wanted:
            break
    return said


def _random_answers(delta: Array, rng: np.random.Generator) -> Comparisons:
    said = Comparisons.empty()
    for _ in range(rng.integers(1, 8)):
        i, j, k = rng.permutation(len(delta))[:3]
        weight = rng.choice([0.5, 1.0, 2.0])
        said += [
            Comparisons.odd_one_out([[i, j, k]], [rng.integers(-1, 3)], weight=weight),
            Comparisons.must_link([[i, j]], 0.5 * delta[i, j] + 1e-3, weight=weight),
            Comparisons.cannot_link([[i, j]], 1.5 * delta[i, j] + 1e-3, weight=weight),
        ][rng.choice(3, p=[0.6, 0.2, 0.2])]
    return said


def outweighed(
    loss: str, penalty: float, dimensions: int = 12, margin: float = 4.0, ratio: float = 2.0, unit: float = 1.0
) -> Dual:
    """Random answers about items on which many can't agree, with a margin of twice the mean squared distance."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, dimensions)) * np.sqrt(unit / dimensions)
    shown = np.array([rng.choice(30, 3, replace=False) for _ in range(60)])
    said = Comparisons.odd_one_out(shown, rng.integers(-1, 3, size=60))
    recipe = Recipe("linear", loss, ratio=ratio, margin=margin)
    return recipe.problem(X, recipe.rows(said), penalty)


def learned_kernel(problem: Problem, point: Point) -> Array:
    """K = ΦWΦᵀ, where W is the identity in the directions that no row sees."""
    seen = problem.features @ point.problem.basis
    change = point.metric - np.eye(point.problem.rank)
    return np.asarray(problem.features @ problem.features.T + seen @ change @ seen.T)


def row_matrices(problem: Problem) -> Array:
    """ΦᵀC_cΦ, (m, r, r): every row is ⟨W, ΦᵀC_cΦ⟩ + b_c."""
    rows = problem.rows
    u, v = (problem.features[i] - problem.features[j] for i, j in (rows.near.T, rows.far.T))
    outer = "ci,cj,c->cij"
    return np.asarray(np.einsum(outer, u, u, rows.near_factor) - np.einsum(outer, v, v, rows.far_factor))


def loss_derivatives(rows: Constraints, violation: Array, penalty: float, loss: str) -> tuple[Array, Array]:
    """ψ'(t), (m,), and ψ''(t), (m, m)."""
    strength = penalty * rows.weight
    if loss == "hinge":
        return strength * np.where(rows.equality, np.sign(violation), violation > 0), np.zeros((len(rows), len(rows)))
    if loss == "squared":
        pulling = strength * (rows.equality | (violation > 0))
        return pulling * violation, np.diag(pulling)
    answer = rows.answer if loss == "softmax" else np.arange(len(rows))
    together = answer[:, None] == answer
    level = np.maximum(np.where(together, violation, -np.inf).max(axis=1), 0.0)  # of the exponents, answer by answer
    share = np.exp((violation - level) / SCALE)
    share /= np.exp(-level / SCALE) + together @ share
    likelihood = (strength * share, (strength * share)[:, None] * (np.eye(len(rows)) - together * share) / SCALE)
    parabola = (strength * violation / (4 * SCALE), np.diag(strength / (4 * SCALE)))
    first, second = (np.where(rows.equality, equal, other) for equal, other in zip(parabola, likelihood, strict=True))
    return first, second


def primal_newton(problem: Problem, metric: Array, penalty: float, loss: str) -> tuple[float, Array]:
    """A Newton step on a soft problem, to W⁺ = L(I − E)Lᵀ from W = LLᵀ: the size of E, and W⁺.

    Rows at the kink of a hinge are kept there.
    """
    rows, factor = problem.rows, np.linalg.cholesky(metric)
    matrices = factor.T @ row_matrices(problem) @ factor
    scale = np.linalg.norm(matrices, ord="nuc", axis=(1, 2)) + np.abs(rows.offset)
    matrices = matrices.reshape(len(rows), -1)
    unit = np.eye(len(metric)).ravel()
    violation = matrices @ unit + rows.offset
    kink = (np.abs(violation) < 1e-4 * scale) & (loss == "hinge")
    first, second = loss_derivatives(rows, violation, penalty, loss)
    gradient = (factor.T @ factor).ravel() - unit + matrices.T @ np.where(kink, 0.0, first)
    hessian = np.eye(len(unit)) + matrices.T @ second @ matrices
    # Redundant rows make the system singular; E is unique all the same.
    tight = matrices[kink]
    system = np.block([[hessian, tight.T], [tight, np.zeros((len(tight), len(tight)))]])
    step = np.linalg.lstsq(system, np.r_[gradient, violation[kink]])[0][: len(unit)]
    return float(np.linalg.norm(step)), np.asarray(factor @ (unit - step).reshape(metric.shape) @ factor.T)


def reference_divergence(problem: Problem, penalty: float, loss: str = "squared") -> float | None:
    """The divergence at CVXPY's optimum; None if it finds none.

    It is asked until Newton's method takes over, each time in coordinates where its last answer is the identity.
    Near a soft optimum the divergence changes with the metric to first order, the objective only to second, so that
    CVXPY's tolerance leaves half of the digits: Newton steps on the primal add the others.
    """
    metric = np.eye(problem.features.shape[1])
    for _ in range(4):
        near = np.linalg.cholesky(metric)
        found = cvxpy_metric(problem, penalty, loss, near=near)
        if np.isinf(penalty):
            return None if found is None else divergence(found)
        if found is None:  # a lighter penalty shows where to look
            found = cvxpy_metric(problem, penalty / 100, loss, near=near)
        assert found is not None
        metric = found
        size, _ = primal_newton(problem, metric, penalty, loss)
        if size < 0.01:
            break
    for _ in range(3):
        size, metric = primal_newton(problem, metric, penalty, loss)
    assert size < 1e-3, "CVXPY's answer is too far from the optimum for Newton's method"
    return divergence(metric)


def cvxpy_metric(problem: Problem, penalty: float, loss: str, *, near: Array) -> Array | None:
    """CVXPY's W, sought as L W' Lᵀ for a given L; None if it finds none."""
    rows, r = problem.rows, len(near)
    matrices = (near.T @ row_matrices(problem) @ near).reshape(len(rows), -1)
    metric = cp.Variable((r, r), symmetric=True)
    objective = cp.trace((near.T @ near) @ metric) - cp.log_det(metric)
    flat = cp.vec(metric, order="C")
    violation, held = matrices @ flat + rows.offset, []
    equal, other = np.flatnonzero(rows.equality), np.flatnonzero(~rows.equality)
    if np.isinf(penalty):
        # Interior points are lost where equalities repeat one another, so that they are made independent first.
        _, size, independent = np.linalg.svd(matrices[equal], full_matrices=False)
        kept = independent[size > 1e-10 * size.max(initial=0.0)]
        held = [kept @ flat == 0, violation[other] <= 0]
    elif loss == "squared":
        slack, scale = cp.Variable(len(rows)), np.sqrt(penalty * rows.weight)
        objective += 0.5 * cp.sum_squares(slack)
        excess = cp.multiply(scale, violation) - slack
        held = [excess[equal] == 0, excess[other] <= 0]
    else:
        objective += cvxpy_cost(rows, violation, penalty, loss)
    program = cp.Problem(cp.Minimize(objective), [condition for condition in held if condition.size])
    loose = dict.fromkeys(("reduced_tol_gap_abs", "reduced_tol_gap_rel", "reduced_tol_feas"), 1e-6)
    for tol in (1e-14, 1e-10):
        tight = dict.fromkeys(("tol_gap_abs", "tol_gap_rel", "tol_feas"), tol)
        with warnings.catch_warnings(), contextlib.suppress(cp.SolverError):
            warnings.simplefilter("ignore", UserWarning)  # that the answer may be inaccurate
            program.solve(solver=cp.CLARABEL, **tight, **loose)
        if metric.value is not None:
            return np.asarray(near @ metric.value @ near.T)
    return None


def cvxpy_cost(rows: Constraints, violation: cp.Expression, penalty: float, loss: str) -> cp.Expression:
    """Σψ(t); as few terms as possible, since CVXPY takes longer to read a program than to solve it."""
    strength = penalty * rows.weight
    equal, other = np.flatnonzero(rows.equality), np.flatnonzero(~rows.equality)
    cost = cp.Constant(0.0)
    if loss == "hinge":
        if len(equal):
            cost += strength[equal] @ cp.abs(violation[equal])
        return cost + strength[other] @ cp.pos(violation[other]) if len(other) else cost
    if len(equal):
        cost += cp.sum_squares(cp.multiply(np.sqrt(strength[equal] / (8 * SCALE)), violation[equal]))
    if loss == "logistic":
        return cost + SCALE * strength[other] @ cp.logistic(violation[other] / SCALE) if len(other) else cost
    for answer in np.unique(rows.answer[other]):
        mine = other[rows.answer[other] == answer]
        cost += strength[mine[0]] * SCALE * cp.log_sum_exp(cp.hstack([0.0, violation[mine] / SCALE]))
    return cost
