"""Choosing the initial kernel, the loss and its penalty by cross-validation.

Answers are put into folds; all answers about one triple stay in one fold. For each fold the kernel is learned from the
other answers. The answers of the fold then say how well it predicts.

The standard recipe is tried first. The search for another goes on with all recipes side by side. It starts at the
standard penalty and goes on by powers of ten, down or up, for as long as that predicts better. The first folds, which
hold 30 answers together, judge every trial; those that hold 100, every trial that may still beat the standard recipe.
The other folds judge the standard recipe, unless another is ahead beyond doubt, and the best that are ahead of it.

Where every fit is expensive (`folds.expensive`), one recipe's path is climbed after the other, from the best penalty of
the one before and, with logistic and softmax losses, from its multipliers: the same answers pull about as hard under
another initial kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_info

from ..comparisons import Comparisons
from ..problem.constraints import Constraints
from ..problem.dual import Dual
from ..problem.losses import LOSSES
from ..solvers import Newton
from ..solvers.threads import SHARED, one_library, one_thread
from ..support.types import Array
from .folds import MANY, expensive, folds_of
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
# The tolerance of logistic and softmax losses where every fit is expensive: how far a probability of an answer may be
# off. Chosen by hand.
COARSE = 5e-2


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
) -> tuple[Tuning, list[Array | None]]:
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

    Returns
    -------
    tuning : Tuning
        What was chosen.
    starts : list of arrays or None
        For each round multipliers of the rows from which learning from all answers may start: a fold's.
    """
    trials = Trials(phis, covariances, said, list(folds_of(said, folds, random)), device)
    # With many answers the best penalty is known more exactly.
    step = 0.5 if len(said) >= MANY else 1.0
    paths = {recipe: path_of(recipe.loss, unit_of(phis[recipe.kernel]), step) for recipe in recipes}
    costly = expensive(said)
    softer = softer and not costly
    stages = [sum(map(len, paths.values())), 2 if step == 1.0 else 0, len(SOFTER_SHARES) if softer else 0, len(SECOND)]
    at_a_time = 1 if device else workers(phis)
    with one_library(), ThreadPoolExecutor(at_a_time) as pool:

        def each(fit: _Fit, tasks: Sequence[tuple[Any, ...]]) -> list[tuple[Judged, _Fitted]]:
            # A fit in the main thread hears Ctrl-C at once, and may have all threads of BLAS; those in other threads
            # are short. Folds in threads and BLAS in threads of its own would wait for one another.
            if at_a_time == 1 or len(tasks) == 1:
                return [fit(*task) for task in tasks]
            with one_thread():
                return list(pool.map(fit, *zip(*tasks, strict=True)))

        coarse = costly and all(LOSSES[recipe.loss].entropic for recipe in recipes)
        search = _Search(trials, each, device, progress, stages, COARSE if coarse else TOLERANCE)
        return _searched(search, paths, softer, step, costly)


