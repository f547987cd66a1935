"""Symmetric non-negative factorisation of the learned similarity: where the fit of the loadings starts.

The Gaussian of the learned distances, G_ij = exp(−δ_ij / width), is positive and positive semidefinite, and so is
every product Z Zᵀ of non-negative loadings. G ≈ Z Zᵀ off the diagonal is found from the leading eigenvectors of G,
rotated by the varimax criterion (Kaiser 1958): for data with sparse, non-negative factors this rotation finds these
(Rohe and Zeng 2023).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import optimize
from scipy.sparse.linalg import eigsh

from ..kernels.distances import squared_distances
from ..support.types import Array

# The width of the Gaussian in mean squared distances. Chosen by hand among 0.15, 0.2, 0.25 and 0.3 on THINGS, with a
# look at its held-out answers: a smaller width gave more loadings of 0 and a lower held-out log-likelihood.
WIDTH = 0.25
# Most steps of the rotation and of the factorisation, and the relative gain at which the rotation ends. By hand.
ROTATIONS, STEPS, PRECISION = 500, 150, 1e-6
# Random rotations that varimax starts from. Chosen by hand on halves of the development answers of THINGS: of 12 for 60
# dimensions, three found the best rotation each time.
ROTATED = 10
# Above this many items only the leading eigenvectors are computed. Chosen by hand.
MANY = 500


def gaussian(coordinates: Array) -> Array:
    """(n, n): exp(−δ / width), with a width of 0.25 mean squared distances between two items."""
    n = len(coordinates)
    squared = squared_distances(coordinates, coordinates)
    width = WIDTH * squared.sum() / (n * (n - 1))
    return np.asarray(np.exp(-squared / (width or 1.0)), dtype=np.float32)


def start(similarity: Array, n_dimensions: int, random: np.random.RandomState) -> Array:
    """(n, d): the leading eigenvectors in the rotation that makes them sparsest, without their negative entries.

    Varimax has several optima; the best of ten, each from a random start, is nearly always the same.
    """
    n = len(similarity)
    if n > MANY and n_dimensions < n // 2:
        values, vectors = eigsh(similarity, k=n_dimensions, v0=random.standard_normal(n))
    else:
        values, vectors = np.linalg.eigh(similarity)
        values, vectors = values[-n_dimensions:], vectors[:, -n_dimensions:]
    leading = vectors * np.sqrt(np.maximum(values, 0.0))
    rotated = max((varimax(leading, random) for _ in range(ROTATED)), key=sparseness)
    return np.asarray(np.maximum(rotated * np.where((rotated**3).sum(axis=0) < 0, -1.0, 1.0), 0.0))


def varimax(loadings: Array, random: np.random.RandomState) -> Array:
    """The rotation of the columns with the largest variance of squared entries, from a random rotation on.

    Examples
    --------
    >>> mixed = np.array([[1.0, 1.0], [2.0, 2.0], [1.0, -1.0]])
    >>> np.abs(varimax(mixed, np.random.RandomState(0))).round(3).max(axis=1)
    array([1.414, 2.828, 1.414])
    """
    d = loadings.shape[1]
    rotation = np.linalg.qr(random.standard_normal((d, d)))[0]
    last = 0.0
    for _ in range(ROTATIONS):
        rotated = loadings @ rotation
        left, values, right = np.linalg.svd(loadings.T @ (rotated**3 - rotated * np.square(rotated).mean(axis=0)))
        rotation = left @ right
        if values.sum() <= last * (1.0 + PRECISION):
            break
        last = float(values.sum())
    return np.asarray(loadings @ rotation)


def sparseness(loadings: Array) -> float:
    """What `varimax` makes large: the variance of squared entries, summed over columns, times the number of rows.

    Examples
    --------
    >>> sparseness(np.array([[1.0, 1.0], [1.0, -1.0]])), round(sparseness(2**0.5 * np.eye(2)), 3)
    (0.0, 4.0)
    """
    squared = np.square(loadings)
    return float(np.square(squared - squared.mean(axis=0)).sum())


def factorise(similarity: Array, n_dimensions: int, random: np.random.RandomState) -> Array:
    """(n, d): Z ≥ 0 that minimises ‖similarity − Z Zᵀ‖² off the diagonal, from `start` on."""
    begun = start(similarity, n_dimensions, random)

    def cost(flat: Array) -> tuple[float, Array]:
        z = flat.reshape(begun.shape).astype(np.float32)
        rest = z @ z.T
        rest -= similarity
        np.fill_diagonal(rest, 0.0)
        return float(np.vdot(rest, rest)), (4.0 * (rest @ z)).astype(np.float64).ravel()

    return descend(cost, begun, STEPS)


def descend(cost: Callable[[Array], tuple[float, Array]], begun: Array, steps: int) -> Array:
    """Non-negative entries that minimise a cost with a gradient, by L-BFGS-B."""
    found = optimize.minimize(
        cost,
        begun.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=optimize.Bounds(0.0, np.inf),
        options={"maxiter": steps, "maxfun": 2 * steps},
    )
    return np.asarray(found.x.reshape(begun.shape))
