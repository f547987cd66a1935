"""SKMS: semi-supervised kernel mean shift, its kernel learning."""

from __future__ import annotations

import numpy as np

from ..kernels import Gaussian, Kernel
from ..support.types import Array
from .pairs import PairLearner

# Squared distances that links aim for: in a Gaussian kernel's space no two items are farther apart than √2.
NEAR, FAR = 0.05, 1.95


class SKMS(PairLearner):
    """Gaussian kernel learned from must-links and cannot-links (Anand, Mittal, Tuzel and Meer 2014).

    Minimises D_ld(K, K₀) + γ Σ (x − ln x − 1), where x = δ/ξ and the sum is over the links whose squared distance δ
    passes its bound ξ. Must-links get ξ = min(d₁, 0.05) and cannot-links ξ = max(d₉₉, 1.95), with d₁ and d₉₉ the 1st
    and 99th percentile of initial squared distances. It is SKLR's dual with other rows and another loss, and is solved
    exactly.

    With ``KernelKMeans().fit_predict(model.kernel_matrix(X))`` it is the paper's rival *SKkm*, with
    ``KernelMeanShift().fit_predict(model.kernel_matrix(X), model.comparisons_)`` it is SKMS itself.

    Parameters
    ----------
    slack : float, default=100.0
        γ: how much a passed bound weighs against leaving the initial kernel; ``inf``: every bound must hold.
    bandwidth : float or "median", default="median"
        Of the Gaussian kernel exp(−d²/bandwidth²): a number, or the median distance between items.
    rank : float, int or None, default=None
        How much of the initial kernel takes part, as in `SKLR`.
    tol : float, default=1e-6
        Bound on the residual and on the duality gap.
    max_iter : int or None, default=None
        Most Newton steps; None leaves it to the solver.
    random_state : int, RandomState or None, default=None
        For links drawn from labels, and for landmarks and bounds if there are very many items.

    Attributes
    ----------
    solution_, kernel_, features_, metric_, comparisons_, n_iter_
        As in `SKLR`.
    bounds_ : (float, float)
        Bounds of links that name none.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from oddkernel import KernelKMeans
    >>> from oddkernel.baselines import SKMS, links_from_labels
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SKMS().fit(X, links_from_labels(y, 30, random_state=0))
    >>> groups = KernelKMeans(n_clusters=3, random_state=0).fit_predict(model.kernel_matrix(X))
    >>> groups.shape
    (150,)
    """

    def __init__(
        self,
        slack: float = 100.0,
        *,
        bandwidth: float | str = "median",
        rank: float | int | None = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.slack = slack
        self.bandwidth = bandwidth
        self.rank = rank
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state

    def _initial_kernel(self) -> Kernel:
        return Gaussian(self.bandwidth)

    def _bounds(self, squared: Array) -> tuple[float, float]:
        low, high = np.percentile(squared, [1, 99])
        return min(float(low), NEAR), max(float(high), FAR)
