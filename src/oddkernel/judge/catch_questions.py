"""Questions with a known answer: the tables ``[[catch]]`` of the settings.

How many of them a sitting gets is said by ``catch_share`` in `settings` and counted by `next_questions.kinds_of`.
"""

from __future__ import annotations

from dataclasses import dataclass
from reprlib import repr as brief
from typing import Self

from .question_forms import ANCHOR, GRID, KNOWN, MOST_AROUND, ODD


@dataclass(frozen=True)
class Catch:
    """A question whose answer is known.

    Attributes
    ----------
    items : tuple of str
        The names of its items, three or those of a grid.
    answer : str or tuple of str
        The name of the item that is the right answer; of a grid the names of those to pick.
    form : str
        The form of the question; of an anchor question the first item is the anchor, of a grid it is in the middle.
    """

    items: tuple[str, ...]
    answer: str | tuple[str, ...]
    form: str = ODD

    @classmethod
    def read(cls, number: int, table: object) -> Self:
        """Check a table; raises a ValueError that names it by its number."""
        wanted = "items, the names of three items, and odd, one of them"
        known = [key for key in KNOWN if isinstance(table, dict) and table.keys() == {"items", key}]
        if not isinstance(table, dict) or not known:
            others = "closer, or central, or of a grid picked"
            raise ValueError(f"[[catch]] number {number} is {brief(table)}; expected {wanted} (or {others})")
        items, answer, form = table["items"], table[known[0]], KNOWN[known[0]]
        if form == GRID:
            return cls(*_check_grid(number, items, answer), GRID)
        if not isinstance(items, list) or len(items) != 3 or len(set(map(str, items))) != 3 or answer not in items:
            seen = f"items {brief(items)} and {known[0]} {brief(answer)}"
            raise ValueError(f"[[catch]] number {number} has {seen}; expected {wanted.replace('odd', known[0])}")
        if form == ANCHOR and answer == items[0]:
            raise ValueError(
                f"[[catch]] number {number}: closer is the anchor, the first item; expected one of the others"
            )
        return cls((items[0], items[1], items[2]), answer, form)


def _names(number: int, names: object) -> tuple[str, ...]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError(f"[[catch]] number {number} holds {brief(names)}; expected a list of names")
    return tuple(names)


def _check_grid(number: int, items: object, picked: object) -> tuple[tuple[str, ...], tuple[str, ...]]:
    shown, right = (_names(number, names) for names in (items, picked))
    if not 3 <= len(shown) <= MOST_AROUND + 1 or len(set(shown)) < len(shown):
        wanted = f"3 to {MOST_AROUND + 1} different names, the one in the middle first"
        raise ValueError(f"[[catch]] number {number} has items {brief(items)}; expected {wanted}")
    if not set(right) <= set(shown[1:]) or not 0 < len(set(right)) == len(right) < len(shown) - 1:
        wanted = "some of the items around the first, and not all"
        raise ValueError(f"[[catch]] number {number} has picked {brief(picked)}; expected {wanted}")
    return shown, right
