"""Trials of settings on the same held-out answers, and the choice among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..comparisons import Comparisons
from ..problem import choices
from ..problem.arrays import device_named, eigen, namespace
from ..support.types import Array
from . import evidence
from .calibration import likeliest
from .recipe import Recipe, unit_of
from .tuning import Trial, Tuning

# By how many standard errors some dimensions must beat all, and two rounds one. Of many dimensions the best beats all
# by one by chance. Of 170 second rounds chosen in draws of answers about nine data sets, 75 were ahead by one to two:
# they raised the agreement with fresh answers by 0.001 and lowered the Adjusted Rand index of clusters by 0.01.
SURE = 2.0
# Held-out answers by which every trial is judged, and those by which every trial with a prospect is; the others judge
# the best. Chosen by hand.
GLANCED, SCOUTED = 30, 100
# A trial has no prospect if it would end ahead in less than 5% of cases: a quantile of the normal distribution.
PROSPECT = 1.645
# A lead of this many standard errors is beyond doubt. Chosen by hand.
BEYOND = 3.0
# Numbers of leading dimensions that are tried beside all: the Fibonacci numbers.
DIMENSIONS = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610)
# A trial that raises the mean log-likelihood of an answer by less than this is no better. Chosen by hand.
WORTHWHILE = 1e-3


# Half the width of the interval of the gain in standard errors: 1.96 times 1.2, because the folds' metrics are learned
# from common answers and differ from the final one. By simulation: with 1.96 alone, the interval covered the gain in
# 72 of 80 draws (`oddkernel_benchmarks.choosing claims`, four settings with something to learn).
WIDTH = 1.96 * 1.2


class Trials:
    """Trials on the same held-out answers. The first is the initial kernel, the second the standard recipe.

    Two decisions. First, whether anything is learned: two tests say whether a trial predicts better than the initial
    kernel (`evidence.gain_p_values`) and whether the answers contradict that kernel (`evidence.score_p_value`), and
    `evidence.suffices` whether that is enough. The trials that pass the first test at a level of 5% then take part in
    the second decision; if there are none, those that pass it at 1/3, and then those that are ahead. Among these the
    standard recipe is chosen, unless another one beats it by more than a standard error. Two rounds are chosen if they
    beat the best single round by more than two.

    Parameters
    ----------
    phis : mapping of str to (s, r) array
        For each initial kernel the features of the items.
    covariances : mapping of str to (r, r) array
        The covariance of all items' features.
    said : Comparisons
        Answers about rows of the features.
    held_out : list of arrays
        The rows of ``said`` in each fold.
    device : str, optional
        Where held-out answers are judged, as in `SKLR`.
    """

    def __init__(
        self,
        phis: Mapping[str, Array],
        covariances: Mapping[str, Array],
        said: Comparisons,
        held_out: list[Array],
        device: str | None = None,
    ) -> None:
        self.phis, self.said, self.held_out, self._device = phis, said, held_out, device_named(device)
        self.units = {name: unit_of(phi) for name, phi in phis.items()}
        # Held-out answers can't tell double precision from single, which takes half the time.
        self._phis = {name: self._put(_single(phi, self.units[name] ** 0.5)) for name, phi in phis.items()}
        self._covariances = {name: self._put(_single(each, self.units[name])) for name, each in covariances.items()}
        answers = said[np.concatenate(held_out)]
        question = answers.questions()
        # A question counts once, however often it was asked: what matters is how well other questions are predicted.
        often = np.bincount(question, answers.weight)[question]
        answers = answers.with_weight(answers.weight / np.maximum(often, 1.0))
        self.known = choices.decided(answers)
        self.answers, self.decided = answers, answers[self.known]
        self.question = np.unique(question[self.known], return_inverse=True)[1]
        self.trials: list[Trial] = []
        self.predictions: list[_Prediction] = []

    @property
    def glances(self) -> int:
        """How many folds judge every trial: the fewest that hold 30 answers together, at least one."""
        return self._fewest(GLANCED)

    @property
    def scouts(self) -> int:
        """How many folds judge every trial with a prospect: the fewest that hold 100 answers together, at least one."""
        return self._fewest(SCOUTED)

    def enter(
        self, recipe: Recipe, penalties: tuple[float, ...], judged: Sequence[Judged], *, solved: bool = True
    ) -> int:
        """Score the metrics learned for the first folds or all, in place of what fewer folds said about the same trial.

        Returns
        -------
        int
            The number of the trial.
        """
        found = self._predict(judged)
        share, mean = self._share(found), self._mean(found.likelihood)
        trial = Trial(
            recipe, penalties, self._mean(share), self._error(share), mean, found.rank, solved, found.n_answers
        )
        number = self.number(recipe, penalties)
        if number is None:
            self.trials.append(trial)
            self.predictions.append(found)
            number = len(self.trials) - 1
        else:
            self.trials[number], self.predictions[number] = trial, found
        if not self._waits(number):
            kept = {1, *(self.best([n for n in self._complete if self._rounds(n) == 1]),)}
            self._forget(n for n in self._complete if n not in kept)
        return number

    def number(self, recipe: Recipe, penalties: tuple[float, ...]) -> int | None:
        """The number of a trial, if it was entered."""
        known = [(each.recipe, each.penalties) for each in self.trials]
        return known.index((recipe, penalties)) if (recipe, penalties) in known else None

    def ahead(self, number: int, of: int) -> tuple[float, float]:
        """By how much a trial is ahead of another on the answers that judged both, and the standard error of that."""
        n = min(self.predictions[number].n_answers, self.predictions[of].n_answers)
        by = self.predictions[number].likelihood[:n] - self.predictions[of].likelihood[:n]
        return self._mean(by), self._error(by)

    def has_prospect(self, number: int, of: int, errors: float = 1.0) -> bool:
        """Whether a trial may yet beat another by this many standard errors.

        If n of N answers put it ahead by d with a standard error e, its lead on all N is expected to be d, give or take
        e·√(1 − n/N), and the standard error of that lead e·√(n/N).
        """
        error, share = self.ahead(number, of)[1], self.predictions[number].n_answers / len(self.decided)
        return self.trials[number].solved and self.may_end_ahead(number, of, errors * error * share**0.5)

    def may_end_ahead(self, number: int, of: int, least: float = 0.0) -> bool:
        """Whether a trial may yet end ahead of another by this much, on all answers."""
        lead, error = self.ahead(number, of)
        share = self.predictions[number].n_answers / len(self.decided)
        return bool(lead + PROSPECT * error * (1.0 - share) ** 0.5 > least)

    def needs_standard(self) -> bool:
        """Whether the other folds have yet to judge the standard recipe: no trial is ahead of it beyond doubt."""
        solved = [n for n, each in enumerate(self.trials) if n > 1 and each.solved]
        return self._waits(1) and not any(self.is_beyond_doubt(n, 1) for n in solved)

    def is_beyond_doubt(self, number: int, of: int) -> bool:
        """Whether a trial is ahead of another beyond doubt."""
        lead, error = self.ahead(number, of)
        return lead > max(BEYOND * error, WORTHWHILE)

    def promising(self) -> int | None:
        """The best trial that only the first folds have judged and that is ahead of the preferred one.

        The metrics of the others are discarded.

        By trial on 344 draws of answers about nine data sets: to let the other folds judge the best two took longer,
        and agreed with 0.0005 ± 0.0003 more of fresh answers.
        """
        waiting = [n for n, each in enumerate(self.predictions) if n > 1 and each.judged and self._waits(n)]
        present = self.preferred(self._complete)
        able = [
            n for n in waiting if self.trials[n].solved and (present is None or self.ahead(n, present)[0] > WORTHWHILE)
        ]
        best = self.best(able)
        self._forget(set(waiting) - {best})
        return best

    def leader(self) -> tuple[Trial, list[Array]] | None:
        """The preferred trial with one round, and the roots of the metrics it learned for each fold.

        None where no trial is ahead of the initial kernel.
        """
        number = self.preferred([n for n in self._complete if self._rounds(n) == 1])
        if number is None or self.ahead(number, 0)[0] <= 0:
            return None
        return self.trials[number], [each.root for each in self.predictions[number].judged]

    def front_runner(self) -> Trial | None:
        """The trial with one round and a prospect whose lead over the standard recipe is largest, maybe negative."""
        able = [n for n, each in enumerate(self.trials) if n > 1 and each.penalty and self._rounds(n) == 1]
        able = [n for n in able if self.predictions[n].judged and self.has_prospect(n, 1)]
        return self.trials[max(able, key=lambda n: self.ahead(n, 1)[0])] if able else None

    def best(self, numbers: Iterable[int]) -> int | None:
        """The trial with the highest log-likelihood."""
        return max(numbers, key=lambda n: self.trials[n].log_likelihood, default=None)

    def preferred(self, numbers: Sequence[int]) -> int | None:
        """The choice among trials that all folds have judged."""
        if not numbers:
            return None
        means = np.array([[self.trials[n].log_likelihood for n in numbers]])
        return numbers[int(self._choose(numbers)(means)[0])]

    def judge(self, kernel: str, root: Array, fold: int, *, learned: bool = True) -> Judged:
        """What a metric says about the answers of a fold; a learned one by its leading dimensions, too."""
        most = len(root)
        tried = (*(d for d in DIMENSIONS if d < most and learned), most)
        items, shown = np.unique(np.maximum(self.said.shown[self.held_out[fold]], 0), return_inverse=True)
        phi, single = self._phis[kernel], self._put(_single(root))
        coordinates = namespace(phi).take(phi, self._put(items), axis=0) @ single
        spread = single.T @ self._covariances[kernel] @ single
        if learned:
            coordinates = coordinates @ _by_spread(spread)
        shown = self._put(shown.reshape(-1, self.said.shown.shape[1]))
        sides = choices.sides_by_dimension(coordinates, shown, tried)
        return Judged(root, tried, self.units[kernel] * sides, self.units[kernel] * _mean_distance(spread))

    def _put(self, array: Array) -> Array:
        return array if self._device is None else self._device.put(array)

    def verdict(self) -> Tuning:
        """The choice among all trials, and what it gains."""
        random = np.random.RandomState(0)
        passed = self._better(random)
        winner = self.preferred(passed) or 0
        best, found = self.trials[winner], self.predictions[winner]
        before, after = self._share(self.predictions[0]), self._share(found)
        gain, error = self._mean(after - before), self._error(after - before)
        if winner:
            gain -= self._optimism(passed, winner, random)
        relative = found.opposite / found.unit[:, None]
        temperature, guess = choices.fit_guess(relative[self.known], self.decided)
        by_dimension = found.by_dimension
        if not winner:
            root = np.eye(self.phis[best.recipe.kernel].shape[1])
            judged = [self.judge(best.recipe.kernel, root, fold) for fold in range(len(self.held_out))]
            by_dimension = self._predict(judged).by_dimension
        top = max(by_dimension.values(), key=self._mean)
        return Tuning(
            best.recipe,
            best.penalties,
            tuple(self._comparable(n, best, found) for n in range(len(self.trials))),
            self._mean(before),
            gain,
            (gain - WIDTH * error, gain + WIDTH * error),
            temperature,
            choices.fit_tie(relative, self.answers, temperature),
            guess,
            tuple((d, self._mean(each)) for d, each in by_dimension.items()),
            next(d for d, each in by_dimension.items() if self._mean(top - each) <= self._error(top - each)),
            best.rank,
        )

    def _choose(self, numbers: Sequence[int]) -> evidence.Chooser:
        """The rule by which mean log-likelihoods choose among these trials."""
        one, two = ([k for k, n in enumerate(numbers) if self._rounds(n) == rounds] for rounds in (1, 2))
        least = np.array([[max(self.ahead(n, other)[1], WORTHWHILE) for other in numbers] for n in numbers])
        standard = numbers.index(1) if 1 in numbers else None

        def choose(means: Array) -> Array:
            each = np.arange(len(means))
            chosen = np.array(one or two)[means[:, one or two].argmax(axis=1)]
            if standard is not None:
                better = means[each, chosen] - means[:, standard] > least[chosen, standard]
                chosen = np.where(better, chosen, standard)
            if one and two:
                again = np.array(two)[means[:, two].argmax(axis=1)]
                chosen = np.where(means[each, again] - means[each, chosen] > SURE * least[again, chosen], again, chosen)
            return np.asarray(chosen)

        return choose

    def _optimism(self, passed: list[int], winner: int, random: np.random.RandomState) -> float:
        """By how much the choice among the trials that beat the initial kernel overestimates the gain."""
        first = self._share(self.predictions[0])
        likelihood = np.array([self._sums(self.predictions[n].likelihood) for n in passed])
        agreement = np.array([self._sums(self._share(self.predictions[n]) - first) for n in passed])
        weight = self._sums(np.ones(len(self.decided)))
        rule = self._choose(passed)
        return evidence.optimism(likelihood, agreement, weight, rule, passed.index(winner), random)

    def _better(self, random: np.random.RandomState) -> list[int]:
        """The trials that may be chosen in place of the initial kernel; none if nothing is learned."""
        other, complete = self.predictions[0].likelihood, self._complete
        tried = [(n, d, each) for n, found in enumerate(self.predictions) for d, each in found.by_dimension.items()]
        gains = np.array([self._sums(each - other[: len(each)]) for _, _, each in tried])
        # The test accounts for all trials, and for all numbers of dimensions.
        adjusted = zip(tried, evidence.gain_p_values(gains, random), strict=True)
        p_value = {n: float(p) for (n, d, _), p in adjusted if d == self.trials[n].rank and n in complete}
        ahead = [n for n in p_value if self.ahead(n, 0)[0] > WORTHWHILE]
        if not ahead:
            return []
        least, score = min(p_value[n] for n in ahead), None
        if least > evidence.ALONE:
            phi = self.phis[self.trials[0].recipe.kernel]
            score = evidence.score_p_value(phi, self.decided, self.question, random)
        if not evidence.suffices(least, score):
            return []
        passed = ([n for n in ahead if p_value[n] <= level] for level in (evidence.LEVEL, evidence.TOGETHER[0]))
        return next(filter(None, passed), ahead)

    def _predict(self, judged: Sequence[Judged]) -> _Prediction:
        """What the metrics learned for the first folds, or all, say about the answers held out of them."""
        tried = judged[0].tried
        opposite = np.concatenate([each.sides for each in judged], axis=1)
        known = self.known[: opposite.shape[1]]
        likelihoods = likeliest(opposite[:, known], self.decided[: int(np.count_nonzero(known))])
        by_dimension = dict(zip(tried, likelihoods, strict=True))
        rank = self._rank(by_dimension)
        unit = np.repeat([each.unit for each in judged], [each.sides.shape[1] for each in judged])
        return _Prediction(tuple(judged), opposite[tried.index(rank)], unit, by_dimension[rank], rank, by_dimension)

    def _rank(self, by_dimension: Mapping[int, Array]) -> int:
        """All dimensions, unless fewer predict better by two standard errors: then the most of one from the best."""

        def behind(d: int, best: int, errors: float) -> bool:
            apart = by_dimension[best] - by_dimension[d]
            return self._mean(apart) > errors * self._error(apart)

        best = max(by_dimension, key=lambda d: self._mean(by_dimension[d]))
        if not behind(max(by_dimension), best, SURE):
            return max(by_dimension)
        return max(d for d in by_dimension if not behind(d, best, 1.0))

    def _share(self, found: _Prediction) -> Array:
        """Which decided answers the distances agree with."""
        return choices.agreement(found.opposite[self.known[: len(found.opposite)]], self.decided[: found.n_answers])

    def _comparable(self, number: int, best: Trial, chosen: _Prediction) -> Trial:
        """A trial that some answers judged, as if all had: as far from the chosen one as on the same answers."""
        if not self._waits(number):
            return self.trials[number]
        found, n = self.predictions[number], self.predictions[number].n_answers
        return replace(
            self.trials[number],
            agreement=best.agreement + self._mean(self._share(found) - self._share(chosen)[:n]),
            log_likelihood=best.log_likelihood + self._mean(found.likelihood - chosen.likelihood[:n]),
        )

    def _fewest(self, answers: int) -> int:
        """The fewest of the first folds that hold this many answers together, at least one."""
        return 1 + int(np.searchsorted(np.cumsum([len(out) for out in self.held_out])[:-1], answers))

    def _rounds(self, number: int) -> int:
        """How many rounds of learning a trial has."""
        return len(self.trials[number].penalties) if self.trials[number].penalty else 0

    @property
    def _complete(self) -> list[int]:
        """The trials with something learned that were solved and that all folds have judged."""
        return [n for n, each in enumerate(self.trials) if each.penalty and each.solved and not self._waits(n)]

    def _waits(self, number: int) -> bool:
        """Whether only the first folds have judged a trial."""
        return self.predictions[number].n_answers < len(self.decided)

    def _forget(self, numbers: Iterable[int]) -> None:
        """Let go of metrics that nobody asks for any more: each takes the memory of a kernel."""
        for n in numbers:
            self.predictions[n] = replace(self.predictions[n], judged=())

    # Values are those of the first decided answers, or of all.
    def _mean(self, values: Array) -> float:
        return float(np.average(values, weights=self.decided.weight[: len(values)]))

    def _error(self, values: Array) -> float:
        share = self.decided.weight[: len(values)] / self.decided.weight[: len(values)].sum()
        return float(np.linalg.norm(np.bincount(self.question[: len(values)], share * (values - share @ values))))

    def _sums(self, values: Array) -> Array:
        """The weighted sum of each question's values."""
        weighted = self.decided.weight[: len(values)] * values
        return np.bincount(self.question[: len(values)], weighted, minlength=int(self.question.max()) + 1)


