"""The record of a fit: all that a fitted model knows, and all that a saved one holds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..comparisons import Comparisons
from ..kernels import LowRank
from ..problem.constraints import Constraints
from ..problem.losses import LOSSES
from ..problem.solution import Solution
from ..support.types import Array, Indices
from .answers import renumbered
from .calibration import Calibration
from .recipe import Recipe
from .remainder import Remainder, learned_factor
from .tuning import Tuning
from .uncertainty import Uncertainty


@dataclass(frozen=True, eq=False, kw_only=True)
class Fit:
    """A learned metric W on the features φ of an initial kernel.

    Attributes
    ----------
    comparisons : Comparisons
        The answers learned from, about rows of X.
    features : LowRank
        φ; its ``kernel`` is the fitted initial kernel.
    asked : (s, r) array
        φ of the items that the answers are about, ``comparisons.constrained``.
    solution : Solution
        What the solver says about the optimum.
    metric : (r, r) array
        W: the learned kernel is φ(x)ᵀWφ(y).
    root : (r, k) array
        W = root·rootᵀ; learned coordinates are φ(x)ᵀ·root.
    calibration : Calibration
        Turns distances into probabilities.
    tuning : Tuning or None
        What held-out answers say, where settings were chosen by them.
    given : tuple of str, or None
        The items' names in the order in which `fit` was given them, where they were learned from in another one.
    """

    comparisons: Comparisons
    features: LowRank
    asked: Array
    solution: Solution
    metric: Array
    root: Array
    calibration: Calibration
    tuning: Tuning | None = None
    given: tuple[str, ...] | None = None

    @property
    def items(self) -> Array | None:
        """The features of the items in the order in which `fit` was given them; None if the kernel keeps none."""
        learned: Array | None = getattr(self.features.kernel, "X_fit_", None)
        if learned is None or self.given is None:
            return learned
        place = {name: row for row, name in enumerate(self.comparisons.items or ())}
        return learned[[place[name] for name in self.given]]

    def remainder(self, items: Array, phi: Array) -> Remainder:
        """What φ leaves out of items; nothing of the landmarks and of the items that the answers are about."""
        return Remainder.of(self.features, self._factor, self._known, items, phi)

    @cached_property
    def _known(self) -> Indices:
        return np.union1d(self.features.landmarks, self.comparisons.constrained)

    @cached_property
    def _factor(self) -> float:
        return learned_factor(self.features, self.root, self.comparisons.constrained)


@dataclass(frozen=True, eq=False, kw_only=True)
class SKLRFit(Fit):
    """A fit of `SKLR`: it also holds the settings and the rows, and so the problem that was solved.

    Attributes
    ----------
    recipe : Recipe
        The settings that were used.
    penalties : tuple of float
        One for each round.
    rows : Constraints
        The rows of the problem; their items are rows of ``asked``.
    prior : (r, r) array
        A root of the metric that the last round started from.
    multipliers : tuple of arrays
        Of every round.
    """

    recipe: Recipe
    penalties: tuple[float, ...]
    rows: Constraints
    prior: Array
    multipliers: tuple[Array, ...]

    @property
    def said(self) -> Comparisons:
        """The answers about rows of ``asked``, every link with the bound it had in the problem."""
        _, said = renumbered(self.comparisons)
        bound, link = said.bound.copy(), said.links[self.rows.answer]
        bound[self.rows.answer[link]] = np.abs(self.rows.offset[link])
        return Comparisons(said.kind, said.shown, said.odd, bound, said.weight, part_of=said.part_of)

    def covariance(self, differences: Array, beyond: Array | None = None) -> Array:
        """Covariances between the learned squared distances of pairs of items, by Laplace's approximation.

        Parameters
        ----------
        differences : (k, g, r) array
            φ(x) − φ(y) of k groups of g pairs.
        beyond : (k, g, g) array, optional
            As in `Uncertainty.covariance`.

        Returns
        -------
        (k, g, g) array
        """
        penalty = self.penalties[-1]
        problem = self.recipe.problem(self.asked @ self.prior, self.rows, penalty or 1.0)
        point = problem.at(self.solution.multipliers)
        assert point is not None  # it was the optimum
        seen = self.prior
        if self.root.shape[1] < len(self.root):  # only the part of a difference in the dimensions that were kept
            seen = np.linalg.solve(self.prior @ point.root, self.metric).T @ np.linalg.inv(point.root)
        dispersion = penalty if LOSSES[self.recipe.loss].entropic else 1.0
        return Uncertainty(point, dispersion).covariance(differences @ seen, beyond)
