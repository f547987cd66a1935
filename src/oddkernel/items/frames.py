"""Data frames of items: the names in their index, and joining answers to their rows by name."""

from __future__ import annotations

import sys
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any, TypeGuard

from ..comparisons import Comparisons
from ..comparisons.names import as_items

if TYPE_CHECKING:
    import pandas as pd


def is_frame(X: Any) -> TypeGuard[pd.DataFrame]:
    """Whether X is a pandas data frame."""
    pandas = sys.modules.get("pandas")  # a frame can't be there unless its package is
    return pandas is not None and isinstance(X, pandas.DataFrame)


def row_names(X: Any) -> tuple[str, ...] | None:
    """The items' names: the index of a pandas frame, if it holds text.

    None for arrays, and for an index of numbers or dates. Duplicate and missing names are refused.

    Examples
    --------
    >>> import pandas as pd
    >>> row_names(pd.DataFrame({"legs": [6, 4]}, index=["ant", "cat"]))
    ('ant', 'cat')
    >>> row_names(pd.DataFrame({"legs": [6, 4]})) is None
    True
    """
    if not is_frame(X):
        return None
    labels = X.index.tolist()
    if not any(isinstance(label, str) for label in labels):
        return None
    return as_items(labels, "the index of X")


def join(said: Comparisons, X: Any, n_items: int) -> Comparisons:
    """The answers, about the rows of X, of which there are ``n_items``.

    Where X is a frame with names and the answers name their items, they are joined by name. Otherwise an item's index
    is its row in X; the answers then get the frame's names, if it has any.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"legs": [6, 4, 6]}, index=["bee", "cat", "ant"])
    >>> join(Comparisons.must_link([["ant", "bee"]], items=["ant", "bee"]), frame, 3).shown
    array([[ 2,  0, -1]])
    """
    if said.items is not None:
        names = row_names(X)
        if names is not None:
            return said.reindex(names)
        said.check_items(n_items)
        return said
    said.check_items(n_items)
    names = usable_names(X)
    if names is None:
        return said
    return Comparisons(said.kind, said.shown, said.odd, said.bound, said.weight, said.rater, names)


def usable_names(X: Any) -> tuple[str, ...] | None:
    """The items' names, or None where some are missing or not distinct and nothing needs to be joined by them."""
    try:
        return row_names(X)
    except ValueError:
        return None


def check_columns(X: Any) -> None:
    """Refuse a frame with columns that are not numbers: say which one, and what to do about it."""
    if not is_frame(X):
        return
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    for position, (column, dtype) in enumerate(X.dtypes.items()):
        if is_numeric_dtype(dtype) or is_bool_dtype(dtype):
            continue
        for value in X.iloc[:, position]:
            if isinstance(value, str) and not _is_number(value):
                raise ValueError(
                    f"X, column {column!r} holds {brief(value)}; expected numbers. If it holds the items' names, "
                    f"make it the index: X.set_index({column!r}). If it holds categories, encode them, for example "
                    "with pandas.get_dummies(X); or drop the column"
                )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