def workers(phis: Mapping[str, Array]) -> int:
    """How many folds to learn at a time: as many as BLAS has threads, if a single problem has no use for them."""
    size = max(len(phi) * phi.shape[1] * max(phi.shape) for phi in phis.values())
    if not LEAST <= size < SHARED:
        return 1
    return max((each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"), default=1)


def _searched(
    search: _Search, paths: Mapping[Recipe, Array], softer: bool, step: float, costly: bool
) -> tuple[Tuning, list[Array | None]]:
    """The verdict after all stages of the search, and starts for learning from all answers."""
    trials = search.trials
    search.start(next(iter(paths)))
    if costly:
        search.climb_in_turn(paths, _standard(next(iter(paths)), step))
    else:
        search.climb(paths, {recipe: _standard(recipe, step) for recipe in paths})
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
        search.again(*best)
        search.confirm()
    chosen = trials.verdict()
    return chosen, search.starts(chosen)


def _standard(recipe: Recipe, step: float) -> int:
    """The place of the standard penalty on the path of a recipe."""
    return round((STANDARD[recipe.loss] - LOSSES[recipe.loss].penalties[0]) / step)


class _Fitted(NamedTuple):
    """A fit for a fold: its penalty, the multipliers of all answers' rows (NaN where unknown), its problem."""

    penalty: float
    multipliers: Array
    problem: Dual
    solved: bool


_Fit = Callable[..., tuple[Judged, _Fitted]]


class _Search:
    """Trials, first on the folds that judge every one, then on the others.

    ``each`` calls a function with each of some tasks, maybe in several threads. ``stages`` says how many trials each
    stage of the search makes at most; a trial is a step, and so is its confirmation by the other folds. ``tol`` says
    how exact the fits are.
    """

    def __init__(
        self,
        trials: Trials,
        each: Callable[[_Fit, Sequence[tuple[Any, ...]]], list[tuple[Judged, _Fitted]]],
        device: str | None,
        progress: Callable[[str], None] | None,
        stages: Sequence[int],
        tol: float,
    ) -> None:
        self.trials, self.each, self.device, self.progress, self.tol = trials, each, device, progress, tol
        confirmed = CONFIRMED if trials.scouts < len(trials.held_out) else 0
        self.done, self.steps = 0, sum(most + min(confirmed, most) for most in stages)
        self.earlier: tuple[float, ...] = ()
        # What other trials must beat, and where a second round starts in each fold.
        self.rival, self.roots = 1, list[Array]()
        self._rows: dict[tuple[float, float], Constraints] = {}
        self._parts: dict[tuple[float, float, int], tuple[Array, Constraints]] = {}
        # Fits of each recipe and fold, in every round.
        self._rounds: list[dict[tuple[Recipe, int], list[_Fitted]]] = [{}]

    def start(self, recipe: Recipe) -> None:
        """Judge the initial kernel."""
        root = np.eye(self.trials.phis[recipe.kernel].shape[1])
        folds = range(len(self.trials.held_out))
        judged = [self.trials.judge(recipe.kernel, root, fold, learned=False) for fold in folds]
        self.trials.enter(recipe, (0.0,), judged)

    def again(self, first: Trial, roots: list[Array]) -> None:
        """Try a second round after a trial, from these roots of the folds' metrics."""
        self.rival = self._number(first.recipe, first.penalty)
        self.earlier, self.roots = first.penalties, roots
        self._rounds.append({})
        for share in SECOND:
            self._try([(first.recipe, share * first.penalty)])
            if self.trials.ahead(self._number(first.recipe, share * first.penalty), self.rival)[0] < WORTHWHILE:
                break

    def climb(self, paths: Mapping[Recipe, Array], places: Mapping[Recipe, int]) -> None:
        """Try penalties on all paths side by side, from these places on."""
        climbs = {recipe: self._climbed(recipe, path, places[recipe]) for recipe, path in paths.items()}
        while climbs:
            wanted = {recipe: next(climb, None) for recipe, climb in climbs.items()}
            self._try([(recipe, penalty) for recipe, penalty in wanted.items() if penalty is not None])
            climbs = {recipe: climb for recipe, climb in climbs.items() if wanted[recipe] is not None}

    def climb_in_turn(self, paths: Mapping[Recipe, Array], place: int) -> None:
        """Try penalties on one path after the other, from this place on, and then from where the last one was best.

        Paths have the same places. What was behind beyond doubt on one of them is not tried on the next ones, nor is
        what lies beyond it.
        """
        least, end = 0, min(map(len, paths.values()))
        for recipe, path in paths.items():
            for penalty in self._climbed(recipe, path[least:end], place - least, ()):
                self._try([(recipe, penalty)])
            tried = [(at, number) for at, each in enumerate(path) if (number := self.trials.number(recipe, (each,)))]
            # All were judged by the same answers: a single part is held out.
            solved = [each for each in tried if self.trials.trials[each[1]].solved]
            place, best = max(solved or tried, key=lambda each: self.trials.trials[each[1]].log_likelihood)
            hopeless = [at for at, number in tried if self.trials.is_beyond_doubt(best, number)]
            least = max((at + 1 for at in hopeless if at < place), default=least)
            end = min((at for at in hopeless if at > place), default=end)

    def _climbed(self, recipe: Recipe, path: Array, place: int, below: Iterable[int] = BELOW) -> Iterator[float]:
        """Penalties of a path from one of them on, down or up for as long as they predict better."""
        trials = self.trials
        numbers = {}
        yield path[place]
        origin = numbers[place] = self._number(recipe, path[place])
        for steps in below if origin == 1 else ():
            if steps <= place:
                yield path[place - steps]
                numbers[place - steps] = self._number(recipe, path[place - steps])
                if trials.ahead(numbers[place - steps], origin)[0] > WORTHWHILE:
                    origin = numbers[place - steps]
        place = next(at for at, number in numbers.items() if number == origin)
        for direction in (-1, 1):
            here, at = origin, place + direction
            while 0 <= at < len(path):
                yield path[at]
                number = self._number(recipe, path[at])
                rise = trials.ahead(number, here)[0]
                if not trials.trials[number].solved or rise < WORTHWHILE:
                    break
                here, at = number, at + direction
                # Rises become smaller towards the top: with half of this one it would stay behind the standard recipe.
                if trials.ahead(number, 1)[0] + 0.5 * rise < 0:
                    break
            if here != origin:
                break

    def scout(self, recipe: Recipe, penalties: Iterable[float]) -> None:
        """Try these penalties on the first folds."""
        self._try([(recipe, penalty) for penalty in penalties])

    def confirm(self) -> None:
        """Let the other folds judge what is promising, and the standard recipe unless another is ahead beyond doubt."""
        trials = self.trials
        self._confirm([1] if trials.needs_standard() else [])
        listed = trials.shortlist()
        for n in listed:
            self._say("confirming", trials.trials[n].recipe, trials.trials[n].penalty)
        self._confirm(listed)
        self._confirm([1] if trials.needs_standard() else [])  # what was ahead of it was not solved

    def _confirm(self, numbers: Iterable[int]) -> None:
        """Let the folds judge these trials that have not judged them yet."""
        trials, every = self.trials, len(self.trials.held_out)
        wanted = {n: range(len(trials.predictions[n].judged), every) for n in numbers}
        self._judge({(trials.trials[n].recipe, trials.trials[n].penalty): folds for n, folds in wanted.items()})

    def _try(self, wanted: Iterable[tuple[Recipe, float]]) -> None:
        """Enter trials: the first folds judge the standard recipe, and the others while these have a prospect."""
        trials, given = self.trials, [(recipe, float(penalty)) for recipe, penalty in wanted]
        new = [(recipe, each) for recipe, each in given if trials.number(recipe, (*self.earlier, each)) is None]
        for each in new:
            self._say("trying", *each)
        self._judge(dict.fromkeys(new, range(trials.glances)))
        numbers = {each: self._number(*each) for each in new}
        able = [each for each, n in numbers.items() if n == 1 or trials.has_prospect(n, self.rival)]
        self._judge(dict.fromkeys(able, range(trials.glances, trials.scouts)))

    def _number(self, recipe: Recipe, penalty: float) -> int:
        """The number of a trial that was entered in this round."""
        number = self.trials.number(recipe, (*self.earlier, float(penalty)))
        assert number is not None
        return number

    def _say(self, doing: str, recipe: Recipe, penalty: float) -> None:
        self.done += 1
        if self.progress is not None:
            again = ", second round" if self.earlier else ""
            trial = f"{recipe.kernel} kernel, {recipe.loss} loss, penalty {penalty:.2g}{again}"
            self.progress(f"step {self.done} of at most {self.steps}, {doing} {trial}")

    def _judge(self, wanted: Mapping[tuple[Recipe, float], range]) -> None:
        """Let these folds judge trials, after those that have judged them before."""
        wanted = {each: folds for each, folds in wanted.items() if folds}
        tasks = [(*each, fold) for each, folds in wanted.items() for fold in folds]
        # Starts are chosen before, so that they don't depend on which fit ends first.
        fits = self.each(self._fit, [(*task, self._start(*task)) for task in tasks])
        for (recipe, _, fold), fit in zip(tasks, fits, strict=True):
            self._rounds[-1].setdefault((recipe, fold), []).append(fit[1])
        trials, ended = self.trials, iter(fits)
        for (recipe, penalty), folds in wanted.items():
            penalties, these = (*self.earlier, penalty), list(islice(ended, len(folds)))
            known = trials.number(recipe, penalties)
            before = () if known is None else trials.predictions[known].judged
            solved = known is None or trials.trials[known].solved
            solved = solved and all(fitted.solved for _, fitted in these)
            trials.enter(recipe, penalties, (*before, *(judged for judged, _ in these)), solved=solved)

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

    def starts(self, chosen: Tuning) -> list[Array | None]:
        """Multipliers from which learning from all answers may start, for each round."""
        if not chosen.penalty:
            return []
        every = np.arange(len(self._every(chosen.recipe)))
        rounds = zip(self._rounds, chosen.penalties, strict=False)
        return [self._nearest(fitted, chosen.recipe, penalty, 0, every) for fitted, penalty in rounds]

    def _start(self, recipe: Recipe, penalty: float, fold: int) -> Array | None:
        """Multipliers to start from for a fold."""
        kept, _ = self._kept(recipe, fold)
        start = self._nearest(self._rounds[-1], recipe, penalty, fold, kept)
        if start is None and self.earlier and LOSSES[recipe.loss].entropic:
            # Answers are about as likely as after the round before, and the unit is the same.
            return self._nearest(self._rounds[-2], recipe, penalty, fold, kept)
        return start

    def _nearest(
        self,
        fitted: Mapping[tuple[Recipe, int], list[_Fitted]],
        recipe: Recipe,
        penalty: float,
        fold: int,
        kept: Array,
    ) -> Array | None:
        """The multipliers of these rows at the nearest penalty, for this fold or else for the first."""
        known = fitted.get((recipe, fold)) or fitted.get((recipe, 0))
        entropic, share = LOSSES[recipe.loss].entropic, 1.0
        if not known:
            # Under another initial kernel the same answers are about as likely, and multipliers are in its unit.
            others = [each for each in fitted if each[1] == fold and replace(each[0], kernel=recipe.kernel) == recipe]
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

    def _fit(self, recipe: Recipe, penalty: float, fold: int, start: Array | None) -> tuple[Judged, _Fitted]:
        """What is learned for a fold says about it, and the fit."""
        phi, rows, (kept, part) = self.trials.phis[recipe.kernel], self._every(recipe), self._kept(recipe, fold)
        known = self._rounds[-1].get((recipe, fold))
        prior = halfway(phi, self.roots[fold]) if self.earlier else None
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
        fitted = _Fitted(penalty, multipliers, learned.point.problem, learned.solution.status.success)
        return self.trials.judge(recipe.kernel, root if prior is None else prior @ root, fold), fitted
