"""Refusing what an estimator's parameters and input can't mean."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from numbers import Integral, Real

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .types import Array

# Beyond this, or below its inverse, products of a few such numbers leave float64.
EXTREME = 1e30


class RowError(ValueError):
    """A row that can't be taken: which one, counted from 0, and what is wrong with it."""

    def __init__(self, row: int, problem: str) -> None:
        super().__init__(row, problem)
        self.row = row
        self.problem = problem

    def __str__(self) -> str:
        return f"row {self.row}: {self.problem}"


def refuse(bad: NDArray[np.bool_], problem: Callable[[int], str]) -> None:
    """Raise a `RowError` for the first row marked bad, in any of its entries, if there is one."""
    if bad.any():
        row = int(np.argwhere(bad)[0, 0])
        raise RowError(row, problem(row))


def refuse_masked(values: object, what: str) -> None:
    """Raise for a masked array with masked entries, which `numpy.asarray` would take for real ones."""
    if isinstance(values, np.ma.MaskedArray) and np.ma.is_masked(values):
        row = int(np.argwhere(np.ma.getmaskarray(values))[0, 0])
        raise ValueError(
            f"{what}, row {row}: masked, which is missing; expected a value in each row: fill it in with "
            "numpy.ma.filled, or leave the row out"
        )


def require(condition: bool, name: str, value: object, accepted: str) -> None:
    """Raise unless a parameter's value is accepted."""
    if not condition:
        raise ValueError(f"{name}={value!r}; expected {accepted}")


def is_real(value: object) -> bool:
    """Whether a value is a number, and not True or False."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_penalty(value: object) -> bool:
    """Whether a value is a positive number of a size that can be computed with."""
    return isinstance(value, Real) and is_real(value) and 1 / EXTREME <= float(value) <= EXTREME


def is_count(value: object) -> bool:
    """Whether a value is a whole number of at least 1, or None."""
    return value is None or (isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1)


def refuse_extremes(name: str, values: Array, lowest: float) -> None:
    """Raise if a row's value is so small or so large that float64 can't hold what becomes of it."""
    extreme = np.flatnonzero((values < lowest) | (values > EXTREME))
    if len(extreme):
        row = int(extreme[0])
        raise RowError(row, f"{name} {values[row]:g}; expected a number between {lowest:g} and {EXTREME:g}")


def refuse_extreme_kernel(phi: Array) -> None:
    """Raise if the initial kernel's values are such."""
    largest = float(np.abs(phi).max(initial=0.0))
    if largest > 0 and not 1 / EXTREME <= largest**2 <= EXTREME:
        raise ValueError(
            f"the initial kernel's values are of the order of {largest**2:.0e}; expected between {1 / EXTREME:g} and "
            f"{EXTREME:g}: rescale the features, or the precomputed kernel"
        )


def as_labels(y: ArrayLike) -> Array:
    """Class labels as an array, -1 for unlabelled; anything else that people hand over as y is refused."""
    refuse_masked(y, "y")
    try:
        labels = np.asarray(y)
    except ValueError:  # rows of different lengths
        labels = np.empty((0, 0))
    if labels.ndim != 1:
        raise ValueError(
            "y is neither Comparisons nor a 1-D array of class labels. If its rows are triples, say which of the three "
            "is the odd one: Comparisons.odd_one_out(shown, odd), with odd = [2, 2, ...] if it always comes last"
        )
    for row, label in enumerate(labels.tolist()):
        if not isinstance(label, Hashable) or (isinstance(label, float) and not label.is_integer()):
            raise RowError(row, f"label {label!r} in y; expected a whole number or text, -1 for unlabelled")
    return labels


def named(rows: ArrayLike, most: int = 10) -> str:
    """Rows in words: "rows 3, 17 and 2 more"."""
    numbers = [str(row) for row in np.asarray(rows)]
    listed = ", ".join(numbers[:most]) + (f" and {len(numbers) - most} more" if len(numbers) > most else "")
    return f"{'rows' if len(numbers) > 1 else 'row'} {listed}"
