"""A primal-dual interior-point method: where rows outweigh the divergence, or are more than W has unknowns.

With room = h + Gα ≥ 0 for the intervals of the multipliers, and one slack for each of these conditions, the optimum is
where

    tr(K C_c) + b_c − ψ*_c'(α_c) + (Gᵀ·slack)_c = 0,   Z = S(α),   WZ = I,   slack·room = 0,   slack ≥ 0,   W, Z ≻ 0.

Newton's method is applied to WZ = max(μ, 1)I and slack·room = μ, while μ falls to 0. W and Z are unknowns of their own,
so that neither equation need hold on the way, and long steps remain possible where S(α) is nearly singular: it takes
some 20 steps however much the loss outweighs the divergence (Helmberg, Rendl, Vanderbei and Wolkowicz 1996, with the
predictor of Mehrotra 1992).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from ..problem.arrays import Array, cholesky, inverse_lower, lapack, plus_diagonal
from ..problem.dual import Dual
from ..problem.point import Point
from ..problem.row_products import mixed_products
from .costs import DENSE, inside_unknowns_cost, rows_cost
from .loop import optimal
from .primal import Primal
from .unknowns import Unknowns, on_pairs

# Most steps; and the share of 1 + abs(bᵀα) up to which the products slack·room together are made small: Newton's steps
# on the rows then free take over. By trial on random problems, where it took 15 to 25 steps.
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
# S(α) and Z are the same up to this share: rounding. Relative to the diagonal, what makes a singular matrix invertible.
SAME, SHIFT = 1e-12, 1e-13
# How large tr(W C_c Z⁻¹ C_c) may be, relative to what row c is divided by. Rounding grows as much, and a second
# solution, for what the first one leaves, takes that back.
STIFF = 1e6


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
    """Changes of α, Z, W, room and slack."""

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
    metric, bent, missing : (q, q) arrays
        W, Z and S(α) − Z.
    room, slack : arrays
    """

    problem: Dual
    intervals: _Intervals
    alpha: Array
    metric: Array
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
        bent = added.curvature_matrix(np.abs(most))
        root = cholesky(bent)
        if root is None:
            return None
        lower = inverse_lower(root)
        images = problem.coordinates @ lower.T
        compared = added.row_sums(problem.squared_distances(images))
        ratio = np.abs(problem.offset)[compared > 0] / compared[compared > 0]
        product = WIDE * max(1.0, float(ratio.max(initial=0.0)))
        metric, missing = product * (lower.T @ lower), problem.curvature_matrix(alpha) - bent
        room = intervals.room(alpha)
        return cls(problem, intervals, alpha, metric, bent, missing, room, product / room)

    @property
    def product(self) -> float:
        """Σ slack·room."""
        return float(self.slack @ self.room)

    @property
    def mean(self) -> float:
        """The mean of the eigenvalues of WZ and of slack·room."""
        return float((np.sum(self.metric * self.bent) + self.product) / (self.problem.rank + len(self.room)))

    @property
    def arrived(self) -> bool:
        """Whether the multipliers are near the optimum."""
        return bool(self.mean < 1.5 and self.product <= CLOSE * (1.0 + abs(self.problem.offset @ self.alpha)))

    def blurred(self, tol: float) -> bool:
        """Whether the rounding of S(α) is near the tolerance, so that steps on α alone hardly ever arrive."""
        return self.primal is None or self.primal.rounding(self.snapped) > BLUR * tol

    @cached_property
    def primal(self) -> Primal | None:
        """The primal problem at W; None if rounding has left W singular."""
        return Primal.under_metric(self.problem, self.metric)

    def ended(self, tol: float) -> bool:
        """Whether the multipliers are the optimum, or as near as rounding allows."""
        spent = self.product <= SPENT * (1.0 + abs(self.problem.offset @ self.alpha))
        return spent or any(point is not None and optimal(point, tol) for point in (self.snapped_point, self.as_known))

    @property
    def snapped_point(self) -> Point | None:
        """The point of the dual at these multipliers; None if S is not positive definite there."""
        return self.problem.at(self.snapped)

    @property
    def as_known(self) -> Point | None:
        """The same with S = W⁻¹, if they differ by no more than the rounding of S(α): see `Primal.known`."""
        return None if self.primal is None else self.primal.known(self.snapped)

    @property
    def snapped(self) -> Array:
        """α, at the bounds that seem to hold."""
        loss, alpha, closed = self.problem.loss, self.alpha.copy(), self.room < self.slack
        low, high = self.intervals.low, self.intervals.high
        below, above = closed[: len(low)] & ~loss.entropic[low], closed[len(low) : len(low) + len(high)]
        alpha[low[below]], alpha[high[above]] = loss.lower[low[below]], loss.upper[high[above]]
        return alpha

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
            left += float(np.sum((self.metric + one * ahead.metric) * (self.bent + other * ahead.bent)))
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
        alpha = self.alpha + other * step.alpha
        return Inside(
            self.problem,
            self.intervals,
            alpha,
            self.metric + one * step.metric,
            self.bent + other * step.bent,
            (1.0 - other) * self.missing,
            self.room + other * step.room,
            self.slack + one * step.slack,
        )

    def lengths(self, step: _Step) -> tuple[float, float]:
        """How far W and the slacks, and Z and α may go, up to 1."""
        return (
            _inside(self.metric, step.metric, _furthest(self.slack, step.slack)),
            _inside(self.bent, step.bent, _furthest(self.room, step.room)),
        )


