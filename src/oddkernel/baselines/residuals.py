"""The problem that LSML solves, and its solver.

Where n and f are a row's near and far squared distances, h(n, f) = max(√n − √f, 0)² is f times a convex function of
n/f, and so convex in both; it is the largest of pn − p/(1 − p)·f over 0 ≤ p < 1. Hence

    min over W ≻ 0 of  tr W − logdet W − r + Σ_c λ_c h(n_c, f_c)
    = max over 0 ≤ p < 1 of  logdet S(p),    W = S(p)⁻¹,
    S(p) = I + Σ_c λ_c (p_c u_c u_cᵀ − p_c/(1 − p_c) v_c v_cᵀ) ≻ 0,

with u_c and v_c the near and the far difference vector. S is concave in p, and so is logdet S. At the optimum
1 − p = √(f/n) for a violated row, and p = 0 for the others.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..problem.arrays import cholesky
from ..problem.dual import Dual
from ..problem.point import Point
from ..problem.solution import Solution, Status
from ..solvers.costs import DENSE
from ..solvers.newton import STRETCH, bounded_maximum, conjugate_gradients
from ..support.types import Array

# p stays below 1 by this: no violated distance counts as more than a million times one that isn't zero.
EDGE = 1e-6
STEPS = 500


@dataclass(frozen=True, eq=False)
class Residuals:
    """The problem at one p.

    Attributes
    ----------
    problem : Dual
        Its rows are the comparisons, near before far, with factors 1; their weights are λ_c.
    p : (m,) array
    point : Point
        S(p) and what follows from it, in which the rows are those of the quadratic model around p: their gradient and
        Hessian are those of logdet S(p).
    """

    problem: Dual
    p: Array
    point: Point

    @classmethod
    def at(cls, problem: Dual, p: Array) -> Residuals | None:
        """Everything about one p, or None where S(p) is not positive definite."""
        weight, rest = problem.rows.weight, 1.0 - p
        scaled = copy(problem)
        scaled.near_factor, scaled.far_factor = weight * problem.near_factor, weight * problem.far_factor / rest
        bent = scaled.curvature_matrix(p)
        factor = cholesky(bent)
        if factor is None:
            return None
        model = copy(scaled)
        model.far_factor = scaled.far_factor / rest
        # ψ* with the second derivative of p/(1 − p), and offsets that take its slope at p away again.
        far = Point(problem, p, bent, factor).squared_distances[problem.far]
        curvature = 2.0 * model.far_factor * far / rest
        model.offset = curvature * p
        model.loss = replace(problem.loss, curvature=curvature, upper=np.full(len(p), 1.0 - EDGE))
        return cls(problem, p, Point(model, p, bent, factor))

    @property
    def objective(self) -> float:
        """logdet S(p)."""
        return self.point.log_determinant

    @cached_property
    def distances(self) -> tuple[Array, Array]:
        """(m,) squared distances, near and far."""
        delta, problem = self.point.squared_distances, self.problem
        return problem.near_factor * delta[problem.near], problem.far_factor * delta[problem.far]

    @cached_property
    def gap(self) -> float:
        """Primal minus dual objective, over 1 + dual: Σ λ(h − pn + p/(1 − p)·f), row by row never negative."""
        near, far = self.distances
        hinge = np.square(np.maximum(np.sqrt(near) - np.sqrt(far), 0.0))
        gap = self.problem.rows.weight @ (hinge - self.p * near + self.p / (1.0 - self.p) * far)
        return float(gap) / (1.0 + abs(self.objective))

    @cached_property
    def residual(self) -> float:
        """The largest difference between p and what the distances ask for, 1 − √(f/n)."""
        near, far = self.distances
        violated = near > far
        asked = np.where(violated, 1.0 - np.sqrt(far / np.where(violated, near, 1.0)), 0.0)
        return float(np.abs(np.minimum(asked, 1.0 - EDGE) - self.p).max(initial=0.0))


def minimise(
    problem: Dual, *, tol: float, max_iter: int | None, progress: Callable[[int, Point], None] | None = None
) -> tuple[Solution, Point]:
    """Newton's method on p, each step shortened until logdet S(p) grows."""
    here = Residuals.at(problem, np.zeros(len(problem)))
    assert here is not None  # S(0) = I
    limit = STEPS if max_iter is None else max_iter
    history, status = [_record(here)], Status.EXHAUSTED
    for n_iter in range(limit + 1):
        if here.residual <= tol and here.gap <= tol:
            status = Status.OPTIMAL
            break
        if n_iter == limit:
            break
        there = _step(here)
        if there is None:
            status = Status.STALLED
            break
        here = there
        history.append(_record(here))
        if progress is not None:
            progress(n_iter + 1, here.point)
    near, far = here.distances
    solution = Solution(
        status=status,
        n_iter=len(history) - 1,
        residual=here.residual,
        gap=here.gap,
        divergence=here.point.divergence,
        objective=here.objective,
        multipliers=problem.rows.weight * here.p,
        slack=near - far,
        answer=problem.rows.answer,
        history={name: np.array([entry[name] for entry in history]) for name in history[0]},
    )
    return solution, here.point


def _step(here: Residuals) -> Residuals | None:
    point, upper = here.point, 1.0 - EDGE
    rows = np.flatnonzero(point.free)
    gradient = point.gradient[rows]
    if len(rows) <= DENSE:
        direction = bounded_maximum(point.hessian(rows), gradient, -here.p[rows], upper - here.p[rows])
    else:
        direction = conjugate_gradients(point)[rows]
    rounding = 1e-13 * (1.0 + abs(here.objective))
    length = 1.0
    while length > 1e-8:
        target = here.p.copy()
        target[rows] = np.clip(target[rows] + length * direction, 0.0, upper)
        slope = float(gradient @ (target[rows] - here.p[rows]))
        if not slope > 0:
            return None
        there = Residuals.at(here.problem, target)
        if (
            there is not None
            and there.objective >= here.objective + 1e-4 * slope - rounding
            and cholesky(STRETCH * there.point.bent - point.bent) is not None
        ):
            return there
        length *= 0.5
    return None


def _record(here: Residuals) -> dict[str, float]:
    return {
        "objective": here.objective,
        "residual": here.residual,
        "gap": here.gap,
        "divergence": here.point.divergence,
    }
