"""Rows as a file holds them, with the columns of `Comparisons.to_dict`, and how to understand them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from reprlib import repr as brief
from typing import Any, NamedTuple, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from ..comparisons import Comparisons, Kind, RowError
from ..comparisons.kinds import LINKS

COLUMNS = ("kind", "a", "b", "c", "answer", "bound", "weight", "rater")
POSITIONS = ("a", "b", "c")
REQUIRED = (*POSITIONS, "answer")
KINDS = {kind.name.lower(): kind for kind in Kind}
ANSWERS = {"a": 0, "b": 1, "c": 2, "cant_tell": -1}


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
    """

    columns: dict[str, list[Any]]
    places: Sequence[str]
    named: bool
    items: Sequence[str] | None = None
    first: int | None = None
    notes: Sequence[str] = ()

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
        if self.first is None:
            if number is not None:
                raise ValueError(f"count_from is {brief(number)}, but items stand by name; expected it to be left out")
            return self
        if number is not None and (type(number) is not int or number not in (0, 1)):
            raise ValueError(f"count_from is {brief(number)}; expected 0 or 1, the number of the first item")
        start = self.first if number is None else number
        used = {entry for name in POSITIONS for entry in self._column(name)}
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
        shifted = {name: [entry - start for entry in self._column(name)] for name in POSITIONS}
        note = f"Items are numbered from {low} to {high} in the file, counted from {start}, and counted from 0 here."
        return self._replace(columns=self.columns | shifted, first=None, notes=(note, *self.notes))

    def understand(self) -> Comparisons:
        """Make `Comparisons` of the rows, or raise a ValueError that says where that fails and why."""
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
                wanted = ", ".join(POSITIONS[:n_items])
                self._refuse(row, f"items {brief(entries)}; expected {kind.name.lower()} to fill in {wanted}")

    def _items(self) -> Sequence[str] | None:
        if self.items is not None or not self.named:
            return self.items
        return sorted({entry for name in POSITIONS for entry in self._column(name) if isinstance(entry, str)})

    def _shown(self, items: Sequence[str] | None) -> NDArray[np.intp]:
        index_of = {name: index for index, name in enumerate(items or ())}
        shown = np.full((len(self.places), 3), -1, dtype=np.intp)
        for position, name in enumerate(POSITIONS):
            for row, entry in enumerate(self._column(name)):
                if entry is None:
                    continue
                if items is None and type(entry) is int and 0 <= entry < 2**53:
                    shown[row, position] = entry
                elif isinstance(entry, str) and entry in index_of:
                    shown[row, position] = index_of[entry]
                else:
                    wanted = "an item's index, from 0 up" if items is None else f"one of the {len(items)} item names"
                    self._refuse(row, f"{name} is {brief(entry)}; expected {wanted}")
        return shown

    def _odd(self, kinds: list[Kind]) -> list[int]:
        odd = [-1] * len(kinds)
        for row, (kind, answer) in enumerate(zip(kinds, self._column("answer"), strict=True)):
            if kind != Kind.ODD_ONE_OUT:
                if answer is not None:
                    self._refuse(row, f"answer {brief(answer)}; expected none for {kind.name.lower()}")
            elif isinstance(answer, str) and answer in ANSWERS:
                odd[row] = ANSWERS[answer]
            else:
                wanted = "a, b or c, the column that holds the odd one, or cant_tell"
                self._refuse(row, f"answer {brief(answer)}; expected {wanted}")
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
