"""Fits for folds: each starts from the nearest one that is known, in penalty, kernel or round."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..problem.constraints import Constraints
from ..problem.dual import Dual
from ..problem.losses import LOSSES
from ..solvers import Newton
from ..support.types import Array
from .recipe import Recipe, unit_of
from .rounds import halfway, learn
from .trials import Judged, Trials
from .tuning import Tuning

# The penalty, for each unit of softness, from which answers hold that don't contradict others. Chosen by hand.
HOLDING = 3.0
# Most steps of a fit. Chosen by hand.
STEPS = 60

Task = tuple[Recipe, float, int]
"""Settings, a penalty, and the fold whose answers are held out."""


class FoldFit(NamedTuple):
    """A fit for a fold: its penalty, the multipliers of all answers' rows (NaN where unknown), its problem."""

    penalty: float
    multipliers: Array
    problem: Dual
    solved: bool


class FoldFits:
    """What is learned for each fold from the other answers.

    Parameters
    ----------
    trials : Trials
        Features, answers and folds, and what judges a metric.
    each : callable
        Calls a function with each of some tuples of arguments, maybe in several threads.
    device : str or None
        Where to solve, as in `SKLR`.
    tol : float
        How exact the fits are.
    """

    def __init__(
        self,
        trials: Trials,
        each: Callable[[Callable[..., Any], Sequence[tuple[Any, ...]]], list[Any]],
        device: str | None,
        tol: float,
    ) -> None:
        self.trials, self.each, self.device, self.tol = trials, each, device, tol
        # Where a second round starts in each fold.
        self._roots: list[Array] = []
        self._rows: dict[tuple[float, float], Constraints] = {}
        self._parts: dict[tuple[float, float, int], tuple[Array, Constraints]] = {}
        # Fits with each recipe for each fold, in every round.
        self._rounds: list[dict[tuple[Recipe, int], list[FoldFit]]] = [{}]

    def next_round(self, roots: list[Array]) -> None:
        """Learn from here on in another round, which starts at these roots of the folds' metrics."""
        self._roots = roots
        self._rounds.append({})

    def learned(self, tasks: Sequence[Task]) -> list[tuple[Judged, bool]]:
        """For each task what the metric learned says about its fold, and whether the solver reached the tolerance."""
        # Starts are chosen before, so that they don't depend on which fit ends first.
        fits = self.each(self._fit, [(*task, self._start(*task)) for task in tasks])
        for (recipe, _, fold), (_, fit) in zip(tasks, fits, strict=True):
            self._rounds[-1].setdefault((recipe, fold), []).append(fit)
        return [(judged, fit.solved) for judged, fit in fits]

    def starts(self, chosen: Tuning) -> list[Array | None]:
        """Multipliers from which learning from all answers may start, for each round."""
        if not chosen.penalty:
            return []
        every = np.arange(len(self._every(chosen.recipe)))
        rounds = zip(self._rounds, chosen.penalties, strict=False)
        return [self._nearest(fitted, chosen.recipe, penalty, 0, every) for fitted, penalty in rounds]

    def _every(self, recipe: Recipe) -> Constraints:
        """The rows of all answers."""
        key = recipe.ratio, recipe.margin
        if key not in self._rows:
            self._rows[key] = recipe.rows(self.trials.said)
        return self._rows[key]

    def _kept(self, recipe: Recipe, fold: int) -> tuple[Array, Constraints]:
        """The rows of the answers that are not held out: their numbers, and they themselves."""
        key, rows = (recipe.ratio, recipe.margin, fold), self._every(recipe)
        if key not in self._parts:
            kept = np.ones(len(self.trials.said), bool)
            kept[self.trials.held_out[fold]] = False
            numbers = np.flatnonzero(kept[rows.answer])
            self._parts[key] = numbers, rows[numbers]
        return self._parts[key]

    def _start(self, recipe: Recipe, penalty: float, fold: int) -> Array | None:
        """Multipliers to start from for a fold."""
        kept, _ = self._kept(recipe, fold)
        start = self._nearest(self._rounds[-1], recipe, penalty, fold, kept)
        if start is None and len(self._rounds) > 1 and LOSSES[recipe.loss].entropic:
            # Answers are about as likely as after the round before, and the unit is the same.
            return self._nearest(self._rounds[-2], recipe, penalty, fold, kept)
        return start

    def _nearest(
        self,
        fitted: Mapping[tuple[Recipe, int], list[FoldFit]],
        recipe: Recipe,
        penalty: float,
        fold: int,
        kept: Array,
    ) -> Array | None:
        """The multipliers of these rows at the nearest penalty, for this fold or else for the first."""
        known = fitted.get((recipe, fold)) or fitted.get((recipe, 0))
        entropic, share = LOSSES[recipe.loss].entropic, 1.0
        if not known:
            # Under another initial kernel or ratio the same answers are about as likely; multipliers are in the unit of
            # the kernel.
            others = [
                (other, of)
                for other, of in fitted
                if of == fold and replace(other, kernel=recipe.kernel, ratio=recipe.ratio) == recipe
            ]
            if not (entropic and others):
                return None
            known, units = fitted[others[-1]], self.trials.units
            share = units[others[-1][0].kernel] / units[recipe.kernel]
        nearest = min(known, key=lambda each: abs(np.log(each.penalty / penalty)))
        start, equality = share * nearest.multipliers[kept], self._every(recipe).equality[kept]
        # An entropy's multipliers are shares of the penalty, until answers hold and multipliers hardly grow any more.
        if entropic and penalty < HOLDING * recipe.softness:
            start = np.where(equality, start, start * penalty / nearest.penalty)
        return np.where(np.isnan(start), 0.0, start)

    def _fit(self, recipe: Recipe, penalty: float, fold: int, start: Array | None) -> tuple[Judged, FoldFit]:
        """What is learned for a fold says about it, and the fit."""
        phi, rows, (kept, part) = self.trials.phis[recipe.kernel], self._every(recipe), self._kept(recipe, fold)
        known = self._rounds[-1].get((recipe, fold))
        prior = halfway(phi, self._roots[fold]) if self._roots else None
        features = phi if prior is None else phi @ prior
        learned = learn(
            features,
            part,
            recipe,
            [penalty],
            solver=Newton(),
            tol=self.tol,
            max_iter=STEPS,
            starts=[start],
            like=known[-1].problem if known else None,
            rough=True,
            device=self.device,
        )
        multipliers = np.full(len(rows), np.nan)
        multipliers[kept] = learned.point.alpha
        root = learned.point.root
        if LOSSES[recipe.loss].entropic:
            # Learning from all answers starts with those that this metric gives the answers held out.
            out = rows[np.flatnonzero(np.isnan(multipliers))]
            violation = out.violation(features.astype(np.float32) @ root.astype(np.float32))
            multipliers[np.isnan(multipliers)] = recipe.conjugate(unit_of(features), out, penalty).wanted(violation)
        fitted = FoldFit(penalty, multipliers, learned.point.problem, learned.solution.status.success)
        return self.trials.judge(recipe.kernel, root if prior is None else prior @ root, fold), fitted
