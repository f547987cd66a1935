"""Trials of settings on the same held-out answers, and the choice among them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ..comparisons import Comparisons
from ..problem import choices
from ..support.types import Array
from .recipe import Recipe, unit_of
from .tuning import Trial, Tuning

# By how many standard errors some dimensions must beat all: the best of many beats them by one by chance.
SURE = 2.0
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
        self.leaders: dict[int, tuple[int, list[Array]]] = {}

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

    def leader(self, rounds: int) -> tuple[Trial, list[Array]]:
        """The best trial with this many rounds, and the roots of the metrics it learned for each fold."""
        number, roots = self.leaders[rounds]
        return self.trials[number], roots

    def verdict(self) -> Tuning:
        """The choice among all trials, and what it gains."""
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
        phi, most = self.phis[kernel], len(roots[0])
        tried = [*(d for d in dimensions if d < most), most]
        turned = [phi @ (leading(root, self.covariances[kernel]) if dimensions else root) for root in roots]
        opposite = np.concatenate(
            [
                choices.sides_by_dimension(z, self.said.shown[out], tried)
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


def leading(root: Array, covariance: Array) -> Array:
    """A root of the same metric whose columns are ordered by how far apart they put the items of this covariance."""
    _, vectors = np.linalg.eigh(root.T @ covariance @ root)
    return np.asarray(root @ vectors[:, ::-1])
