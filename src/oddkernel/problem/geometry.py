"""The constrained items under one metric: distances, violations of rows, products of rows."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .arrays import Array, combined, entries, namespace, plus_diagonal
from .distances import CANCELLATION, apart
from .row_products import row_products

if TYPE_CHECKING:
    from .dual import Dual


class Geometry:
    """The constrained items under one metric W = GGᵀ.

    Attributes
    ----------
    problem : Dual
    images : (s, q) array
        The constrained items in coordinates where the metric is Euclidean, φ_i G.
    """

    problem: Dual

    if TYPE_CHECKING:

        @cached_property
        def images(self) -> Array: ...

    @cached_property
    def kernel(self) -> Array:
        """(s, s): K on the constrained items, centred."""
        return self.images @ self.images.T

    def readable(self, *pairs: Array) -> bool:
        """Whether products of these pairs' differences can be read from K fast and without cancellation."""
        if not self._reads_kernel:
            return False
        problem, norm, used = self.problem, np.diagonal(self.kernel), np.concatenate(pairs)
        total = norm[problem.first[used]] + norm[problem.second[used]]
        return bool((self.squared_distances[used] >= CANCELLATION * total).all())

    @cached_property
    def _reads_kernel(self) -> bool:
        """Whether computing K pays: not with more items than pairs."""
        return bool(len(self.problem.items) <= self.problem.place.shape[0])

    @cached_property
    def squared_distances(self) -> Array:
        """(p,): δ of every pair."""
        if self._reads_kernel:
            delta, total = self.problem.gather(self.kernel)
            if not namespace(delta).any(delta < CANCELLATION * total):
                return delta  # without the images
        return self.problem.squared_distances(self.images, self.kernel if self._reads_kernel else None)

    @cached_property
    def sides(self) -> tuple[Array, Array]:
        """near_factor·δ_near and far_factor·δ_far of every row."""
        problem, xp = self.problem, namespace(self.squared_distances)
        near = xp.take(self.squared_distances, problem.near, axis=0)
        far = xp.take(self.squared_distances, problem.far, axis=0)
        return problem.near_factor * near, problem.far_factor * far

    @cached_property
    def violation(self) -> Array:
        """(m,): tr(K C_c) + b_c, positive where an inequality is violated."""
        near, far = self.sides
        return near - far + self.problem.offset

    @cached_property
    def scale(self) -> Array:
        """(m,): the scale of each row: near_factor·δ_near + far_factor·δ_far + abs(b)."""
        near, far = self.sides
        return near + far + abs(self.problem.offset)

    @cached_property
    def excess(self) -> Array:
        """(m,): by how much each row is violated, relative to its scale (0/0 = 0); not positive where it holds."""
        xp, scale = namespace(self.violation), self.scale
        violation = xp.where(self.problem.equality, abs(self.violation), self.violation)
        return violation / xp.where(scale > 0, scale, 1.0)

    @cached_property
    def own_products(self) -> Array:
        """(m,): tr(K C_c K C_c) = a² + d² − 2g², with a, d and g as in the one-row step."""
        problem, kernel = self.problem, self.kernel
        xp, s = namespace(kernel), kernel.shape[0]
        a, d = self.sides
        i, j = (xp.take(end, problem.near, axis=0) for end in (problem.first, problem.second))
        k, h = (xp.take(end, problem.far, axis=0) for end in (problem.first, problem.second))
        cross = entries(kernel, i * s + k) - entries(kernel, i * s + h)
        cross = cross - entries(kernel, j * s + k) + entries(kernel, j * s + h)
        products = a * a + d * d - 2.0 * problem.near_factor * problem.far_factor * cross * cross
        return xp.where(products < 0, 0.0, products)

    def row_products(self, rows: Array) -> Array:
        """tr(K C_c K C_d) for all pairs of these rows."""
        problem, xp = self.problem, namespace(rows)
        m = rows.shape[0]
        near, far, near_factor, far_factor = (
            xp.take(column, rows, axis=0)
            for column in (problem.near, problem.far, problem.near_factor, problem.far_factor)
        )
        products = self._compiled_products(near, far, near_factor, far_factor)
        if products is None:
            used, local = xp.unique_inverse(xp.concat([near, far]))
            first, second = xp.take(problem.first, used, axis=0), xp.take(problem.second, used, axis=0)
            moved = apart(self.images, first, second)
            squared = moved @ moved.T
            squared *= squared
            products = combined(squared, local[:m], near_factor, local[m:], far_factor)
            products = combined(products.T, local[:m], near_factor, local[m:], far_factor)
        # Rounding must not make the product of a row with itself negative.
        diagonal = xp.linalg.diagonal(products)
        return plus_diagonal(products, xp.where(diagonal < 0, -diagonal, 0.0))

    def _compiled_products(self, near: Array, far: Array, near_factor: Array, far_factor: Array) -> Array | None:
        """tr(K C_c K C_d) of rows with these pairs, read from K; None where that would be slower, or inaccurate."""
        if not isinstance(near, np.ndarray) or not self.readable(near[near_factor > 0], far[far_factor > 0]):
            return None
        first, second = self.problem.first.astype(np.uint64), self.problem.second.astype(np.uint64)
        ends = [(first[pair], second[pair]) for pair in (near, far)]
        return row_products(self.kernel, ends[0], ends[1], near_factor, far_factor)
