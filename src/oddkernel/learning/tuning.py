"""Choosing the initial kernel, the loss and its penalty by held-out comparisons, and saying what learning gains.

Answers are put into folds; all answers about one triple stay in one fold. On each fold's other answers the kernel is
learned along a path of growing penalties, each fit starting from the last one's multipliers, so that a path costs a few
fits. The held-out answers then say which penalty predicts people best, whether a second round from there predicts
still better, and whether any of it beats the initial kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..comparisons import Comparisons
from ..problem import choices
from ..problem.constraints import Constraints
from ..problem.losses import LOSSES
from ..solvers import Newton, solve
from ..support.numbered import places
from .rounds import SOFTNESS, halfway, problem_of, unit_of

Array = npt.NDArray[Any]

# Least and greatest penalty, as powers of ten, in units that don't depend on the kernel's: log-likelihoods, or slack in
# typical squared distances.
PENALTIES = {"squared": (-2, 3), "hinge": (-3, 2), "logistic": (-3, 2), "softmax": (-3, 2)}
# What a second round's penalty may be, as shares of the first's.
SECOND = (0.25, 0.5, 1.0)
# Where the initial distances hardly count: this softness, and the shares of the best penalty, in proportion to it, that
# are tried with it.
SOFTER = 3.0
SOFTER_SHARES = (0.18, 0.32, 0.56, 1.0)
# A path ends where two penalties in a row raise the held-out log-likelihood of an answer by less than this.
WORTHWHILE = 1e-3
# By how many standard errors some dimensions must beat all: the best of so many beat them by one for no reason.
SURE = 2.0
# Numbers of leading dimensions that are tried beside all.
DIMENSIONS = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610)
# Fewest decided answers from which held-out ones can choose anything.
FEWEST = 50
# From so many answers on only a likelihood is tried: so many are no one's who never errs.
MANY = 5_000
# With so many answers about more items than this, a part of them is held out once.
FEW_ITEMS = 200
# How well the fits along a path are solved: held-out answers can't tell more.
ENOUGH = 1e-2


@dataclass(frozen=True)
class Recipe:
    """Where learning starts and what a violated answer costs, but for the penalty."""

    kernel: str
    loss: str
    ratio: float
    margin: float
    softness: float = SOFTNESS


@dataclass(frozen=True)
class Trial:
    """One recipe and its penalties, one for each round, on held-out answers.

    ``agreement`` is the share of them that the learned distances agree with, ``log_likelihood`` their mean
    log-probability; ``error`` is the standard error of the agreement. A penalty of 0 is the initial kernel. ``rank``
    is how many leading dimensions of the learned kernel do this: all, or fewer where these predict better. A trial that
    is not ``solved``, since the solver did not arrive on some fold, is never chosen.
    """

    recipe: Recipe
    penalties: tuple[float, ...]
    agreement: float
    error: float
    log_likelihood: float
    rank: int
    solved: bool = True

    @property
    def penalty(self) -> float:
        """The last round's penalty."""
        return self.penalties[-1]


@dataclass(frozen=True)
class Tuning:
    """What held-out answers say.

    Attributes
    ----------
    recipe, penalties
        The best: highest log-likelihood. Penalty 0, the initial kernel, unless that is beaten by more than a standard
        error; one round, unless a second beats it by as much.
    trials : tuple of Trial
        Everything tried.
    start : float
        Agreement of the initial kernel with held-out answers.
    gain : float
        By how much learning raises it.
    gain_interval : (float, float)
        95% interval of the gain, from paired answers.
    temperature, tie, guess : float
        Of `choices.probabilities`, fitted to held-out answers; the temperature in mean squared distances between the
        items by the learned kernel, which grow with the answers learned from.
    dimensions : tuple of (int, float)
        How likely held-out answers are by the learned coordinates' leading dimensions alone: their number, and the
        mean log-likelihood.
    dimension : int
        The fewest that come within a standard error of the best.
    rank : int
        How many leading dimensions the learned kernel keeps: those that predict held-out answers best, if that is
        better than all of them by more than two standard errors; otherwise all.
    """

    recipe: Recipe
    penalties: tuple[float, ...]
    trials: tuple[Trial, ...]
    start: float
    gain: float
    gain_interval: tuple[float, float]
    temperature: float
    tie: float
    guess: float
    dimensions: tuple[tuple[int, float], ...]
    dimension: int
    rank: int

    @property
    def penalty(self) -> float:
        """The last round's penalty."""
        return self.penalties[-1]

    def __str__(self) -> str:
        low, high = self.gain_interval
        if self.penalty == 0:
            verdict = "The answers don't support a change yet"
        else:
            verdict = "Learning predicts held-out answers better"
        return f"{verdict}: {self.start:.3f} {self.gain:+.3f} (95% interval {low:+.3f} to {high:+.3f})."

    def plot(self, ax: Any = None) -> Any:
        """Draw the paths: held-out agreement over the penalty, a line for each recipe and round.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; a new figure by default.

        Returns
        -------
        matplotlib axes
        """
        if ax is None:
            from matplotlib import pyplot

            ax = pyplot.subplots(layout="constrained")[1]
        paths: dict[tuple[Recipe, int], list[Trial]] = {}
        for trial in self.trials[1:]:
            paths.setdefault((trial.recipe, len(trial.penalties)), []).append(trial)
        for (recipe, rounds), path in paths.items():
            x, y, error = zip(*((trial.penalty, trial.agreement, trial.error) for trial in path), strict=True)
            label = f"{recipe.kernel} kernel, {recipe.loss} loss" + (", second round" if rounds > 1 else "")
            ax.errorbar(x, y, yerr=error, marker="o", capsize=2, label=label)
        ax.axhline(self.start, color="0.4", linestyle="--", label="nothing learned")
        if self.penalty:
            ax.axvline(self.penalty, color="0.4", linestyle=":", label="chosen")
        ax.set(xscale="log", xlabel="penalty", ylabel="share of held-out answers right")
        ax.legend()
        return ax


