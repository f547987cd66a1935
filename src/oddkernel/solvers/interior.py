"""A primal-dual interior-point method: where rows outweigh the divergence, or are more than W has unknowns.

With room = h + Gα ≥ 0 for the intervals of the multipliers, and one slack for each of these conditions, the optimum is
where

    tr(K C_c) + b_c − ψ*_c'(α_c) + (Gᵀ·slack)_c = 0,   Z = S(α),   WZ = I,   slack·room = 0,   slack ≥ 0,   W, Z ≻ 0.

Newton's method is applied to WZ = max(μ, 1)I and slack·room = μ, while μ falls to 0. W and Z are unknowns of their own,
so that neither equation need hold on the way, and long steps remain possible where S(α) is nearly singular: it takes
some 20 steps however much the loss outweighs the divergence (Helmberg, Rendl, Vanderbei and Wolkowicz 1996, with the
predictor of Mehrotra 1992).

Each step is computed in coordinates in which W = LLᵀ is the identity, and LᵀZL near μI. In those of the features, W
and Z may have conditions of 1e22 and more where the loss outweighs the divergence by far: their smallest eigenvalues
would be rounding.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..problem.arrays import Array, cholesky, inverse_lower, symmetrised
from ..problem.dual import Dual
from ..problem.point import Point
from .costs import DENSE, inside_unknowns_cost, rows_cost
from .interior_equations import GroupedDiagonal, LinearMap, over_rows, over_unknowns
from .loop import optimal
from .primal import Primal

# Most steps; and the share of what the rows add to the dual up to which the products slack·room together are made
# small: Newton's steps on the rows then free take over. By trial on random problems, where it took 15 to 25 steps.
STEPS, CLOSE = 80, 1e-7
# The share at which nothing is left to gain. By trial on 27,324 rows, where 1e-17 was needed.
SPENT = 1e-20
# Distances at the start, in units of what the largest offset asks for, and multipliers of inequalities, as a share of
# their bounds. By trial of 1 to 1,000 and of 0.1 and 0.5 on a random problem, where all were within a quarter.
WIDE, LOW = 10.0, 0.1
# How far towards the edge a step may go; what a step that would lead beyond it is shortened by, time and again; and
# where that ends. Where neither length reaches SHORT, a step towards the middle of the path is taken if longer: by
# trial on draw(21000931), where the path ended for lack of one, and draw(19000019), where more of them led nowhere.
EDGE, SHORTER, SHORTEST, SHORT = 0.95, 0.8, 1e-4, 0.1
# The rounding of S(α), as a share of the tolerance, from which the path goes on to its end. By trial: on draw(18000310)
# Newton's steps ended 20% above the tolerance with a rounding of 0.98.
BLUR = 0.01
# S(α) and Z are the same up to this share: rounding.
SAME = 1e-12


def interior(problem: Dual, tol: float, *, whole: bool = False) -> Inside | None:
    """Near the optimum of a problem in NumPy whose rows don't contradict one another; None if rounding leaves no start.

    At the optimum, if there are too many rows for Newton's method to lead there soon, or ``whole`` says so.
    """
    whole = whole or len(problem) > DENSE
    with np.errstate(all="ignore"):  # where numbers overflow there is no factor, and the path ends
        at = Inside.start(problem)
        for _ in range(STEPS):
            if at is None or (at.arrived and (not (whole or at.blurred(tol)) or at.ended(tol))):
                break
            moved = at.moved()
            if moved is None:
                break
            at = moved
    return at


class _Intervals:
    """room = h + Gα ≥ 0: where a conjugate is finite."""

    def __init__(self, problem: Dual) -> None:
        loss, m = problem.loss, len(problem)
        low = np.flatnonzero(np.isfinite(loss.lower))
        high = np.flatnonzero(np.isfinite(loss.upper) & ~loss.entropic)
        joint = np.flatnonzero(loss.entropic)
        names, group = np.unique(loss.group[joint], return_inverse=True)
        sizes = len(low), len(high), len(names)
        values = np.concatenate([np.ones(len(low)), -np.ones(len(high) + len(joint))])
        rows = np.concatenate([np.arange(len(low)), len(low) + np.arange(len(high)), len(low) + len(high) + group])
        self.matrix = sparse.csr_array((values, (rows, np.concatenate([low, high, joint]))), shape=(sum(sizes), m))
        cap = np.zeros(len(names))
        cap[group] = loss.upper[joint]
        self.offset = np.concatenate([-loss.lower[low], loss.upper[high], cap])
        self.low, self.high = low, high

    def room(self, alpha: Array) -> Array:
        """What is left up to the bounds."""
        return self.offset + self.matrix @ alpha


@dataclass(frozen=True, eq=False)
class _Step:
    """Changes of α, Z, W, room and slack; those of Z and W in coordinates in which W was the identity."""

    alpha: Array
    bent: Array
    metric: Array
    room: Array
    slack: Array


@dataclass(frozen=True, eq=False)
class Inside:
    """One point of the path.

    Attributes
    ----------
    alpha : (m,) array
    primal : Primal
        The primal problem at W = LLᵀ.
    bent, missing : (q, q) arrays
        LᵀZL and Lᵀ(S(α) − Z)L.
    room, slack : arrays
    """

    problem: Dual
    intervals: _Intervals
    alpha: Array
    primal: Primal
    bent: Array
    missing: Array
    room: Array
    slack: Array

    @classmethod
    def start(cls, problem: Dual) -> Inside | None:
        """Far inside the intervals and the cones, on the path but for S(α) = Z and the rows' equations."""
        loss, intervals = problem.loss, _Intervals(problem)
        size = np.sqrt(problem.origin.own_products)
        stretch = max(1.0, float((np.abs(problem.offset)[size > 0] / size[size > 0]).max(initial=0.0)))
        # Multipliers that may be as large as they like start as large as violations may make them.
        wanted = loss.wanted(stretch * size + np.abs(problem.offset))
        most = LOW * np.asarray(np.where(np.isfinite(loss.upper), loss.upper, wanted))
        most = np.where(most > 0, most, 1.0)  # of rows about copies, any will do
        alpha = np.where(problem.equality, 0.0, most)
        # No α of this size makes S larger than the sum of the rows' parts, whatever their signs.
        added = copy(problem)
        added.far_factor = -problem.far_factor
        root = cholesky(added.curvature_matrix(np.abs(most)))
        if root is None:
            return None
        lower = inverse_lower(root)
        images = problem.coordinates @ lower.T
        compared = added.row_sums(problem.squared_distances(images))
        ratio = np.abs(problem.offset)[compared > 0] / compared[compared > 0]
        product = max(1.0, float(ratio.max(initial=0.0)))
        entropic = loss.entropic & (compared > 0)
        if entropic.any():  # the unit of distance of these losses is the temperature
            product = max(product, float(np.median(loss.temperature[entropic] / compared[entropic])))
        product *= WIDE
        factor = product**0.5 * lower.T
        log_determinant = problem.rank * float(np.log(product)) - 2.0 * float(np.log(np.diagonal(root)).sum())
        primal = Primal(problem, product**0.5 * images, factor, log_determinant)
        bent, room = product * problem.unit, intervals.room(alpha)
        missing = primal.inner + problem.spread(primal.images, alpha) - bent
        return cls(problem, intervals, alpha, primal, bent, missing, room, product / room)

    @property
    def product(self) -> float:
        """Σ slack·room."""
        return float(self.slack @ self.room)

    @property
    def mean(self) -> float:
        """The mean of the eigenvalues of WZ and of slack·room."""
        return float((np.trace(self.bent) + self.product) / (self.problem.rank + len(self.room)))

    @property
    def arrived(self) -> bool:
        """Whether the multipliers are near the optimum."""
        return bool(self.mean < 1.5 and self.product <= CLOSE * self.cost)

    @property
    def cost(self) -> float:
        """1 and what the rows add to the dual: bᵀα − Σψ*."""
        return 1.0 + abs(float(self.problem.offset @ self.alpha) - self.problem.loss.value(self.alpha))

    def blurred(self, tol: float) -> bool:
        """Whether the rounding of S(α) is near the tolerance, so that steps on α alone hardly ever arrive."""
        return self.primal.rounding(self.snapped) > BLUR * tol

    def ended(self, tol: float) -> bool:
        """Whether the multipliers are the optimum, or as near as rounding allows."""
        spent = self.product <= SPENT * self.cost
        return spent or any(point is not None and optimal(point, tol) for point in (self.snapped_point, self.as_known))

    @property
    def snapped_point(self) -> Point | None:
        """The point of the dual at these multipliers; None if S is not positive definite there."""
        return self.problem.at(self.snapped)

    @property
    def as_known(self) -> Point | None:
        """The same with S = W⁻¹, if they differ by no more than the rounding of S(α): see `Primal.known`."""
        return self.primal.known(self.snapped)

    @property
    def snapped(self) -> Array:
        """α, at the bounds that seem to hold.

        Room counts in units of the interval, or, where that is infinite, of what makes a row weigh as much as the
        divergence of one dimension; slack in units of the distances compared. Both are then free of the items' unit.
        """
        loss, alpha, scale = self.problem.loss, self.alpha.copy(), self.primal.scale
        low, high = self.intervals.low, self.intervals.high
        rows = np.concatenate([low, high])
        width = loss.upper[rows] - loss.lower[rows]
        unit = np.where(np.isfinite(width), width, 1.0) * np.where(np.isfinite(width), scale[rows], 1.0)
        closed = self.room[: len(rows)] * np.square(scale[rows]) < self.slack[: len(rows)] * unit
        closed &= ~loss.entropic[rows]
        below, above = closed[: len(low)], closed[len(low) :]
        alpha[low[below]], alpha[high[above]] = loss.lower[low[below]], loss.upper[high[above]]
        return alpha

    @property
    def diagonal(self) -> GroupedDiagonal:
        """D = ψ*'' + Gᵀ·diag(slack/room)·G, the rows' own part of Newton's equations."""
        walls, ratio = abs(self.intervals.matrix), self.slack / self.room
        single = len(self.intervals.low) + len(self.intervals.high)
        own, shared = self.problem.loss.bend(self.alpha)
        own = own + walls[:single].T @ ratio[:single]
        members = walls[single:]  # an entropy's rows have one bound together
        return GroupedDiagonal(own, (members @ shared) / members.sum(axis=1) + ratio[single:], members)

    def moved(self) -> Inside | None:
        """One step on, with a predictor that says how far μ may fall; None if there is none."""
        system = _System.of(self)
        if system is None:
            return None
        mean, product, many = self.mean, self.product, len(self.room)
        ahead = system.step(1.0, 0.0, None)
        one, other = self.lengths(ahead)
        left = float((self.slack + one * ahead.slack) @ (self.room + other * ahead.room))
        if mean > 1.5:  # the path of WZ = μI, and then that of WZ = I
            left += float(np.sum((self.problem.unit + one * ahead.metric) * (self.bent + other * ahead.bent)))
            share, target = left / (mean * (self.problem.rank + many)), mean
        else:
            share, target = left / max(product, 1e-300), product / max(many, 1)
        target *= float(np.clip(share, 1e-6, 1.0)) ** 3
        step = system.step(max(target, 1.0), target, ahead)
        one, other = self.lengths(step)
        if max(one, other) < SHORT:
            central = system.step(max(mean, 1.0), product / max(many, 1), None)
            lengths = self.lengths(central)
            if max(lengths) > max(one, other):
                step, (one, other) = central, lengths
        if max(one, other) < SHORTEST:
            return None
        turn = cholesky(self.problem.unit + one * step.metric)
        if turn is None:
            return None
        return Inside(
            self.problem,
            self.intervals,
            self.alpha + other * step.alpha,
            self.primal.turned(turn),
            symmetrised(turn.T @ (self.bent + other * step.bent) @ turn),
            (1.0 - other) * (turn.T @ self.missing @ turn),
            self.room + other * step.room,
            self.slack + one * step.slack,
        )

    def lengths(self, step: _Step) -> tuple[float, float]:
        """How far W and the slacks, and Z and α may go, up to 1."""
        return (
            _inside(self.problem.unit, step.metric, _furthest(self.slack, step.slack)),
            _inside(self.bent, step.bent, _furthest(self.room, step.room)),
        )


