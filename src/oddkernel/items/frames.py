"""Data frames of items: where their names are, which columns are features, and joining answers to their rows by name.

A pandas frame has the names in its index. Frames of polars and tables of Arrow have no index, so a column holds the
names, by the rule of `name_column`, which files of items follow as well.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from reprlib import repr as brief
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from ..comparisons import Comparisons
from ..comparisons.names import as_items, new_positions, numbers_in_names, other_number, refuse_blanks
from .name_column import is_arrow_text, is_number, is_numbering, is_row_label, name_column, numbers_items, whole_numbers

if TYPE_CHECKING:
    import pandas as pd

_POLARS_TEXT = ("String", "Categorical", "Enum")  # its types of text, by its documentation
_WITH_DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*")


def is_frame(X: Any) -> TypeGuard[pd.DataFrame]:
    """Whether X is a pandas data frame."""
    pandas = sys.modules.get("pandas")  # a frame can't be there unless its package is
    return pandas is not None and isinstance(X, pandas.DataFrame)


def is_polars(X: Any) -> bool:
    """Whether X is a polars data frame."""
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(X, polars.DataFrame)


def is_arrow(X: Any) -> bool:
    """Whether X is a table or a record batch of Arrow."""
    arrow = sys.modules.get("pyarrow")
    return arrow is not None and isinstance(X, (arrow.Table, arrow.RecordBatch))


def row_names(X: Any) -> tuple[str, ...] | None:
    """The items' names: the index of a pandas frame, if it holds text, or the column of names of another frame.

    None for arrays, for an index of numbers or dates, and for frames without a column of names. Duplicate and missing
    names are refused.

    Examples
    --------
    >>> import pandas as pd
    >>> row_names(pd.DataFrame({"legs": [6, 4]}, index=["ant", "cat"]))
    ('ant', 'cat')
    >>> row_names(pd.DataFrame({"legs": [6, 4]})) is None
    True
    >>> import pyarrow as pa
    >>> row_names(pa.table({"item": ["ant", "cat"], "legs": [6, 4]}))
    ('ant', 'cat')
    """
    if is_frame(X):
        labels = X.index.tolist()
        return _distinct(labels, "the index of X") if any(isinstance(label, str) for label in labels) else None
    column = _name_column_of(X)
    if column is None:
        return None
    values = _values(X, column)
    if not any(isinstance(value, str) for value in values):
        raise ValueError(
            f"X, column {column!r} holds {brief(values[0]) if values else 'nothing'}; expected names, which are text. "
            "If it is a feature, call it otherwise"
        )
    return _distinct(values, f"X, column {column!r}")


def _distinct(labels: list[Any], what: str) -> tuple[str, ...]:
    return refuse_blanks(as_items(labels, what) or (), what)


def without_names(X: Any) -> Any:
    """X without its column of names, if it has one: the features.

    Examples
    --------
    >>> import pyarrow as pa
    >>> without_names(pa.table({"item": ["ant", "cat"], "legs": [6, 4]})).column_names
    ['legs']
    """
    column = _name_column_of(X)
    if column is None:
        return X
    row_names(X)  # a column that is left out of the features has to hold names
    return X.drop(column) if is_polars(X) else X.drop_columns([column])


def join(said: Comparisons, X: Any, n_items: int, *, by_row: bool = False) -> Comparisons:
    """The answers, about the rows of X, of which there are ``n_items``.

    Where X is a frame with names and the answers name their items, they are joined by name. Otherwise an item's index
    is its row in X; the answers then get the frame's names, if it has any. Whole numbers in a pandas index that don't
    count the rows are names if those in the answers are such numbers, too. Whatever could be about either the labels of
    a pandas index or the rows is refused, and so are indices where names end in numbers that are in another order. With
    ``by_row``, indices are rows of X by definition, as in questions that are given as an array; they are refused only
    where the index has all of them for other rows.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"legs": [6, 4, 6]}, index=["bee", "cat", "ant"])
    >>> join(Comparisons.must_link([["ant", "bee"]], items=["ant", "bee"]), frame, 3).shown
    array([[ 2,  0, -1]])
    """
    if said.items is not None:
        names = row_names(X)
        if names is None:
            names = _names_in_index(said, X)
        if names is not None:
            return said.reindex(names)
        said.check_items(n_items)
        return said
    said.check_items(n_items)
    _refuse_two_readings(said, X, by_row=by_row)
    names = usable_names(X)
    if names is None:
        return said
    if not by_row:
        _refuse_other_numbers(said, names)
    return said.with_names(names)


def _refuse_other_numbers(said: Comparisons, names: tuple[str, ...]) -> None:
    """Refuse answers by number about names that end in other numbers, unless these count the rows in order."""
    numbers = np.array(list(numbers_in_names(names)))
    if len(numbers) == len(names) and (np.diff(numbers) == 1).all():
        return
    row = other_number(names, set(said.constrained.tolist()), 0)
    if row is None:
        return
    called = numbers_in_names(names).get(row)
    other = "the item with this number in its name, which isn't there" if called is None else brief(called)
    raise ValueError(
        f"item {row} could be row {row} of X, which is called {brief(names[row])}, or {other}. X without names if the "
        "answers number the rows as they stand (pandas: X.reset_index(drop=True)); names for the answers if they go by "
        "the numbers in the names: said.with_names({number: name, ...}), or formats.read(..., items=names, "
        "numbers_are='names')"
    )


def _names_in_index(said: Comparisons, X: Any) -> tuple[str, ...] | None:
    """The labels of a pandas frame as names, where names in the answers are whole numbers; None if it counts rows."""
    if not is_frame(X):
        return None
    numbers, called, names = whole_numbers(X.index), whole_numbers(said.items or ()), said.items or ("",)
    if numbers is None or (called is None and not np.array_equal(numbers, np.arange(len(X)))):
        first = brief(X.index[0]) if len(X) else "nothing"
        raise ValueError(
            f"the index of X begins with {first}, but the answers name their items, such as {brief(names[0])}; "
            "expected these names as the index: X.set_axis(names). X.reset_index(drop=True) if the rows stand in the "
            "order in which the answers list the items"
        )
    if not np.array_equal(numbers, np.arange(len(X))):
        return as_items(map(str, numbers), "the index of X")
    asked = said.constrained
    if called is not None and np.isin(called[asked], numbers).all() and (called[asked] != asked).any():
        place = next(place for place in asked if called[place] != place)
        raise ValueError(
            f"item {called[place]} could be the row that the index of X calls {called[place]}, or row {place}, as its "
            "name has this place in the answers' list. X.set_axis(X.index.astype(str)) if the index holds the names, "
            "X.to_numpy() if the rows stand in the order of the list"
        )
    return None


def _refuse_two_readings(said: Comparisons, X: Any, *, by_row: bool) -> None:
    """Refuse answers by number about a frame that is sorted in another way than its own numbers."""
    if not is_frame(X):
        return
    asked = said.constrained
    # Numbers alone count the rows or are their labels, whichever of them the answers mention. Among several levels, and
    # as text, they may be about anything else.
    is_count = not by_row and X.index.nlevels == 1 and not any(isinstance(label, str) for label in X.index[:1])
    for level in range(X.index.nlevels) if len(asked) else ():
        labels = whole_numbers(X.index.get_level_values(level))
        if labels is None or np.array_equal(labels, np.arange(len(labels))):
            continue
        if not is_count and (not np.isin(asked, labels).all() or np.array_equal(labels[asked], asked)):
            continue
        other = np.flatnonzero(labels != np.arange(len(labels)))
        row = next((row for row in asked if labels[row] != row), other[0])
        missing = "" if row in labels else ", which isn't there"
        is_permuted = X.index.nlevels == 1 and X.index.dtype.kind in "iuf"
        if is_permuted and np.array_equal(np.sort(labels), np.arange(len(labels))):
            remedy = "X.sort_index() if the index numbers them as the answers do"
        else:
            given = "X" if X.index.nlevels == 1 else f"X.set_axis(X.index.get_level_values({level}))"
            remedy = (
                f"if they go by the index, names on both sides: {given} and "
                "said.with_names(map(str, range(said.n_items)))"
            )
        raise ValueError(
            f"item {row} could be row {row} of X, which the index calls {labels[row]}, or the row that it calls "
            f"{row}{missing}. "
            f"X.reset_index(drop=True) if the answers number the rows as they stand, {remedy}"
        )


def join_labels(labels: Any, X: Any) -> Any:
    """Class labels in the order of the rows of X: joined by name where X has names and labels are a Series with names.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"legs": [6, 4]}, index=["ant", "cat"])
    >>> join_labels(pd.Series({"cat": 1, "ant": 0}), frame).tolist()
    [0, 1]
    """
    pandas = sys.modules.get("pandas")
    if pandas is None or not isinstance(labels, pandas.Series):
        return labels
    given, wanted = row_names(labels.to_frame()), usable_names(X)
    if given is None or wanted is None:
        return labels
    return labels.iloc[new_positions(wanted, np.arange(len(wanted)), given)]


def usable_names(X: Any) -> tuple[str, ...] | None:
    """The items' names, or None where some are missing or not distinct and nothing needs to be joined by them."""
    try:
        return row_names(X)
    except ValueError:
        return None