def path_of(loss: str, unit: float, step: float = 1.0) -> Array:
    """The penalties to try under a loss, ascending by so many powers of ten."""
    power = {"squared": 2, "hinge": 1}.get(loss, 0)
    least, greatest = PENALTIES[loss]
    return np.asarray(10.0 ** np.arange(least, greatest + 0.1, step) / unit**power)


def tune(
    starts: Mapping[str, Array],
    spreads: Mapping[str, Array],
    said: Comparisons,
    recipes: list[Recipe],
    rows_of: Callable[[Comparisons, Recipe], Constraints],
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
    starts : mapping of str to (s, r) array
        For each initial kernel the features of the constrained items, ``said.constrained``.
    spreads : mapping of str to (r, r) array
        The covariance of all items' features.
    said : Comparisons
        Answers, of which at least 50 are decided.
    recipes : list of Recipe
        The first one's kernel is what learning is compared with.
    rows_of : callable
        Turns answers and a recipe into constraints over the rows of the features.
    folds : int, optional
        By default 5, 3 from 500 answers, and from 5,000 about more than 200 items on a single part: a fifth, a tenth
        from 20,000 on.
    softer : bool
        Whether a softness may be tried at which the initial distances hardly count; with 5,000 answers and more about
        more than 200 items it is too dear.
    device : str, optional
        Where to solve, as in `SKLR`.
    """
    race = _Race(starts, spreads, said, list(folds_of(said, folds, random)))
    race.enter(recipes[0], (0.0,), [np.eye(starts[recipes[0].kernel].shape[1])] * len(race.held_out))

    def walk(recipe: Recipe, path: Array, earlier: tuple[float, ...], priors: list[Array]) -> None:
        phi = starts[recipe.kernel]
        walks = [
            _walk(phi @ prior, rows_of(race.training(out), recipe), recipe, path, device)
            for out, prior in zip(race.held_out, priors, strict=True)
        ]
        best, idle = -np.inf, 0
        for penalty in path:
            if progress is not None:
                again = ", second round" if earlier else ""
                progress(f"trying {recipe.kernel} kernel, {recipe.loss} loss, penalty {penalty:.2g}{again}")
            fits = [next(steps) for steps in walks]
            roots = [prior @ root for prior, (root, _) in zip(priors, fits, strict=True)]
            solved = all(arrived for _, arrived in fits)
            likelihood, error = race.enter(recipe, (*earlier, float(penalty)), roots, solved=solved)
            if not solved:
                continue
            # Beyond the best the fits only grow dearer.
            if likelihood < best - 2.0 * error:
                break
            idle = 0 if likelihood > best + WORTHWHILE else idle + 1
            best = max(best, likelihood)
            if idle == 2:
                break

    # With many answers a penalty too large is dear and soon found out: short strides. With few, any path may go on to
    # its end: long ones, then half a stride to either side of the best.
    stride = 0.5 if len(said) >= MANY else 1.0
    for recipe in recipes:
        phi = starts[recipe.kernel]
        walk(recipe, path_of(recipe.loss, unit_of(phi), stride), (), [np.eye(phi.shape[1])] * len(race.held_out))
    if 1 not in race.leaders:  # nothing was solved
        return race.verdict()
    if stride == 1.0:
        best = race.trials[race.leaders[1][0]]
        nearby = best.penalty * 10.0 ** np.array([-0.5, 0.5])
        walk(best.recipe, nearby, (), [np.eye(starts[best.recipe.kernel].shape[1])] * len(race.held_out))
    best = race.trials[race.leaders[1][0]]
    if softer and LOSSES[best.recipe.loss].entropic and not dear(said):
        nearby = best.penalty * SOFTER / best.recipe.softness * np.array(SOFTER_SHARES)
        recipe = replace(best.recipe, softness=SOFTER)
        walk(recipe, nearby, (), [np.eye(starts[recipe.kernel].shape[1])] * len(race.held_out))
    leader, roots = race.leaders[1]
    recipe, penalties = race.trials[leader].recipe, race.trials[leader].penalties
    priors = [halfway(starts[recipe.kernel], root) for root in roots]
    walk(recipe, penalties[0] * np.array(SECOND), penalties, priors)
    return race.verdict()


class _Race:
    """Trials on the same held-out answers, and the best of those with nothing learned, one round and two.

    More rounds win only if they are better by a standard error: the best of many trials may be luck.
    """

    def __init__(
        self, starts: Mapping[str, Array], spreads: Mapping[str, Array], said: Comparisons, held_out: list[Array]
    ) -> None:
        self.starts, self.spreads, self.said, self.held_out = starts, spreads, said, held_out
        answers = said[np.concatenate(held_out)]
        _, question = np.unique(answers.item_sets(), axis=0, return_inverse=True)
        # However often a question was asked, it is one: what counts is how well others are foretold.
        often = np.bincount(question.ravel(), answers.weight)[question.ravel()]
        answers = answers.with_weight(answers.weight / np.maximum(often, 1.0))
        self.known = choices.decided(answers)
        self.answers, self.decided = answers, answers[self.known]
        self.question = question.ravel()[self.known]
        self.where = places(said.constrained, said.shown)  # of links, which are never held out, two count
        self.trials: list[Trial] = []
        self.predictions: list[_Prediction] = []
        self.leaders: dict[int, tuple[int, list[Array]]] = {}

    def training(self, out: Array) -> Comparisons:
        return self.said[np.setdiff1d(np.arange(len(self.said)), out)]

    def enter(
        self, recipe: Recipe, penalties: tuple[float, ...], roots: list[Array], *, solved: bool = True
    ) -> tuple[float, float]:
        """Score the metrics learned for each fold; return the mean log-likelihood and its error against the best."""
        rounds = len(penalties) if penalties[0] else 0
        found = self._predict(recipe.kernel, roots, DIMENSIONS if rounds else ())
        share = choices.agreement(found.opposite[self.known], self.decided)
        mean = self._mean(found.likelihood)
        self.trials.append(Trial(recipe, penalties, self._mean(share), self._error(share), mean, found.rank, solved))
        self.predictions.append(found)
        leads = rounds not in self.leaders or mean > self.trials[self.leaders[rounds][0]].log_likelihood
        if solved and leads:
            self.leaders[rounds] = len(self.trials) - 1, roots
        best = max((each.likelihood for each in self.predictions), key=self._mean)
        return mean, self._error(found.likelihood - best)

    def verdict(self) -> Tuning:
        winner = 0
        for rounds in sorted(self.leaders):
            one, other = (self.predictions[self.leaders[each][0]].likelihood for each in (rounds, winner))
            winner = rounds if self._mean(one - other) > self._error(one - other) else winner
        leader, roots = self.leaders[winner]
        best, found = self.trials[leader], self.predictions[leader]
        before, after = (
            choices.agreement(each.opposite[self.known], self.decided) for each in (self.predictions[0], found)
        )
        gain, error = self._mean(after - before), self._error(after - before)
        relative = found.opposite / found.unit[:, None]
        temperature, guess = choices.fit_guess(relative[self.known], self.decided)
        by_dimension = found.by_dimension
        if not winner:
            by_dimension = self._predict(best.recipe.kernel, roots, DIMENSIONS).by_dimension
        top = max(by_dimension.values(), key=self._mean)
        return Tuning(
            best.recipe,
            best.penalties,
            tuple(self.trials),
            self._mean(before),
            gain,
            (gain - 1.96 * error, gain + 1.96 * error),
            temperature,
            choices.fit_tie(relative, self.answers, temperature),
            guess,
            tuple((d, self._mean(each)) for d, each in by_dimension.items()),
            next(d for d, each in by_dimension.items() if self._mean(top - each) <= self._error(top - each)),
            best.rank,
        )

    def _predict(self, kernel: str, roots: list[Array], dimensions: Sequence[int]) -> _Prediction:
        """What the metrics learned for each fold say about the answers held out of it."""
        phi, most = self.starts[kernel], len(roots[0])
        tried = [*(d for d in dimensions if d < most), most]
        turned = [phi @ (leading(root, self.spreads[kernel]) if dimensions else root) for root in roots]
        opposite = np.concatenate(
            [
                choices.sides_by_dimension(z, self.where[out], tried)
                for z, out in zip(turned, self.held_out, strict=True)
            ],
            axis=1,
        )
        by_dimension = {d: self._likelihood(each) for d, each in zip(tried, opposite, strict=True)}
        rank = max(tried, key=lambda d: self._mean(by_dimension[d]))
        rise = by_dimension[rank] - by_dimension[most]
        rank = rank if self._mean(rise) > SURE * self._error(rise) else most
        unit = np.repeat([unit_of(z) for z in turned], [len(out) for out in self.held_out])
        return _Prediction(opposite[tried.index(rank)], unit, by_dimension[rank], rank, by_dimension)

    def _likelihood(self, opposite: Array) -> Array:
        opposite = opposite[self.known]
        return choices.log_likelihood(opposite, self.decided, choices.fit_temperature(opposite, self.decided))

    def _mean(self, values: Array) -> float:
        return float(np.average(values, weights=self.decided.weight))

    def _error(self, values: Array) -> float:
        share = self.decided.weight / self.decided.weight.sum()
        return float(np.linalg.norm(np.bincount(self.question, share * (values - share @ values))))


@dataclass(frozen=True, eq=False)
class _Prediction:
    """What one trial says about held-out answers, and how likely these are by that and by other dimensions.

    ``unit`` is the mean squared distance of the metric by which each answer is judged.
    """

    opposite: Array
    unit: Array
    likelihood: Array
    rank: int
    by_dimension: dict[int, Array]


def leading(root: Array, spread: Array) -> Array:
    """A root of the same metric whose columns are ordered by how far apart they put the items of this covariance."""
    _, vectors = np.linalg.eigh(root.T @ spread @ root)
    return np.asarray(root @ vectors[:, ::-1])


def principal_axes(coordinates: Array) -> tuple[Array, Array]:
    """The centre of items, and axes of which each holds as much of their spread as those before it leave."""
    centre = coordinates.mean(axis=0)
    _, vectors = np.linalg.eigh(np.cov(coordinates.T, bias=True).reshape(len(centre), len(centre)))
    return centre, vectors[:, ::-1]


def _walk(
    phi: Array, rows: Constraints, recipe: Recipe, path: Array, device: str | None
) -> Iterator[tuple[Array, bool]]:
    """The roots of the learned metrics, penalty after penalty, and whether each was solved."""
    alpha, last = None, 0.0
    for penalty in path:
        problem = problem_of(phi, rows, recipe.loss, float(penalty), recipe.softness)
        if alpha is not None and problem.loss.has_entropy:
            alpha = np.where(problem.loss.temperature > 0, alpha * penalty / last, alpha)
        solution, point = solve(problem, Newton(), start=alpha, tol=ENOUGH, max_iter=60, device=device)
        alpha, last = point.alpha, penalty
        yield point.root, solution.status.success


def dear(said: Comparisons) -> bool:
    """Whether answers are so many, about so many items, that every fit takes long."""
    return int(np.count_nonzero(~said.links)) >= MANY and len(said.constrained) > FEW_ITEMS


def folds_of(said: Comparisons, folds: int | None, random: np.random.RandomState) -> Iterator[Array]:
    """Rows held out together, all about the same three items in one fold; links are never held out.

    By default 5 folds, 3 from 500 answers, and from 5,000 about more than 200 items on a single part: a fifth, a tenth
    from 20,000 on.
    """
    rows = np.flatnonzero(~said.links)
    _, triple = np.unique(said.item_sets()[rows], axis=0, return_inverse=True)
    triple = triple.ravel()
    n_triples = int(triple.max(initial=-1)) + 1
    wanted = folds if folds is not None else 5 if len(rows) < 500 else 1 if dear(said) else 3
    part = random.permutation(n_triples) % (wanted if wanted > 1 else 5 if len(rows) < 20_000 else 10)
    for fold in range(wanted):
        yield rows[part[triple] == fold]
