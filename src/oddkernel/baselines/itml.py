"""ITML: information-theoretic metric learning."""

from __future__ import annotations

import numpy as np

from ..kernels import Kernel, Linear
from ..support.types import Array
from .pairs import PairLearner


class ITML(PairLearner):
    """Mahalanobis metric from must-links and cannot-links (Davis, Kulis, Jain, Sra and Dhillon 2007).

    Minimises D_ld(A, I) + γ Σ (x − ln x − 1) over A ≻ 0, where x = δ/ξ and the sum is over the links whose squared
    distance δ = (x_i − x_j)ᵀA(x_i − x_j) passes its bound ξ. It is SKLR's dual with the linear kernel, links for rows
    and this loss, and is solved exactly.

    Parameters
    ----------
    slack : float, default=1.0
        γ: how much a passed bound weighs against leaving the Euclidean metric; ``inf``: every bound must hold.
    tol : float, default=1e-6
        Bound on the residual and on the duality gap.
    max_iter : int or None, default=None
        Most Newton steps; None leaves it to the solver.
    random_state : int, RandomState or None, default=None
        For links drawn from labels, and for the items whose distances give the bounds if there are very many.

    Attributes
    ----------
    solution_, kernel_, features_, metric_, comparisons_, n_iter_
        As in `SKLR`.
    bounds_ : (float, float)
        Bounds of links that name none: the 5th and 95th percentile of initial squared distances, in units of the
        linear kernel (`oddkernel.kernels.Linear`), to which the learned metric doesn't matter.

    Examples
    --------
    >>> import numpy as np
    >>> from oddkernel import Comparisons
    >>> from oddkernel.baselines import ITML
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1.0, 2.0]])
    >>> model = ITML().fit(X, Comparisons.must_link([[0, 2]]) + Comparisons.cannot_link([[0, 1]]))
    >>> before, after = np.linalg.norm(X[0] - X, axis=1), model.distance(X[:1], X)[0]
    >>> bool(before[2] > before[1]), bool(after[2] > after[1])
    (True, False)
    """

    rank = None

    def __init__(
        self,
        slack: float = 1.0,
        *,
        tol: float = 1e-6,
        max_iter: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.slack = slack
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _initial_kernel(self) -> Kernel:
        return Linear()

    def _bounds(self, squared: Array) -> tuple[float, float]:
        low, high = np.percentile(squared, [5, 95])
        return float(low), float(high)