def label_of(X: Any, row: int) -> str:
    """What an error calls a row of X: its name or label where X has any."""
    if is_frame(X):
        return str(X.index[row])
    names = usable_names(X)
    return str(row) if names is None else names[row]


def same_kind(X: Any, names: Sequence[str], columns: Mapping[str, Sequence[str]]) -> Any:
    """A frame of text of the same kind as X, with these names in its index or in its column of names."""
    if is_frame(X):
        return type(X)({int(head): values for head, values in columns.items()}, index=X.index)
    table = {_name_column_of(X): list(names)} | {head: list(values) for head, values in columns.items()}
    return type(X)(table) if is_polars(X) else type(X).from_pydict(table)


def check_columns(X: Any) -> None:
    """Refuse a frame with columns that are not numbers: say which one, and what to do about it."""
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(X, polars.LazyFrame):
        raise ValueError("X is a polars LazyFrame, which holds no rows yet; expected a data frame: X.collect()")
    if not (is_frame(X) or is_polars(X) or is_arrow(X)):
        return
    if is_frame(X) and len(X.columns) and all(str(dtype).startswith("Sparse[") for dtype in X.dtypes):
        raise ValueError("the columns of X are sparse; expected a dense frame: X.sparse.to_dense()")
    for position, column in enumerate(_heads(X)):
        if _holds_numbers(X, position):
            continue
        values = X.iloc[:, position] if is_frame(X) else _values(X, column)
        wrong = next((value for value in values if not _is_usable(value)), None)
        if wrong is not None:
            raise ValueError(
                f"X, column {column!r} holds {brief(wrong)}; expected numbers. {_remedy(X, column, wrong)}"
            )


