"""Choosing the initial kernel, the loss and its penalty by cross-validation.

Answers are put into folds; all answers about one triple stay in one fold. For each fold the kernel is learned from the
other answers. The answers of the fold then say how well it predicts.

The standard recipe is tried first. The search for another goes from recipe to recipe. It starts at the standard
penalty and goes on by powers of ten, down or up, for as long as that predicts better. The first folds, which hold 100
answers together, judge every trial. The other folds judge only the best trials that are ahead of the standard recipe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from threadpoolctl import threadpool_info

from ..comparisons import Comparisons
from ..problem.losses import LOSSES
from ..solvers import Newton
from ..solvers.threads import WORTH
from ..support.types import Array
from .folds import MANY, expensive, folds_of, without
from .recipe import Recipe, unit_of
from .rounds import halfway, learn
from .trials import CONFIRMED, WORTHWHILE, Judged, Trials
from .tuning import Trial, Tuning

# The standard penalty of each loss, as a power of ten in its unit. Squared: the paper's loss with the penalty that did
# as well as its hard answers in trials on Vehicle, Scene and USPS. The others: chosen by hand.
STANDARD = {"squared": 1, "hinge": 0, "logistic": -1, "softmax": -1}
# Shares of the first round's penalty that are tried in a second round, one after the other while that helps. By trial
# on wine, iris, blobs and breast_cancer with errors in 0 to 40% of the answers: wherever a second round was chosen, its
# share was 0.25, of 0.25, 0.5 and 1.
SECOND = (0.25, 0.5)
# Steps of the path below the standard penalty at which the search may start instead. By trial on the same data: with
# many errors, the log-likelihood may be flat around the standard penalty.
BELOW = (2, 3)
# A softness at which the initial distances count for little. With it these shares of the best penalty are tried, which
# is first scaled in proportion to the softness. Chosen by hand.
SOFTER = 3.0
SOFTER_SHARES = (0.18, 0.32, 0.56, 1.0)
# The penalty, for each unit of softness, from which answers hold that don't contradict others. Chosen by hand.
HOLDING = 3.0
# Tolerance and most steps of the fits for folds. Chosen by hand: held-out answers can't tell more exact fits apart.
TOLERANCE, STEPS = 1e-2, 60


# Multiplications in the larger products of the items' coordinates from which folds are learned in threads of their own.
# Chosen by hand: below, Python's own steps take most of the time.
LEAST = 1e7


def path_of(loss: str, unit: float, step: float = 1.0) -> Array:
    """The penalties that may be tried under a loss, ascending by a factor of 10 to the power ``step``.

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
    """Try recipes with several penalties on held-out answers.

    Parameters
    ----------
    phis : mapping of str to (s, r) array
        For each initial kernel the features of the items asked about.
    covariances : mapping of str to (r, r) array
        The covariance of all items' features.
    said : Comparisons
        Answers about rows of the features, of which at least 50 are decided; every link has a bound.
    recipes : list of Recipe
        The first one is the standard, and its kernel is what learning is compared with.
    folds : int, optional
        As in `folds_of`.
    softer : bool
        Whether a softness may be tried at which the initial distances count for little; from 5,000 answers about more
        than 200 items on this is too expensive.
    device : str, optional
        Where to solve, as in `SKLR`.
    """
    trials = Trials(phis, covariances, said, list(folds_of(said, folds, random)))
    # With many answers the best penalty is known more exactly.
    step = 0.5 if len(said) >= MANY else 1.0
    paths = {recipe: path_of(recipe.loss, unit_of(phis[recipe.kernel]), step) for recipe in recipes}
    softer = softer and not expensive(said)
    stages = [sum(map(len, paths.values())), 2 if step == 1.0 else 0, len(SOFTER_SHARES) if softer else 0, len(SECOND)]
    at_a_time = 1 if device else workers(phis)
    with ThreadPoolExecutor(at_a_time) as pool:
        # A fit in the main thread hears Ctrl-C at once; those in other threads are short.
        search = _Search(trials, pool.map if at_a_time > 1 else map, device, progress, stages)
        return _searched(search, paths, softer, step)