class _System:
    """Newton's equations at one point, reduced to the rows' multipliers.

    (tr(W C_c Z⁻¹ C_d) + ψ*'' + Gᵀ·diag(slack/room)·G)Δα is what the rows lack at ΔS = 0.
    """

    def __init__(self, at: Inside, inverse: Array, solved: Callable[[Array], Array]) -> None:
        self.at, self.inverse, self.solved = at, inverse, solved
        #: what S(α) − Z alone changes in W
        self.shifted: Array | float = 0.0
        if np.abs(at.missing).max(initial=0.0) > SAME * np.abs(at.bent).max(initial=0.0):
            self.shifted = _symmetric(at.metric @ at.missing @ inverse)

    @classmethod
    def of(cls, at: Inside) -> _System | None:
        """None where rounding leaves Z singular."""
        root = cholesky(at.bent)
        if root is None:
            return None
        lower = inverse_lower(root)
        inverse, bend = lower.T @ lower, Bend(at)
        few = inside_unknowns_cost(at.problem) < rows_cost(len(at.problem))
        solved = over_unknowns(at, bend) if few else over_rows(at, bend, inverse)
        return None if solved is None else cls(at, inverse, solved)

    def step(self, identity: float, product: float, ahead: _Step | None) -> _Step:
        """Towards WZ = identity·I and slack·room = product; ``ahead``: what it leaves to second order counts."""
        at, inverse, problem = self.at, self.inverse, self.at.problem
        metric, wanted = identity * inverse - self.shifted, np.full(len(at.room), product)
        if ahead is not None:
            metric = metric - _symmetric(ahead.metric @ ahead.bent @ inverse)
            wanted = wanted - ahead.slack * ahead.room
        walls = at.intervals.matrix
        lacking = problem.offset + problem.sandwich(problem.coordinates, metric) - problem.loss.slope(at.alpha)
        alpha = self.solved(lacking + walls.T @ (wanted / at.room))
        bent, room = problem.spread(problem.coordinates, alpha), walls @ alpha
        metric = metric - at.metric - _symmetric(at.metric @ bent @ inverse)
        return _Step(alpha, bent + at.missing, metric, room, (wanted - at.slack * room) / at.room - at.slack)


class Bend:
    """D = ψ*'' + Gᵀ·diag(slack/room)·G: a diagonal, and one number for all pairs of rows that share an entropy.

    Attributes
    ----------
    own : (m,) array
    shared : (g,) array
    members : (g, m) sparse array
        1 where a row is one of those that share an entropy.
    """

    def __init__(self, at: Inside) -> None:
        loss, ratio = at.problem.loss, at.slack / at.room
        single = len(at.intervals.low) + len(at.intervals.high)
        own, shared = loss.bend(at.alpha)
        self.own = own + abs(at.intervals.matrix[:single]).T @ ratio[:single]
        self.members = abs(at.intervals.matrix[single:])
        self.shared = (self.members @ shared) / self.members.sum(axis=1) + ratio[single:]

    def __matmul__(self, alpha: Array) -> Array:
        return np.asarray(self.own * alpha + self.members.T @ (self.shared * (self.members @ alpha)))

    def of(self, rows: Array) -> Bend:
        """Of these rows alone, all of those that share an entropy or none."""
        part = copy(self)
        part.own, part.members = self.own[rows], self.members[:, rows]
        return part

    def added(self, matrix: Array) -> Array:
        """D plus a matrix, which it may overwrite."""
        matrix = plus_diagonal(matrix, self.own)
        together = (self.members.T @ (self.members * self.shared[:, None])).tocoo()
        matrix[together.coords] += together.data
        return matrix

    def inverse(self) -> tuple[Array, sparse.csr_array]:
        """D⁻¹ as a diagonal plus RᵀR, with a row of R for each two rows that share an entropy: nothing cancels."""
        own = 1.0 / self.own
        strength = self.shared / (1.0 + self.shared * (self.members @ own))
        together = sparse.triu(self.members.T @ (self.members * strength[:, None]), k=1).tocoo()
        one, other = together.coords
        root = np.sqrt(together.data * own[one] * own[other])
        places = np.tile(np.arange(len(root)), 2), np.r_[one, other]
        apart = sparse.csr_array((np.r_[root, -root], places), shape=(len(root), len(own)))
        return own / (1.0 + self.members.T @ (self.shared * (self.members @ own))), apart


