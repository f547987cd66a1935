"""From what `fit` is given as ``y`` to what everything after it sees: answers about items 0 … s−1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..comparisons import Comparisons, Kind
from ..items.frames import join, join_labels, row_names, usable_names
from ..support.checks import EXTREME, as_labels, refuse, refuse_extremes
from ..support.types import Array, Indices

# Comparisons drawn for each class where class labels take the place of answers. Chosen by hand.
PER_CLASS = 30
# Comparisons drawn to score class labels: a standard error of at most 0.016. Chosen by hand.
SCORED = 1000


def check_answers(said: Comparisons, X: ArrayLike, n_items: int) -> Comparisons:
    """The answers about rows of X, joined by name where both sides have names; float64 can hold their numbers."""
    said = join(said, X, n_items)
    refuse_extremes("weight", said.weight, 1 / EXTREME)
    refuse_extremes("bound", said.bound, 0.0)
    return said


def check_labels(y: ArrayLike, n_items: int, drawn: str) -> tuple[Array, int]:
    """Class labels, one for each item, and the number of classes; ``drawn`` says what needs at least two of them."""
    labels = as_labels(y)
    if len(labels) != n_items:
        raise ValueError(f"y holds {len(labels)} class labels for {n_items} items; expected one label an item")
    n_classes = len(set(labels.tolist()) - {-1})
    if n_classes == 1:
        raise ValueError(f"y holds one class; expected at least two, {drawn} can be drawn")
    return labels, n_classes


def as_comparisons(
    y: Comparisons | ArrayLike | None, X: ArrayLike, n_items: int, n_drawn: int | None, random: np.random.RandomState
) -> Comparisons:
    """Checked answers; from class labels ``n_drawn`` comparisons are drawn, by default 30 for each class."""
    if y is None:
        y = Comparisons.empty()
    elif not isinstance(y, Comparisons):
        labels, n_classes = check_labels(join_labels(y, X), n_items, "from which an odd one out")
        drawn = Comparisons.from_labels(
            labels, PER_CLASS * n_classes if n_drawn is None else n_drawn, random_state=random
        )
        return drawn.with_names(usable_names(X))
    return check_answers(y, X, n_items)


def labels_as_answers(y: ArrayLike, X: ArrayLike, n_items: int) -> Comparisons:
    """Answers to score that class labels stand for: 1,000 comparisons drawn from them, always the same ones."""
    if y is None or isinstance(y, str):
        raise TypeError(
            f"y is {y!r}; expected Comparisons, such as Comparisons.odd_one_out(shown, odd), or class labels"
        )
    return as_comparisons(y, X, n_items, SCORED, np.random.RandomState(0))


class Learned(NamedTuple):
    """Items and answers in the order in which they are learned from.

    Attributes
    ----------
    X : array of shape (n, d)
        The features.
    said : Comparisons
        The answers, about rows of X.
    given : tuple of str, or None
        The items' names in the order in which `fit` was given them, where that is another one.
    """

    X: Array
    said: Comparisons
    given: tuple[str, ...] | None


def in_learning_order(y: object, X: ArrayLike, checked: Array, said: Comparisons) -> Learned:
    """Items and answers in an order that depends on nothing but features and answers, where names join the two.

    A frame that is sorted in another way, or items that are called otherwise, then lead to the same model to the last
    bit. Items are sorted by the bytes of their features; copies of one another by which is mentioned first. Where items
    are not joined by name, they stay as they are.

    Parameters
    ----------
    y, X
        What `fit` was given.
    checked : array of shape (n, d)
        The features in X.
    said : Comparisons
        The answers in y, about rows of X.
    """
    if not isinstance(y, Comparisons) or y.items is None or said.items is None or row_names(X) is None:
        return Learned(checked, said, None)
    mentioned, order_mentioned = np.full(len(checked), said.n_items), in_order_asked(said)[0]
    mentioned[order_mentioned] = np.arange(len(order_mentioned))
    rows = np.ascontiguousarray(checked + 0.0)  # -0.0 becomes 0.0
    _, place = np.unique(rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel(), return_inverse=True)
    order = np.lexsort((mentioned, place))
    return Learned(checked[order], said.reindex([said.items[row] for row in order]), said.items)


def renumbered(said: Comparisons) -> tuple[Indices, Comparisons]:
    """The items that answers are about, ascending, and the answers with each item's place among these as its number.

    This is the only place where items are renumbered. Names and raters are left out.

    Examples
    --------
    >>> items, asked = renumbered(Comparisons.odd_one_out([[12, 40, 7], [7, 12, 55]], [2, -1]))
    >>> items
    array([ 7, 12, 40, 55])
    >>> asked.shown
    array([[1, 2, 0],
           [0, 1, 3]])
    """
    items = said.constrained
    return items, Comparisons(
        said.kind, places_among(items, said.shown), said.odd, said.bound, said.weight, part_of=said.part_of
    )


def in_order_asked(said: Comparisons) -> tuple[Indices, Comparisons]:
    """The items in the order in which answers first mention them, and the answers with items numbered in that order.

    Unlike the order of the items' rows, this one doesn't change if a frame is sorted in another way.

    Examples
    --------
    >>> items, asked = in_order_asked(Comparisons.odd_one_out([[2, 0, 1]], [2]))
    >>> items, asked.shown
    (array([2, 0, 1]), array([[0, 1, 2]]))
    """
    mentioned = said.shown[said.shown >= 0]
    items, first = np.unique(mentioned, return_index=True)
    order = items[np.argsort(first)]
    place = np.full(said.n_items + 1, -1)
    place[order] = np.arange(len(order))
    return order, Comparisons(said.kind, place[said.shown], said.odd, said.bound, said.weight, part_of=said.part_of)


def places_among(items: Indices, numbers: Indices) -> Indices:
    """The place of each number among ascending items, −1 for those that are not among them.

    Examples
    --------
    >>> places_among(np.array([2, 7, 9]), np.array([9, 2, 3, -1]))
    array([ 2,  0, -1, -1])
    """
    place = np.full(max(items.max(initial=-1), numbers.max(initial=-1)) + 2, -1)  # the last one is found by −1
    place[items] = np.arange(len(items))
    return np.asarray(place[numbers], dtype=np.intp)


def with_bounds(said: Comparisons, at_most: float, at_least: float) -> Comparisons:
    """The same answers, with these bounds for must-links and cannot-links that name none."""
    if not np.isnan(said.bound[said.links]).any():
        return said
    default = np.select([said.kind == Kind.MUST_LINK, said.kind == Kind.CANNOT_LINK], [at_most, at_least], np.nan)
    bound = np.where(np.isnan(said.bound), default, said.bound)
    return Comparisons(said.kind, said.shown, said.odd, bound, said.weight, said.rater, said.items, said.part_of)


def questions(X: ArrayLike, shown: ArrayLike | Comparisons) -> Comparisons:
    """Questions about rows of X, by number or by name, as answers that can't tell."""
    if isinstance(shown, Comparisons):
        refuse(shown.links, lambda row: "a link is about two items; expected answers about three")
        return Comparisons.odd_one_out(shown.shown, np.full(len(shown), -1), items=shown.items)
    triples = np.asarray(shown)
    by_name = any(isinstance(entry, str) for entry in triples.flat)
    return Comparisons.odd_one_out(shown, np.full(len(triples), -1), items=row_names(X) if by_name else None)
