"""What each kind of answer means. Whatever depends on the meaning of an answer asks here.

Three items have three pairs, and each pair is named by the position that is *opposite* it, the item left out: the pair
opposite position 0 is that of positions 1 and 2. An answer about three items singles out one pair and calls it closer,
or farther apart, than the others that it compares. A link is about one pair alone.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..support.types import Array, Indices


class Kind(IntEnum):
    """What a row of `Comparisons` says."""

    ODD_ONE_OUT = 0
    CLOSER = 1
    MUST_LINK = 2
    CANNOT_LINK = 3
    MOST_CENTRAL = 4
    EQUALLY_CLOSE = 5


class Meaning(NamedTuple):
    """What one kind of answer means, by positions in `Comparisons.shown`.

    Attributes
    ----------
    words : str
        What one such row is called.
    side : int or None
        The position opposite the pair that is singled out; None: the position that the answer names, if it names one.
    compared : tuple of int
        The positions opposite the pairs that are compared with one another.
    farthest : bool
        Whether the pair that is singled out is called the farthest apart, instead of the closest.
    """

    words: str
    side: int | None
    compared: tuple[int, ...]
    farthest: bool = False


MEANINGS = {
    # Which of the three is least like the other two? They are the closest pair; -1 is can't tell: all are equal.
    Kind.ODD_ONE_OUT: Meaning("odd-one-out answer", None, (0, 1, 2)),
    # The most central item is shown first: the other two are the farthest apart.
    Kind.MOST_CENTRAL: Meaning("most-central answer", 0, (0, 1, 2), farthest=True),
    # Anchor, near, far: the pair of anchor and near is closer than that of anchor and far.
    Kind.CLOSER: Meaning("closer statement", 2, (1, 2)),
    # Anchor and two others: nobody can tell which of the two is closer, so both pairs with the anchor are equal.
    Kind.EQUALLY_CLOSE: Meaning("equally-close answer", None, (1, 2)),
    # Two items and -1: the pair opposite the last position is near, or far.
    Kind.MUST_LINK: Meaning("must-link", 2, (2,)),
    Kind.CANNOT_LINK: Meaning("cannot-link", 2, (2,), farthest=True),
}
"""The meaning of each kind, in the order in which summaries list them."""

LINKS = tuple(kind for kind, meaning in MEANINGS.items() if len(meaning.compared) == 1)
"""The kinds that are about two items; all others are about three."""

# The two positions besides each, ascending.
_OTHERS = np.array([[1, 2], [0, 2], [0, 1]], dtype=np.intp)
_SIDE = np.array([-1 if MEANINGS[kind].side is None else MEANINGS[kind].side for kind in Kind], dtype=np.intp)
_COMPARED = np.array([[side in MEANINGS[kind].compared for side in range(3)] for kind in Kind])
_FARTHEST = np.array([MEANINGS[kind].farthest for kind in Kind])


class Orders(NamedTuple):
    """Statements that one pair of a row is closer than another.

    Attributes
    ----------
    row : ndarray of shape (t,)
        The row that says so, ascending.
    anchor : ndarray of shape (t,)
        The position of the item that both pairs share; ascending within a row.
    near, far : ndarrays of shape (t,)
        The positions of the items that the anchor is closer to, and less close to.
    """

    row: Indices
    anchor: Indices
    near: Indices
    far: Indices


def singled_out(kind: Array, odd: Array) -> Indices:
    """(m,): the position opposite the pair that is singled out; -1 for *can't tell*.

    Examples
    --------
    >>> singled_out(np.array([Kind.ODD_ONE_OUT, Kind.CLOSER]), np.array([1, -1]))
    array([1, 2])
    """
    return np.where(kind == Kind.ODD_ONE_OUT, odd, _SIDE[kind])


def compared(kind: Array) -> NDArray[np.bool_]:
    """(m, 3): whether the pair opposite each position is among those that are compared."""
    return np.asarray(_COMPARED[kind])


def farthest(kind: Array) -> NDArray[np.bool_]:
    """(m,): whether the pair that is singled out is called the farthest apart, instead of the closest."""
    return np.asarray(_FARTHEST[kind])


def orders(kind: Array, odd: Array) -> Orders:
    """All that the decided answers about three items say: an anchor is closer to near than to far.

    The odd one k of i, j, k says that i is closer to j than to k, and j closer to i than to k; the most central c of a,
    b, c that a is closer to c than to b, and b closer to c than to a.

    Examples
    --------
    >>> orders(np.array([Kind.ODD_ONE_OUT, Kind.CLOSER]), np.array([1, -1]))
    Orders(row=array([0, 0, 1]), anchor=array([0, 2, 0]), near=array([2, 0, 1]), far=array([1, 1, 2]))
    """
    side = singled_out(kind, odd)
    decided = np.flatnonzero((side >= 0) & ~np.isin(kind, LINKS))
    row, anchor = np.repeat(decided, 2), _OTHERS[side[decided]].ravel()
    other = 3 - side[row] - anchor
    said = _COMPARED[kind[row], other]
    row, anchor, other = row[said], anchor[said], other[said]
    # The pair opposite one position consists of the anchor and the other position.
    side, last = side[row], _FARTHEST[kind[row]]
    return Orders(row, anchor, np.where(last, side, other), np.where(last, other, side))


def pairs(kind: Array, odd: Array, *, near: bool) -> tuple[Indices, Indices]:
    """Rows of shape (p,), and positions of shape (p, 2), of the pairs that are called near, or far; each once in a row.

    Examples
    --------
    >>> pairs(np.array([Kind.ODD_ONE_OUT, Kind.CANNOT_LINK]), np.array([1, -1]), near=False)
    (array([0, 0, 1]), array([[1, 2],
           [0, 1],
           [0, 1]]))
    """
    row, _, closer, apart = orders(kind, odd)
    # The pair of anchor and near is opposite far, and the pair of anchor and far opposite near.
    opposite = apart if near else closer
    links = np.flatnonzero(kind == (Kind.MUST_LINK if near else Kind.CANNOT_LINK))
    found = np.column_stack([np.append(row, links), np.append(opposite, _SIDE[kind[links]])])
    row, opposite = np.unique(found, axis=0).T
    return row, _OTHERS[opposite]
