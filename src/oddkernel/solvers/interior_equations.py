"""The linear equations of a step of the interior-point method, over the rows or over the unknowns of W.

Once the changes of W, Z, room and slack are eliminated, the change Δα of the multipliers remains:

    (M + D)Δα = r,   M_cd = tr(W C_c Z⁻¹ C_d),   D = ψ*'' + Gᵀ·diag(slack/room)·G.

r is what the rows lack at ΔS = 0. The condition of M + D grows without limit along the path. Coordinates are those in
which W = LLᵀ is the identity: the items' images are ΦL, and Z stands for LᵀZL.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..problem.arrays import Array, cholesky, lapack, plus_diagonal, symmetrised
from ..problem.dual import Dual
from ..problem.row_products import mixed_products
from .costs import DENSE
from .primal import Primal
from .unknowns import Unknowns, on_pairs

# Relative to the diagonal, what makes a singular matrix invertible: rounding; and what makes it so where some rows
# depend on one another by more. By trial on draw(61001514), where 1e-12 did.
SHIFT, LARGER_SHIFT = 1e-13, 1e-11
# Rows from which their matrix is factorised in single precision, at half the cost; its shift; up to which share of the
# right-hand side conjugate gradients then solve the equations, and most of their products. By trial on draw(21001195)
# and draw(31002298), of 5,288 and 4,078 rows, where it took 2 to 10 products.
SINGLE, SINGLE_SHIFT, EXACT, PRODUCTS = 1000, 1e-6, 1e-13, 30
# Most dimensions of W with which that pays, as a share of the rows: a product with the matrix costs as much as some
# with W. By trial: with 201 dimensions and 5,288 rows it did; with 1,037 and 4,846, of THINGS, it took a third longer.
DIMENSIONS = 0.1
# How large M_cc may be, relative to what row c is divided by. Rounding grows as much, and a second solution, for what
# the first one leaves, takes that back.
STIFF = 1e6

# A linear map: of right-hand sides to solutions, or of vectors to their products with a matrix.
LinearMap = Callable[[Array], Array]


@dataclass(frozen=True, eq=False)
class GroupedDiagonal:
    """A diagonal, and for each group of rows one number at all its pairs: D, where a group shares an entropy.

    Attributes
    ----------
    own : (m,) array
        The diagonal, but for the groups' numbers.
    shared : (g,) array
        The number of each group.
    members : (g, m) sparse array
        1 where a row belongs to a group.
    """

    own: Array
    shared: Array
    members: sparse.csr_array

    def __matmul__(self, alpha: Array) -> Array:
        return np.asarray(self.own * alpha + self.members.T @ (self.shared * (self.members @ alpha)))

    def part(self, rows: Array) -> GroupedDiagonal:
        """Of these rows alone, which are all of a group or none."""
        return GroupedDiagonal(self.own[rows], self.shared, self.members[:, rows])

    def plus(self, matrix: Array) -> Array:
        """The sum with a matrix, which it may overwrite."""
        matrix = plus_diagonal(matrix, self.own)
        together = (self.members.T @ (self.members * self.shared[:, None])).tocoo()
        matrix[together.coords] += together.data
        return matrix

    def inverse(self) -> tuple[Array, sparse.csr_array]:
        """D⁻¹ as a diagonal plus RᵀR, with a row of R for each two rows of a group: nothing cancels."""
        own = 1.0 / self.own
        strength = self.shared / (1.0 + self.shared * (self.members @ own))
        together = sparse.triu(self.members.T @ (self.members * strength[:, None]), k=1).tocoo()
        one, other = together.coords
        root = np.sqrt(together.data * own[one] * own[other])
        places = np.tile(np.arange(len(root)), 2), np.r_[one, other]
        apart = sparse.csr_array((np.r_[root, -root], places), shape=(len(root), len(own)))
        return own / (1.0 + self.members.T @ (self.shared * (self.members @ own))), apart


def over_rows(primal: Primal, inverse: Array, diagonal: GroupedDiagonal) -> LinearMap | None:
    """By a factor of M + D, for ``inverse`` = Z⁻¹; None where rounding leaves it singular."""
    problem, images = primal.problem, primal.images
    first, second = problem.first.astype(np.uint64), problem.second.astype(np.uint64)
    ends = [(first[pair], second[pair]) for pair in (problem.near, problem.far)]
    other = images @ inverse @ images.T

    def matrix() -> Array:
        products = mixed_products(primal.kernel, other, ends[0], ends[1], problem.near_factor, problem.far_factor)
        return diagonal.plus(products)

    def product(alpha: Array) -> Array:
        metric = symmetrised(problem.spread(images, alpha) @ inverse)
        return problem.sandwich(images, metric) + diagonal @ alpha

    if len(problem) < SINGLE or problem.rank > DIMENSIONS * len(problem):
        return _factored(matrix())
    return _by_single_precision(matrix, product)


def over_unknowns(primal: Primal, bent: Array, diagonal: GroupedDiagonal) -> LinearMap | None:
    """By factors over the entries of W and over few rows, for ``bent`` = Z; None where rounding leaves them singular.

    With Z⁻¹ = TΛTᵀ, M is AAᵀ, where row c of A has the entries of TᵀΦᵀC_cΦT, each times the root of the mean of its
    two λ. By Woodbury's identity Δα = D⁻¹(r − Ay), with (I + AᵀD⁻¹A)y = AᵀD⁻¹r. Where D is small, r − Ay would have
    lost its digits: these rows' own equations remain, once y and the others are eliminated.
    """
    problem = primal.problem
    values, turn = np.linalg.eigh(bent)
    if not values.min(initial=1.0) > 0:
        return None
    unknowns, every = Unknowns(problem.rank), np.arange(len(problem))
    mean = 0.5 / values[unknowns.one] + 0.5 / values[unknowns.other]
    pairs = unknowns.pairs(problem, primal.images @ turn) * np.sqrt(mean)
    root = np.asarray(on_pairs(problem, every) @ pairs)  # A
    stiff = _stiff(problem, np.einsum("cu,cu->c", root, root) / diagonal.own)
    few, most = np.flatnonzero(stiff), np.flatnonzero(~stiff)
    own, apart = diagonal.part(most).inverse()
    root_few, root_most = root[few], root[most]
    between = apart @ root_most
    # As a product of √own·A with itself it would take half the time, but on random answers about items of four
    # dimensions it lost a digit, and the path took a third more steps.
    matrix = root_most.T @ (own[:, None] * root_most) + between.T @ between
    by_unknowns = _factored(plus_diagonal(matrix, np.ones(root.shape[1])))
    if by_unknowns is None:
        return None
    reduced = diagonal.part(few).plus(root_few @ by_unknowns(root_few.T))
    by_few = _factored(reduced.copy()) or _factored(reduced, LARGER_SHIFT)
    if by_few is None:
        return None

    def over_diagonal(right: Array) -> Array:
        return np.asarray(own * right + apart.T @ (apart @ right))

    def once(right: Array) -> Array:
        alpha, divided = np.empty_like(right), over_diagonal(right[most])
        pull = root_most.T @ divided
        alpha[few] = by_few(right[few] - root_few @ by_unknowns(pull))
        moved = root_most @ by_unknowns(pull + root_few.T @ alpha[few])
        alpha[most] = divided - over_diagonal(moved)
        return alpha

    def solved(right: Array) -> Array:
        alpha = once(right)
        return alpha + once(right - root @ (root.T @ alpha) - diagonal @ alpha)

    return solved


def _stiff(problem: Dual, ratio: Array) -> Array:
    """(m,) bool: rows that are divided by too small a number, and those of their groups, for ``ratio`` = M_cc/D_cc."""
    least = max(STIFF, np.partition(ratio, -DENSE)[-DENSE] if len(ratio) > DENSE else 0.0)
    return problem.loss.by_group((ratio > least).astype(float)) > 0


def _factored(matrix: Array, shift: float = SHIFT) -> LinearMap | None:
    """Division by a positive definite matrix, known on and above its diagonal; None where rounding leaves it singular.

    The matrix is overwritten.
    """
    scale = 1.0 / np.sqrt(np.diagonal(matrix))
    matrix *= scale[:, None]
    matrix *= scale
    matrix = plus_diagonal(matrix, np.full(len(matrix), shift))
    factor, failed = lapack("potrf", matrix)(matrix.T, lower=1, overwrite_a=1) if len(matrix) else (matrix, 0)
    if failed:
        return None

    def divided(right: Array) -> Array:
        if not right.size:
            return right
        return np.asarray((scale * lapack("potrs", factor)(factor, (scale * right.T).T, lower=1)[0].T).T)

    return divided


def _by_single_precision(matrix: Callable[[], Array], product: LinearMap) -> LinearMap | None:
    """Division by a matrix by conjugate gradients, preconditioned by its factor in single precision.

    Where that is too inexact, a factor in double precision takes over, from the first right-hand side on at which
    they don't arrive. ``product`` is the product with the matrix.
    """
    whole = matrix()
    scale = 1.0 / np.sqrt(np.diagonal(whole))
    slim = np.multiply(whole, scale[:, None], out=np.empty(whole.shape, np.float32), casting="unsafe")
    del whole
    slim *= scale.astype(np.float32)
    factor = cholesky(plus_diagonal(slim, np.full(len(slim), SINGLE_SHIFT, np.float32)), overwrite=True)
    if factor is None:
        return _factored(matrix())

    def roughly(right: Array) -> Array:
        unit = float(np.abs(scale * right).max(initial=0.0)) or 1.0
        known = (scale * right / unit).astype(np.float32)
        return np.asarray(unit * scale * lapack("potrs", factor)(factor, known, lower=1)[0])

    exactly: list[LinearMap | None] = []

    def solved(right: Array) -> Array:
        if not exactly:
            found = _conjugate_gradients(product, roughly, right)
            if found is not None:
                return found
            exactly.append(_factored(matrix()))
        return roughly(right) if exactly[0] is None else exactly[0](right)

    return solved


def _conjugate_gradients(product: LinearMap, roughly: LinearMap, right: Array) -> Array | None:
    """The solution of a positive definite system; None if it takes too many products.

    ``product`` is the product with its matrix, ``roughly`` nearly that with the inverse.
    """
    found, rest, towards = np.zeros_like(right), right, roughly(right)
    left = float(rest @ towards)
    goal = EXACT**2 * left
    for _ in range(PRODUCTS):
        if 0.0 <= left <= goal:
            return found
        if not left > 0:
            return None
        image = product(towards)
        curvature = float(towards @ image)
        if not curvature > 0:
            return None
        found, rest = found + left / curvature * towards, rest - left / curvature * image
        nearer = roughly(rest)
        before, left = left, float(rest @ nearer)
        towards = nearer + left / before * towards
    return None
