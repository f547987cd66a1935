"""The forms of a question: what is asked about three items, which answers there are, and what an answer says.

Policies choose three items for odd-one-out, and every form asks about the items that they choose. Of an anchor question
the first of them, whose order is random, is the anchor.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from ..comparisons import Comparisons

ODD, ANCHOR, CENTRAL = "odd", "anchor", "central"

ANSWERS = {ODD: (-1, 0, 1, 2), ANCHOR: (-1, 1, 2), CENTRAL: (0, 1, 2)}
"""The answers to each form: the position of an item as shown, or -1 for *can't tell*. The anchor is shown first."""

KNOWN = {"odd": ODD, "closer": ANCHOR, "central": CENTRAL}
"""What a table [[catch]] calls the right answer, and the form of its question."""

Name = TypeVar("Name")


def is_form(value: object) -> bool:
    """Whether a setting names a form, or several different ones."""
    if isinstance(value, list):
        return (
            bool(value)
            and all(isinstance(each, str) for each in value)
            and len(set(value)) == len(value)
            and all(each in ANSWERS for each in value)
        )
    return isinstance(value, str) and value in ANSWERS


def form_at(forms: Sequence[str], seed: int, place: int) -> str:
    """The form of the question at this place of a sitting: all forms come equally often, in random order.

    Examples
    --------
    >>> found = [form_at(("odd", "anchor", "central"), 7, place) for place in range(9)]
    >>> sorted(found[3:6]), sorted(found).count("anchor")
    (['anchor', 'central', 'odd'], 3)
    """
    if len(forms) == 1:
        return forms[0]
    turn, number = divmod(place, len(forms))
    return forms[int(np.random.default_rng([seed, turn]).permutation(len(forms))[number])]


def shuffled(form: str, items: tuple[Name, Name, Name], rng: np.random.Generator) -> tuple[Name, Name, Name]:
    """The items in random order; an anchor stays the first."""
    order = [0, *(1 + rng.permutation(2)).tolist()] if form == ANCHOR else rng.permutation(3).tolist()
    first, second, third = (items[place] for place in order)
    return first, second, third


def comparisons(
    asked: Iterable[tuple[str, Sequence[Any], int]], *, rater: Sequence[str] | None = None, items: Any = None
) -> Comparisons:
    """What answers say, one row for each, from form, items as shown and answer.

    Examples
    --------
    >>> said = comparisons([("central", (4, 1, 2), 2), ("odd", (0, 1, 2), -1), ("anchor", (5, 6, 7), 2)])
    >>> said.shown
    array([[2, 4, 1],
           [0, 1, 2],
           [5, 7, 6]])
    """
    rows = list(asked)
    said, order = Comparisons.empty(items=items), list[int]()
    for form in ANSWERS:
        places = [place for place, row in enumerate(rows) if row[0] == form]
        if places:
            who = None if rater is None else [rater[place] for place in places]
            said = said + _of_form(form, [rows[place][1:] for place in places], who, items)
            order += places
    return said[np.argsort(order)] if order else said


def _of_form(form: str, rows: list[tuple[Sequence[Any], int]], rater: list[str] | None, items: Any) -> Comparisons:
    shown, answers = [list(row) for row, _ in rows], [answer for _, answer in rows]
    if form == ANCHOR:
        return Comparisons.anchor(shown, answers, rater=rater, items=items)
    if form == CENTRAL:
        central = [row.pop(answer) for row, answer in zip(shown, answers, strict=True)]
        return Comparisons.most_central(central, shown, rater=rater, items=items)
    return Comparisons.odd_one_out(shown, answers, rater=rater, items=items)
