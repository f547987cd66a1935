"""Choosing the initial kernel, the loss and its penalty by cross-validation.

Answers are put into folds; all answers about one triple stay in one fold. For each fold the kernel is learned from the
other answers. The answers of the fold then say how well it predicts.

The standard recipe is tried first. The search for another goes on with all recipes side by side. It starts at the
standard penalty and goes on by powers of ten, down or up, for as long as that predicts better; then other ratios are
tried with the best of each loss. The first folds, which hold 30 answers together, judge every trial; those that hold
100, every trial that may still beat the standard recipe, and one that is tried alone. The other folds judge the
standard recipe, unless another is ahead beyond doubt, and the best that is ahead of it.

Where every fit is expensive (`folds.expensive`), one recipe's path is climbed after the other, from the best penalty of
the one before and, with logistic and softmax losses, from its multipliers: the same answers pull about as hard under
another initial kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from threadpoolctl import threadpool_info

from ..comparisons import Comparisons
from ..problem.losses import LOSSES
from ..solvers.threads import SHARED, one_library, one_thread
from ..support.types import Array
from .fold_fits import FoldFits
from .folds import FEW_ITEMS, MANY, expensive, folds_of
from .recipe import Recipe, unit_of
from .trials import SURE, WORTHWHILE, Trials
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
# Most answers about more than `folds.FEW_ITEMS` items with which other ratios are tried. Chosen by hand, to bound the
# time: with more answers a softmax loss, whose own ratio is 1, mostly predicts best.
RATIOED = 1_000
# Tolerance of the fits for folds. Chosen by hand: held-out answers can't tell more exact fits apart.
TOLERANCE = 1e-2
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
    ratios: Sequence[float] = (),
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
    ratios : sequence of float
        Ascending; with the best kernel and penalty of each loss its next smaller ratio is tried, then a smaller one or
        else the next greater, for as long as that predicts better. With more than 1,000 answers about more than 200
        items this is too expensive.
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
    # Where a few questions were asked time and again, fewer of them may have decided answers than there are folds.
    held_out = [out for out in folds_of(said, folds, random) if said.decided[out].any()]
    trials = Trials(phis, covariances, said, held_out, device)
    # With many answers the best penalty is known more exactly.
    step = 0.5 if len(said) >= MANY else 1.0
    paths = {recipe: path_of(recipe.loss, unit_of(phis[recipe.kernel]), step) for recipe in recipes}
    costly = expensive(said)
    softer, ratios = softer and not costly, ratios if len(said) <= RATIOED or len(said.constrained) <= FEW_ITEMS else ()
    other_ratios = len({recipe.loss for recipe in recipes}) * max(len(ratios) - 1, 0)
    stages = [
        sum(map(len, paths.values())),
        other_ratios,
        2 if step == 1.0 else 0,
        len(SOFTER_SHARES) if softer else 0,
        len(SECOND),
    ]
    at_a_time = 1 if device else workers(phis)
    with one_library(), ThreadPoolExecutor(at_a_time) as pool:

        def each(fit: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> list[Any]:
            # A fit in the main thread hears Ctrl-C at once, and may have all threads of BLAS; those in other threads
            # are short. Folds in threads and BLAS in threads of its own would wait for one another.
            if at_a_time == 1 or len(tasks) == 1:
                return [fit(*task) for task in tasks]
            with one_thread():
                return list(pool.map(fit, *zip(*tasks, strict=True)))

        coarse = costly and all(LOSSES[recipe.loss].entropic for recipe in recipes)
        fits = FoldFits(trials, each, device, COARSE if coarse else TOLERANCE)
        search = _Search(trials, fits, progress, stages)
        return _searched(search, paths, ratios, softer, step, costly)


def workers(phis: Mapping[str, Array]) -> int:
    """How many folds to learn at a time: as many as BLAS has threads, if a single problem has no use for them."""
    size = max(len(phi) * phi.shape[1] * max(phi.shape) for phi in phis.values())
    if not LEAST <= size < SHARED:
        return 1
    return max((each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"), default=1)


def _searched(
    search: _Search, paths: Mapping[Recipe, Array], ratios: Sequence[float], softer: bool, step: float, costly: bool
) -> tuple[Tuning, list[Array | None]]:
    """The verdict after all stages of the search, and starts for learning from all answers."""
    trials = search.trials
    search.start(next(iter(paths)))
    if costly:
        search.climb_in_turn(paths, _standard(next(iter(paths)), step))
    else:
        search.climb(paths, {recipe: _standard(recipe, step) for recipe in paths})
    search.confirm()
    if ratios and trials.leader() is not None:
        search.climb_ratios(ratios)
    first = trials.front_runner()
    if step == 1.0 and first is not None:
        search.scout(first.recipe, first.penalty * 10.0 ** np.array([-0.5, 0.5]))
    search.confirm()
    if softer and trials.leader() is not None:
        search.soften()
        search.confirm()
    best = trials.leader()
    if best is not None:
        search.again(*best)
        search.confirm()
    chosen = trials.verdict()
    return chosen, search.fits.starts(chosen)


def _standard(recipe: Recipe, step: float) -> int:
    """The place of the standard penalty on the path of a recipe."""
    return round((STANDARD[recipe.loss] - LOSSES[recipe.loss].penalties[0]) / step)


class _Search:
    """Trials, first on the folds that judge every one, then on the others.

    ``stages`` says how many trials each stage of the search makes at most; a trial is a step, and so is its
    confirmation by the other folds.
    """

    def __init__(
        self,
        trials: Trials,
        fits: FoldFits,
        progress: Callable[[str], None] | None,
        stages: Sequence[int],
    ) -> None:
        self.trials, self.fits, self.progress = trials, fits, progress
        self.done, self.steps = 0, sum(most + (most > 0 and trials.scouts < len(trials.held_out)) for most in stages)
        self.earlier: tuple[float, ...] = ()
        self.rival = 1  # what other trials must beat

    def start(self, recipe: Recipe) -> None:
        """Judge the initial kernel."""
        root = np.eye(self.trials.phis[recipe.kernel].shape[1])
        folds = range(len(self.trials.held_out))
        judged = [self.trials.judge(recipe.kernel, root, fold, learned=False) for fold in folds]
        self.trials.enter(recipe, (0.0,), judged)

    def again(self, first: Trial, roots: list[Array]) -> None:
        """Try a second round after a trial, from these roots of the folds' metrics."""
        self.rival = self._number(first.recipe, first.penalty)
        self.earlier = first.penalties
        self.fits.next_round(roots)
        for share in SECOND:
            self._try([(first.recipe, share * first.penalty)])
            if self.trials.ahead(self._number(first.recipe, share * first.penalty), self.rival)[0] < WORTHWHILE:
                break

    def climb(self, paths: Mapping[Recipe, Array], places: Mapping[Recipe, int]) -> None:
        """Try penalties on all paths side by side, from these places on."""
        _side_by_side([self._climbed(recipe, path, places[recipe]) for recipe, path in paths.items()], self._try)

    def climb_in_turn(self, paths: Mapping[Recipe, Array], place: int) -> None:
        """Try penalties on one path after the other, from this place on, and then from where the last one was best.

        Paths have the same places. What was behind beyond doubt on one of them is not tried on the next ones, nor is
        what lies beyond it.
        """
        least, end = 0, min(map(len, paths.values()))
        for recipe, path in paths.items():
            _side_by_side([self._climbed(recipe, path[least:end], place - least, ())], self._try)
            tried = [(at, number) for at, each in enumerate(path) if (number := self.trials.number(recipe, (each,)))]
            # All were judged by the same answers: a single part is held out.
            solved = [each for each in tried if self.trials.trials[each[1]].solved]
            place, best = max(solved or tried, key=lambda each: self.trials.trials[each[1]].log_likelihood)
            hopeless = [at for at, number in tried if self.trials.is_beyond_doubt(best, number)]
            least = max((at + 1 for at in hopeless if at < place), default=least)
            end = min((at for at in hopeless if at > place), default=end)

    def _climbed(
        self, recipe: Recipe, path: Array, place: int, below: Iterable[int] = BELOW
    ) -> Iterator[tuple[Recipe, float]]:
        """Penalties of a path from one of them on, down or up for as long as they predict better."""
        trials = self.trials
        numbers = {}
        yield recipe, path[place]
        origin = numbers[place] = self._number(recipe, path[place])
        for steps in below if origin == 1 else ():
            if steps <= place:
                yield recipe, path[place - steps]
                numbers[place - steps] = self._number(recipe, path[place - steps])
                if trials.ahead(numbers[place - steps], origin)[0] > WORTHWHILE:
                    origin = numbers[place - steps]
        place = next(at for at, number in numbers.items() if number == origin)
        for direction in (-1, 1):
            here, at = origin, place + direction
            while 0 <= at < len(path):
                yield recipe, path[at]
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

    def climb_ratios(self, ratios: Sequence[float]) -> None:
        """Try other ratios with the best kernel and penalty of each loss, for as long as that predicts better."""
        _side_by_side([self._climbed_ratio(number, ratios) for number in self._best_of_each_loss()], self._try)

    def _climbed_ratio(self, here: int, ratios: Sequence[float]) -> Iterator[tuple[Recipe, float]]:
        """A trial with other ratios: smaller ones, or else greater ones, for as long as they predict better."""
        trials, own = self.trials, self.trials.trials[here].recipe.ratio
        ratios = sorted({*ratios, own})
        penalty, place = trials.trials[here].penalty, ratios.index(own)
        for direction in (-1, 1):
            origin, at = here, place + direction
            while 0 <= at < len(ratios):
                recipe = replace(trials.trials[here].recipe, ratio=ratios[at])
                yield recipe, penalty
                number = self._number(recipe, penalty)
                if not trials.trials[number].solved or trials.ahead(number, here)[0] < WORTHWHILE:
                    break
                here, at = number, at + direction
            if here != origin:
                break

    def soften(self) -> None:
        """Try a softness at which the initial distances count for little, with the best of each loss that has one."""
        for each in map(self.trials.trials.__getitem__, self._best_of_each_loss()):
            if LOSSES[each.recipe.loss].entropic:
                penalties = each.penalty * SOFTER / each.recipe.softness * np.array(SOFTER_SHARES)
                self.scout(replace(each.recipe, softness=SOFTER), penalties)

    def _best_of_each_loss(self) -> list[int]:
        """The best solved trial of each loss, the best loss first, without losses that have fallen behind it."""
        by_loss: dict[str, list[int]] = {}
        for n, each in enumerate(self.trials.trials):
            if each.penalty and each.solved:
                by_loss.setdefault(each.recipe.loss, []).append(n)
        found = [max(each, key=lambda n: self.trials.ahead(n, each[0])[0]) for each in by_loss.values()]
        found.sort(key=lambda n: -self.trials.ahead(n, 1)[0])
        return [n for n in found if n == found[0] or self.trials.may_end_ahead(n, found[0])]

    def scout(self, recipe: Recipe, penalties: Iterable[float]) -> None:
        """Try these penalties on the first folds."""
        self._try([(recipe, penalty) for penalty in penalties])

    def confirm(self) -> None:
        """Let the other folds judge what is promising, and the standard recipe unless another is ahead beyond doubt."""
        trials = self.trials
        self._confirm([1] if trials.needs_standard() else [])
        best = trials.promising()
        if best is not None:
            self._say("confirming", trials.trials[best].recipe, trials.trials[best].penalty)
            self._confirm([best])
        self._confirm([1] if trials.needs_standard() else [])  # what was ahead of it was not solved

    def _confirm(self, numbers: Iterable[int]) -> None:
        """Let the folds judge these trials that have not judged them yet."""
        trials, every = self.trials, len(self.trials.held_out)
        wanted = {n: range(len(trials.predictions[n].judged), every) for n in numbers}
        self._judge({(trials.trials[n].recipe, trials.trials[n].penalty): folds for n, folds in wanted.items()})

    def _try(self, wanted: Iterable[tuple[Recipe, float]]) -> None:
        """Enter trials: the first folds judge each, and some more those with a prospect, or one that is tried alone.

        A single fit at a time would leave all cores but one with little to do.
        """
        trials, given = self.trials, [(recipe, float(penalty)) for recipe, penalty in wanted]
        new = [(recipe, each) for recipe, each in given if trials.number(recipe, (*self.earlier, each)) is None]
        for each in new:
            self._say("trying", *each)
        first = trials.glances if len(new) > 1 else trials.scouts
        self._judge(dict.fromkeys(new, range(first)))
        numbers = {each: self._number(*each) for each in new}
        errors = SURE if self.earlier else 1.0
        able = [each for each, n in numbers.items() if n == 1 or trials.has_prospect(n, self.rival, errors)]
        self._judge(dict.fromkeys(able, range(first, trials.scouts)))

    def _number(self, recipe: Recipe, penalty: float) -> int:
        """The number of a trial that was entered in this round."""
        number = self.trials.number(recipe, (*self.earlier, float(penalty)))
        assert number is not None
        return number

    def _say(self, doing: str, recipe: Recipe, penalty: float) -> None:
        self.done += 1
        if self.progress is not None:
            again = ", second round" if self.earlier else ""
            trial = f"{recipe.kernel} kernel, {recipe.named}, penalty {penalty:.2g}{again}"
            self.progress(f"step {self.done} of at most {self.steps}, {doing} {trial}")

    def _judge(self, wanted: Mapping[tuple[Recipe, float], range]) -> None:
        """Let these folds judge trials, after those that have judged them before."""
        wanted = {each: folds for each, folds in wanted.items() if folds}
        tasks = [(*each, fold) for each, folds in wanted.items() for fold in folds]
        trials, ended = self.trials, iter(self.fits.learned(tasks))
        for (recipe, penalty), folds in wanted.items():
            penalties, these = (*self.earlier, penalty), list(islice(ended, len(folds)))
            known = trials.number(recipe, penalties)
            before = () if known is None else trials.predictions[known].judged
            solved = known is None or trials.trials[known].solved
            solved = solved and all(fit_solved for _, fit_solved in these)
            trials.enter(recipe, penalties, (*before, *(judged for judged, _ in these)), solved=solved)


def _side_by_side(
    climbs: Iterable[Iterator[tuple[Recipe, float]]], attempt: Callable[[list[tuple[Recipe, float]]], None]
) -> None:
    """Try what each climb wants next, all of it at a time, until none wants anything."""
    while wanted := [(climb, each) for climb in climbs if (each := next(climb, None)) is not None]:
        attempt([each for _, each in wanted])
        climbs = [climb for climb, _ in wanted]
