"""The preconditioner of the primal's Newton steps: the Hessian as it would be if items were drawn normally.

If the images Z of the items were drawn normally, with variances σ along the axes of ZᵀZ, and people asked about any of
them, the Hessian X + Zᵀ(Σ_c ψ''_c tr(Z X Zᵀ C_c) C_c)Z would, on the whole, multiply X_ab by 1 + kσ_aσ_b. Divided by
that, the actual one is near enough to the identity for a few products to solve its equations. Only the leading axes are
told apart, by subspace iteration; along all others the variance is taken for its mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..problem.arrays import Array, eigen, namespace
from ..problem.dual import Dual

# Leading axes that are told apart. By trial of 32 to 256 on THINGS' features with 20,000 answers about 500 objects.
LEADING = 128
# Products with ZᵀZ by which they are found. Chosen by hand.
PASSES = 2
# Up to this ratio of the largest to the least number that is divided by, single precision tells them apart. Derived: it
# has seven digits.
NARROW = 1e4


class Preconditioner:
    """Division by (1 + damping) + stiffness·σ_aσ_b.

    Parameters
    ----------
    problem : Dual
    images : (s, q) array
        Z; single precision is enough.
    own, stiffness : float
        1 + damping, and k.
    dtype : dtype
        Of the matrices that may be divided.

    Attributes
    ----------
    dtype : dtype
        Of the matrices that will be divided: single precision where that is enough.
    """

    def __init__(self, problem: Dual, images: Array, own: float, stiffness: float, dtype: Any) -> None:
        xp = namespace(images)
        s, q = images.shape
        if q <= LEADING:
            basis = xp.eye(q, dtype=images.dtype, device=images.device)
        else:
            basis = problem.put(np.random.default_rng(0).normal(size=(q, LEADING)))
            basis = xp.astype(basis, images.dtype)
            for _ in range(PASSES):
                basis, _ = xp.linalg.qr(images.T @ (images @ basis))
        seen = images @ basis
        variances, turn = eigen(seen.T @ seen / s)
        # In double precision, as products of variances and the stiffness may be large.
        variances = xp.astype(xp.where(variances > 0, variances, 0.0), xp.float64)
        others = float(xp.sum(xp.square(images))) / s - float(xp.sum(variances))
        mean = max(others, 0.0) / max(q - LEADING, 1)
        narrow = stiffness * max(float(xp.max(variances)), mean) ** 2 <= NARROW * own
        self.dtype = dtype = xp.float32 if narrow else dtype
        self._axes = xp.astype(basis @ turn, dtype)
        self._rest = own + stiffness * mean * mean
        beside = 1.0 / (own + stiffness * mean * variances)
        among = 1.0 / (own + stiffness * variances[:, None] * variances[None, :])
        self._beside = xp.astype(beside - 1.0 / self._rest, dtype)
        self._among = xp.astype(among + 1.0 / self._rest - beside[:, None] - beside[None, :], dtype)

    def divide(self, matrix: Array) -> Array:
        """A symmetric (q, q) matrix, divided."""
        axes = self._axes
        across = axes.T @ matrix
        inner = self._among * (across @ axes)
        half = axes @ (self._beside[:, None] * across + 0.5 * inner @ axes.T)
        return matrix / self._rest + half + half.T
