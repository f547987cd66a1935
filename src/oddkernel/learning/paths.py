"""Choosing the initial kernel, the loss and its penalty by cross-validation along regularisation paths.

Answers are put into folds; all answers about one triple stay in one fold. On each fold's other answers the kernel is
learned along a path of growing penalties, each fit starting from the last one's multipliers, so that a path costs a few
fits. The held-out answers then say which penalty predicts people best, whether a second round from there predicts
still better, and whether any of it beats the initial kernel.
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
from .trials import Trials
from .tuning import Tuning

# What a second round's penalty may be, as shares of the first's.
SECOND = (0.25, 0.5, 1.0)
# A softness at which the initial distances count for little. With it these shares of the best penalty are tried, which
# is first scaled in proportion to the softness.
SOFTER = 3.0
SOFTER_SHARES = (0.18, 0.32, 0.56, 1.0)
# A path ends where two penalties in a row raise the held-out log-likelihood of an answer by less than this.
WORTHWHILE = 1e-3
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

    def unchanged(recipe: Recipe) -> list[Array]:
        return [np.eye(phis[recipe.kernel].shape[1])] * len(trials.held_out)

    def walk(recipe: Recipe, path: Array, earlier: tuple[float, ...] = (), priors: list[Array] | None = None) -> None:
        priors = priors or unchanged(recipe)
        walks = [
            _walk(phis[recipe.kernel] @ prior, recipe.rows(without(said, out)), recipe, path, device)
            for out, prior in zip(trials.held_out, priors, strict=True)
        ]
        best, idle = -np.inf, 0
        for penalty in path:
            if progress is not None:
                again = ", second round" if earlier else ""
                progress(f"trying {recipe.kernel} kernel, {recipe.loss} loss, penalty {penalty:.2g}{again}")
            fits = [next(steps) for steps in walks]
            roots = [prior @ root for prior, (root, _) in zip(priors, fits, strict=True)]
            solved = all(arrived for _, arrived in fits)
            likelihood, error = trials.enter(recipe, (*earlier, float(penalty)), roots, solved=solved)
            if not solved:
                continue
            # Beyond the best penalty, fits only become more expensive.
            if likelihood < best - 2.0 * error:
                break
            idle = 0 if likelihood > best + WORTHWHILE else idle + 1
            best = max(best, likelihood)
            if idle == 2:
                break

    trials.enter(recipes[0], (0.0,), unchanged(recipes[0]))
    # With many answers a penalty that is too large is expensive, and a path ends early: steps of half a power of ten.
    # With few answers any path may go to its end: whole powers, then half a power to either side of the best.
    step = 0.5 if len(said) >= MANY else 1.0
    for recipe in recipes:
        walk(recipe, path_of(recipe.loss, unit_of(phis[recipe.kernel]), step))
    if 1 not in trials.leaders:  # nothing was solved
        return trials.verdict()
    if step == 1.0:
        best, _ = trials.leader(1)
        walk(best.recipe, best.penalty * 10.0 ** np.array([-0.5, 0.5]))
    best, _ = trials.leader(1)
    if softer and LOSSES[best.recipe.loss].entropic and not expensive(said):
        nearby = best.penalty * SOFTER / best.recipe.softness * np.array(SOFTER_SHARES)
        walk(replace(best.recipe, softness=SOFTER), nearby)
    best, roots = trials.leader(1)
    priors = [halfway(phis[best.recipe.kernel], root) for root in roots]
    walk(best.recipe, best.penalties[0] * np.array(SECOND), best.penalties, priors)
    return trials.verdict()


def _walk(
    phi: Array, rows: Constraints, recipe: Recipe, path: Array, device: str | None
) -> Iterator[tuple[Array, bool]]:
    """The roots of the learned metrics, penalty after penalty, and whether each was solved."""
    start, last = None, 0.0
    for penalty in path:
        if start is not None and LOSSES[recipe.loss].entropic:  # an entropy's multipliers are shares of the penalty
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
