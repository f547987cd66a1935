"""Choosing the initial kernel, the loss and its penalty by cross-validation along regularisation paths.

Answers are put into folds; all answers about one triple stay in one fold. On each fold's other answers the kernel is
learned along a path of growing penalties, each fit starting from the last one's multipliers, so that a path costs a few
fits. The held-out answers then say which penalty predicts people best, whether a second round from there predicts
still better, and whether any of it beats the initial kernel.

The first folds, which hold 100 answers together, judge every trial. The other folds judge only those that are not
behind the best by more than a standard error.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from ..comparisons import Comparisons
from ..problem.constraints import Constraints
from ..problem.losses import LOSSES
from ..solvers import Newton
from ..support.types import Array
from .folds import MANY, expensive, folds_of, without
from .recipe import Recipe, unit_of
from .rounds import halfway, learn
from .trials import Judged, Trials
from .tuning import Tuning

# What a second round's penalty may be, as shares of the first's.
SECOND = (0.25, 0.5, 1.0)
# A softness at which the initial distances count for little. With it these shares of the best penalty are tried, which
# is first scaled in proportion to the softness.
SOFTER = 3.0
SOFTER_SHARES = (0.18, 0.32, 0.56, 1.0)
# A path ends where two penalties in a row raise the held-out log-likelihood of an answer by less than this.
WORTHWHILE = 1e-3
# The penalty, for each unit of softness, from which answers hold that don't contradict others.
HOLDING = 3.0
# Tolerance and most steps of the fits along a path: held-out answers can't tell more exact ones apart.
TOLERANCE, STEPS = 1e-2, 60


def path_of(loss: str, unit: float, step: float = 1.0) -> Array:
    """The penalties to try under a loss, ascending by a factor of 10 to the power ``step``.

    ``unit`` is the mean initial squared distance between two items.
    """
    least, greatest = LOSSES[loss].penalties
    return np.asarray(10.0 ** np.arange(least, greatest + 0.1, step) / unit ** LOSSES[loss].unit_power)


def tune(
    phis: Mapping[str, Array],
    covariances: Mapping[str, Array],
    said: Comparisons,
    recipes: list[Recipe],
    *,
    folds: int | None = None,
    softer: bool = False,
    random: np.random.RandomState,
    progress: Callable[[str], None] | None = None,
    device: str | None = None,
) -> Tuning:
    """Try recipes along their paths of penalties on held-out answers.

    Parameters
    ----------
    phis : mapping of str to (s, r) array
        For each initial kernel the features of the items asked about.
    covariances : mapping of str to (r, r) array
        The covariance of all items' features.
    said : Comparisons
        Answers about rows of the features, of which at least 50 are decided; every link has a bound.
    recipes : list of Recipe
        The first one's kernel is what learning is compared with.
    folds : int, optional
        As in `folds_of`.
    softer : bool
        Whether a softness may be tried at which the initial distances count for little; from 5,000 answers about more
        than 200 items on this is too expensive.
    device : str, optional
        Where to solve, as in `SKLR`.
    """
    trials = Trials(phis, covariances, said, list(folds_of(said, folds, random)))
    # With many answers a penalty that is too large is expensive, and a path ends early: steps of half a power of ten.
    # With few answers any path may go to its end: whole powers, then half a power to either side of the best.
    step = 0.5 if len(said) >= MANY else 1.0
    walks = [(recipe, path_of(recipe.loss, unit_of(phis[recipe.kernel]), step)) for recipe in recipes]
    softer = softer and not expensive(said)
    later = (2 if step == 1.0 else 0) + (len(SOFTER_SHARES) if softer else 0) + len(SECOND)
    search = _Search(trials, device, progress, sum(len(path) for _, path in walks) + later)
    search.start(recipes[0])
    search.scout(walks)
    if 1 not in trials.leaders:  # nothing was solved, or all of it is clearly behind the initial kernel
        return trials.verdict()
    if step == 1.0:
        best, _ = trials.leader(1)
        search.scout([(best.recipe, best.penalty * 10.0 ** np.array([-0.5, 0.5]))])
    best, _ = trials.leader(1)
    if softer and LOSSES[best.recipe.loss].entropic:
        nearby = best.penalty * SOFTER / best.recipe.softness * np.array(SOFTER_SHARES)
        search.scout([(replace(best.recipe, softness=SOFTER), nearby)])
    best, roots = trials.leader(1)
    priors = [halfway(phis[best.recipe.kernel], root) for root in roots]
    search.scout([(best.recipe, best.penalties[0] * np.array(SECOND))], best.penalties, priors)
    return trials.verdict()


class _Search:
    """Walks along paths, first for the folds that judge every trial, then for the others.

    ``planned`` is how many trials there are if no path ends early; a trial is a step, and so is its confirmation.
    """

    def __init__(
        self, trials: Trials, device: str | None, progress: Callable[[str], None] | None, planned: int
    ) -> None:
        self.trials, self.device, self.progress = trials, device, progress
        self.done, self.steps = 0, planned * (1 if trials.scouts == len(trials.held_out) else 2)

    def start(self, recipe: Recipe) -> None:
        """Judge the initial kernel."""
        root = np.eye(self.trials.phis[recipe.kernel].shape[1])
        folds = range(len(self.trials.held_out))
        judged = [self.trials.judge(recipe.kernel, root, fold, learned=False) for fold in folds]
        self.trials.enter(recipe, (0.0,), judged)

    def scout(
        self,
        paths: list[tuple[Recipe, Array]],
        earlier: tuple[float, ...] = (),
        priors: list[Array] | None = None,
    ) -> None:
        """Try recipes along their paths for the first folds, and what is promising for the others."""
        trials, scouts, begun = self.trials, self.trials.scouts, self.done
        for recipe, path in paths:
            end = self.done + len(path)
            walks = [self._walk(recipe, path, fold, priors) for fold in range(scouts)]
            best, last, idle = -np.inf, -np.inf, 0
            for left, penalty in zip(range(len(path) - 1, -1, -1), path, strict=True):
                self._say("trying", recipe, penalty, earlier)
                fits = [next(steps) for steps in walks]
                solved = all(arrived for _, arrived in fits)
                likelihood, behind, error = trials.enter(
                    recipe, (*earlier, float(penalty)), [judged for judged, _ in fits], solved=solved
                )
                if not solved:
                    continue
                # Beyond the best penalty, fits only become more expensive.
                idle = 0 if likelihood > best + WORTHWHILE else idle + 1
                if likelihood < best - 2.0 * error or idle == 2:
                    break
                # As steep as now to the end, the path would still be behind.
                if likelihood + left * max(likelihood - last, 0.0) < likelihood + behind - error:
                    break
                best, last = max(best, likelihood), likelihood
            self.done = end
        self._confirm(earlier, priors)
        self.done = begun + sum(len(path) for _, path in paths) * (1 if scouts == len(trials.held_out) else 2)

    def _confirm(self, earlier: tuple[float, ...], priors: list[Array] | None) -> None:
        """Let the other folds judge what is promising."""
        trials, folds = self.trials, range(self.trials.scouts, len(self.trials.held_out))
        listed: dict[Recipe, list[int]] = {}
        for number in trials.shortlist():
            listed.setdefault(trials.trials[number].recipe, []).append(number)
        for recipe, numbers in listed.items():
            path = np.array([trials.trials[number].penalty for number in numbers])
            walks = [self._walk(recipe, path, fold, priors) for fold in folds]
            for number, penalty in zip(numbers, path, strict=True):
                self._say("confirming", recipe, penalty, earlier)
                fits = [next(steps) for steps in walks]
                judged = (*trials.predictions[number].judged, *(each for each, _ in fits))
                solved = all(arrived for _, arrived in fits)
                trials.enter(recipe, trials.trials[number].penalties, judged, solved=solved)

    def _say(self, doing: str, recipe: Recipe, penalty: float, earlier: tuple[float, ...]) -> None:
        self.done += 1
        if self.progress is not None:
            again = ", second round" if earlier else ""
            trial = f"{recipe.kernel} kernel, {recipe.loss} loss, penalty {penalty:.2g}{again}"
            self.progress(f"step {self.done} of at most {self.steps}, {doing} {trial}")

    def _walk(
        self, recipe: Recipe, path: Array, fold: int, priors: list[Array] | None
    ) -> Iterator[tuple[Judged, bool]]:
        """What is learned for a fold, penalty after penalty, and whether each was solved."""
        trials, phi = self.trials, self.trials.phis[recipe.kernel]
        rows = recipe.rows(without(trials.said, trials.held_out[fold]))
        prior = None if priors is None else priors[fold]
        for root, solved in _walk(phi if prior is None else phi @ prior, rows, recipe, path, self.device):
            yield trials.judge(recipe.kernel, root if prior is None else prior @ root, fold), solved


def _walk(
    phi: Array, rows: Constraints, recipe: Recipe, path: Array, device: str | None
) -> Iterator[tuple[Array, bool]]:
    """The roots of the learned metrics, penalty after penalty, and whether each was solved."""
    start, last = None, 0.0
    for penalty in path:
        # An entropy's multipliers are shares of the penalty, until answers hold and multipliers hardly grow any more.
        if start is not None and LOSSES[recipe.loss].entropic and penalty < HOLDING * recipe.softness:
            start = np.where(rows.equality, start, start * penalty / last)
        learned = learn(
            phi,
            rows,
            recipe,
            [float(penalty)],
            solver=Newton(),
            tol=TOLERANCE,
            max_iter=STEPS,
            starts=[start],
            device=device,
        )
        start, last = learned.point.alpha, penalty
        yield learned.point.root, learned.solution.status.success
