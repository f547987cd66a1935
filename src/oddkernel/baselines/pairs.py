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
from ..kernels import Kernel, LowRank
from ..kernels.distances import squared_distances
from ..learning.rounds import unit_of
from ..learning.sklr import PER_CLASS, SAMPLE, SKLR
from ..problem.constraints import Constraints
from ..problem.dual import Dual
from ..problem.losses import Conjugate
from ..solvers import Auto, Solver, solve
from ..support.checks import EXTREME, as_labels, is_count, is_real, refuse_extreme_kernel, require
from ..support.types import Array
from .links import links_from_labels
from .slack import DampedNewton, LogSlack, approached


class PairLearner(SKLR):
    """Learns from must-links and cannot-links: min D_ld(K, K₀) + γ Σ (x − ln x − 1), x = δ/ξ where a bound ξ is passed.

    A subclass says where the metric starts (`_initial_kernel`) and which bounds links have that name none (`_bounds`).
    """

    slack: float
    rank: float | int | None
    # What a cannot-link between copies costs; the learner then refuses it.
    penalty = np.inf

    def _fit(self, X: ArrayLike, y: Comparisons | ArrayLike | None) -> Self:
        self._check_own_parameters()
        random = check_random_state(self.random_state)
        items = self._check_items(X, reset=True)
        said = self._links(y, len(items), random)
        constrained = said.constrained
        kernel = self._initial_kernel(items, said)
        features = LowRank.fit(kernel, items, rank=self.rank, constrained=constrained, random_state=random)
        phi = features.transform(items[constrained]) if len(constrained) else np.empty((0, features.rank))
        refuse_extreme_kernel(phi)
        at_most, at_least = self._default_links(said, features, items, random)
        rows = Constraints.from_comparisons(said, at_most=at_most, at_least=at_least)
        hard = np.isinf(self.slack)
        loss = Conjugate.hard(rows.equality) if hard else LogSlack.of(rows, self.slack)
        solver: Solver = Auto() if hard else DampedNewton()
        problem = Dual(phi, rows.relabelled(constrained), loss)
        self._name_copies(problem, said)
        start = None if hard else approached(problem, self.slack, max_iter=self.max_iter)
        solution, point = solve(problem, solver, start=start, tol=self.tol, max_iter=self.max_iter)
        if hard:
            self._name_contradictions(solution, problem, said, features, items)
        if not solution.status.success:
            warnings.warn(f"{solution} Raise max_iter or tol.", ConvergenceWarning, stacklevel=4)

        self.comparisons_ = said
        self.bounds_ = (at_most, at_least)
        self.kernel_ = kernel
        self.features_ = features
        self.solution_ = solution
        self.n_iter_ = solution.n_iter
        self.metric_, self._root = point.whole_metric()
        self._asked, self.tuning_ = phi, None
        self.temperature_, self.tie_, self.guess_ = unit_of(phi), 0.0, 0.0
        return self

    @abstractmethod
    def _initial_kernel(self, items: Array, said: Comparisons) -> Kernel:
        """The initial kernel, fitted to the items."""

    @abstractmethod
    def _bounds(self, squared: Array) -> tuple[float, float]:
        """Bounds for must-links and for cannot-links, from initial squared distances, which are positive."""

    def _check_own_parameters(self) -> None:
        require(
            is_real(self.slack) and (1 / EXTREME <= self.slack <= EXTREME or self.slack == np.inf),
            "slack",
            self.slack,
            f"a positive number between {1 / EXTREME:g} and {EXTREME:g}, or inf",
        )
        require(is_real(self.tol) and 0 < self.tol < np.inf, "tol", self.tol, "a positive number")
        require(is_count(self.max_iter), "max_iter", self.max_iter, "a whole number of at least 1, or None")

    def _links(self, y: Comparisons | ArrayLike | None, n_items: int, random: np.random.RandomState) -> Comparisons:
        if y is not None and not isinstance(y, Comparisons):
            labels = as_labels(y)
            if len(labels) != n_items:
                raise ValueError(f"y holds {len(labels)} class labels for {n_items} items; expected one label an item")
            n_classes = len(set(labels.tolist()) - {-1})
            if n_classes == 1:
                raise ValueError("y holds one class; expected at least two, between which cannot-links can be drawn")
            return links_from_labels(labels, PER_CLASS * n_classes or None, random_state=random)
        said = self._comparisons(y, n_items, random)
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

    def _default_links(
        self, said: Comparisons, features: LowRank, items: Array, random: np.random.RandomState
    ) -> tuple[float, float]:
        if not np.isnan(said.bound).any():
            return np.nan, np.nan
        phi = features.transform(items[random.permutation(len(items))[:SAMPLE]])
        squared = squared_distances(phi, phi)[np.triu_indices(len(phi), 1)]
        squared = squared[squared > 0]
        if not len(squared):
            raise ValueError(
                "all items are copies of one another: links can't be given bounds; expected items that differ"
            )
        return self._bounds(squared)