def check_features(X: Any) -> None:
    """Refuse a frame with a column that numbers the items, or is an index that was read as a column."""
    if not (is_frame(X) or is_polars(X) or is_arrow(X)):
        return
    for position, column in enumerate(_heads(X)):
        if not (is_row_label(str(column)) or is_numbering(str(column))) or not _holds_numbers(X, position):
            continue
        values = np.asarray(X.iloc[:, position] if is_frame(X) else _values(X, column), dtype=np.float64)
        if numbers_items(column, values) or (is_row_label(str(column)) and not (values % 1).any()):
            raise ValueError(
                f"X, column {column!r} numbers the items, so it is no feature; drop it or, if these numbers are the "
                "items' names, make them text and "
                + (f"the index: X.set_index(X.pop({column!r}).astype(str))" if is_frame(X) else "call the column item")
            )


def _remedy(X: Any, column: object, value: object) -> str:
    if isinstance(value, str) and _WITH_DECIMAL_COMMA.fullmatch(value):
        return (
            "It has a decimal comma: read the file with pandas.read_csv(..., decimal=','), or with "
            "polars.read_csv(..., decimal_comma=True)"
        )
    if not isinstance(value, str):
        return f"Turn a {type(value).__name__} into a number, such as a year or a count of days; or drop the column"
    if is_frame(X):
        names, categories = f"make it the index: X.set_index({column!r})", "pandas.get_dummies(X)"
    elif is_polars(X):
        names, categories = f"call it item: X.rename({{{column!r}: 'item'}})", f"X.to_dummies({column!r})"
    else:
        names, categories = f"call it item: X.rename_columns({{{column!r}: 'item'}})", "scikit-learn's OneHotEncoder"
    return (
        f"If it holds the items' names, {names}. If it holds categories, encode them, for example with {categories}; "
        "or drop the column"
    )


def _holds_numbers(X: Any, position: int) -> bool:
    """Whether the type of a column says so; columns of other types are looked at value by value."""
    if is_frame(X):
        dtype = X.dtypes.iloc[position]
        return getattr(dtype, "kind", "O") in "fiub"
    if is_polars(X):
        return bool(X.dtypes[position].is_numeric() or str(X.dtypes[position]) == "Boolean")
    held, types = X.schema.types[position], sys.modules["pyarrow"].types
    return bool(types.is_integer(held) or types.is_floating(held) or types.is_boolean(held))


def _is_usable(value: object) -> bool:
    """Whether this is a number, text that holds a number, or a missing value, which `fit` refuses by its row."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    if isinstance(value, str):
        return is_number(value)
    return isinstance(value, (bool, int, float, np.number, np.bool_)) and not isinstance(value, np.complexfloating)


def _name_column_of(X: Any) -> str | None:
    if is_polars(X):
        kinds = {column: str(dtype).partition("(")[0] for column, dtype in X.schema.items()}
        return name_column(X.columns, [column for column in kinds if kinds[column] in _POLARS_TEXT])
    if is_arrow(X):
        return name_column(X.schema.names, [field.name for field in X.schema if is_arrow_text(field.type)])
    return None


def _heads(X: Any) -> list[Any]:
    return list(X.schema.names if is_arrow(X) else X.columns)


def _values(X: Any, column: str) -> list[Any]:
    found: list[Any] = X[column].to_list() if is_polars(X) else X.column(column).to_pylist()
    return found
