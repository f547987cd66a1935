"""Choosing the loss and its penalty by held-out comparisons, and saying what learning gains.

Answers are put into folds; all answers about one triple stay in one fold. On each fold's other answers the kernel is
learned along a path of growing penalties, each fit starting from the last one's multipliers, so that a path costs a few
fits. The held-out answers then say which penalty predicts people best, and whether any beats the initial kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from . import choices
from .comparisons import Comparisons, Kind
from .constraints import Constraints
from .dual import Dual
from .losses import LOSSES
from .solvers import Newton, solve

Array = npt.NDArray[Any]

# Penalties in units that don't depend on the kernel's: log-likelihoods, or slack in typical squared distances.
PENALTIES = {
    "squared": 10.0 ** np.arange(-2.0, 4.0),
    "hinge": 10.0 ** np.linspace(-3.0, 2.0, 8),
    "logistic": 10.0 ** np.linspace(-3.0, 2.0, 8),
    "softmax": 10.0 ** np.linspace(-3.0, 2.0, 8),
}
# A logistic or softmax answer is a matter of taste within this share of the mean initial squared distance.
TEMPERATURE = 0.3
# A path ends where two penalties in a row raise the held-out log-likelihood of an answer by less than this.
WORTHWHILE = 1e-3
# Fewest decided answers from which held-out ones can choose anything.
FEWEST = 50


@dataclass(frozen=True)
class Recipe:
    """What a violated answer costs, but for the penalty."""

    loss: str
    ratio: float
    margin: float


@dataclass(frozen=True)
class Trial:
    """One recipe and penalty on held-out answers.

    ``agreement`` is the share of them that the learned distances agree with, ``log_likelihood`` their mean
    log-probability; ``error`` is the standard error of the agreement. A penalty of 0 is the initial kernel.
    """

    recipe: Recipe
    penalty: float
    agreement: float
    error: float
    log_likelihood: float


@dataclass(frozen=True)
class Tuning:
    """What held-out answers say.

    Attributes
    ----------
    recipe, penalty
        The best: highest log-likelihood. Penalty 0, the initial kernel, unless that is beaten by more than a standard
        error.
    trials : tuple of Trial
        Everything tried.
    start : float
        Agreement of the initial kernel with held-out answers.
    gain : float
        By how much learning raises it.
    gain_interval : (float, float)
        95% interval of the gain, from paired answers.
    temperature, tie : float
        Of `choices.probabilities`, fitted to held-out answers.
    """

    recipe: Recipe
    penalty: float
    trials: tuple[Trial, ...]
    start: float
    gain: float
    gain_interval: tuple[float, float]
    temperature: float
    tie: float

    def __str__(self) -> str:
        low, high = self.gain_interval
        if self.penalty == 0:
            verdict = "The answers don't support a change yet"
        else:
            verdict = "Learning predicts held-out answers better"
        return f"{verdict}: {self.start:.3f} {self.gain:+.3f} (95% interval {low:+.3f} to {high:+.3f})."


def unit_of(phi: Array) -> float:
    """The mean squared distance between two items, the unit of penalties and temperatures; 1 if all are copies."""
    return float(2.0 * np.square(phi - phi.mean(axis=0)).sum(axis=1).mean()) or 1.0 if phi.size else 1.0


def problem_of(phi: Array, rows: Constraints, loss: str, penalty: float, unit: float) -> Dual:
    """The dual of rows under a loss; a logistic or softmax penalty counts log-likelihoods."""
    scale = TEMPERATURE * unit
    if LOSSES[loss].entropic:
        penalty = penalty / scale
    return Dual(phi, rows, LOSSES[loss].conjugate(rows.weight, rows.equality, penalty, scale=scale, answer=rows.answer))


def path_of(loss: str, unit: float) -> Array:
    """The penalties to try under a loss, ascending."""
    power = {"squared": 2, "hinge": 1}.get(loss, 0)
    return np.asarray(PENALTIES[loss] / unit**power)


def tune(
    phi: Array,
    said: Comparisons,
    recipes: list[Recipe],
    rows_of: Callable[[Comparisons, Recipe], Constraints],
    *,
    penalties: Array | None = None,
    folds: int | None = None,
    random: np.random.RandomState,
    progress: Callable[[str], None] | None = None,
    device: str | None = None,
) -> Tuning:
    """Try recipes along their paths of penalties on held-out answers.

    Parameters
    ----------
    phi : (s, r) array
        Features of the constrained items, ``said.constrained``.
    said : Comparisons
        Answers, of which at least 50 are decided.
    recipes : list of Recipe
    rows_of : callable
        Turns answers and a recipe into constraints over the rows of ``phi``.
    penalties : array, optional
        To try, ascending; by default a path for each loss.
    folds : int, optional
        By default 5, 3 from 2,000 answers and a single tenth held out from 20,000 on.
    device : str, optional
        Where to solve, as in `SKLR`.
    """
    items, unit = said.constrained, unit_of(phi)
    held_out = list(folds_of(said, folds, random))
    tested = np.concatenate(held_out)
    answers = said[tested]
    known = choices.decided(answers)
    where = np.searchsorted(items, said.shown)

    tried: list[tuple[Recipe, float, Array]] = [(recipes[0], 0.0, choices.sides(phi, where[tested]))]
    for recipe in recipes:
        path = path_of(recipe.loss, unit) if penalties is None else penalties
        walks = [
            _walk(phi, said[np.setdiff1d(np.arange(len(said)), out)], where[out], recipe, path, unit, rows_of, device)
            for out in held_out
        ]
        best, idle = -np.inf, 0
        for penalty in path:
            if progress is not None:
                progress(f"trying {recipe.loss}, ratio {recipe.ratio:g}, penalty {penalty:.2g}")
            opposite = np.concatenate([next(walk) for walk in walks])
            tried.append((recipe, float(penalty), opposite))
            fit = _fit(opposite[known], answers[known])
            idle = 0 if fit > best + WORTHWHILE else idle + 1
            best = max(best, fit)
            if idle == 2:
                break

    trials = tuple(
        Trial(recipe, penalty, *_agreement(opposite[known], answers[known]), _fit(opposite[known], answers[known]))
        for recipe, penalty, opposite in tried
    )
    winner = int(np.argmax([trial.log_likelihood for trial in trials]))
    if not _clearly_better(tried[winner][2][known], tried[0][2][known], answers[known]):
        winner = 0
    recipe, penalty, opposite = tried[winner]
    first, after = (choices.agreement(sides[known], answers[known]) for sides in (tried[0][2], opposite))
    weight = answers[known].weight
    gain = float(np.average(after - first, weights=weight))
    error = _standard_error(after - first, weight)
    temperature = choices.fit_temperature(opposite[known], answers[known])
    return Tuning(
        recipe,
        penalty,
        trials,
        float(np.average(first, weights=weight)),
        gain,
        (gain - 1.96 * error, gain + 1.96 * error),
        temperature,
        choices.fit_tie(opposite, answers, temperature),
    )


def _walk(
    phi: Array,
    train: Comparisons,
    shown: Array,
    recipe: Recipe,
    path: Array,
    unit: float,
    rows_of: Callable[[Comparisons, Recipe], Constraints],
    device: str | None,
) -> Iterator[Array]:
    """Held-out sides, penalty after penalty."""
    rows = rows_of(train, recipe)
    alpha, last = None, 0.0
    for penalty in path:
        problem = problem_of(phi, rows, recipe.loss, float(penalty), unit)
        if alpha is not None and problem.loss.has_entropy:
            alpha = np.where(problem.loss.temperature > 0, alpha * penalty / last, alpha)
        _, point = solve(problem, Newton(), start=alpha, tol=1e-3, max_iter=60, device=device)
        alpha, last = point.alpha, penalty
        yield choices.sides(phi @ point.whole_metric()[1], shown)


def folds_of(said: Comparisons, folds: int | None, random: np.random.RandomState) -> Iterator[Array]:
    """Rows held out together, all about the same three items in one fold; links are never held out.

    By default 5 folds, 3 from 2,000 answers and a single tenth held out from 20,000 on.
    """
    rows = np.flatnonzero(said.kind <= Kind.CLOSER)
    _, triple = np.unique(said.item_sets()[rows], axis=0, return_inverse=True)
    triple = triple.ravel()
    n_triples = int(triple.max(initial=-1)) + 1
    wanted = folds if folds is not None else 5 if len(rows) < 2_000 else 3 if len(rows) < 20_000 else 1
    part = random.permutation(n_triples) % (wanted if wanted > 1 else 10)
    for fold in range(wanted):
        yield rows[part[triple] == fold]


def _fit(opposite: Array, answers: Comparisons) -> float:
    temperature = choices.fit_temperature(opposite, answers)
    return float(np.average(choices.log_likelihood(opposite, answers, temperature), weights=answers.weight))


def _clearly_better(opposite: Array, initial: Array, answers: Comparisons) -> bool:
    """Whether held-out answers are likelier by more than a standard error: the best of many trials may be luck."""
    after, before = (
        choices.log_likelihood(sides, answers, choices.fit_temperature(sides, answers)) for sides in (opposite, initial)
    )
    rise = after - before
    return bool(np.average(rise, weights=answers.weight) > _standard_error(rise, answers.weight))


def _agreement(opposite: Array, answers: Comparisons) -> tuple[float, float]:
    share = choices.agreement(opposite, answers)
    return float(np.average(share, weights=answers.weight)), _standard_error(share, answers.weight)


def _standard_error(values: Array, weight: Array) -> float:
    share = weight / weight.sum()
    return float(np.sqrt(share**2 @ np.square(values - share @ values)))
