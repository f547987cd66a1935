"""The paper's Algorithm 1 in plain NumPy: as in the published code, and with rank-two updates.

Rows are ``ratio·uᵀWu ≤ vᵀWv``, u and v the differences of two items' features. Projecting W onto one is
``W ← (W⁻¹ + Δ·M)⁻¹`` with ``M = ratio·uuᵀ − vvᵀ`` and ``Δ = −τ/(2θ)``; τ and θ are the sum and the product of the two
eigenvalues of WM that aren't 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

# Violations below this, relative to the two distances, count as satisfied; the tolerance of the benchmark.
TOLERANCE = 1e-8


def rows_of(features: Array, shown: Array, odd: Array) -> tuple[Array, Array]:
    """u and v of every row: an answer (i, j | k) means two, with the far pairs (i, k) and (j, k)."""
    near, far = near_and_odd(shown, odd)
    u = features[near[:, 0]] - features[near[:, 1]]
    v = features[near.ravel()] - np.repeat(features[far], 2, axis=0)
    return np.repeat(u, 2, axis=0), v


def near_and_odd(shown: Array, odd: Array) -> tuple[Array, Array]:
    """The two similar items of each answer, in order, and the odd one."""
    kept = np.arange(3)[None] != odd[:, None]
    return np.sort(shown[kept].reshape(-1, 2), axis=1), shown[np.arange(len(shown)), odd]


def rank_two_passes(u: Array, v: Array, ratio: float, n_passes: int) -> tuple[Array, dict[str, int]]:
    """W after ``n_passes`` passes with rank-two updates, and the numbers of checks and projections."""
    W = np.eye(u.shape[1])
    counts = {"checks": 0, "projections": 0, "passes": 0}
    for _ in range(n_passes):
        before = counts["projections"]
        for row in range(len(u)):
            counts["checks"] += 1
            pair = np.stack([u[row], v[row]])
            images = pair @ W
            (a, g), (_, d) = images @ pair.T
            if ratio * a <= d + TOLERANCE * (ratio * a + d):
                continue
            counts["projections"] += 1
            step = _step(ratio * a - d, -(ratio * (a * d - g * g)))
            core = np.diag([1 / (step * ratio), -1 / step]) + np.array([[a, g], [g, d]])
            W -= images.T @ np.linalg.solve(core, images)
        counts["passes"] += 1
        if counts["projections"] == before:
            break
    return W, counts


def check(W_root: Array, M: Array) -> float:
    """tr(WM) by two dense products, ``W = W_root W_rootᵀ``."""
    return float(np.trace(W_root.T @ (M @ W_root)))


def project(W_root: Array, M: Array) -> Array:
    """The root of W after a projection: a dense singular value decomposition, eigendecomposition and solve."""
    left, sizes, _ = np.linalg.svd(M)
    factor = left[:, :2] * np.sqrt(sizes[:2])
    values = np.linalg.eigvalsh(W_root.T @ M @ W_root)
    low, high = float(values[0]), float(values[-1])
    step = _step(low + high, low * high)
    signs = np.sign(np.einsum("ij,ik,kj->j", factor, M, factor))
    W = W_root @ W_root.T
    W = np.linalg.solve(np.eye(len(W)) + step * W @ (factor * signs) @ factor.T, W)
    return np.asarray(np.linalg.cholesky((W + W.T) / 2))


def _step(trace: float, determinant: float) -> float:
    return -trace / (2 * determinant)