def over_rows(at: Inside, bend: Bend, inverse: Array) -> Callable[[Array], Array] | None:
    """The solution of Newton's equations, by a factor over the rows; None where rounding leaves them singular."""
    problem, images = at.problem, at.problem.coordinates
    first, second = problem.first.astype(np.uint64), problem.second.astype(np.uint64)
    ends = [(first[pair], second[pair]) for pair in (problem.near, problem.far)]
    one, other = images @ at.metric @ images.T, images @ inverse @ images.T
    matrix = bend.added(mixed_products(one, other, ends[0], ends[1], problem.near_factor, problem.far_factor))
    return _factored(matrix)


def over_unknowns(at: Inside, bend: Bend) -> Callable[[Array], Array] | None:
    """The same by factors over the entries of W and over few rows.

    With W = TTᵀ and Z⁻¹ = TΛTᵀ, tr(W C_c Z⁻¹ C_d) is AAᵀ, where row c of A has the entries of TᵀΦᵀC_cΦT, each times the
    root of the mean of its two λ. By Woodbury's identity Δα = D⁻¹(r − Ay), with (I + AᵀD⁻¹A)y = AᵀD⁻¹r. Where D is
    small, r − Ay would have lost its digits: these rows' own equations remain, once y and the others are eliminated.
    """
    problem, root = at.problem, cholesky(at.metric)
    if root is None:
        return None
    values, turn = np.linalg.eigh(root.T @ at.bent @ root)
    if not values.min(initial=1.0) > 0:
        return None
    unknowns, every = Unknowns(problem.rank), np.arange(len(problem))
    mean = 0.5 / values[unknowns.one] + 0.5 / values[unknowns.other]
    pairs = unknowns.pairs(problem, problem.coordinates @ (root @ turn)) * np.sqrt(mean)
    felt = np.asarray(on_pairs(problem, every) @ pairs)
    stiff = _stiff(problem, np.einsum("cu,cu->c", felt, felt) / bend.own)
    few, most = np.flatnonzero(stiff), np.flatnonzero(~stiff)
    own, apart = bend.of(most).inverse()
    easy, hard = felt[most], felt[few]
    between = apart @ easy
    # As a product of √own·easy with itself it would take half the time, but on random answers about items of four
    # dimensions it lost a digit, and the path took a third more steps.
    matrix = plus_diagonal(easy.T @ (own[:, None] * easy) + between.T @ between, np.ones(felt.shape[1]))
    by_unknowns = _factored(matrix)
    if by_unknowns is None:
        return None
    by_rows = _factored(bend.of(few).added(hard @ by_unknowns(hard.T)))
    if by_rows is None:
        return None

    def over_bend(right: Array) -> Array:
        return np.asarray(own * right + apart.T @ (apart @ right))

    def once(right: Array) -> Array:
        alpha, divided = np.empty_like(right), over_bend(right[most])
        pull = easy.T @ divided
        alpha[few] = by_rows(right[few] - hard @ by_unknowns(pull))
        moved = easy @ by_unknowns(pull + hard.T @ alpha[few])
        alpha[most] = divided - over_bend(moved)
        return alpha

    def solved(right: Array) -> Array:
        alpha = once(right)
        return alpha + once(right - felt @ (felt.T @ alpha) - bend @ alpha)

    return solved


def _stiff(problem: Dual, ratio: Array) -> Array:
    """(m,) bool: rows that are divided by too small a number, and those that share an entropy with them."""
    least = max(STIFF, np.partition(ratio, -DENSE)[-DENSE] if len(ratio) > DENSE else 0.0)
    return problem.loss.by_group((ratio > least).astype(float)) > 0


def _factored(matrix: Array) -> Callable[[Array], Array] | None:
    """Division by a positive definite matrix, which is overwritten; None where rounding leaves it singular."""
    scale = 1.0 / np.sqrt(np.diagonal(matrix))
    matrix *= scale[:, None]
    matrix *= scale
    matrix = plus_diagonal(matrix, np.full(len(matrix), SHIFT))
    factor, failed = lapack("potrf", matrix)(matrix.T, lower=1, overwrite_a=1) if len(matrix) else (matrix, 0)
    if failed:
        return None

    def divided(right: Array) -> Array:
        if not right.size:
            return right
        return np.asarray((scale * lapack("potrs", factor)(factor, (scale * right.T).T, lower=1)[0].T).T)

    return divided


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
