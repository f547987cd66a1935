"""Newton's method in the primal: where soft answers are many, or outweigh the divergence.

The dual's steps must keep S(α) positive definite, and far from the optimum they are short for it. A smooth loss can be
met in the primal, f(W) = tr W − logdet W + Σψ(tr(K C_c) + b_c), which knows no such edge. With W = LLᵀ moved to
L(I + X)Lᵀ the Newton step solves

    X + Zᵀ(Σ_c ψ''_c tr(Z X Zᵀ C_c) C_c)Z = −gradient,    Z = ΦL,

in whichever space is smallest: that of the q(q + 1)/2 unknowns of X, that of the rows (by Woodbury's identity, whose
matrix is the dual's Hessian), or, where both are large, by conjugate gradients.

A loss with a kink (hinge, or rows that must hold) is made smooth around the multipliers so far, and these are moved on:
the proximal point method on the dual, which is the method of multipliers on the primal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

import numpy as np
from scipy import linalg, sparse

from ..problem.arrays import Array, cholesky, eigenvalues, inverse_lower, namespace, plus_diagonal
from ..problem.dual import Dual
from ..problem.geometry import Geometry
from ..problem.point import ROUNDING, Point
from .costs import PRODUCTS, SLIGHT, Budget, least_squares_cost, products_cost, rows_cost, unknowns_cost
from .preconditioner import Preconditioner
from .unknowns import Unknowns, on_pairs

# Products for the largest eigenvalue of the gradient, which is known to a few per cent then: a path starts from it.
POWERS = 20
# Most steps at the end of a path and for one of its points, and most products with the Hessian for one step.
STEPS, STAGE = 150, 40
CG_STEPS = 120
# How exact conjugate gradients make a direction, as a share of the gradient: far from the minimum, and near it.
ROUGH, FINE = 0.3, 0.05
# What a full step leaves of the damping.
RELIEF = 0.1
# A step ends where this share of the slope is left. It may be that long, and must leave this share of each of W's
# dimensions.
FLAT, LONGEST, EDGE = 0.3, 8.0, 0.3
# Steps that may pass without halving a gradient that is small already.
PATIENCE = 4
# On a path: by how much it advances each time, and the squared Newton decrement at which it does. By trial of the path
# of growing losses on digits with 300 to 100,000 random answers: at 2.0 in place of 0.5 some of them never arrive.
FALL, NEAR = 10.0, 0.5
# Directions are accurate above this pivot of a Cholesky factor, of a matrix with a unit diagonal (its square is 1e-9,
# which leaves seven of float64's sixteen digits), and, over the rows, up to this product of ψ'' and tr(K C_c K C_c):
# on draw(800079) of the random problems 1e9 made an error of 2e-3, which outweighs the divergence. Conservative.
LOST, STIFF = 3e-5, 1e6
# Operations that a dense factorisation may take where conjugate gradients don't arrive.
DENSE = 1e11
# The method of multipliers, by trial on 1,500 random answers about 12 to 60 digits: how strongly K's own curvature
# outweighs what holds a row, at first, how much more each time, and at most; how often; and how exactly the first
# smooth problems are solved.
HOLD, TIGHTER, TIGHTEST, TIMES, ROUGHLY = 10.0, 10.0, 1e5, 40, 1e-2


def descend(
    point: Point, closes: Sequence[float], *, warm: bool = False, budget: Budget | None = None
) -> Iterator[Point]:
    """Points ever nearer to the optimum of a problem whose loss is soft, found from a point's metric.

    At the multipliers α that the violations ask for, LᵀS(α)L is the identity plus the gradient: once that is within one
    of ``closes``, α is as near to the optimum. ``warm``: the point is the optimum of a similar problem. ``budget``: how
    much its steps may cost; they end where it is spent.
    """
    primal = Primal.of(point)
    for close in closes:
        primal = minimised(primal, close, warm=warm, budget=budget)
        found = primal.known(primal.wanted) or point.problem.at(primal.wanted)
        if found is None:
            return
        yield found
        warm = True


def polished(problem: Dual, metric: Array, close: float) -> Point | None:
    """The optimum of a problem whose loss is soft, from a metric near it; None if rounding has left that singular."""
    start = Primal.under_metric(problem, metric)
    if start is None:
        return None
    found, _ = _newton(start, close, STEPS, Budget())
    return found.known(found.wanted) or problem.at(found.wanted)


def held_and_moved(point: Point, tol: float) -> Point | None:
    """The best point that the method of multipliers leads to from here; None if it leads nowhere.

    Rows whose loss has a kink are held near their multipliers so far by ½·ε(α′ − α)², with ε a share of the curvature
    that K gives them; the smooth problem is solved, α moves to its multipliers, and the share shrinks.
    """
    problem, primal, best = point.problem, Primal.of(point), None
    xp, alpha, hold, tightest, close = namespace(point.alpha), point.alpha, HOLD, TIGHTEST, ROUGHLY
    for _ in range(TIMES):
        held = problem.proximal(alpha, xp.where(problem.loss.walls, primal.own_products / hold, 0.0))
        found = minimised(primal.under(held), close)
        primal = found.under(problem)
        if _dot(found.gradient, found.gradient) > close**2:  # held too little to be smooth
            hold = tightest = max(hold / TIGHTER, HOLD)
            continue
        alpha = found.wanted
        there = problem.at(alpha)
        if there is not None and (best is None or there.residual < best.residual):
            best, close = there, max(min(ROUGHLY, 0.1 * there.residual), 0.01 * tol)
            if best.residual <= tol and best.gap <= tol:
                break
        hold = min(TIGHTER * hold, tightest)
    return best


class Primal(Geometry):
    """The primal problem at one metric W = LLᵀ.

    Attributes
    ----------
    factor : (q, q) array
        L.
    log_determinant : float
        logdet W.
    """

    def __init__(self, problem: Dual, images: Array, factor: Array, log_determinant: float) -> None:
        self.problem, self.images = problem, images
        self.factor, self.log_determinant = factor, log_determinant

    @classmethod
    def of(cls, point: Point) -> Primal:
        """At the metric of a point of the dual."""
        factor = point.inverse_factor.T
        return cls(point.problem, point.problem.coordinates @ factor, factor, -point.log_determinant)

    @classmethod
    def under_metric(cls, problem: Dual, metric: Array) -> Primal | None:
        """At this W; None if rounding has left it singular."""
        factor = cholesky(metric)
        if factor is None:
            return None
        log_determinant = 2.0 * float(np.log(np.diagonal(factor)).sum())
        return cls(problem, problem.coordinates @ factor, factor, log_determinant)

    def under(self, problem: Dual) -> Primal:
        """The same metric for other offsets and losses of the same rows."""
        return Primal(problem, self.images, self.factor, self.log_determinant)

    def scaled(self, factor: float) -> Primal:
        """At factor·L."""
        grown = 2.0 * self.problem.rank * float(np.log(factor))
        return Primal(self.problem, factor * self.images, factor * self.factor, self.log_determinant + grown)

    def turned(self, turn: Array) -> Primal:
        """At L·turn, where ``turn`` is lower triangular."""
        xp = namespace(turn)
        grown = 2.0 * float(xp.sum(xp.log(xp.linalg.diagonal(turn))))
        return Primal(self.problem, self.images @ turn, self.factor @ turn, self.log_determinant + grown)

    @cached_property
    def value(self) -> float:
        """f(W)."""
        cost = float(namespace(self.factor).sum(self.problem.loss.primal(self.violation)))
        return _dot(self.factor, self.factor) - self.log_determinant + cost

    @cached_property
    def inner(self) -> Array:
        """LᵀL, the slope of tr W along X."""
        return self.factor.T @ self.factor

    @cached_property
    def wanted(self) -> Array:
        """The multipliers that the violations ask for."""
        return self.problem.loss.wanted(self.violation)

    @cached_property
    def gradient(self) -> Array:
        """The slope of f along X, (q, q)."""
        pulled = self.problem.spread(self.images, self.wanted)
        return self.inner + pulled - self.problem.unit

    def rounding(self, alpha: Array) -> float:
        """By how much LᵀS(α)L is off, as S(α) is a sum of the rows' parts."""
        return ROUNDING * float(namespace(alpha).sum(abs(alpha) * self.scale))

    def known(self, alpha: Array) -> Point | None:
        """The point of the dual at α, with S = W⁻¹; None if S(α) differs by more than rounding, or W is singular.

        Where the loss outweighs the divergence 1e10 times, that rounding would hide the optimum, and S(α) might not
        even be positive definite.
        """
        xp, unit = namespace(self.factor), self.problem.unit
        apart = self.gradient
        if alpha is not self.wanted:
            apart = self.factor.T @ self.factor + self.problem.spread(self.images, alpha) - unit
        # The sum of the squares of q eigenvalues, none of them larger than rounding.
        if not _dot(apart, apart) <= unit.shape[0] * self.rounding(alpha) ** 2:
            return None
        turn, triangle = xp.linalg.qr(xp.linalg.solve(self.factor, unit))
        sign = xp.sign(xp.linalg.diagonal(triangle))
        factor, turn = (triangle * sign[:, None]).T, turn * sign
        if not xp.all(xp.linalg.diagonal(factor) > 0):
            return None
        divergence = _dot(self.factor, self.factor) - self.log_determinant - unit.shape[0]
        # Inverting S would bring the rounding of two inverses into what W has exactly.
        return Point(self.problem, alpha, factor @ factor.T, factor).knowing(
            divergence=divergence, images=self.images @ turn, inverse_factor=(self.factor @ turn).T
        )

    @cached_property
    def stiffness(self) -> tuple[Array, Array]:
        """ψ'' of every row, as `Conjugate.stiffness` gives it."""
        return self.problem.loss.stiffness(self.violation)

    def stiff(self, change: Array) -> Array:
        """ψ''(t) times a change of t."""
        own, p = self.stiffness
        product = own * change
        return product - own * self.problem.loss.by_group(p * change) if self.problem.loss.has_entropy else product


