"""Two halves of the answers that share no question: each learns its own kernel and its own loadings.

What one half has learned is judged by the other. The halves choose the settings, say how much each dimension adds to
the prediction of unseen answers, and whether it is found again from other answers and another random start.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..learning.fits import SKLRFit
from ..learning.folds import folds_of, without
from ..learning.rounds import learn
from ..learning.trials import leading
from ..solvers import Auto
from ..support.types import Array
from .factorisation import factorise, gaussian
from .likelihood import Choice, losses_without, similarities
from .loadings import best_scale, correlations, fit_loadings, match

# Numbers of dimensions that are tried, one after another for as long as more predict about as well. Chosen by hand.
NUMBERS = (2, 4, 8, 15, 30, 60)
# What is tried as shrinkage and sparsity, the first of each while the number of dimensions is chosen. Chosen by hand.
SHRINKAGES, SPARSITIES = (100.0, 30.0, 300.0), (1.0, 3.0)
# By how much the mean log-probability of an unseen answer may be lower for the sake of more reproducible dimensions.
# Chosen by hand on halves of the development answers of THINGS, where 0.003 make a shrinkage of 100 out of one of 30.
SLACK = 0.005
# A dimension is reproducible if its loadings correlate by more than this between the halves. Chosen by hand.
REPRODUCIBLE = 0.8
# Tolerance of the halves' kernels. Chosen by hand: their loadings are seen to two digits.
TOLERANCE = 1e-3


class Settings(NamedTuple):
    """What the loadings are fitted with; see `Dimensions`."""

    n_dimensions: int
    shrinkage: float = SHRINKAGES[0]
    sparsity: float = SPARSITIES[0]


@dataclass(frozen=True, eq=False)
class Trial:
    """What settings make of the two halves.

    Attributes
    ----------
    settings : Settings
    start_scale, scale : float
        Factors of the similarity by which the other half is predicted best, before and after the fit of the loadings.
    loadings : list of two (s, d) arrays
    likelihood : (m,) array
        The log-probability of every answer by the half that it is not in.
    """

    settings: Settings
    start_scale: float
    scale: float
    loadings: list[Array]
    likelihood: Array


class Strength(NamedTuple):
    """How sure each dimension is.

    Attributes
    ----------
    weight, weight_error : (d,) arrays
        By how much the mean log-probability of an unseen answer falls without the dimension, and its standard error.
    reproducibility : (d,) array
        How well its loadings agree between the fits to all answers, to one half and to the other: the smallest of the
        three correlations.
    """

    weight: Array
    weight_error: Array
    reproducibility: Array

    @property
    def sure(self) -> Array:
        """(d,) bool: reproducible by more than 0.8, and of a weight above its standard error."""
        return (self.reproducibility > REPRODUCIBLE) & (self.weight > self.weight_error)


class Halves:
    """The two halves of the answers that a model learned from.

    Parameters
    ----------
    fit : SKLRFit
        The model's record; its initial kernel and its settings are used for both halves.
    random : RandomState
    tell : callable
        Called with what is being done.
    device : str, optional
        Where to learn the kernels, as in `SKLR`.
    """

    def __init__(
        self, fit: SKLRFit, random: np.random.RandomState, tell: Callable[[str], None], device: str | None = None
    ) -> None:
        said, self._random, self._tell = fit.said, random, tell
        self._similarity: list[Array] = []
        self._own: list[Choice] = []
        self._other: list[Choice] = []
        for number, out in enumerate(folds_of(said, 2, random), 1):
            tell(f"learning a kernel from half of the answers, {number} of 2")
            kept = without(said, out)
            learned = learn(fit.asked, kept, fit.recipe, fit.penalties, solver=Auto(), tol=TOLERANCE, device=device)
            root = learned.root
            if fit.root.shape[1] < root.shape[1]:  # as many dimensions as held-out answers left to the model
                root = leading(root, np.cov(fit.asked.T, bias=True))[:, : fit.root.shape[1]]
            self._similarity.append(gaussian(fit.asked @ root))
            self._own.append(Choice.of(kept, fit.calibration.tie))
            self._other.append(Choice.of(said[out], fit.calibration.tie))
        self._starts: dict[int, list[Array]] = {}
        self._trials: dict[Settings, Trial] = {}

    @property
    def unseen(self) -> Array:
        """(m,): the weights of the answers, in the order of `Trial.likelihood`."""
        return np.concatenate([choice.weight for choice in self._other])

    def trial(self, settings: Settings) -> Trial:
        """Fit both halves with these settings."""
        if settings not in self._trials:
            self._tell(f"fitting {settings.n_dimensions} dimensions to half of the answers")
            d = settings.n_dimensions
            if d not in self._starts:
                self._starts[d] = [factorise(each, d, self._random) for each in self._similarity]
            start_scale = best_scale(list(zip(self._starts[d], self._other, strict=True)))
            begun = [np.sqrt(start_scale) * each for each in self._starts[d]]
            fitted = [
                fit_loadings(each, own, settings.shrinkage, settings.sparsity)
                for each, own in zip(begun, self._own, strict=True)
            ]
            scale = best_scale(list(zip(fitted, self._other, strict=True)))
            loadings = [np.sqrt(scale) * each for each in fitted]
            likelihood = [
                other.log_likelihood(similarities(each, other.shown))
                for each, other in zip(loadings, self._other, strict=True)
            ]
            self._trials[settings] = Trial(settings, start_scale, scale, loadings, np.concatenate(likelihood))
        return self._trials[settings]

    def choose(self, n_dimensions: int | None, shrinkage: float | None, sparsity: float | None) -> Trial:
        """The trial with the settings that serve best; those given are kept.

        Of numbers of dimensions and of shrinkages that predict unseen answers about as well as the best, the one with
        the most reproducible dimensions is chosen; of sparsities the largest. About as well: the mean log-probability
        of an answer is lower by no more than a standard error, or by no more than 0.005.
        """
        most = max(1, len(self._similarity[0]) // 3)
        numbers = sorted({min(d, most) for d in NUMBERS}) if n_dimensions is None else [n_dimensions]
        first = SHRINKAGES[0] if shrinkage is None else shrinkage, SPARSITIES[0] if sparsity is None else sparsity
        trials = [self.trial(Settings(numbers[0], *first))]
        for d in numbers[1:]:
            trials.append(self.trial(Settings(d, *first)))
            if not self._as_good(trials)[-1]:
                break  # yet more dimensions would be no better
        best = self._surest(trials)
        if shrinkage is None:
            best = self._surest([self.trial(best.settings._replace(shrinkage=value)) for value in SHRINKAGES])
        if sparsity is None:
            tried = [self.trial(best.settings._replace(sparsity=value)) for value in SPARSITIES]
            best = [trial for trial, good in zip(tried, self._as_good(tried), strict=True) if good][-1]
        return best

    def strength(self, trial: Trial, loadings: Array) -> Strength:
        """How sure the dimensions of all answers' loadings are: each is compared with its like in either half.

        What both halves find and the loadings don't have counts for none of their dimensions.
        """
        places = [match(loadings, half) for half in trial.loadings]
        matched = [half[:, place] for half, place in zip(trial.loadings, places, strict=True)]
        lost = np.vstack([losses_without(half, other) for half, other in zip(matched, self._other, strict=True)])
        mean, error = weighted_mean(lost, self.unseen)
        pairs = combinations([loadings, *matched], 2)
        return Strength(mean, error, np.min([np.diagonal(correlations(*pair)) for pair in pairs], axis=0))

    def _as_good(self, trials: list[Trial]) -> list[bool]:
        """Which trials predict unseen answers about as well as the best of them."""
        top = max(trials, key=lambda trial: float(self.unseen @ trial.likelihood))
        behind = [weighted_mean((top.likelihood - trial.likelihood)[:, None], self.unseen) for trial in trials]
        return [bool(mean[0] <= max(error[0], SLACK)) for mean, error in behind]

    def _surest(self, trials: list[Trial]) -> Trial:
        """Of the trials that predict about as well as the best, the first with the most reproducible dimensions."""
        good = [trial for trial, is_good in zip(trials, self._as_good(trials), strict=True) if is_good]
        return max(good, key=lambda trial: np.count_nonzero(self.strength(trial, trial.loadings[0]).sure))


def weighted_mean(values: Array, weight: Array) -> tuple[Array, Array]:
    """The means of columns, and their standard errors."""
    share = weight / weight.sum()
    mean = share @ values
    return mean, np.sqrt(np.square(share) @ np.square(values - mean))
