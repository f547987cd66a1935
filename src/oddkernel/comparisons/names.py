"""Item names: checking them, and joining by them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence, Set
from reprlib import repr as brief
from typing import Any, TypeAlias

import numpy as np

from ..support.checks import RowError
from ..support.spelling import did_you_mean, finder
from ..support.types import Indices
from .columns import as_texts

Names: TypeAlias = Iterable[str] | None

# Derived: int64 represents every whole number of 18 digits.
_LAST_NUMBER = re.compile(r"(?<!\d)\d{1,18}$", re.ASCII)
_ENDING = re.compile(r"\.[^./\\]*$")


def as_items(items: Names, what: str = "items") -> tuple[str, ...] | None:
    """Item names: distinct, not empty. Errors call them ``what``."""
    if items is None:
        return None
    if isinstance(items, str) or not isinstance(items, Iterable):
        raise ValueError(f"{what} is {brief(items)}; expected the names of all items in order")
    try:
        names = tuple(as_texts(items, "name"))
    except RowError as error:
        raise ValueError(f"{what}, position {error.row}: {error.problem}") from None
    position_of: dict[str, int] = {}
    for position, name in enumerate(names):
        if not name:
            raise ValueError(f"{what}, position {position}: the name is empty; expected at least one character")
        if name in position_of:
            raise ValueError(
                f"{what}, positions {position_of[name]} and {position}: both are {brief(name)}; expected distinct names"
            )
        position_of[name] = position
    return names


def refuse_blanks(names: tuple[str, ...], what: str) -> tuple[str, ...]:
    """Refuse names that differ only in blanks around them, which nobody sees."""
    position_of: dict[str, int] = {}
    for position, name in enumerate(names):
        other = position_of.setdefault(name.strip(), position)
        if other != position:
            raise ValueError(
                f"{what}, positions {other} and {position}: {brief(names[other])} and {brief(name)} differ only in "
                "blanks; expected distinct names"
            )
    return names


def numbers_in_names(names: Sequence[str]) -> dict[int, str]:
    """The names that are whole numbers or end in one, by this number; none if two names have the same one.

    What follows the last dot doesn't count, as in the names of files, unless this leaves too little to tell them apart.

    Examples
    --------
    >>> numbers_in_names(["cars/1.jpg", "cars/10.jpg", "cars/2.jpg"])
    {1: 'cars/1.jpg', 10: 'cars/10.jpg', 2: 'cars/2.jpg'}
    >>> numbers_in_names(["ant", "bee 2", "cat 2"])
    {}
    """
    for stems in ([_ENDING.sub("", name) for name in names], names):
        found = [(_LAST_NUMBER.search(stem), name) for stem, name in zip(stems, names, strict=True)]
        numbered = [(int(match[0]), name) for match, name in found if match]
        name_of = dict(numbered)
        if name_of and len(name_of) == len(numbered):
            return name_of
    return {}


def other_number(names: Sequence[str], asked: Set[int], first: int) -> int | None:
    """A number for which the item at this place, counted from ``first``, is not the one with this number in its name.

    None where numbers can be meant in one way only: those asked about are the same items both ways, or the names can't
    be meant. They can't if none has any of these numbers; nor if some of these numbers are in no name, and either the
    numbers in all names count them in order from elsewhere, or not all names have one.

    Examples
    --------
    >>> other_number(["1.jpg", "10.jpg", "2.jpg"], {1, 2}, 1)
    2
    >>> other_number(["1.jpg", "2.jpg", "3.jpg"], {1, 2, 3}, 1) is None
    True
    >>> other_number(["1.jpg", "2.jpg", "3.jpg"], {0, 1, 2}, 0) is None
    True
    """
    name_of = numbers_in_names(names)
    numbers, number_of = list(name_of), {name: number for number, name in name_of.items()}
    found = [number for number in sorted(asked) if number in name_of]
    counts_from_elsewhere = numbers == list(range(min(numbers, default=0), min(numbers, default=0) + len(names)))
    if not found or (len(found) < len(asked) and (counts_from_elsewhere or len(numbers) < len(names))):
        return None
    at_place = {number: names[number - first] for number in asked if 0 <= number - first < len(names)}
    differing = [number for number in found if at_place.get(number) != name_of[number]]
    differing += [number for number, name in at_place.items() if number_of.get(name, number) != number]
    return differing[0] if differing else None


def check_same_names(mine: tuple[str, ...], theirs: tuple[str, ...]) -> None:
    """Refuse names that differ, or that stand in another order."""
    if mine != theirs:
        place = next(i for i in range(max(len(mine), len(theirs))) if mine[i : i + 1] != theirs[i : i + 1])
        raise ValueError(
            f"item names differ, first at position {place}: {brief(mine[place : place + 1])} in the comparisons, "
            f"{brief(theirs[place : place + 1])} in the items; reindex(names) puts the comparisons into that order"
        )


def common_names(
    mine: tuple[str, ...] | None, theirs: tuple[str, ...] | None, n_mine: int, n_theirs: int
) -> tuple[str, ...] | None:
    """The names of the items in the sum of two tables of these numbers of rows; a table without rows may lack them."""
    if mine == theirs or (theirs is None and not n_theirs):
        return mine
    if mine is None and not n_mine:
        return theirs
    if mine is None or theirs is None:
        raise ValueError("only one of the two carries item names; build both with the same items=")
    raise ValueError("the two name different items, or in another order; bring one into the other's with reindex")


def new_positions(names: tuple[str, ...], used: Indices, target: tuple[str, ...]) -> Indices:
    """Where each of `names` stands in `target`, in whatever Unicode form; -1 if nowhere, refused for those `used`."""
    find = finder(target)
    found = np.array([find(name) for name in names], dtype=np.intp)
    missing = [names[index] for index in used if found[index] < 0]
    if missing:
        few = ", ".join(map(brief, missing[:5])) + (", ..." if len(missing) > 5 else "")
        others = set(target) - set(names)
        raise ValueError(
            f"names of {len(missing)} compared items are missing from the {len(target)} given: "
            f"{few}{did_you_mean(missing[0], [name for name in target if name in others])}"
        )
    return found


def new_names(mine: tuple[str, ...] | None, n_items: int, names: Names | Mapping[Any, str]) -> tuple[str, ...] | None:
    """Names for items that have others, or none: all of them in order, or new ones by name or index."""
    if not isinstance(names, Mapping):
        given = as_items(names)
        if mine is not None and given is not None and len(given) != len(mine):
            raise ValueError(f"{len(given)} names for {len(mine)} items; expected one for each, in order")
        return given
    known: tuple[Any, ...] = tuple(range(n_items)) if mine is None else mine
    for key in names:
        if mine is not None and key not in known:
            raise ValueError(f"no item is called {brief(key)}{did_you_mean(key, known)}")
        if mine is None and (isinstance(key, bool) or not isinstance(key, (int, np.integer)) or key < 0):
            raise ValueError(f"item {brief(key)}; expected an index, as the items have no names")
    if mine is None:
        size = max([n_items, *(int(key) + 1 for key in names)])
        missing = [index for index in range(size) if index not in names]
        if missing:
            raise ValueError(f"no name for item {missing[0]}; expected one for each of {size}")
        return as_items([names[index] for index in range(size)])
    return as_items([names.get(name, name) for name in mine])
