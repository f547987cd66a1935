"""Turning what a caller hands over into columns, or naming the first row that can't be taken."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from reprlib import repr as brief
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..support.checks import RowError, refuse, refuse_masked
from ..support.spelling import did_you_mean, finder
from ..support.types import Array, Indices
from .kinds import LINKS, Kind

Weight: TypeAlias = ArrayLike | None
Rater: TypeAlias = str | int | Sequence[str | int | None] | Array | None

INDEX = "an item's index, a whole number from 0 up"
ANSWER = "0, 1 or 2, the position of the odd one as shown, or -1 for can't tell"
# Derived: above 2⁵³, float64 can't represent all whole numbers.
_LARGEST_WHOLE = 2**53


def as_array(values: Any, what: str) -> Array:
    """Keep an array's own type; hold anything else as objects, so that NumPy can't turn numbers into text."""
    refuse_masked(values, what)
    if hasattr(values, "__array__"):
        array = np.asarray(values)
        if array.ndim == 0:
            raise ValueError(f"{what} is a single {brief(values)}; expected one entry for each row")
        return array
    if isinstance(values, str) or not isinstance(values, Iterable):
        raise ValueError(f"{what} is {brief(values)}; expected one entry for each row")
    rows = list(values)
    try:
        return np.array(rows, dtype=object) if rows else np.empty(0, dtype=np.intp)
    except ValueError:  # rows that are arrays of different shapes
        return _one_object_each(rows)


def _one_object_each(rows: list[Any]) -> Array:
    array = np.empty(len(rows), dtype=object)
    array[:] = rows
    return array


def as_column(values: Any, what: str) -> Array:
    """One-dimensional array."""
    array = as_array(values, what)
    if array.ndim != 1:
        raise ValueError(f"{what} has shape {array.shape}; expected one entry for each row")
    return array


def as_grid(values: Any, width: int, what: str) -> Array:
    """Two-dimensional array with `width` columns; a row of another length is named."""
    array = as_array(values, what)
    if array.shape[0] == 0:
        return np.empty((0, width), dtype=np.intp)
    if array.ndim == 2 and array.shape[1] == width:
        return array
    if array.ndim == 1 and array.dtype == object:
        for row, entry in enumerate(array):
            if isinstance(entry, str) or not hasattr(entry, "__len__") or len(entry) != width:
                raise RowError(row, f"{what} holds {brief(entry)}; expected {width} items")
    raise ValueError(f"{what} has shape {array.shape}; expected (m, {width}), one row of {width} items for each answer")


def as_whole_numbers(array: Array, what: str, accepted: str) -> NDArray[np.int64]:
    """Whole numbers, also when they come as floats; never truth values, text or NaN."""
    if array.dtype.kind == "O":
        whole = np.array([_is_whole(value) for value in array.flat], dtype=bool).reshape(array.shape)
    elif array.dtype.kind in "iu":
        whole = array <= _LARGEST_WHOLE
    elif array.dtype.kind == "f":
        whole = (np.abs(array) <= _LARGEST_WHOLE) & (array == np.floor(array))
    else:
        whole = np.zeros(array.shape, dtype=bool)
    _refuse_entries(array, ~whole, what, accepted)
    return array.astype(np.int64)


def _is_whole(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.integer, np.floating)):
        return False
    return bool(-_LARGEST_WHOLE <= value <= _LARGEST_WHOLE) and value == int(value)


def _refuse_entries(array: Array, bad: NDArray[np.bool_], what: str, accepted: str) -> None:
    if bad.any():
        place = np.unravel_index(int(bad.argmax()), bad.shape)
        raise RowError(int(place[0]), f"{what} holds {brief(array[place])}; expected {accepted}")


def as_indices(array: Array, what: str, items: tuple[str, ...] | None) -> Indices:
    """Item indices; names are looked up in `items`."""
    if array.dtype.kind in "UT":
        array = array.astype(object)
    if array.dtype.kind == "O" and any(issubclass(found, str) for found in set(map(type, array.flat))):
        return _look_up(array, what, items)
    return as_whole_numbers(array, what, INDEX).astype(np.intp)


def _look_up(array: Array, what: str, items: tuple[str, ...] | None) -> Indices:
    named = np.array([isinstance(entry, str) for entry in array.flat], dtype=bool).reshape(array.shape)
    if items is None:
        _refuse_entries(array, named, what, f"{INDEX}, or pass items= with the names of all items in order")
    _refuse_entries(array, ~named, what, "names only, as other entries are names, or indices only")
    known = items or ()
    find = finder(known)
    indices = np.array([find(name) for name in array.flat], dtype=np.intp).reshape(array.shape)
    unknown = array[indices < 0]
    near = did_you_mean(unknown[0], known) if len(unknown) else ""
    _refuse_entries(array, indices < 0, what, f"one of the {len(known)} names in items{near}")
    return indices


def as_numbers(values: Any, n_rows: int, what: str, accepted: str) -> NDArray[np.float64]:
    """Floats, one for each row; a single number counts for every row."""
    if isinstance(values, (int, float, np.integer, np.floating)) and not isinstance(values, bool):
        return np.full(n_rows, float(values))
    array = as_column(values, what)
    check_length(array, n_rows, what)
    if array.dtype.kind == "O":
        numeric = np.array(
            [isinstance(v, (int, float, np.integer, np.floating)) and not isinstance(v, bool) for v in array],
            dtype=bool,
        )
    else:
        numeric = np.full(array.shape, array.dtype.kind in "iuf")
    _refuse_entries(array, ~numeric, what, accepted)
    return array.astype(np.float64)


def as_texts(values: Iterable[Any], what: str) -> list[str]:
    """Strings that every file format can hold: encodable in UTF-8 and free of NUL."""
    texts = []
    for row, value in enumerate(values):
        if not isinstance(value, str):
            raise RowError(row, f"{what} {brief(value)} is a {type(value).__name__}; expected text (str)")
        texts.append(str(value))
    if not _is_storable("".join(texts)):
        row = next(row for row, text in enumerate(texts) if not _is_storable(text))
        raise RowError(row, f"{what} {brief(texts[row])} holds a NUL or half a surrogate pair, which no file can carry")
    return texts


def _is_storable(text: str) -> bool:
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False


def as_raters(rater: Rater, n_rows: int) -> NDArray[np.str_] | None:
    """Who answered each row, `""` where unknown; None when nobody is named at all."""
    if rater is None:
        return None
    if isinstance(rater, (str, int, np.integer)):
        rater = [rater] * n_rows
    column = as_column(rater, "rater")
    check_length(column, n_rows, "rater")
    # Numbered raters are as common as named ones, and None stands for unknown.
    names = as_texts((_rater_name(value) for value in column), "rater")
    return np.array(names, dtype=np.str_) if any(names) else None


def _rater_name(value: object) -> object:
    if value is None:
        return ""
    if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
        return str(value)
    return value


def check_length(array: Array, n_rows: int, what: str) -> None:
    """Refuse a column that is shorter or longer than the rows it belongs to."""
    if len(array) != n_rows:
        raise ValueError(f"{what} has {len(array)} entries for {n_rows} rows; expected one for each row")


def check_rows(
    kind: NDArray[np.int64],
    shown: Indices,
    odd: NDArray[np.int64],
    bound: NDArray[np.float64],
    weight: NDArray[np.float64],
    items: tuple[str, ...] | None,
) -> None:
    """Refuse the first row that makes no sense as a whole."""
    is_answer = kind == Kind.ODD_ONE_OUT
    is_link = np.isin(kind, LINKS)
    used = shown.copy()
    used[is_link, 2] = used[is_link, :2].max(axis=1)
    refuse(used < 0, lambda row: f"{shown[row].tolist()} holds a negative index; expected {INDEX}")
    if items is not None:
        refuse(
            used >= len(items),
            lambda row: (
                f"index {used[row].max()} is out of range; expected 0 to {len(items) - 1}, as items has "
                f"{len(items)} names"
            ),
        )
    repeated = used[:, 0] == used[:, 1]
    repeated |= ~is_link & ((used[:, 0] == used[:, 2]) | (used[:, 1] == used[:, 2]))
    refuse(repeated, lambda row: _repetition(shown[row, : 2 if is_link[row] else 3].tolist(), items))
    refuse(is_link & (shown[:, 2] != -1), lambda row: f"a link shows {shown[row].tolist()}; expected -1 as third entry")
    refuse((odd < -1) | (odd > 2), lambda row: f"answer {odd[row]}; expected {ANSWER}")
    refuse(~is_answer & (odd != -1), lambda row: f"answer {odd[row]} on a {Kind(kind[row]).name} row; expected -1")
    refuse(
        ~np.isnan(bound) & ((bound < 0) | np.isinf(bound) | ~is_link),
        lambda row: f"bound {bound[row]}; expected a finite number, 0 or more, and that on links only",
    )
    refuse(
        ~((weight > 0) & np.isfinite(weight)),
        lambda row: f"weight {weight[row]}; expected a positive, finite number",
    )


def _repetition(shown: list[int], items: tuple[str, ...] | None) -> str:
    called: list[int | str] = [index if items is None else items[index] for index in shown]
    twice = next(item for item in called if called.count(item) > 1)
    return f"{brief(called)} repeats an item, {twice!r}; expected different items"
