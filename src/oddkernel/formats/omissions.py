"""What a form can't say of some comparisons: rows that make it, and a warning about the rest."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from ..comparisons import Comparisons
from ..comparisons.keys import ODD_LAST
from ..comparisons.kinds import orders
from ..support.types import Indices


class Triplets(NamedTuple):
    """Statements that an anchor is closer to near than to far.

    Attributes
    ----------
    shown : ndarray of shape (t, 3)
        Anchor, near, far.
    source : ndarray of shape (t,)
        The row of the comparisons that says so.
    """

    shown: Indices
    source: Indices


def triplets_of(said: Comparisons) -> Triplets:
    """All that triplets can say: a `closer` row is one, any other answer about three items two.

    The odd one k of i, j, k is (i, j, k) and (j, i, k), the most central one (i, k, j) and (j, k, i).

    Examples
    --------
    >>> triplets_of(Comparisons.odd_one_out([[5, 8, 2]], [1])).shown
    array([[5, 2, 8],
           [2, 5, 8]])
    """
    row, *positions = orders(said.kind, said.odd)
    return Triplets(said.shown[row[:, None], np.column_stack(positions)], row)


def odd_last(said: Comparisons) -> Indices:
    """The three items of each decided answer, of shape (m, 3), the odd one last."""
    return np.take_along_axis(said.shown, ODD_LAST[said.odd], axis=1)


def warn_of_losses(said: Comparisons, rows: Indices, keeps: Collection[str] = ()) -> None:
    """Warn of what a form loses that says only some rows and keeps only some of weight, rater and items.

    To be called by a writer, so that the warning points at whoever called `formats.write`.
    """
    n_lost = len(said) - len(np.unique(rows))
    if n_lost == len(said) > 0:
        raise ValueError(f"nothing of this can be said in this format: {said}")
    losses = []
    if n_lost:
        losses.append(f"{n_lost} of {len(said)} rows left out, as the format can't say them")
    if "weight" not in keeps and (said.weight[rows] != 1).any():
        losses.append("weights dropped")
    if "rater" not in keeps and said.rater is not None:
        losses.append("raters dropped")
    if "items" not in keeps and said.items is not None:
        losses.append("names dropped: items have their number in the order of the names")
    if losses:
        warnings.warn("; ".join(losses), UserWarning, stacklevel=5)


def names_of(said: Comparisons) -> tuple[str, ...]:
    """Item names, for a form that goes by name."""
    if said.items is None:
        raise ValueError("this format goes by name, and the items have none; expected comparisons with items=")
    return said.items
