"""The forms of a question: what is asked about the items shown, which answers there are, and what an answer says.

Policies choose three items for odd-one-out, and every form asks about the items that they choose. Of an anchor question
the first of them, whose order is random, is the anchor; of a grid it is the one in the middle, and around it are the
other two and items drawn at random.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from ..comparisons import Comparisons

ODD, ANCHOR, CENTRAL, GRID = "odd", "anchor", "central", "grid"

ANSWERS = {ODD: (-1, 0, 1, 2), ANCHOR: (-1, 1, 2), CENTRAL: (0, 1, 2)}
"""The answers to a form with three items: the position of one as shown, or -1 for *can't tell*. The anchor is shown
first."""

FORMS = (*ANSWERS, GRID)

KNOWN = {"odd": ODD, "closer": ANCHOR, "central": CENTRAL, "picked": GRID}
"""What a table [[catch]] calls the right answer, and the form of its question."""

MOST_AROUND = 20
"""Largest number of items around the middle of a grid. Chosen by hand: on a phone they are as large as a fingertip."""

Given = int | tuple[int, ...]
"""An answer: a position or -1, or of a grid the positions picked, ascending. Its middle has position 0."""

Name = TypeVar("Name")


def is_form(value: object) -> bool:
    """Whether a setting names a form, or several different ones."""
    if isinstance(value, list):
        return (
            bool(value)
            and all(isinstance(each, str) for each in value)
            and len(set(value)) == len(value)
            and all(each in FORMS for each in value)
        )
    return isinstance(value, str) and value in FORMS


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


def fits(said: Given, form: str, n_items: int, picks: int) -> bool:
    """Whether this is an answer to a question of the form with so many items, of which so many are to be picked.

    Examples
    --------
    >>> fits((3, 8), "grid", 9, 2), fits((0, 8), "grid", 9, 2), fits(-1, "grid", 9, 2), fits(0, "anchor", 3, 1)
    (True, False, False, False)
    """
    if form != GRID:
        return said in ANSWERS[form]
    return isinstance(said, tuple) and len(set(said)) == len(said) == picks and all(0 < p < n_items for p in said)


def shuffled(form: str, items: tuple[Name, ...], rng: np.random.Generator) -> tuple[Name, ...]:
    """The items in random order; an anchor, and the middle of a grid, stays the first."""
    fixed = form in (ANCHOR, GRID)
    order = ([0] if fixed else []) + (fixed + rng.permutation(len(items) - fixed)).tolist()
    return tuple(items[place] for place in order)


def filled(items: tuple[int, int, int], around: int, n_items: int, rng: np.random.Generator) -> tuple[int, ...]:
    """A grid about three items, of which the first is in the middle: random others fill it, in random order.

    Examples
    --------
    >>> middle, *others = filled((7, 1, 4), 5, 20, np.random.default_rng(0))
    >>> middle, len(set(others)), {1, 4} <= set(others)
    (7, 5, True)
    """
    others = np.setdiff1d(np.arange(n_items), items)
    drawn = rng.choice(others, around - 2, replace=False).tolist()
    return shuffled(GRID, (*items, *drawn), rng)


def named(items: Sequence[Name], said: Given) -> frozenset[Name]:
    """The items that an answer names; none if it is *can't tell*."""
    places = said if isinstance(said, tuple) else [said] if said >= 0 else []
    return frozenset(items[place] for place in places)


def positions(items: Sequence[Name], answer: Name | tuple[Name, ...]) -> Given:
    """The answer that names an item, or those of a tuple."""
    return tuple(sorted(map(items.index, answer))) if isinstance(answer, tuple) else items.index(answer)


def n_rows(items: Sequence[Any], said: Given) -> int:
    """How many rows of `Comparisons` an answer becomes: of a grid, each item picked is held against each other one."""
    return len(said) * (len(items) - 1 - len(said)) if isinstance(said, tuple) else 1


def comparisons(
    asked: Iterable[tuple[str, Sequence[Any], Given]], *, rater: Sequence[str] | None = None, items: Any = None
) -> Comparisons:
    """What answers say, from form, items as shown and answer, in their order; an answer has `n_rows` rows.

    Examples
    --------
    >>> said = comparisons([("central", (4, 1, 2), 2), ("odd", (0, 1, 2), -1), ("grid", (5, 6, 7, 8), (2,))])
    >>> said.shown
    array([[2, 4, 1],
           [0, 1, 2],
           [5, 7, 6],
           [5, 7, 8]])
    """
    rows = list(asked)
    said, order = Comparisons.empty(items=items), list[int]()
    for form in FORMS:
        places = [place for place, row in enumerate(rows) if row[0] == form]
        if places:
            who = None if rater is None else [rater[place] for place in places]
            said = said + _of_form(form, [rows[place][1:] for place in places], who, items)
            order += [place for place in places for _ in range(n_rows(*rows[place][1:]))]
    return said[np.argsort(order, kind="stable")] if order else said


def _of_form(form: str, rows: list[tuple[Sequence[Any], Given]], rater: list[str] | None, items: Any) -> Comparisons:
    shown, answers = [list(row) for row, _ in rows], [answer for _, answer in rows]
    if form == GRID:
        middle, around = [row[0] for row in shown], [row[1:] for row in shown]
        picked = [[place - 1 for place in answer] for answer in answers if isinstance(answer, tuple)]
        return Comparisons.grid(middle, around, picked, rater=rater, items=items)
    if form == ANCHOR:
        return Comparisons.anchor(shown, answers, rater=rater, items=items)
    if form == CENTRAL:
        central = [row.pop(answer) for row, answer in zip(shown, answers, strict=True) if isinstance(answer, int)]
        return Comparisons.most_central(central, shown, rater=rater, items=items)
    return Comparisons.odd_one_out(shown, answers, rater=rater, items=items)