def minimised(primal: Primal, close: float, *, warm: bool = False, budget: Budget | None = None) -> Primal:
    """The metric that minimises f, its gradient within ``close``, or as near as rounding allows.

    Where the loss outweighs the divergence by far, Newton's steps from a cold start lead to the edge where W is nearly
    singular, and stay there. So a path of easier problems comes first, each near the last one's minimum; from a warm
    start only where steps without a path don't arrive.
    """
    budget = budget or Budget()
    if warm:
        found, arrived = _newton(primal, close, STAGE, budget)
        if arrived:
            return found
    pull = _norm(primal.gradient) if primal.problem.rank else 0.0
    if pull > 1.0:
        # Where rows are few, most dimensions need not move, and the second path would move them all.
        crowded = 2 * len(primal.problem) > primal.problem.rank**2
        for path in (_central, _strengthened) if crowded else (_strengthened, _central):
            near = path(primal, pull, budget)
            if near is not None:
                primal = near
                break
    return _newton(primal, close, STEPS, budget)[0]


def _strengthened(primal: Primal, pull: float, budget: Budget) -> Primal | None:
    """The minimum for ever stronger losses: at first the loss pulls no harder than the divergence does.

    None if one of them was not found.
    """
    problem, weakness = primal.problem, pull
    while weakness > 1.0:
        found, arrived = _newton(primal.under(problem.weakened(weakness)), None, STAGE, budget)
        if not arrived:
            return None
        primal, weakness = found.under(problem), weakness / FALL
    return primal


