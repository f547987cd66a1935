"""Clusters of the same items at several resolutions, all from one kernel."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state

from ..support.types import Array
from .maps import COMPONENTS, principal_components

Labels = NDArray[np.intp]

COUNTS = (2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 15, 20)
"""Default numbers of clusters. Chosen by hand."""

TYPICAL, ODD = 8, 6  # members of a cluster that are shown; chosen by hand
STARTS = 5  # starts of k-means; chosen by hand
# Stability: pairs of resamples, the share of items in each, and the most items used. Chosen by hand, to bound the time.
PAIRS, SHARE, SAMPLE = 6, 0.7, 1000


@dataclass(frozen=True, eq=False)
class Resolution:
    """The items in k clusters.

    Attributes
    ----------
    labels : ndarray of shape (n,)
        Cluster of each item, 0 to k − 1. A cluster keeps its number from one resolution to the next.
    order : ndarray of shape (k,)
        The clusters from top to bottom, ordered such that few ribbons of the alluvial diagram cross.
    typical, odd : list of k arrays
        Members nearest to the cluster's centre; members with the smallest margin to another cluster.
    stability : float
        Mean Adjusted Rand index between clusterings of two random subsets of the items; 1 means equal clusters.
    """

    labels: Labels
    order: Labels
    typical: list[Labels]
    odd: list[Labels]
    stability: float

    @property
    def k(self) -> int:
        """The number of clusters."""
        return len(self.order)


@dataclass(frozen=True)
class Suggestion:
    """A suggested number of clusters to begin with, and the reason."""

    k: int
    reason: str


@dataclass(frozen=True, eq=False)
class Resolutions:
    """Clusterings from coarse to fine, the learned kernel's eigenvalues, and a suggestion.

    Attributes
    ----------
    levels : list of Resolution
        One for each number of clusters, ascending.
    suggestion : Suggestion
        A number of clusters to begin with.
    """

    levels: list[Resolution]
    suggestion: Suggestion

    def __getitem__(self, k: int) -> Resolution:
        return next(level for level in self.levels if level.k == k)


def find_resolutions(coordinates: Array, counts: Sequence[int] | None = None, *, random_state: int = 0) -> Resolutions:
    """Cluster items by k-means in learned coordinates, which is kernel k-means with the learned kernel.

    Parameters
    ----------
    coordinates : ndarray of shape (n, r)
        Coordinates whose Euclidean distances are the learned ones.
    counts : sequence of int, optional
        Numbers of clusters; by default 2 to 20, and at most half the number of items. Those above the number of
        distinct items are left out.
    random_state : int, default=0
        Seed of starts and resamples.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 5.0]], 30, axis=0)
    >>> points += 0.1 * np.random.default_rng(0).normal(size=points.shape)
    >>> found = find_resolutions(points)
    >>> found.suggestion.k
    3
    >>> np.bincount(found[3].labels).tolist()
    [30, 30, 30]
    """
    n = len(coordinates)
    wanted = counts_of(counts, n)
    random = check_random_state(random_state)
    flat = principal_components(coordinates, min(COMPONENTS, *coordinates.shape)).astype(np.float32)
    n_distinct = len(np.unique(np.round(flat / (float(np.abs(flat).max(initial=0.0)) or 1.0), 5), axis=0))
    if n_distinct < 2:
        raise ValueError("all items are copies of one another; expected at least two different ones")
    wanted = [k for k in wanted if k <= n_distinct] or [2]
    points = coordinates.astype(np.float32)  # half the time, and precise enough for clusters
    models = [KMeans(k, n_init=STARTS, random_state=random).fit(points) for k in wanted]
    place = _places(models[-1])
    levels: list[Resolution] = []
    for k, model in zip(wanted, models, strict=True):
        levels.append(_level(model, points, levels[-1] if levels else None, place, _stability(flat, k, random)))
    return Resolutions(levels, _suggest(levels, spectrum(coordinates)))


def spectrum(coordinates: Array) -> Array:
    """The eigenvalues, largest first, of the centred kernel with these coordinates."""
    centred = coordinates - coordinates.mean(axis=0)
    scatter = centred.T @ centred if centred.shape[0] >= centred.shape[1] else centred @ centred.T
    return np.maximum(np.linalg.eigvalsh(scatter)[::-1], 0.0)


def flows(coarse: Labels, fine: Labels) -> NDArray[np.intp]:
    """Contingency table (k, k′): number of items in each cluster of one clustering and each of another."""
    counts = np.zeros((int(coarse.max()) + 1, int(fine.max()) + 1), dtype=np.intp)
    np.add.at(counts, (coarse, fine), 1)
    return counts


def counts_of(counts: Sequence[int] | None, n: int) -> list[int]:
    """The numbers of clusters to try for n items, ascending; raises a ValueError if they are invalid."""
    if n < 2:
        raise ValueError(f"{n} items; expected at least 2")
    if counts is None:
        return [k for k in COUNTS if k <= max(2, n // 2)]
    wanted = sorted(set(counts))
    if not wanted or not all(isinstance(k, (int, np.integer)) and 2 <= k <= n for k in wanted):
        raise ValueError(f"clusters={counts!r}; expected whole numbers from 2 to {n}, the number of items")
    return wanted


def _places(finest: KMeans) -> Labels:
    """A vertical place for each item, such that nearby clusters have nearby places."""
    centers = finest.cluster_centers_
    leaf = np.argsort(leaves_list(linkage(centers, "average", optimal_ordering=True)))
    return np.asarray(leaf[finest.labels_])


def _level(model: KMeans, points: Array, before: Resolution | None, place: Labels, stability: float) -> Resolution:
    k = model.n_clusters
    new_number = _numbers(model.labels_, before, k)
    labels: Labels = new_number[model.labels_]
    distance = model.transform(points)[:, np.argsort(new_number)]
    own = distance[np.arange(len(labels)), labels]
    distance[np.arange(len(labels)), labels] = np.inf
    astray = own - distance.min(axis=1)

    typical, odd = [], []
    for cluster in range(k):
        members = np.flatnonzero(labels == cluster)
        typical.append(members[np.argsort(own[members], kind="stable")[:TYPICAL]])
        strangers = np.setdiff1d(members, typical[-1])
        odd.append(strangers[np.argsort(-astray[strangers], kind="stable")[:ODD]])

    middle = [place[labels == cluster].mean() for cluster in range(k)]
    return Resolution(labels, np.argsort(middle, kind="stable"), typical, odd, stability)


def _numbers(found: Labels, before: Resolution | None, k: int) -> Labels:
    """New numbers for clusters: the one with most items of an earlier cluster inherits its number."""
    numbers = np.full(k, -1)
    if before is None:
        numbers[np.argsort(-np.bincount(found, minlength=k), kind="stable")] = np.arange(k)
        return numbers
    old, new = linear_sum_assignment(-flows(before.labels, found))
    numbers[new] = old
    numbers[numbers < 0] = np.setdiff1d(np.arange(k), old)
    return numbers


def _stability(points: Array, k: int, random: np.random.RandomState) -> float:
    """Mean Adjusted Rand index between clusterings of two random subsets of the items."""
    if len(points) > SAMPLE:
        points = points[random.choice(len(points), SAMPLE, replace=False)]
    size = max(k, round(SHARE * len(points)))
    scores = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a subset may hold fewer than k distinct items
        for _ in range(PAIRS):
            one, other = (
                KMeans(k, n_init=3, random_state=random)
                .fit(points[random.choice(len(points), size, replace=False)])
                .predict(points)
                for _ in range(2)
            )
            scores.append(adjusted_rand_score(one, other))
    return float(np.mean(scores))


def _suggest(levels: list[Resolution], eigenvalues: Array) -> Suggestion:
    """The finest clustering about as stable as the most stable one, compared with the largest eigenvalue gap."""
    stability = np.array([level.stability for level in levels])
    k = [level.k for level in levels][int(np.flatnonzero(stability >= stability.max() - TOLERANCE)[-1])]
    level = next(level for level in levels if level.k == k)
    reason = (
        f"This is the largest number of clusters that is about as stable between random subsets of the items as any: "
        f"Adjusted Rand {level.stability:.2f}, where 1 means always the same clusters."
    )
    if level.stability < SHAKY:
        reason += " That is low; the items may form a continuum rather than clusters."
    drop = _largest_drop(eigenvalues, levels[-1].k)
    if drop is not None:
        verb = "also" if drop == k else "instead"
        reason += f" The kernel's eigenvalues {verb} point to {drop}: they fall most steeply after number {drop - 1}."
    return Suggestion(k, reason)


TOLERANCE = 0.02  # about the variation of stability between resamples; chosen by hand
SHAKY = 0.6  # stability below this is called low; chosen by hand


def _largest_drop(eigenvalues: Array, most: int) -> int | None:
    """The number of clusters with the largest eigenvalue gap, as a ratio; k clusters have k − 1 large eigenvalues."""
    positive = eigenvalues[eigenvalues > np.finfo(float).eps * len(eigenvalues) * eigenvalues[:1].max(initial=0.0)]
    ratios = positive[: most - 1][: len(positive) - 1] / positive[1:most]
    return int(np.argmax(ratios)) + 2 if len(ratios) else None
