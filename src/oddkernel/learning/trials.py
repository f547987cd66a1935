"""Trials of settings on the same held-out answers, and the choice among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..comparisons import Comparisons
from ..problem import choices
from ..support.types import Array
from .recipe import Recipe, unit_of
from .tuning import Trial, Tuning

# By how many standard errors some dimensions must beat all: the best of many beats them by one by chance.
SURE = 2.0
# Held-out answers that say which trials are worth judging by all.
SCOUTED = 100
# Numbers of leading dimensions that are tried beside all.
DIMENSIONS = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610)


class Trials:
    """Trials on the same held-out answers, and the best of those with nothing learned, one round and two.

    More rounds win only if they are better by a standard error: the best of many trials may be luck.

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
    """

    def __init__(
        self, phis: Mapping[str, Array], covariances: Mapping[str, Array], said: Comparisons, held_out: list[Array]
    ) -> None:
        self.phis, self.covariances, self.said, self.held_out = phis, covariances, said, held_out
        answers = said[np.concatenate(held_out)]
        _, question = np.unique(answers.item_sets(), axis=0, return_inverse=True)
        # A question counts once, however often it was asked: what matters is how well other questions are predicted.
        often = np.bincount(question.ravel(), answers.weight)[question.ravel()]
        answers = answers.with_weight(answers.weight / np.maximum(often, 1.0))
        self.known = choices.decided(answers)
        self.answers, self.decided = answers, answers[self.known]
        self.question = question.ravel()[self.known]
        self.trials: list[Trial] = []
        self.predictions: list[_Prediction] = []
        self.leaders: dict[int, int] = {}

    @property
    def scouts(self) -> int:
        """How many folds a trial is first judged by: the fewest that hold 100 answers together, at least one."""
        return 1 + int(np.searchsorted(np.cumsum([len(out) for out in self.held_out])[:-1], SCOUTED))

    def enter(
        self, recipe: Recipe, penalties: tuple[float, ...], judged: Sequence[Judged], *, solved: bool = True
    ) -> tuple[float, float, float]:
        """Score the metrics learned for the first folds or all, in place of what fewer folds said about the same trial.

        Returns
        -------
        (float, float, float)
            The mean log-likelihood, by how much it is behind the best trial's on the same answers, and the standard
            error of that.
        """
        found = self._predict(judged)
        share = self._share(found)
        mean = self._mean(found.likelihood)
        trial = Trial(
            recipe, penalties, self._mean(share), self._error(share), mean, found.rank, solved, found.n_answers
        )
        known = [(each.recipe, each.penalties) for each in self.trials]
        if (recipe, penalties) in known:
            number = known.index((recipe, penalties))
            self.trials[number], self.predictions[number] = trial, found
        else:
            number = len(known)
            self.trials.append(trial)
            self.predictions.append(found)
        rounds = len(penalties) if penalties[0] else 0
        if len(judged) == len(self.held_out):
            leads = rounds not in self.leaders or mean > self.trials[self.leaders[rounds]].log_likelihood
            if solved and leads:
                self.leaders[rounds] = number
            self._forget(range(len(self.trials)), complete=True)
        return mean, *self._behind(number)

    def shortlist(self) -> list[int]:
        """Trials judged by the first folds only and not behind the best by more than a standard error; others go."""
        waiting = [n for n, each in enumerate(self.predictions) if each.judged and self._waits(n)]
        behind = {n: self._behind(n) for n in waiting}
        listed = [n for n, (by, error) in behind.items() if by <= error and self.trials[n].solved]
        self._forget(set(waiting) - set(listed), complete=False)
        return listed

    def leader(self, rounds: int) -> tuple[Trial, list[Array]]:
        """The best trial with this many rounds, and the roots of the metrics it learned for each fold."""
        number = self.leaders[rounds]
        return self.trials[number], [each.root for each in self.predictions[number].judged]

    def judge(self, kernel: str, root: Array, fold: int, *, learned: bool = True) -> Judged:
        """What a metric says about the answers of a fold; a learned one by its leading dimensions, too."""
        phi, most = self.phis[kernel], len(root)
        tried = (*(d for d in DIMENSIONS if d < most and learned), most)
        z = phi @ (leading(root, self.covariances[kernel]) if learned else root)
        return Judged(
            root, tried, choices.sides_by_dimension(z, self.said.shown[self.held_out[fold]], tried), unit_of(z)
        )

    def verdict(self) -> Tuning:
        """The choice among all trials, and what it gains."""
        winner = 0
        for rounds in sorted(self.leaders):
            one, other = (self.predictions[self.leaders[each]].likelihood for each in (rounds, winner))
            winner = rounds if self._mean(one - other) > self._error(one - other) else winner
        best, found = self.trials[self.leaders[winner]], self.predictions[self.leaders[winner]]
        before, after = self._share(self.predictions[0]), self._share(found)
        gain, error = self._mean(after - before), self._error(after - before)
        relative = found.opposite / found.unit[:, None]
        temperature, guess = choices.fit_guess(relative[self.known], self.decided)
        by_dimension = found.by_dimension
        if not winner:
            roots = enumerate(self.leader(0)[1])
            by_dimension = self._predict([self.judge(best.recipe.kernel, root, n) for n, root in roots]).by_dimension
        top = max(by_dimension.values(), key=self._mean)
        return Tuning(
            best.recipe,
            best.penalties,
            tuple(self._comparable(n, best, found) for n in range(len(self.trials))),
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

    def _predict(self, judged: Sequence[Judged]) -> _Prediction:
        """What the metrics learned for the first folds, or all, say about the answers held out of them."""
        tried, most = judged[0].tried, judged[0].tried[-1]
        opposite = np.concatenate([each.sides for each in judged], axis=1)
        by_dimension = {d: self._likelihood(each) for d, each in zip(tried, opposite, strict=True)}
        rank = max(tried, key=lambda d: self._mean(by_dimension[d]))
        rise = by_dimension[rank] - by_dimension[most]
        rank = rank if self._mean(rise) > SURE * self._error(rise) else most
        unit = np.repeat([each.unit for each in judged], [each.sides.shape[1] for each in judged])
        return _Prediction(tuple(judged), opposite[tried.index(rank)], unit, by_dimension[rank], rank, by_dimension)

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

    def _likelihood(self, opposite: Array) -> Array:
        opposite = opposite[self.known[: len(opposite)]]
        decided = self.decided[: len(opposite)]
        return choices.log_likelihood(opposite, decided, choices.fit_temperature(opposite, decided))

    def _waits(self, number: int) -> bool:
        """Whether only the first folds have judged a trial."""
        return self.predictions[number].n_answers < len(self.decided)

    def _forget(self, numbers: Iterable[int], *, complete: bool) -> None:
        """Let go of metrics that nobody asks for any more: each takes the memory of a kernel."""
        for n in numbers:
            if n not in self.leaders.values() and self._waits(n) is not complete:
                self.predictions[n] = replace(self.predictions[n], judged=())

    def _behind(self, number: int) -> tuple[float, float]:
        """By how much a trial is behind the best on the answers that judged it, and the standard error of that."""
        own = self.predictions[number].likelihood
        rivals = [
            each.likelihood[: len(own)]
            for each, trial in zip(self.predictions, self.trials, strict=True)
            if trial.solved and each.n_answers >= len(own)
        ]
        short = max(rivals, key=self._mean) - own
        return self._mean(short), self._error(short)

    # Values are those of the first decided answers, or of all.
    def _mean(self, values: Array) -> float:
        return float(np.average(values, weights=self.decided.weight[: len(values)]))

    def _error(self, values: Array) -> float:
        share = self.decided.weight[: len(values)] / self.decided.weight[: len(values)].sum()
        return float(np.linalg.norm(np.bincount(self.question[: len(values)], share * (values - share @ values))))


@dataclass(frozen=True, eq=False)
class Judged:
    """What the metric learned for one fold says about the answers held out of it.

    ``sides`` are the squared distances of `choices.sides_by_dimension` by the numbers ``tried`` of leading dimensions;
    ``unit`` is the metric's mean squared distance.
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
    _, vectors = np.linalg.eigh(root.T @ covariance @ root)
    return np.asarray(root @ vectors[:, ::-1])