def _central(primal: Primal, pull: float, budget: Budget) -> Primal | None:
    """The central path of interior-point methods: logdet W has a weight that falls to 1 and keeps W from the edge.

    None if one of its points was not found.
    """
    problem, barrier = primal.problem, pull
    while barrier > 1.0:
        # The problem relaxed by μ has its minimum at W/μ.
        relaxed = problem.relaxed(barrier)
        found, arrived = _newton(primal.scaled(barrier**-0.5).under(relaxed), None, STAGE, budget)
        if not arrived:
            return None
        primal, barrier = found.scaled(barrier**0.5).under(problem), barrier / FALL
    return primal


def _newton(primal: Primal, close: float | None, steps: int, budget: Budget) -> tuple[Primal, bool]:
    """Newton's method on f until the gradient is within ``close``, or, if that is None, until steps are small.

    Beside the metric stands whether it got there.
    """
    unit, xp = primal.problem.unit, namespace(primal.images)
    change, damping, least, idle = _usual_change(primal.problem), 0.0, float("inf"), 0
    for _ in range(steps):
        size = _dot(primal.gradient, primal.gradient)
        # Once rounding hides whether f falls, its gradient stays as large as it is.
        idle, least = (0, size) if size < 0.5 * least else (idle + 1, least)
        if (close is not None and size <= close**2) or (idle > PATIENCE and size <= 1.0):
            return primal, True
        if budget.spent:
            break
        step = _direction(primal, change, damping, budget)
        if close is None and -_dot(primal.gradient, step) <= NEAR:
            return primal, True
        length = _length(primal, step)
        turn = cholesky(unit + length * step) if length > 0 else None
        if turn is None or not xp.all(xp.linalg.diagonal(turn) > 0):
            break
        primal = primal.turned(turn)
        # As much damping as would have made the step so short, but only where the loss does not.
        damping = (1.0 + damping) / length - 1.0 if length < 1.0 else RELIEF * damping
    return primal, False