@dataclass(frozen=True, eq=False)
class Judged:
    """What the metric learned for one fold says about the answers held out of it.

    ``sides`` are the squared distances of `choices.sides_by_dimension` by the numbers ``tried`` of leading dimensions;
    ``unit`` is the mean squared distance between all items by the metric.
    """

    root: Array
    tried: tuple[int, ...]
    sides: Array
    unit: float


@dataclass(frozen=True, eq=False)
class _Prediction:
    """What one trial says about held-out answers, and how likely these are by that and by other dimensions.

    ``unit`` is the mean squared distance of the metric by which each answer is judged.
    """

    judged: tuple[Judged, ...]
    opposite: Array
    unit: Array
    likelihood: Array
    rank: int
    by_dimension: dict[int, Array]

    @property
    def n_answers(self) -> int:
        return len(self.likelihood)


def leading(root: Array, covariance: Array) -> Array:
    """A root of the same metric whose columns are ordered by how far apart they put the items of this covariance."""
    return np.asarray(root @ _by_spread(root.T @ covariance @ root))


def spread_of(root: Array, covariance: Array) -> float:
    """The mean squared distance between two items of this covariance by the metric of a root; 1 if all are copies."""
    return _mean_distance(root.T @ covariance @ root)


def _mean_distance(spread: Array) -> float:
    return float(2.0 * namespace(spread).linalg.trace(spread)) or 1.0


def _by_spread(spread: Array) -> Array:
    """The eigenvectors of a covariance, those of the largest eigenvalues first."""
    found: Array = namespace(spread).flip(eigen(spread)[1], axis=1)
    return found


def _single(array: Array, unit: float = 1.0) -> Array:
    return (array / unit).astype(np.float32)
