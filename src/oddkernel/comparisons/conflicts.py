"""Finding rows that contradict one another on their face."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..support.types import Indices
from .kinds import LINKS, Kind, orders


def find_conflicts(
    kind: NDArray[np.int8], shown: Indices, odd: NDArray[np.int8], bound: NDArray[np.float64]
) -> list[Indices]:
    """Group the rows that contradict one another on their face; see `Comparisons.conflicts`."""
    is_triple = ~np.isin(kind, LINKS)
    groups = _conflicting_orders(np.flatnonzero(is_triple), kind[is_triple], shown[is_triple], odd[is_triple])
    groups += _conflicting_bounds(np.flatnonzero(~is_triple), kind[~is_triple], shown[~is_triple], bound[~is_triple])
    return sorted(groups, key=lambda rows: int(rows[0]))


def _conflicting_orders(row: Indices, kind: NDArray[np.int8], shown: Indices, odd: NDArray[np.int8]) -> list[Indices]:
    """Group the rows whose orders of the three distances within one triple can't hold together.

    Draw an arrow from each smaller distance to each larger one: orders clash exactly when they lie on a common cycle.
    *Can't tell* is a cycle through all three, and *equally close* one through the two that it compares.
    """
    from scipy.sparse import coo_array  # it takes longer to load than all of this folder
    from scipy.sparse.csgraph import connected_components

    triple = _number_rows(np.sort(shown, axis=1))
    # Within a triple, a distance is numbered by the rank of the item that is not part of it.
    opposite = np.argsort(np.argsort(shown, axis=1), axis=1)
    distance = 3 * triple[:, None] + opposite

    unclear = np.flatnonzero((kind == Kind.ODD_ONE_OUT) & (odd < 0))
    equal = np.flatnonzero(kind == Kind.EQUALLY_CLOSE)
    source, _, near, far = orders(kind, odd)
    # The pair of anchor and near, which is the closer one, is opposite far.
    tail, head = distance[source, far], distance[source, near]

    arrows = (
        np.concatenate([tail, *distance[unclear].T, *distance[equal][:, 1:].T]),
        np.concatenate([head, *distance[unclear][:, [1, 2, 0]].T, *distance[equal][:, [2, 1]].T]),
    )
    n_distances = 3 * len(row)
    graph = coo_array((np.ones(len(arrows[0]), dtype=np.int8), arrows), shape=(n_distances, n_distances))
    _, cycle = connected_components(graph.tocsr(), directed=True, connection="strong")
    clashing = np.zeros(len(row), dtype=bool)
    on_cycle = cycle[tail] == cycle[head]
    clashing[source[on_cycle]] = True
    for rows in (unclear, equal):
        clashing[rows] = np.isin(cycle[distance[rows, 1]], cycle[tail[on_cycle]])
    return _split(row[clashing], triple[clashing])


def _conflicting_bounds(
    row: Indices, kind: NDArray[np.int8], shown: Indices, bound: NDArray[np.float64]
) -> list[Indices]:
    """Group the links on one pair that put its distance both below one bound and above a larger one."""
    pair = _number_rows(np.sort(shown[:, :2], axis=1))
    must = kind == Kind.MUST_LINK
    # A bound left to the learner is taken to clash with any bound of the other kind.
    at_most = np.where(must, np.nan_to_num(bound, nan=-np.inf), np.inf)
    at_least = np.where(must, -np.inf, np.nan_to_num(bound, nan=np.inf))
    lowest, highest = np.full(len(row), np.inf), np.full(len(row), -np.inf)
    np.minimum.at(lowest, pair, at_most)
    np.maximum.at(highest, pair, at_least)
    clashing = np.where(must, at_most < highest[pair], at_least > lowest[pair])
    return _split(row[clashing], pair[clashing])


def _number_rows(table: Indices) -> Indices:
    return np.unique(table, axis=0, return_inverse=True)[1].reshape(-1)


def _split(rows: Indices, label: Indices) -> list[Indices]:
    if not len(rows):
        return []
    order = np.argsort(label, kind="stable")
    return np.split(rows[order], np.flatnonzero(np.diff(label[order])) + 1)
