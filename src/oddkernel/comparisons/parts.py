"""Answers that several rows state together, such as the choice of two items among eight."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..support.checks import RowError, refuse
from ..support.types import Array, Indices
from .columns import INDEX, as_column, as_indices, as_whole_numbers, check_length
from .kinds import Kind


def as_parts(part_of: ArrayLike | None, kind: Array, shown: Indices) -> Indices | None:
    """Checked numbers of the answers that rows are part of; None if every row is an answer of its own."""
    if part_of is None:
        return None
    numbers = as_whole_numbers(as_column(part_of, "part_of"), "part_of", "the number of an answer").astype(np.intp)
    check_length(numbers, len(kind), "part_of")
    parts = renumbered_parts(numbers)
    if parts is None:
        return None
    first = np.unique(parts, return_index=True)[1][parts]
    shared = np.bincount(parts)[parts] > 1
    wrong = shared & ((kind != Kind.CLOSER) | (shown[:, 0] != shown[first, 0]))
    refuse(wrong, lambda row: "part of an answer of several rows; expected closer statements about one anchor")
    return parts


def renumbered_parts(numbers: Indices) -> Indices | None:
    """The same answers, numbered from 0 in the order in which they first appear; None if each has one row.

    Examples
    --------
    >>> renumbered_parts(np.array([7, 3, 7, 9]))
    array([0, 1, 0, 2])
    """
    _, first, number = np.unique(numbers, return_index=True, return_inverse=True)
    if len(first) == len(numbers):
        return None
    return np.asarray(np.argsort(np.argsort(first))[number.ravel()])


def joined_parts(parts: Indices | None, n_rows: int, more: Indices | None, n_more: int) -> Indices | None:
    """The answers of two tables, one after the other."""
    if parts is None and more is None:
        return None
    one, two = (np.arange(n) if each is None else each for each, n in ((parts, n_rows), (more, n_more)))
    return np.concatenate([one, two + int(one.max(initial=-1)) + 1])


def question_numbers(item_sets: Indices, parts: Indices | None) -> Indices:
    """See `Comparisons.questions`."""
    if parts is None:
        rows = _keys(item_sets)
        return np.unique(rows, return_inverse=True, axis=0 if rows.ndim > 1 else None)[1].reshape(-1)
    items: list[set[int]] = [set() for _ in range(int(parts.max(initial=-1)) + 1)]
    for part, row in zip(parts.tolist(), item_sets.tolist(), strict=True):
        items[part].update(row)
    keys = [tuple(sorted(each)) for each in items]
    number = {key: place for place, key in enumerate(sorted(set(keys)))}
    return np.array([number[key] for key in keys], dtype=np.intp)[parts]


def _keys(item_sets: Indices) -> Indices:
    """One number for each row, in the order of the rows, where such numbers fit: sorted ten times as fast."""
    least, size = int(item_sets.min(initial=0)), int(np.ptp(item_sets)) + 1 if item_sets.size else 1
    if size ** item_sets.shape[1] > np.iinfo(np.int64).max:
        return item_sets
    key = np.zeros(len(item_sets), dtype=np.int64)
    for column in item_sets.T:
        key = key * size + (column - least)
    return key


def grid_rows(
    middle: Any, around: Any, picked: Any, items: tuple[str, ...] | None
) -> tuple[Indices, Indices, Indices, Indices, Array]:
    """Anchor, near and far of each row of grids' answers, the number of the grid, and the row's share of its weight.

    See `Comparisons.grid`.
    """
    middles = as_indices(as_column(middle, "middle"), "middle", items)
    for each, what in ((around, "around"), (picked, "picked")):
        if len(each) != len(middles):
            raise ValueError(f"{what} has {len(each)} entries for {len(middles)} grids; expected one for each grid")
    rows: list[tuple[int, int, int, int]] = []
    shares: list[float] = []
    for grid, (center, shown, chosen) in enumerate(zip(middles.tolist(), around, picked, strict=True)):
        surrounding = as_indices(as_column(shown, "around"), "around", items).tolist()
        positions = as_whole_numbers(as_column(chosen, "picked"), "picked", "positions in around").tolist()
        _check_grid(grid, center, surrounding, positions)
        near = [surrounding[position] for position in positions]
        rows += [(center, each, other, grid) for each in near for other in surrounding if other not in near]
        n_others = len(surrounding) - len(near)
        shares += [1 / len(near)] * len(near) * n_others
    anchor, closer, farther, number = np.array(rows, dtype=np.intp).reshape(-1, 4).T
    return anchor, closer, farther, number, np.array(shares)


def _check_grid(grid: int, center: int, around: list[int], picked: list[int]) -> None:
    if min(center, *around, 0) < 0:
        raise RowError(grid, f"{[center, *around]} holds a negative index; expected {INDEX}")
    if len({center, *around}) <= len(around):
        raise RowError(grid, f"{[center, *around]} repeats an item; expected different items")
    if not 0 < len(picked) < len(around) or len(set(picked)) < len(picked):
        wanted = f"1 to {len(around) - 1} different positions, as {len(around)} items are around the middle"
        raise RowError(grid, f"picked holds {picked}; expected {wanted}")
    if not all(0 <= position < len(around) for position in picked):
        raise RowError(grid, f"picked holds {picked}; expected positions from 0 to {len(around) - 1}")
