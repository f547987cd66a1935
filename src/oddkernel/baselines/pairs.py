"""What ITML and SKMS share: the learner's dual with links for rows and a log-determinant slack."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from ..comparisons import Comparisons, RowError
from ..items.frames import join_labels, usable_names
from ..kernels import Kernel
from ..learning.answers import PER_CLASS, check_answers, check_labels, renumbered, with_bounds
from ..learning.calibration import Calibration
from ..learning.contradictions import refuse_contradictions, refuse_copies
from ..learning.fits import Fit
from ..learning.metric import LearnedMetric
from ..learning.recipe import unit_of
from ..learning.starts import Start
from ..problem.constraints import Constraints
from ..problem.dual import Dual
from ..problem.losses import Conjugate
from ..solvers import Auto, Solver, solve
from ..solvers.descent import descend
from ..support.checks import EXTREME, is_count, is_real, require
from ..support.types import Array
from .links import links_from_labels
from .slack import DampedNewton, LogSlack

# How near to the optimum the primal leads first: near enough for Newton's steps in the dual to converge quadratically.
NEAR = 0.1


class PairLearner(LearnedMetric):
    """Learns from must-links and cannot-links: min D_ld(K, K₀) + γ Σ (x − ln x − 1), x = δ/ξ where a bound ξ is passed.

    A subclass says where the metric starts (`_initial_kernel`) and which bounds links have that name none (`_bounds`).
    """

    slack: float
    rank: float | int | None
    tol: float
    max_iter: int | None
    random_state: int | np.random.RandomState | None

    def fit(self, X: ArrayLike, y: Comparisons | ArrayLike | None = None) -> Self:
        """Learn the metric.

        Parameters
        ----------
        X : array-like of shape (n, d)
            The items' features.
        y : Comparisons, array-like of shape (n,) or None
            Links between rows of X; or class labels with ``-1`` for unlabelled items, from which links are drawn; or
            nothing, which leaves the initial metric as it is.

        Returns
        -------
        self
        """
        with self._unchanged_on_error():
            self.fit_, self.bounds_ = self._fitted(X, y)
        return self

    def _fitted(self, X: ArrayLike, y: Comparisons | ArrayLike | None) -> tuple[Fit, tuple[float, float]]:
        self._check_parameters()
        random = check_random_state(self.random_state)
        checked = self._check_items(X, reset=True)
        joined = self._links(y, X, len(checked), random)
        checked, links, given = self._in_learning_order(y, X, checked, joined)
        items, said = renumbered(links)
        start = Start.of(self._initial_kernel(), checked, items, rank=self.rank, random=random)
        bounds = self._default_bounds(said, start, checked, random)
        rows = Constraints.from_comparisons(with_bounds(said, *bounds))
        hard = np.isinf(self.slack)
        conjugate = Conjugate.hard(rows.equality) if hard else LogSlack.of(rows, self.slack)
        solver: Solver = Auto() if hard else DampedNewton()
        problem = Dual(start.phi, rows, conjugate)
        refuse_copies(problem, hard=True, stacklevel=3)  # no slack allows for a bound on a distance that is always 0
        # Links that exclude one another, as answers at two resolutions do, ask for far more than any kernel gives.
        # Steps in the dual are short then, and those in the primal are not.
        near = None if hard else next(descend(problem.origin, (NEAR,)), None)
        solution, point = solve(problem, solver, start=near and near.alpha, tol=self.tol, max_iter=self.max_iter)
        if not solution.status.success:
            if hard:
                refuse_contradictions(problem, solution, start.features, checked, items)
            warnings.warn(f"{solution} Raise max_iter or tol.", ConvergenceWarning, stacklevel=3)
        metric, root = point.whole_metric()
        fit = Fit(
            comparisons=links,
            features=start.features,
            asked=start.phi,
            solution=solution,
            metric=metric,
            root=root,
            calibration=Calibration(unit_of(start.phi)),
            given=given,
        )
        return fit, bounds

    @abstractmethod
    def _initial_kernel(self) -> Kernel:
        """The initial kernel."""

    @abstractmethod
    def _bounds(self, squared: Array) -> tuple[float, float]:
        """Bounds for must-links and for cannot-links, from initial squared distances, which are positive."""

    def _check_parameters(self) -> None:
        require(
            is_real(self.slack) and (1 / EXTREME <= self.slack <= EXTREME or self.slack == np.inf),
            "slack",
            self.slack,
            f"a positive number between {1 / EXTREME:g} and {EXTREME:g}, or inf",
        )
        require(is_real(self.tol) and 0 < self.tol < np.inf, "tol", self.tol, "a positive number")
        require(is_count(self.max_iter), "max_iter", self.max_iter, "a whole number of at least 1, or None")

    def _links(
        self, y: Comparisons | ArrayLike | None, X: ArrayLike, n_items: int, random: np.random.RandomState
    ) -> Comparisons:
        if y is None:
            y = Comparisons.empty()
        elif not isinstance(y, Comparisons):
            labels, n_classes = check_labels(join_labels(y, X), n_items, "between which cannot-links")
            drawn = links_from_labels(labels, PER_CLASS * n_classes or None, random_state=random)
            return drawn.with_names(usable_names(X))
        said = check_answers(y, X, n_items)
        other = np.flatnonzero(~said.links)
        if len(other):
            raise RowError(
                int(other[0]),
                f"{type(self).__name__} learns from must_link and cannot_link alone; for other answers there are LSML "
                "and SKLR",
            )
        zero = np.flatnonzero(said.bound == 0)
        if len(zero):
            raise RowError(int(zero[0]), "bound 0; expected a positive number, which a squared distance can be held to")
        return said

    def _default_bounds(
        self, said: Comparisons, start: Start, X: Array, random: np.random.RandomState
    ) -> tuple[float, float]:
        if not np.isnan(said.bound).any():
            return np.nan, np.nan
        squared = start.squared_distances(X, random)
        squared = squared[squared > 0]
        if not len(squared):
            raise ValueError(
                "all items are copies of one another: links can't be given bounds; expected items that differ"
            )
        return self._bounds(squared)
