"""A primal-dual interior-point method: for rows whose multipliers are bounded (hinge), where they outweigh the divergence.

With slacks r, s ≥ 0 the optimum of rows that cost u·max(t, 0) − l·max(−t, 0), l ≤ α ≤ u, is where

    tr(K C_c) + b_c + r_c = s_c,   Z = S(α),   WZ = I,   r_c(α_c − l_c) = 0,   s_c(u_c − α_c) = 0.

Newton's method is applied to WZ = max(μ, 1)I and to products μ in place of 0, while μ falls. W ≻ 0 and Z ≻ 0 are unknowns
of their own, so that neither equation need hold on the way, and long steps remain possible where S(α) is nearly
singular: it takes some 25 steps however large the bounds are (Helmberg, Rendl, Vanderbei and Wolkowicz 1996, with the
predictor of Mehrotra 1992).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..problem.arrays import Array, cholesky, inverse_lower, lapack, plus_diagonal
from ..problem.dual import Dual
from ..problem.row_products import mixed_products

# Most steps; and the share of 1 + abs(bᵀα) up to which products r(α − l) and s(u − α) together are made small: Newton's
# steps on the rows then free take over. By trial on random problems, where it took 20 to 40 steps.
STEPS, CLOSE = 60, 1e-5
# The metric at the start, in units of what the largest offset asks for, and the multipliers of inequalities, as a share
# of their bounds. By trial of 1 to 1,000 and of 0.1 and 0.5 on a random problem, where all were within a quarter.
WIDE, LOW = 10.0, 0.1
# How far towards the edge a step may go; what a step that would lead beyond it is shortened by, time and again; and
# where that ends.
EDGE, SHORTER, SHORTEST = 0.95, 0.8, 1e-3
# S(α) and Z are the same up to this share: rounding. Relative to the diagonal, what makes a singular matrix invertible.
SAME, SHIFT = 1e-12, 1e-13


@dataclass(frozen=True, eq=False)
class _Step:
    """Changes of α, Z, W and of the slacks [r, s]."""

    alpha: Array
    bent: Array
    metric: Array
    slack: Array


class _System:
    """Newton's equations at one W, Z, α and slacks, reduced to the rows' multipliers.

    With D = r/(α − l) + s/(u − α), (tr(W C_c Z⁻¹ C_d) + D)·Δα is what the rows lack at ΔZ = 0.
    """

    def __init__(self, problem: Dual, metric: Array, bent: Array, missing: Array, room: Array, slack: Array) -> None:
        self.problem, self.metric, self.bent, self.missing = problem, metric, bent, missing
        self.room, self.slack = room, slack
        #: what S(α) − Z alone changes in W
        self.shifted: Array | float = 0.0
        #: Cholesky factor of the system, scaled to a unit diagonal; None if there is none
        self.factor: Array | None = None
        root = cholesky(bent)
        if root is None:
            return
        lower = inverse_lower(root)
        self.inverse = lower.T @ lower
        if np.abs(missing).max(initial=0.0) > SAME * np.abs(bent).max(initial=0.0):
            self.shifted = _symmetric(metric @ missing @ self.inverse)
        images = problem.coordinates
        first, second = problem.first.astype(np.uint64), problem.second.astype(np.uint64)
        ends = [(first[pair], second[pair]) for pair in (problem.near, problem.far)]
        kernels = images @ metric @ images.T, images @ self.inverse @ images.T
        matrix = mixed_products(*kernels, *ends, problem.near_factor, problem.far_factor)
        below, above = np.split(slack / room, 2)
        matrix = plus_diagonal(matrix, below + above)
        self.scale = 1.0 / np.sqrt(np.diagonal(matrix))
        matrix *= self.scale[:, None]
        matrix *= self.scale
        matrix = plus_diagonal(matrix, np.full(len(matrix), SHIFT))
        factor, failed = lapack("potrf", matrix)(matrix.T, lower=1, overwrite_a=1)
        self.factor = None if failed else factor

    def step(self, identity: float, product: float, ahead: _Step | None) -> _Step:
        """Towards WZ = identity·I and products of slacks and distances; what ``ahead`` leaves to second order, too."""
        problem, inverse = self.problem, self.inverse
        metric, wanted = identity * inverse - self.shifted, np.full(len(self.room), product)
        if ahead is not None:
            metric = metric - _symmetric(ahead.metric @ ahead.bent @ inverse)
            wanted = wanted - ahead.slack * self.opened(ahead)
        below, above = np.split(wanted / self.room, 2)
        lacking = problem.offset + problem.sandwich(problem.coordinates, metric) + below - above
        solve = lapack("potrs", self.factor)
        alpha = self.scale * solve(self.factor, self.scale * lacking, lower=1)[0]
        bent = problem.spread(problem.coordinates, alpha)
        metric = metric - self.metric - _symmetric(self.metric @ bent @ inverse)
        opened = np.concatenate([alpha, -alpha])
        slack = (wanted - self.slack * opened) / self.room - self.slack
        return _Step(alpha, bent + self.missing, metric, slack)

    def opened(self, step: _Step) -> Array:
        """What a step changes in the distances to the bounds."""
        return np.concatenate([step.alpha, -step.alpha])

    def lengths(self, step: _Step) -> tuple[float, float]:
        """How far W and the slacks, and Z and α may go, up to 1."""
        return (
            _inside(self.metric, step.metric, _furthest(self.slack, step.slack)),
            _inside(self.bent, step.bent, _furthest(self.room, self.opened(step))),
        )


def _furthest(positive: Array, change: Array) -> float:
    """The longest step, up to 1, that leaves some of every number."""
    shrinking = change < 0
    return float(min(1.0, EDGE * (positive[shrinking] / -change[shrinking]).min(initial=np.inf)))


def _inside(matrix: Array, change: Array, length: float) -> float:
    """As long a step, or shorter, that leaves the matrix positive definite."""
    while length >= SHORTEST and cholesky(matrix + length / EDGE * change) is None:
        length *= SHORTER
    return length if length >= SHORTEST else 0.0


def _symmetric(matrix: Array) -> Array:
    return 0.5 * (matrix + matrix.T)


def interior(problem: Dual) -> Array:
    """Multipliers near the optimum of a problem in NumPy; those that seem to be at a bound are put there."""
    lower, upper = problem.loss.lower, problem.loss.upper
    alpha = np.where(problem.equality, 0.5 * (lower + upper), lower + LOW * (upper - lower))
    size = np.sqrt(problem.origin.own_products)
    asked = np.abs(problem.offset)[size > 0] / size[size > 0]
    known = problem.curvature_matrix(alpha)
    bent = problem.unit * max(1.0, float(np.linalg.norm(known)))
    missing = known - bent
    metric = problem.unit * WIDE * max(1.0, float(asked.max(initial=0.0)))
    room = np.concatenate([alpha - lower, upper - alpha])
    slack = float(metric[0, 0] * bent[0, 0]) / room
    for _ in range(STEPS):
        open_ended = float(slack @ room)
        mean = (float(np.sum(metric * bent)) + open_ended) / (problem.rank + len(room))
        if mean < 1.5 and open_ended <= CLOSE * (1.0 + abs(float(problem.offset @ alpha))):
            break
        system = _System(problem, metric, bent, missing, room, slack)
        if system.factor is None:
            break
        ahead = system.step(1.0, 0.0, None)
        one, other = system.lengths(ahead)
        left = float((slack + one * ahead.slack) @ (room + other * system.opened(ahead)))
        if mean > 1.5:
            left += float(np.sum((metric + one * ahead.metric) * (bent + other * ahead.bent)))
            share, target = left / (mean * (problem.rank + len(room))), mean
        else:
            share, target = left / open_ended, open_ended / len(room)
        target *= float(np.clip(share, 1e-6, 1.0)) ** 3
        step = system.step(max(target, 1.0), target, ahead)
        one, other = system.lengths(step)
        if max(one, other) < SHORTEST:
            break
        metric, slack = metric + one * step.metric, slack + one * step.slack
        alpha, bent, missing = alpha + other * step.alpha, bent + other * step.bent, (1.0 - other) * missing
        room = np.concatenate([alpha - lower, upper - alpha])
    below, above = np.split(room < slack, 2)
    return np.where(below, lower, np.where(above, upper, alpha))
