"""LSML: least squared-residual metric learning."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..comparisons import Comparisons, RowError
from ..kernels import Linear
from ..learning.answers import as_comparisons, renumbered
from ..learning.calibration import Calibration
from ..learning.contradictions import refuse_copies
from ..learning.fits import Fit
from ..learning.metric import LearnedMetric
from ..learning.recipe import unit_of
from ..learning.starts import Start
from ..problem.constraints import Constraints
from ..problem.dual import Dual
from ..problem.losses import Conjugate
from ..support.checks import EXTREME, is_count, is_penalty, is_real, require
from .residuals import minimise


class LSML(LearnedMetric):
    """Mahalanobis metric from relative comparisons (Liu, Guo, Zhou, Jiang and Wang 2012).

    Minimises D_ld(A, I) + λ Σ_c w_c max(d_near − d_far, 0)² over A ≻ 0, where d is the learned distance, *not* squared:
    the difference to SKLR's squared slack. An odd one out counts as two comparisons, as in SKLR. The problem is convex
    and is solved exactly; see `oddkernel.baselines.residuals`.

    Features are centred and scaled to unit mean squared norm, so that one penalty fits all units.

    Parameters
    ----------
    penalty : float, default=1.0
        λ: how much a violated comparison weighs against leaving the Euclidean metric. Where 1 is to weigh all m
        comparisons together, as in metric-learn, it is 1/m.
    tol : float, default=1e-6
        Bound on the residual and on the duality gap.
    max_iter : int or None, default=None
        Most Newton steps; None allows 500.
    n_comparisons : int or None, default=None
        How many comparisons to draw where ``y`` holds class labels; None draws 30 for each class.
    random_state : int, RandomState or None, default=None
        For comparisons drawn from labels.

    Attributes
    ----------
    solution_, kernel_, features_, metric_, comparisons_, n_iter_
        As in `SKLR`.

    Examples
    --------
    >>> import numpy as np
    >>> from oddkernel import Comparisons
    >>> from oddkernel.baselines import LSML
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1.0, 2.0]])
    >>> model = LSML(penalty=1e3).fit(X, Comparisons.odd_one_out([[0, 2, 1], [1, 3, 2]], [2, 2]))
    >>> model.solution_.status.name
    'OPTIMAL'
    >>> model.distance(X[:1], X[1:3]).round(2)
    array([[1.13, 1.13]])
    """

    def __init__(
        self,
        penalty: float = 1.0,
        *,
        tol: float = 1e-6,
        max_iter: int | None = None,
        n_comparisons: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.penalty = penalty
        self.tol = tol
        self.max_iter = max_iter
        self.n_comparisons = n_comparisons
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: Comparisons | ArrayLike | None = None) -> Self:
        """Learn the metric.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The items' features.
        y : Comparisons, array-like of shape (n,) or None
            Decided answers about rows of X; or class labels with ``-1`` for unlabelled items, from which comparisons
            are drawn; or nothing, which leaves the Euclidean metric as it is.

        Returns
        -------
        self
        """
        with self._unchanged_on_error():
            self.fit_ = self._fitted(X, y)
        return self

    def _fitted(self, X: ArrayLike, y: Comparisons | ArrayLike | None) -> Fit:
        require(
            is_penalty(self.penalty),
            "penalty",
            self.penalty,
            f"a positive number between {1 / EXTREME:g} and {EXTREME:g}",
        )
        require(is_real(self.tol) and 0 < self.tol < np.inf, "tol", self.tol, "a positive number")
        for name in ("max_iter", "n_comparisons"):
            value = getattr(self, name)
            require(is_count(value), name, value, "a whole number of at least 1, or None")
        random = check_random_state(self.random_state)
        checked = self._check_items(X, reset=True)
        joined = as_comparisons(y, X, len(checked), self.n_comparisons, random)
        _refuse_other_answers(joined)
        checked, comparisons, given = self._in_learning_order(y, X, checked, joined)
        items, said = renumbered(comparisons)
        start = Start.of(Linear(), checked, items, rank=None, random=random)
        rows = Constraints.from_comparisons(said)
        rows = replace(rows, weight=float(self.penalty) * rows.weight)
        problem = Dual(start.phi, rows, Conjugate.hard(rows.equality))
        refuse_copies(problem, hard=False, stacklevel=3)
        solution, point = minimise(problem, tol=self.tol, max_iter=self.max_iter)
        if not solution.status.success:
            warnings.warn(f"{solution} Raise max_iter or tol.", ConvergenceWarning, stacklevel=3)
        metric, root = point.whole_metric()
        return Fit(
            comparisons=comparisons,
            features=start.features,
            asked=start.phi,
            solution=solution,
            metric=metric,
            root=root,
            calibration=Calibration.to_answers(start.phi @ root, said, unit_of(start.phi)),
            given=given,
        )


def _refuse_other_answers(said: Comparisons) -> None:
    links = np.flatnonzero(said.links)
    if len(links):
        raise RowError(int(links[0]), "LSML has no place for links; for these there are ITML, SKMS and SKLR")
    undecided = np.flatnonzero(said.undecided)
    if len(undecided):
        raise RowError(
            int(undecided[0]),
            "can't tell; LSML has no place for that: leave such answers out (said[~said.undecided]), or use SKLR",
        )