class _System:
    """Newton's equations at one point, reduced to the rows' multipliers as in `interior_equations`: its steps.

    Attributes
    ----------
    inverse : (q, q) array
        (LᵀZL)⁻¹.
    solved : LinearMap
        Of the equations' right-hand side to Δα.
    shifted : (q, q) array, or 0
        What S(α) − Z alone changes in W.
    """

    def __init__(self, at: Inside, inverse: Array, solved: LinearMap) -> None:
        self.at, self.inverse, self.solved = at, inverse, solved
        self.shifted: Array | float = 0.0
        if np.abs(at.missing).max(initial=0.0) > SAME * np.abs(at.bent).max(initial=0.0):
            self.shifted = symmetrised(at.missing @ inverse)

    @classmethod
    def of(cls, at: Inside) -> _System | None:
        """None where rounding leaves Z singular."""
        root = cholesky(at.bent)
        if root is None:
            return None
        lower = inverse_lower(root)
        inverse, diagonal = lower.T @ lower, at.diagonal
        few = inside_unknowns_cost(at.problem) < rows_cost(len(at.problem))
        solved = over_unknowns(at.primal, at.bent, diagonal) if few else over_rows(at.primal, inverse, diagonal)
        return None if solved is None else cls(at, inverse, solved)

    def step(self, identity: float, product: float, ahead: _Step | None) -> _Step:
        """Towards WZ = identity·I and slack·room = product; ``ahead``: what it leaves to second order counts."""
        at, inverse, problem, images = self.at, self.inverse, self.at.problem, self.at.primal.images
        metric, wanted = identity * inverse - self.shifted, np.full(len(at.room), product)
        if ahead is not None:
            metric = metric - symmetrised(ahead.metric @ ahead.bent @ inverse)
            wanted = wanted - ahead.slack * ahead.room
        walls = at.intervals.matrix
        lacking = problem.offset + problem.sandwich(images, metric) - problem.loss.slope(at.alpha)
        alpha = self.solved(lacking + walls.T @ (wanted / at.room))
        bent, room = problem.spread(images, alpha), walls @ alpha
        metric = metric - problem.unit - symmetrised(bent @ inverse)
        return _Step(alpha, bent + at.missing, metric, room, (wanted - at.slack * room) / at.room - at.slack)


def _furthest(positive: Array, change: Array) -> float:
    """The longest step, up to 1, that leaves some of every number."""
    shrinking = change < 0
    return float(min(1.0, EDGE * (positive[shrinking] / -change[shrinking]).min(initial=np.inf)))


def _inside(matrix: Array, change: Array, length: float) -> float:
    """As long a step, or shorter, that leaves the matrix positive definite."""
    while length >= SHORTEST and cholesky(matrix + length / EDGE * change) is None:
        length *= SHORTER
    return length if length >= SHORTEST else 0.0
