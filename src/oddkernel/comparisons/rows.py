"""Rows as a file holds them, with the columns of `Comparisons.to_dict`, and how to understand them."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import chain
from reprlib import repr as brief
from typing import Any, NamedTuple, NoReturn, Self

import numpy as np

from ..support.checks import RowError
from ..support.spelling import closest, did_you_mean, finder
from ..support.types import Indices
from .answers import ANSWERS, POSITIONS, NumberedAnswer, are_items, count_from, position_of, positions_in
from .comparisons import Comparisons
from .kinds import LINKS, Kind
from .names import numbers_in_names, other_number

COLUMNS = ("kind", "a", "b", "c", "answer", "bound", "weight", "rater")
PART_OF = "answer_id"
"""The column that tells which rows are part of one answer."""
REQUIRED = (*POSITIONS, "answer")
POSITION_NUMBERS = (("0", "1", "2"), ("1", "2", "3"))
"""How positions are written, counted from 0 and from 1."""
KINDS = {kind.name.lower(): kind for kind in Kind}


def refuse_misspelt(heads: Sequence[str], present: Collection[str]) -> None:
    """Refuse a column that is to be left aside, but is called almost like one of ours."""
    for head in heads:
        meant = closest(head, [name for name in COLUMNS if name not in {*REQUIRED, *present}], cutoff=0.8)
        if meant:
            raise ValueError(
                f"column {brief(head)} is unknown; expected {', '.join(COLUMNS)}; did you mean {meant!r}? "
                f"(columns=, --columns {meant}={head})"
            )


class Rows(NamedTuple):
    """What a file says, value by value, before it is understood.

    Attributes
    ----------
    columns : dict of str to list
        Values of each column; None where there is nothing to say. A column may be absent.
    places : sequence of str
        Where in the file each row stands, for errors.
    named : bool
        Whether items stand by name or by index.
    items : sequence of str or None
        All names in order; None takes the names that occur, sorted.
    first : int or None
        The number of the first item, where items are numbered by habit and no file says so; None leaves no doubt.
    notes : sequence of str
        Sentences on what became of the file: what a row turned into, what was left out.
    heads : sequence of three str or None
        What the file calls the columns a, b and c, if answers may stand as `position_of` takes them; None takes only
        those of our own files.
    doubt : str or None
        What the file leaves open: the error that `understand` raises unless `counted_from` or `called` decides it.
    first_position : int or None
        The number of the first position, where answers are numbers; None leaves that to the answers.
    """

    columns: dict[str, list[Any]]
    places: Sequence[str]
    named: bool
    items: Sequence[str] | None = None
    first: int | None = None
    notes: Sequence[str] = ()
    heads: Sequence[str] | None = None
    doubt: str | None = None
    first_position: int | None = None

    @classmethod
    def of_triples(
        cls,
        kind: str,
        triples: Sequence[Sequence[Any]],
        places: Sequence[str],
        *,
        first: int | None = None,
        notes: Sequence[str] = (),
        **columns: list[Any],
    ) -> Self:
        """Rows of one kind about three items each, by name unless `first` is given."""
        items = {name: [triple[position] for triple in triples] for position, name in enumerate(POSITIONS)}
        return cls({"kind": [kind] * len(triples), **items, **columns}, places, first is None, None, first, notes)

    def counted_from(self, number: int | None) -> Self:
        """Settle what number the first item has, and count from 0; None goes by habit if that leaves no doubt."""
        if self.doubt is not None and number is not None:
            for row, entries in enumerate(zip(*map(self._column, POSITIONS), strict=True)):
                if not all(entry is None or str(entry).isdecimal() for entry in entries):
                    self._refuse(row, f"items {brief(list(entries))}; expected whole numbers from {number} up")
            whole = {
                name: [None if entry is None else int(entry) for entry in self._column(name)] for name in POSITIONS
            }
            settled = self._replace(columns=self.columns | whole, named=False, first=number, doubt=None)
            return settled.counted_from(number)
        if self.first is None:
            if number in (0, 1) and self._has_positions():
                return self._replace(first_position=number)
            if number is not None:
                how = "items stand by name" if self.named else "the file counts items from 0"
                raise ValueError(f"count_from is {brief(number)}, but {how}; expected it to be left out")
            return self
        if number is not None and (type(number) is not int or number not in (0, 1)):
            raise ValueError(f"count_from is {brief(number)}; expected 0 or 1, the number of the first item")
        start = self.first if number is None else number
        used = {entry for name in POSITIONS for entry in self._column(name) if entry is not None}
        if not used:
            return self
        low, high = min(used), max(used)
        if number is None and self.first == 0 and low > 0:
            raise ValueError(
                f"items have the numbers {low} to {high} and none has 0, so they may be counted from 0 or from 1; "
                "expected count_from=0 or count_from=1 (--count-from) to say which"
            )
        if low < start:
            row = next(row for row in range(len(self.places)) if low in [self._column(name)[row] for name in POSITIONS])
            wanted = f"numbers from {start} up, as items are counted from {start}"
            self._refuse(row, f"an item has the number {low}; expected {wanted}")
        shifted = {
            name: [None if entry is None else entry - start for entry in self._column(name)] for name in POSITIONS
        }
        if self.heads is not None and any(isinstance(answer, (str, int)) for answer in self._column("answer")):
            shifted["answer"] = self._letters()  # an answer may be the number of an item
        note = f"Items are numbered from {low} to {high} in the file, counted from {start}, and counted from 0 here."
        return self._replace(columns=self.columns | shifted, first=None, notes=(note, *self.notes))

    def called(self, items: Sequence[str] | Mapping[str, str]) -> Self:
        """Say which items there are: names in order, or the name of each item as the file gives it."""
        if not isinstance(items, Mapping):
            if not self.named:
                return self.called({str(index): name for index, name in enumerate(items)})
            known = set(items)
            if self.doubt is None:
                return self._replace(items=items)
            are_names = all(str(entry) in known for entry in self._entries())
            return self.called({name: name for name in items}) if are_names else self
        names = list(dict.fromkeys(items.values()))
        if len(names) < len(items):
            raise ValueError("two items have one name; expected distinct names")
        if self.named and self.doubt is None and set(self._entries()) <= set(names):
            return self._replace(items=names)
        new: dict[str, list[Any]] = {name: list(self._column(name)) for name in POSITIONS}
        find, called = finder(items), list(items.values())
        for row in range(len(self.places)):
            for name, column in new.items():
                entry = column[row]
                if entry is None:
                    continue
                place = find(str(entry))
                if place < 0:
                    wanted = f"one of the {len(items)} items{did_you_mean(entry, items)}"
                    self._refuse(row, f"{name} is {brief(entry)}; expected {wanted}")
                column[row] = called[place]
        if self.heads is not None and any(isinstance(answer, (str, int)) for answer in self._column("answer")):
            new["answer"] = self._letters()
        return self._replace(columns=self.columns | new, named=True, items=names, first=None, doubt=None)

    def check_numbers(self, items: Sequence[str], count_from: int | None) -> None:
        """Refuse numbers that could count these items in order, or be those in their names."""
        if self.doubt is not None and count_from is None:  # then they can't count anything
            return
        first = (self.first or 0) if count_from is None else count_from
        rows = [
            [int(entry) for entry in entries if type(entry) is int or (isinstance(entry, str) and entry.isdecimal())]
            for entries in zip(*map(self._column, POSITIONS), strict=True)
        ]
        number = other_number(items, set(chain.from_iterable(rows)), first)
        if number is not None:
            named, there = numbers_in_names(items).get(number), 0 <= number - first < len(items)
            counted = f"{brief(items[number - first])}, at this place" if there else "none"
            other = f"{brief(named)}, whose name has this number" if named else "none, as no name has this number"
            self._refuse(
                next(row for row, entries in enumerate(rows) if number in entries),
                f"item {number} could be {counted} in the list of items counted from {first}, or {other}; "
                "expected numbers_are='names' (--numbers-are names) if the numbers are those in the names, "
                "numbers_are='positions' (--numbers-are positions) if they count the list as it stands",
            )

    def _has_positions(self) -> bool:
        """Whether some answers are numbers, and these can't be items or the heads of their columns."""
        numbers = set() if self.heads is None else positions_in(self._column("answer"))
        return bool(numbers) and numbers.isdisjoint([*map(str, self._entries()), *map(str.strip, self.heads or ())])

    def _letters(self) -> list[Any]:
        """The answers as our own files hold them, where they could be items that are about to get other names."""
        letters = {position: letter for letter, position in ANSWERS.items()}
        odd = self._odd(self._kinds())
        return [
            None if answer is None else letters[position]
            for position, answer in zip(odd, self._column("answer"), strict=True)
        ]

    def _entries(self) -> list[Any]:
        return [entry for name in POSITIONS for entry in self._column(name) if entry is not None]

    def understand(self) -> Comparisons:
        """Make `Comparisons` of the rows, or raise a ValueError that says where that fails and why."""
        if self.doubt is not None:
            raise ValueError(self.doubt)
        kinds = self._kinds()
        self._check_filled(kinds)
        items = self._items()
        try:
            return Comparisons(
                kinds,
                self._shown(items),
                self._odd(kinds),
                self._numbers("bound", default=math.nan),
                self._numbers("weight", default=1.0),
                self._column("rater"),
                items,
                self._parts(kinds),
            )
        except RowError as error:
            self._refuse(error.row, error.problem)

    def _refuse(self, row: int, problem: str) -> NoReturn:
        raise ValueError(f"{self.places[row]}: {problem}")

    def _column(self, name: str) -> list[Any]:
        return self.columns.get(name, [None] * len(self.places))

    def _kinds(self) -> list[Kind]:
        if "kind" not in self.columns:
            return [Kind.ODD_ONE_OUT] * len(self.places)
        for row, kind in enumerate(self.columns["kind"]):
            if not isinstance(kind, str) or kind not in KINDS:
                self._refuse(row, f"kind {brief(kind)} is unknown; expected {', '.join(KINDS)}")
        return [KINDS[kind] for kind in self.columns["kind"]]

    def _check_filled(self, kinds: list[Kind]) -> None:
        for row, (kind, *entries) in enumerate(zip(kinds, *map(self._column, POSITIONS), strict=True)):
            n_items = 2 if kind in LINKS else 3
            if [entry is not None for entry in entries] != [position < n_items for position in range(3)]:
                wrong = next(p for p, entry in enumerate(entries) if (entry is not None) != (p < n_items))
                seen = f"{POSITIONS[wrong]} is {'missing' if entries[wrong] is None else 'not empty'}"
                wanted = ", ".join(POSITIONS[:n_items])
                self._refuse(row, f"items {brief(entries)}: {seen}; expected {kind.name.lower()} to fill in {wanted}")

    def _parts(self, kinds: list[Kind]) -> list[int] | None:
        """The number of each row's answer: closer statements about one anchor with the same id are one answer."""
        if PART_OF not in self.columns:
            return None
        number: dict[Any, int] = {}
        return [
            number.setdefault(row if kind != Kind.CLOSER or id is None else (id, anchor), len(number))
            for row, (kind, id, anchor) in enumerate(
                zip(kinds, self.columns[PART_OF], self._column(POSITIONS[0]), strict=True)
            )
        ]

    def _items(self) -> Sequence[str] | None:
        if self.items is not None or not self.named:
            return self.items
        return sorted({entry for entry in self._entries() if isinstance(entry, str)})

    def _shown(self, items: Sequence[str] | None) -> Indices:
        find = finder(items or ())
        shown = np.full((len(self.places), 3), -1, dtype=np.intp)
        for row, entries in enumerate(zip(*map(self._column, POSITIONS), strict=True)):
            for position, entry in enumerate(entries):
                if entry is None:
                    continue
                if items is None and type(entry) is int and 0 <= entry < 2**53:
                    shown[row, position] = entry
                elif isinstance(entry, str) and (place := find(entry)) >= 0:
                    shown[row, position] = place
                else:
                    wanted = "an item's index, from 0 up" if items is None else f"one of the {len(items)} item names"
                    meant = did_you_mean(entry, items or ())
                    self._refuse(row, f"{POSITIONS[position]} is {brief(entry)}; expected {wanted}{meant}")
        return shown

    def _odd(self, kinds: list[Kind]) -> list[int]:
        answers, shown = self._column("answer"), list(zip(*map(self._column, POSITIONS), strict=True))
        by_item = self.heads is not None and are_items(answers, shown)
        first = self.first_position
        if first is None and self._has_positions():
            first = count_from(answers)
        are_letters = self.heads is None or tuple(self.heads) == POSITIONS
        odd = [-1] * len(kinds)
        for row, (kind, answer) in enumerate(zip(kinds, answers, strict=True)):
            if kind != Kind.ODD_ONE_OUT:
                if answer is not None:
                    self._refuse(row, f"answer {brief(answer)}; expected none for {kind.name.lower()}")
            elif (
                are_letters
                and isinstance(answer, str)
                and answer in ANSWERS
                and (self.heads is None or answer not in shown[row])
            ):
                odd[row] = ANSWERS[answer]
            elif self.heads is None:
                wanted = "a, b or c, the column that holds the odd one, or cant_tell"
                self._refuse(row, f"answer {brief(answer)}; expected {wanted}")
            elif first is not None and str(answer).strip() in POSITION_NUMBERS[first]:
                odd[row] = POSITION_NUMBERS[first].index(str(answer).strip())
            elif first is not None and positions_in([answer]):
                wanted = f"{', '.join(POSITION_NUMBERS[first])}, as positions are counted from {first}"
                self._refuse(row, f"answer {brief(answer)}; expected {wanted}, or cant_tell")
            else:
                try:
                    odd[row] = position_of(answer, shown[row], self.heads, numbers_are_items=by_item)
                except NumberedAnswer as error:
                    problem = f"{self.places[row]}: {error}"
                    raise (NumberedAnswer if self._has_positions() else ValueError)(problem) from None
                except ValueError as error:
                    self._refuse(row, str(error))
        return odd

    def _numbers(self, name: str, default: float) -> list[float]:
        numbers = [default] * len(self.places)
        for row, value in enumerate(self._column(name)):
            if value is None:
                continue
            # Integers beyond 64 bits may not fit a float.
            if not (type(value) is float and math.isfinite(value)) and not (type(value) is int and abs(value) < 2**63):
                self._refuse(row, f"{name} is {brief(value)}; expected a finite number, or nothing")
            numbers[row] = float(value)
        return numbers