def _length(primal: Primal, step: Array) -> float:
    """How far to go along a direction X: 1, unless f is far from flat there; then to where it nearly is.

    Along l, f is tr W(I + lX) − logdet W − Σ log(1 + lξ) + Σψ(t + l·t′), with the eigenvalues ξ of X and the change t′
    of the violations, so that its slope, which grows, costs no matrix product. At l = 1, Σ ξ/(1 + ξ) is q less the
    squares of the inverse of a Cholesky factor of I + X, in a tenth of the time of the eigenvalues.
    """
    problem, xp = primal.problem, namespace(step)
    change = problem.sandwich(primal.images, step)
    linear = _dot(primal.inner, step)

    def slope(length: float, bent: float) -> float:
        wanted = problem.loss.wanted(primal.violation + length * change)
        return float(linear - bent + wanted @ change)

    first = slope(0.0, float(xp.sum(xp.linalg.diagonal(step))))
    if not first < 0:
        return 0.0
    # Single precision has no numbers above 3e38; dividing by a power of two loses no digits.
    size = 2.0 ** float(np.frexp(float(xp.max(xp.abs(step))))[1])
    slim = xp.astype(step / size, xp.float32)
    bent = _bent_at_one(size, slim)
    if bent is not None and abs(slope(1.0, bent)) <= FLAT * -first:
        return 1.0
    bends = size * xp.astype(eigenvalues(slim), step.dtype)
    most = min(LONGEST, (1.0 - EDGE) / max(-float(xp.min(bends)), 1e-300))
    low, high, length = 0.0, most, min(1.0, most)
    for _ in range(40):
        there = slope(length, float(xp.sum(bends / (1.0 + length * bends))))
        if abs(there) <= FLAT * -first or (there < 0 and length == most):
            return length
        low, high = (length, high) if there < 0 else (low, length)
        length = min(2.0 * low, most) if high == most and there < 0 else 0.5 * (low + high)
    return low


def _bent_at_one(size: float, slim: Array) -> float | None:
    """Σ ξ/(1 + ξ) for the eigenvalues ξ of size·slim; None if one of them is below EDGE − 1."""
    if not size < 1.0 / np.finfo(np.float32).eps:
        return None
    xp = namespace(slim)
    grown = size * slim + xp.eye(slim.shape[0], dtype=slim.dtype, device=slim.device)
    factor, least = cholesky(grown), xp.full(slim.shape[:1], EDGE, dtype=slim.dtype, device=slim.device)
    if factor is None or cholesky(plus_diagonal(grown, -least)) is None:
        return None
    return float(slim.shape[0] - xp.sum(xp.square(inverse_lower(factor))))


def _direction(primal: Primal, change: Array, damping: float, budget: Budget) -> Array:
    """The X with (1 + damping)X + Zᵀ(Σ_c ψ''_c tr(Z X Zᵀ C_c) C_c)Z = −gradient, in the cheapest of three ways."""
    if not isinstance(primal.images, np.ndarray):
        return _by_products(primal, change, damping)[0]
    problem, rows = primal.problem, np.flatnonzero(primal.stiffness[0])
    if not len(rows):  # f is the divergence and a linear function: exact
        return -primal.gradient / (1.0 + damping)
    by_unknowns, by_rows = unknowns_cost(problem), rows_cost(len(rows))
    dense, cost = (_by_unknowns, by_unknowns) if by_unknowns < by_rows else (_by_rows, by_rows)
    if cost > max(products_cost(problem), SLIGHT):
        step, arrived = _by_products(primal, change, damping)
        budget.spend((1 if arrived else CG_STEPS / PRODUCTS) * products_cost(problem))
        if arrived or cost > DENSE:
            return step
    budget.spend(cost)
    step, accurate = dense(primal, rows, damping)
    if accurate or problem.loss.has_entropy or least_squares_cost(problem, len(rows)) > DENSE:
        return step
    budget.spend(least_squares_cost(problem, len(rows)))
    return _by_least_squares(primal, rows, damping)