def workers(phis: Mapping[str, Array]) -> int:
    """How many folds to learn at a time: as many as BLAS has threads, if a single problem has no use for them."""
    size = max(len(phi) * phi.shape[1] * max(phi.shape) for phi in phis.values())
    if not LEAST <= size < WORTH:
        return 1
    return max((each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"), default=1)


def _searched(search: _Search, paths: Mapping[Recipe, Array], softer: bool, step: float) -> Tuning:
    """The verdict after all stages of the search."""
    trials = search.trials
    search.start(next(iter(paths)))
    for recipe, path in paths.items():
        search.climb(recipe, path, _standard(recipe, step))
    search.confirm()
    best = trials.leader()
    if step == 1.0 and best is not None and trials.number(best[0].recipe, best[0].penalties) != 1:
        search.scout(best[0].recipe, best[0].penalty * 10.0 ** np.array([-0.5, 0.5]))
        search.confirm()
    best = trials.leader()
    if softer and best is not None and LOSSES[best[0].recipe.loss].entropic:
        recipe, penalty = replace(best[0].recipe, softness=SOFTER), best[0].penalty * SOFTER / best[0].recipe.softness
        search.scout(recipe, penalty * np.array(SOFTER_SHARES))
        search.confirm()
    best = trials.leader()
    if best is not None:
        priors = [halfway(trials.phis[best[0].recipe.kernel], root) for root in best[1]]
        search.again(best[0], priors)
        search.confirm()
    return trials.verdict()


def _standard(recipe: Recipe, step: float) -> int:
    """The place of the standard penalty on the path of a recipe."""
    return round((STANDARD[recipe.loss] - LOSSES[recipe.loss].penalties[0]) / step)


class _Search:
    """Trials, first on the folds that judge every one, then on the others.

    ``each`` is `map`, or does the same in several threads. ``stages`` says how many trials each stage of the search
    makes at most; a trial is a step, and so is its confirmation by the other folds.
    """

    def __init__(
        self,
        trials: Trials,
        each: Callable[..., Iterable[tuple[Judged, bool]]],
        device: str | None,
        progress: Callable[[str], None] | None,
        stages: Sequence[int],
    ) -> None:
        self.trials, self.each, self.device, self.progress = trials, each, device, progress
        confirmed = CONFIRMED if trials.scouts < len(trials.held_out) else 0
        self.done, self.steps = 0, sum(most + min(confirmed, most) for most in stages)
        self.earlier: tuple[float, ...] = ()
        self.priors: list[Array] | None = None
        self._last: dict[tuple[Recipe, int], tuple[float, Array]] = {}

    def start(self, recipe: Recipe) -> None:
        """Judge the initial kernel."""
        root = np.eye(self.trials.phis[recipe.kernel].shape[1])
        folds = range(len(self.trials.held_out))
        judged = [self.trials.judge(recipe.kernel, root, fold, learned=False) for fold in folds]
        self.trials.enter(recipe, (0.0,), judged)

    def again(self, first: Trial, priors: list[Array]) -> None:
        """Try a second round after a trial, from these roots of the folds' metrics."""
        one = self.trials.number(first.recipe, first.penalties)
        self.earlier, self.priors, self._last = first.penalties, priors, {}
        for share in SECOND:
            number = self._try(first.recipe, share * first.penalty)
            if one is None or self.trials.ahead(number, one)[0] < WORTHWHILE:
                break

    def climb(self, recipe: Recipe, path: Array, place: int) -> None:
        """Try penalties of a path from one of them on, down or up for as long as they predict better."""
        known = self.trials.number(recipe, (float(path[place]),))
        first = len(self.trials.trials) == 1
        origin = self._try(recipe, path[place], everywhere=first) if known is None else known
        for below in BELOW if first else ():
            if below <= place:
                lower = self._try(recipe, path[place - below])
                if self.trials.ahead(lower, origin)[0] > WORTHWHILE:
                    origin = lower
        place = int(np.argmin(np.abs(np.log(path / self.trials.trials[origin].penalty))))
        for direction in (-1, 1):
            here, at = origin, place + direction
            while 0 <= at < len(path):
                known = self.trials.number(recipe, (float(path[at]),))
                number = self._try(recipe, path[at]) if known is None else known
                rise = self.trials.ahead(number, here)[0]
                if not self.trials.trials[number].solved or rise < WORTHWHILE:
                    break
                here, at = number, at + direction
                # Rises become smaller towards the top: with half of this one it would stay behind the standard recipe.
                if self.trials.ahead(number, 1)[0] + 0.5 * rise < 0:
                    break
            if here != origin:
                break

    def scout(self, recipe: Recipe, penalties: Iterable[float]) -> None:
        """Try these penalties on the first folds."""
        for penalty in penalties:
            self._try(recipe, penalty)

    def confirm(self) -> None:
        """Let the other folds judge what is promising."""
        trials, folds = self.trials, range(self.trials.scouts, len(self.trials.held_out))
        for number in trials.shortlist():
            recipe, penalties = trials.trials[number].recipe, trials.trials[number].penalties
            self._say("confirming", recipe, penalties[-1])
            fits = self._fits(recipe, penalties[-1], folds)
            judged = (*trials.predictions[number].judged, *(each for each, _ in fits))
            trials.enter(recipe, penalties, judged, solved=all(solved for _, solved in fits))

    def _try(self, recipe: Recipe, penalty: float, *, everywhere: bool = False) -> int:
        """Enter a trial that the first folds judge, or all."""
        self._say("trying", recipe, penalty)
        fits = self._fits(
            recipe, float(penalty), range(len(self.trials.held_out) if everywhere else self.trials.scouts)
        )
        solved = all(arrived for _, arrived in fits)
        return self.trials.enter(recipe, (*self.earlier, float(penalty)), [each for each, _ in fits], solved=solved)

    def _say(self, doing: str, recipe: Recipe, penalty: float) -> None:
        self.done += 1
        if self.progress is not None:
            again = ", second round" if self.earlier else ""
            trial = f"{recipe.kernel} kernel, {recipe.loss} loss, penalty {penalty:.2g}{again}"
            self.progress(f"step {self.done} of at most {self.steps}, {doing} {trial}")

    def _fits(self, recipe: Recipe, penalty: float, folds: range) -> list[tuple[Judged, bool]]:
        return list(self.each(lambda fold: self._fit(recipe, penalty, fold), folds))

    def _fit(self, recipe: Recipe, penalty: float, fold: int) -> tuple[Judged, bool]:
        """What is learned for a fold says about it, and whether that was solved."""
        trials, phi = self.trials, self.trials.phis[recipe.kernel]
        rows = recipe.rows(without(trials.said, trials.held_out[fold]))
        prior = None if self.priors is None else self.priors[fold]
        last, start = self._last.get((recipe, fold), (penalty, None))
        # An entropy's multipliers are shares of the penalty, until answers hold and multipliers hardly grow any more.
        if start is not None and LOSSES[recipe.loss].entropic and penalty < HOLDING * recipe.softness:
            start = np.where(rows.equality, start, start * penalty / last)
        learned = learn(
            phi if prior is None else phi @ prior,
            rows,
            recipe,
            [penalty],
            solver=Newton(),
            tol=TOLERANCE,
            max_iter=STEPS,
            starts=[start],
            device=self.device,
        )
        self._last[recipe, fold] = penalty, learned.point.alpha
        root = learned.point.root
        judged = trials.judge(recipe.kernel, root if prior is None else prior @ root, fold)
        return judged, learned.solution.status.success
