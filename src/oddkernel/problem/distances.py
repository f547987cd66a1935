"""Squared distances of pairs of items with Euclidean coordinates."""

from __future__ import annotations

import numpy as np

from .arrays import Array, entries, namespace, sum_by

# Derived: below this share of G_ii + G_jj, δ(i, j) computed from inner products has lost more than three digits and is
# recomputed.
CANCELLATION = 1e-3
# From this many pairs for each item on, inner products of all items cost less than differences of pairs; and the most
# items for which their matrix is formed, to bound the memory. Chosen by hand.
PLENTY, MOST_ITEMS = 4, 5000
# Rows of a block of inner products, and pairs whose differences are formed at a time. Chosen by hand; only speed and
# memory depend on them.
BLOCK, PAIRS = 256, 2048


def of_pairs(coordinates: Array, first: Array, second: Array) -> Array:
    """(p,): the squared distance of each pair (i, j), i ≤ j, for (s, q) coordinates, by whichever way is cheaper."""
    s, p = coordinates.shape[0], first.shape[0]
    if isinstance(coordinates, np.ndarray) and (p <= PLENTY * s or s > MOST_ITEMS):
        squared = np.empty(p)
        for a in range(0, p, PAIRS):
            pairs = slice(a, a + PAIRS)
            squared[pairs] = squares(apart(coordinates, first[pairs], second[pairs]))
        return squared
    return from_products(upper(coordinates, coordinates), coordinates, first, second)


def from_products(gram: Array, coordinates: Array, first: Array, second: Array) -> Array:
    """(p,): the same from the upper triangle of the items' inner products; exact for pairs whose digits these lose."""
    xp = namespace(coordinates)
    squared, total = gathered(gram, first, second)
    close = xp.nonzero(squared < CANCELLATION * total)[0]
    if close.shape[0]:
        ends = (xp.take(end, close, axis=0) for end in (first, second))
        exact = sum_by(close, squares(apart(coordinates, *ends)), squared.shape[0])
        squared = xp.where(squared < CANCELLATION * total, exact, squared)
    return squared


def gathered(gram: Array, first: Array, second: Array, place: Array | None = None) -> tuple[Array, Array]:
    """G_ii + G_jj − 2G_ij and G_ii + G_jj of every pair (i, j), i ≤ j, from the upper triangle of G.

    ``place``: the pairs' places in the flattened matrix, if known.
    """
    xp = namespace(gram)
    norm = xp.linalg.diagonal(gram)
    total = xp.take(norm, first, axis=0) + xp.take(norm, second, axis=0)
    return total - 2.0 * entries(gram, first * gram.shape[0] + second if place is None else place), total


def upper(left: Array, right: Array) -> Array:
    """The upper triangle of the symmetric left·rightᵀ; the lower one is uninitialised."""
    xp, s = namespace(left), left.shape[0]
    gram = xp.empty((s, s), dtype=left.dtype, device=left.device)
    for a, b in blocks(s):
        gram[a:b, a:] = left[a:b, :] @ right[a:, :].T
    return gram


def upper_times(matrix: Array, images: Array) -> Array:
    """The upper triangle of a matrix times the images."""
    xp, s = namespace(images), images.shape[0]
    product = xp.empty_like(images)
    for a, b in blocks(s):
        product[a:b, :] = matrix[a:b, a:] @ images[a:, :]
    return product


def apart(images: Array, first: Array, second: Array) -> Array:
    """Differences between the images of two lists of items."""
    xp = namespace(images)
    return xp.take(images, first, axis=0) - xp.take(images, second, axis=0)


def squares(vectors: Array) -> Array:
    """(p,): the squared length of each row."""
    if isinstance(vectors, np.ndarray):
        return np.einsum("pq,pq->p", vectors, vectors)  # no copy
    xp = namespace(vectors)
    return xp.sum(xp.square(vectors), axis=1)


def blocks(size: int, each: int = BLOCK) -> list[tuple[int, int]]:
    """Start and end of each block of rows."""
    return [(a, min(a + each, size)) for a in range(0, size, each)]