def _by_unknowns(primal: Primal, rows: Array, damping: float) -> tuple[Array, bool]:
    """The direction by a factorisation over the entries of X on and above the diagonal, and whether it is accurate."""
    problem, loss = primal.problem, primal.problem.loss
    own, p = primal.stiffness
    unknowns = Unknowns(problem.rank)
    across, pairs = on_pairs(problem, rows), unknowns.pairs(problem, primal.images)
    between = across.T @ (across * own[rows, None])
    if loss.has_entropy:
        entropic = loss.entropic[rows]
        strength = np.sqrt(np.where(entropic, loss.cap[rows] / np.where(entropic, loss.temperature[rows], 1.0), 0.0))
        _, group = np.unique(loss.group[rows], return_inverse=True)
        members = (strength * p[rows], (group, np.arange(len(rows))))
        shared = sparse.csr_array(members, shape=(group.max() + 1, len(rows))) @ across
        between = between - shared.T @ shared
    matrix = plus_diagonal(pairs.T @ (between @ pairs), np.full(pairs.shape[1], 1.0 + damping))
    found, least = _solved(matrix, -unknowns.vector(primal.gradient))
    return unknowns.matrix(found), least > LOST


def _by_rows(primal: Primal, rows: Array, damping: float) -> tuple[Array, bool]:
    """The direction by a factorisation over the rows that bend, and whether it is accurate. By Woodbury's identity,

    (1 + damping)X = Zᵀ(Σ_c y_c C_c)Z − gradient, where ((1 + damping)/ψ'' + tr(K C_c K C_d))y = tr(Z·gradient·Zᵀ C_c).
    """
    problem, loss = primal.problem, primal.problem.loss
    felt = problem.sandwich(primal.images, primal.gradient)[rows]
    matrix = primal.row_products(rows)
    # 1/ψ'' is ψ*'' at the multipliers that the violations ask for.
    own, shared = loss.bend(primal.wanted)
    soft = (1.0 + damping) * own[rows]
    stiff = (np.diagonal(matrix) > STIFF * soft).any()
    matrix = plus_diagonal(matrix, soft)
    if loss.has_entropy:
        _, group = np.unique(loss.group[rows], return_inverse=True)
        members = sparse.csr_array((np.ones(len(rows)), (group, np.arange(len(rows)))))
        row, other = (members.T @ members).nonzero()
        matrix[row, other] += (1.0 + damping) * shared[rows[other]]
    found, least = _solved(matrix, felt)
    y = np.zeros(len(problem))
    y[rows] = found
    return (problem.spread(primal.images, y) - primal.gradient) / (1.0 + damping), not stiff and least > LOST


def _by_least_squares(primal: Primal, rows: Array, damping: float) -> Array:
    """The direction as the solution of a least-squares problem, by QR factorisations. For losses without entropy.

    Where ψ'' outweighs the divergence 1e9 times and more, a Hessian in double precision has lost what the divergence
    says. Its root has not: X minimises ½(1 + damping)‖X‖² + tr(G X) + ½Σ_c ψ''_c(tr(Z X Zᵀ C_c) + ψ'_c/ψ''_c)², with
    the gradient G of everything but these rows.
    """
    problem, unknowns = primal.problem, Unknowns(primal.problem.rank)
    own, weight = primal.stiffness[0][rows], 1.0 + damping
    root = np.sqrt(own)
    others = primal.wanted.copy()
    others[rows] = 0.0
    rest = primal.inner + problem.spread(primal.images, others) - problem.unit
    own_pull = primal.wanted[rows] / root
    if _dot(primal.gradient, primal.gradient) < _dot(rest, rest):
        # Near the optimum these rows all but cancel the rest: their sum has digits that the two have lost.
        rest, own_pull = primal.gradient, np.zeros(len(rows))
    start = -unknowns.vector(rest) / weight
    felt = (on_pairs(problem, rows) @ unknowns.pairs(problem, primal.images)) * root[:, None]
    missing = -own_pull - felt @ start
    if len(rows) < len(start):  # the rest of the space needs no change of its start
        space, triangle = linalg.qr(felt.T, mode="economic", check_finite=False)
        return unknowns.matrix(start + space @ _ridge(triangle.T, missing, weight))
    return unknowns.matrix(start + _ridge(felt, missing, weight))


def _ridge(matrix: Array, right: Array, weight: float) -> Array:
    """The y that minimises ‖matrix·y − right‖² + weight·‖y‖²."""
    size = matrix.shape[1]
    stacked = np.vstack([matrix, weight**0.5 * np.eye(size)])
    turned, triangle = linalg.qr_multiply(stacked, np.r_[right, np.zeros(size)], mode="right")
    return np.asarray(linalg.solve_triangular(triangle, turned, check_finite=False))


