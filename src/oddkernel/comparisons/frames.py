"""Data frames of answers: pandas, and by the same few methods polars and Arrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from reprlib import repr as brief
from typing import Any

import numpy as np

from ..support.spelling import did_you_mean
from .answers import POSITIONS
from .comparisons import Comparisons
from .names import Names, as_items
from .rows import COLUMNS, PART_OF, REQUIRED, Rows, refuse_misspelt


def read_frame(frame: Any, columns: Mapping[str, str] | None, items: Names) -> Comparisons:
    """The comparisons in a frame; see `Comparisons.from_frame`."""
    there = [str(name) for name in _heads(frame)]
    known = (*COLUMNS, PART_OF)
    heads = {name: name for name in known if name in there} | dict(columns or {})
    for name, head in heads.items():
        if name not in known:
            raise ValueError(f"columns: {name!r} is none of ours; expected {', '.join(known)}")
        if head not in there:
            raise ValueError(f"no column called {head!r}; there are {', '.join(there)}{did_you_mean(head, there)}")
    missing = [name for name in REQUIRED if name not in heads and not (name == "answer" and "kind" in heads)]
    if missing:
        example = ", ".join(f"{name!r}: ..." for name in missing)
        raise ValueError(
            f"column {', '.join(missing)} is missing; expected at least {', '.join(REQUIRED)}, and there are "
            f"{', '.join(there)}; say which are meant: columns={{{example}}}"
        )
    if not columns:
        refuse_misspelt([head for head in there if head not in heads], heads)
    values = {name: _values(frame, head) for name, head in heads.items()}
    values["rater"] = [_whole(value) for value in values.get("rater", [None] * len(values["a"]))]
    for name in POSITIONS:
        values[name] = [_whole(value) for value in values[name]]
    entries = [entry for name in POSITIONS for entry in values[name] if entry is not None]
    texts = [entry for entry in entries if isinstance(entry, str)]
    if texts and len(texts) < len(entries):
        other = next(entry for entry in entries if not isinstance(entry, str))
        raise ValueError(f"items {brief(texts[0])} and {brief(other)}: expected names only, or indices only")
    rows = Rows(
        values,
        [f"row {row}" for row in range(len(values["a"]))],
        bool(texts),
        heads=[heads[name] for name in POSITIONS],
    )
    names = as_items(items)
    return (rows if names is None else rows.called(names)).understand()


def _heads(frame: Any) -> Sequence[Any]:
    # Arrow's `columns` are arrays.
    return list(getattr(frame, "column_names", None) or frame.columns)


def _values(frame: Any, head: str) -> list[Any]:
    """A column as a list, None where nothing is."""
    column = frame[head]
    for method in ("to_pylist", "to_list"):
        if hasattr(column, method):
            return [None if _is_missing(value) else value for value in getattr(column, method)()]
    raise TypeError(f"a column is a {type(column).__name__}; expected a frame of pandas, polars or Arrow")


def _is_missing(value: object) -> bool:
    # pandas' NA isn't even unequal to itself.
    return value is None or type(value).__name__ == "NAType" or value != value


def _whole(value: object) -> object:
    """Whole numbers of NumPy, and those that a column with gaps holds as floats."""
    is_whole = isinstance(value, np.integer) or (isinstance(value, float) and value.is_integer())
    return int(value) if is_whole else value  # type: ignore[call-overload]
