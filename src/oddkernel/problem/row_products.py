"""tr(K C_c K C_d) for all pairs of rows, compiled: gathers from K on the constrained items."""

from __future__ import annotations

import numpy as np
from numba import njit

from .arrays import Array

# Rows whose products are mirrored at a time. Chosen by hand; only speed depends on it.
TILE = 16


def row_products(
    kernel: Array, near: tuple[Array, Array], far: tuple[Array, Array], near_factor: Array, far_factor: Array
) -> Array:
    """(m, m): ±f_c f_d (d_pᵀd_q)², summed over the pairs p of row c and q of row d; d_pᵀd_q is read from ``kernel``.

    ``near`` and ``far`` hold both items of each row's pairs as unsigned integers, which are indexed without a check for
    negative numbers.
    """
    m = len(near_factor)
    # NumPy asks for large pages of memory, which Numba does not: a third of the time.
    products = np.empty((m, m), kernel.dtype)
    _fill(products, kernel, near, far, near_factor, far_factor)
    return products


@njit(cache=True, error_model="numpy", nogil=True)
def _fill(
    products: Array,
    kernel: Array,
    near: tuple[Array, Array],
    far: tuple[Array, Array],
    near_factor: Array,
    far_factor: Array,
) -> None:
    s, m = len(kernel), len(near_factor)
    across_near, across_far = np.empty(s, kernel.dtype), np.empty(s, kernel.dtype)
    for a in range(0, m, TILE):
        b = min(a + TILE, m)
        for c in range(a, b):
            for item in range(s):
                across_near[item] = kernel[near[0][c], item] - kernel[near[1][c], item]
                across_far[item] = kernel[far[0][c], item] - kernel[far[1][c], item]
            for d in range(b):
                i, j, k, h = near[0][d], near[1][d], far[0][d], far[1][d]
                nn, nf = across_near[i] - across_near[j], across_near[k] - across_near[h]
                fn, ff = across_far[i] - across_far[j], across_far[k] - across_far[h]
                from_near = near_factor[d] * nn * nn - far_factor[d] * nf * nf
                from_far = near_factor[d] * fn * fn - far_factor[d] * ff * ff
                products[c, d] = near_factor[c] * from_near - far_factor[c] * from_far
        # The matrix is symmetric. Written row by row, a few cache lines at a time.
        for d in range(a):
            for c in range(a, b):
                products[d, c] = products[c, d]


@njit(cache=True, error_model="numpy", nogil=True)
def mixed_products(
    kernel: Array,
    other: Array,
    near: tuple[Array, Array],
    far: tuple[Array, Array],
    near_factor: Array,
    far_factor: Array,
) -> Array:
    """(m, m): tr(K C_c K' C_d) for d ≥ c, with K' = ``other``; 0 below the diagonal."""
    s, m = len(kernel), len(near_factor)
    products = np.zeros((m, m), kernel.dtype)
    near_one, far_one = np.empty(s, kernel.dtype), np.empty(s, kernel.dtype)
    near_other, far_other = np.empty(s, kernel.dtype), np.empty(s, kernel.dtype)
    for c in range(m):
        for item in range(s):
            near_one[item] = kernel[near[0][c], item] - kernel[near[1][c], item]
            far_one[item] = kernel[far[0][c], item] - kernel[far[1][c], item]
            near_other[item] = other[near[0][c], item] - other[near[1][c], item]
            far_other[item] = other[far[0][c], item] - other[far[1][c], item]
        for d in range(c, m):
            i, j, k, h = near[0][d], near[1][d], far[0][d], far[1][d]
            nn = (near_one[i] - near_one[j]) * (near_other[i] - near_other[j])
            nf = (near_one[k] - near_one[h]) * (near_other[k] - near_other[h])
            fn = (far_one[i] - far_one[j]) * (far_other[i] - far_other[j])
            ff = (far_one[k] - far_one[h]) * (far_other[k] - far_other[h])
            from_near, from_far = near_factor[d] * nn - far_factor[d] * nf, near_factor[d] * fn - far_factor[d] * ff
            products[c, d] = near_factor[c] * from_near - far_factor[c] * from_far
    return products