def _solved(matrix: Array, right: Array) -> tuple[Array, float]:
    """The solution of a positive definite system, scaled to a unit diagonal, and the least pivot of its factor."""
    scale = 1.0 / np.sqrt(np.diagonal(matrix))
    matrix = plus_diagonal(matrix * scale[:, None] * scale, np.full(len(matrix), 1e-14))
    factor = cholesky(matrix)
    if factor is None:
        return np.zeros_like(right), 0.0
    known = (scale * right).astype(factor.dtype)  # LAPACK would copy a factor in single precision
    found = linalg.cho_solve((factor, True), known, check_finite=False)
    return np.asarray(scale * found), float(np.diagonal(factor).min(initial=1.0))


def _by_products(primal: Primal, change: Array, damping: float) -> tuple[Array, bool]:
    """Roughly the direction, by preconditioned conjugate gradients, and whether they arrived."""
    xp, unit = namespace(primal.images), _largest(primal.images)
    slim = xp.astype(primal.images / unit, xp.float32)
    stiffness = float(unit) ** 4 * float(change @ primal.stiff(change))
    rough = Preconditioner(primal.problem, slim, 1.0 + damping, stiffness, primal.images.dtype)
    product = _hessian(primal, slim, unit)
    x, rest = xp.zeros_like(primal.gradient), -primal.gradient
    size = _dot(rest, rest)
    goal = (ROUGH if size > 1.0 else FINE) ** 2 * size
    towards = rough.divide(rest)
    left = _dot(rest, towards)
    arrived = False
    for taken in range(CG_STEPS):
        bent = product(towards) + damping * towards
        curvature = _dot(towards, bent)
        if not curvature > 0:  # where ψ'' outweighs the divergence 1e16 times, products are all rounding
            x = x if taken else towards
            break
        length = left / curvature
        x, rest = x + length * towards, rest - length * bent
        arrived = _dot(rest, rest) <= goal
        if arrived:
            break
        scaled = rough.divide(rest)
        before, left = left, _dot(rest, scaled)
        towards = scaled + (left / before) * towards
    return xp.astype(x, primal.images.dtype), arrived


def _hessian(primal: Primal, slim: Array, unit: Array) -> Callable[[Array], Array]:
    """X ↦ X + Zᵀ(Σ_c ψ''_c tr(Z X Zᵀ C_c) C_c)Z, with Z = unit·slim.

    The sum is taken in single precision, as a direction need not be exact, and of numbers scaled to fit in.
    """
    problem, xp = primal.problem, namespace(slim)

    def product(x: Array) -> Array:
        size = _largest(x)
        felt = xp.astype(problem.sandwich(slim, xp.astype(x / size, xp.float32)), x.dtype)
        pull = primal.stiff(size * unit**2 * felt)
        most = _largest(pull)
        return x + most * unit**2 * xp.astype(problem.spread(slim, pull / most), x.dtype)

    return product


def _usual_change(problem: Dual) -> Array:
    """(m,): tr(Y C_c) of every row c for a random Y: what one random X would do if the items were drawn normally."""
    rng, xp = np.random.default_rng(0), namespace(problem.offset)
    own, between = (problem.put(rng.normal(size=n)) for n in (len(problem.items), problem.place.shape[0]))
    ends = xp.take(own, problem.first, axis=0) + xp.take(own, problem.second, axis=0)
    # Y_ii has twice the variance of Y_ij, as z_iᵀXz_i has of z_iᵀXz_j.
    return problem.row_sums(2**0.5 * ends - 2.0 * between)


def _largest(array: Array) -> Array:
    """The size of its largest entry, 1 if all are 0."""
    xp = namespace(array)
    largest = xp.max(xp.abs(array))
    return xp.where(largest > 0, largest, 1.0)


def _norm(matrix: Array) -> float:
    """About the largest size of an eigenvalue of a symmetric matrix, by power iteration from its longest row."""
    xp, unit = namespace(matrix), _largest(matrix)
    slim = matrix / unit
    vector, norm = slim[int(xp.argmax(xp.sum(xp.square(slim), axis=1))), :], 0.0
    for _ in range(POWERS):
        length = _dot(vector, vector) ** 0.5
        if not length > 0:
            break
        vector = slim @ (vector / length)
        norm = _dot(vector, vector) ** 0.5
    return float(unit) * norm


def _dot(one: Array, other: Array) -> float:
    return float(namespace(one).sum(one * other))
