"""What has been learned so far, in a form that allows questions to be chosen quickly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..comparisons import Comparisons
from ..kernels import AdaptiveGaussian, LowRank
from ..kernels.distances import squared_distances
from ..learning.recipe import Recipe
from ..learning.rounds import Learned, learn
from ..learning.uncertainty import Uncertainty
from ..problem import choices
from ..solvers import SOLVERS
from .history import Indices

Array = NDArray[Any]

# Settings of the learner that need no tuning, with a loose tolerance. Chosen by hand: a choice needs no better fit.
RECIPE, PENALTY, TOLERANCE = Recipe("adaptive", "squared", ratio=4.0, margin=0.0), 10.0, 1e-3
# Number of typical items, and number of random items among which they are searched. Chosen by hand, to bound the time.
TYPICAL, SAMPLE = 200, 1000
# Bounds on the calibration, chosen by hand. The model is overconfident about the answers that it learned from, so the
# temperature is at least 0.15 median squared distances and the tie strength stays within 0.05 to 50.
COLDEST, TIES = 0.15, (0.05, 50.0)


@dataclass(frozen=True, eq=False)
class Space:
    """The items before learning.

    Attributes
    ----------
    phi : (n, r) array
        Their features under the initial kernel.
    typical : (k,) array
        Typical items in greedy k-medoids order: each one most reduces the sum over all items of the squared distance to
        the nearest typical item so far. The first few give a coarse picture of the collection, more a finer one.
    """

    phi: Array
    typical: Indices

    @classmethod
    def of(cls, features: Array) -> Space:
        """Compute the items' features under the learner's initial kernel."""
        kernel = AdaptiveGaussian().fit(features)
        phi = LowRank.fit(kernel, features, rank=0.9, random_state=0).transform(features)
        return cls(phi, typical_items(phi))

    @cached_property
    def typical_apart(self) -> Array:
        """(k, k): squared distances between typical items in units of the median one; infinite to themselves."""
        apart = squared_distances(self.phi[self.typical], self.phi[self.typical])
        apart /= np.median(apart[np.triu_indices(len(apart), 1)]) or 1.0
        np.fill_diagonal(apart, np.inf)
        return np.asarray(apart)


def typical_items(phi: Array, most: int = TYPICAL) -> Indices:
    """Typical items in greedy k-medoids order, the most typical first.

    Examples
    --------
    >>> typical_items(np.array([[0.0], [0.1], [-0.1], [5.0], [5.1]]), 2)
    array([0, 3])
    """
    n = len(phi)
    among = np.sort(np.random.default_rng(0).permutation(n)[:SAMPLE]) if n > SAMPLE else np.arange(n)
    apart = squared_distances(phi[among], phi[among])
    nearest = np.full(len(among), apart.mean(axis=1).max())
    chosen: list[int] = []
    for _ in range(min(most, len(among))):
        gain = np.maximum(nearest - apart, 0.0).sum(axis=1)
        gain[chosen] = -1.0
        chosen.append(int(gain.argmax()))
        nearest = np.minimum(nearest, apart[chosen[-1]])
    return among[chosen]


@dataclass(frozen=True, eq=False)
class Belief:
    """What was learned from the answers so far.

    Attributes
    ----------
    space : Space
        The items before learning.
    n_answers : int
        Number of answers learned from.
    n_decided : int
        Number of decided answers among them.
    coordinates : (n, r) array
        The items in coordinates whose Euclidean distance is the learned one.
    temperature, tie : float
        Turn distances into probabilities of answers, as in `SKLR`; bounded, because a fit to few answers is
        overconfident.
    """

    space: Space
    n_answers: int
    n_decided: int
    coordinates: Array
    temperature: float
    tie: float
    _learned: Learned | None = None
    _memory: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def learn(cls, features: Array, said: Comparisons, last: Belief | None = None) -> Belief:
        """Learn from all answers.

        Parameters
        ----------
        features : (n, d) array
            The items' features.
        said : Comparisons
            All answers so far; may be empty.
        last : Belief, optional
            The belief from fewer answers about the same items, as a warm start.
        """
        space = Space.of(features) if last is None else last.space
        if not len(said):
            return cls(space, 0, 0, space.phi, 1.0, 1.0)
        rows = RECIPE.rows(said)
        learned = learn(
            space.phi,
            rows,
            RECIPE,
            [PENALTY],
            solver=SOLVERS["auto"](),
            tol=TOLERANCE,
            starts=() if last is None or last._learned is None else last._learned.matched(rows),
        )
        coordinates = space.phi @ learned.root
        n_decided = int(choices.decided(said).sum())
        return cls(space, len(said), n_decided, coordinates, *_calibrated(coordinates, said), learned)

    def known(self) -> dict[str, Any]:
        """What choosing questions takes, besides `space`: all but what only learning further needs."""
        return {
            "n_answers": self.n_answers,
            "n_decided": self.n_decided,
            "coordinates": self.coordinates,
            "temperature": self.temperature,
            "tie": self.tie,
            "_memory": self._memory,
        }

    def sides(self, shown: Indices) -> Array:
        """(m, 3): the squared distance of the pair opposite each position."""
        items, place = np.unique(shown, return_inverse=True)
        if len(items) ** 2 > shown.size:
            return choices.sides(self.coordinates, shown)
        # Few items in many questions: compute the distance of each pair of items once.
        apart = squared_distances(self.coordinates[items], self.coordinates[items])
        place = place.reshape(shown.shape)
        return np.asarray(apart[np.roll(place, -1, axis=1), np.roll(place, -2, axis=1)])

    def probabilities(self, sides: Array) -> Array:
        """(m, 4): the probability that each of the three is called odd, and that of *can't tell*."""
        return choices.probabilities(sides, self.temperature, self.tie)

    def covariance(self, pairs: Indices) -> tuple[Array, Array]:
        """(p, p), (p,): covariance of the pairs' squared distances by Laplace's approximation, and these distances."""
        apart = self.space.phi[pairs[:, 0]] - self.space.phi[pairs[:, 1]]
        moved = self.coordinates[pairs[:, 0]] - self.coordinates[pairs[:, 1]]
        squared = np.einsum("pr,pr->p", moved, moved)
        if self._learned is None:
            return np.square(apart @ apart.T), squared
        return Uncertainty(self._learned.point).covariance(apart[None])[0], squared

    def remembered(self, name: str, make: Callable[[], Any]) -> Any:
        """The cached result with this name, or that of ``make()``, which is then cached."""
        if name not in self._memory:
            self._memory[name] = make()
        return self._memory[name]


def _calibrated(coordinates: Array, said: Comparisons) -> tuple[float, float]:
    sides = choices.sides(coordinates, said.shown)
    known = choices.decided(said)
    typical = float(np.median(sides)) or 1.0
    if not known.any():
        return typical, TIES[1]
    temperature = max(choices.fit_temperature(sides[known], said[known]), COLDEST * typical)
    return temperature, float(np.clip(choices.fit_tie(sides, said, temperature), *TIES))
