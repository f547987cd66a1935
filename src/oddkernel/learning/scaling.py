"""Units of features: whether columns are alike, and which scalings of them to try."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np

from ..kernels import Identity, Kernel
from ..support.types import Array

STANDARD = "standard"
# With scaling="auto", columns are standardised if the widest spread is more than this many times the narrowest. Chosen
# by hand.
UNLIKE = 10.0
# With scaling=None, a warning is given above this ratio. Chosen by hand.
VERY_UNLIKE = 1000.0
# The narrowest spread is this percentile of all, so that a few nearly constant columns don't decide. Chosen by hand.
NARROW = 10


def spreads(X: Array) -> Array:
    """The typical deviation in each column: the mean distance from its median of the values that differ from that.

    Where nearly all values are equal, as in a pixel that is rarely inked, a standard deviation says how rare the others
    are; this says how large they are. It is 0 for constant columns.

    Examples
    --------
    >>> spreads(np.array([[0.0, 1.0, 7.0], [0.0, 2.0, 7.0], [0.0, 3.0, 7.0], [8.0, 2.0, 7.0]]))
    array([8., 1., 0.])
    """
    deviation = np.abs(X - np.median(X, axis=0))
    return np.asarray(deviation.sum(axis=0) / np.maximum(np.count_nonzero(deviation, axis=0), 1))


def unlikeness(X: Array) -> float:
    """How many times the widest spread of a column is the narrowest: the 10th percentile, or the least of a few."""
    found = spreads(X)
    found = found[found > 0]
    return float(found.max() / np.percentile(found, NARROW, method="lower")) if len(found) else 1.0


def scalings(
    wanted: str | None, kernel: str | Kernel, X: Array, *, choosing: bool, columns: Sequence[str] | None = None
) -> tuple[str | None, ...]:
    """The scalings to try, the preferred one first.

    Parameters
    ----------
    wanted : {"auto", "standard", None}
        The parameter of `SKLR`.
    kernel : str or Kernel
        Its initial kernel. ``"auto"`` leaves kernels given as objects alone, whose own parameters have units.
    X : array
        The items' features.
    choosing : bool
        Whether held-out answers can choose between several.
    columns : sequence of str, optional
        Names of the features, for a warning.
    """
    if kernel in ("precomputed", "identity") or (
        isinstance(kernel, Kernel) and (isinstance(kernel, Identity) or kernel.__sklearn_tags__().input_tags.pairwise)
    ):
        return (None,)
    if wanted == STANDARD:
        return (STANDARD,)
    if wanted is None:
        _warn_of_units(X, columns)
        return (None,)
    if isinstance(kernel, Kernel) or unlikeness(X) <= UNLIKE:
        return (None,)
    return (STANDARD, None) if choosing else (STANDARD,)


def _warn_of_units(X: Array, columns: Sequence[str] | None) -> None:
    unlike = unlikeness(X)
    if unlike > VERY_UNLIKE:
        widest = int(np.argmax(spreads(X)))
        called = widest if columns is None else repr(str(columns[widest]))
        warnings.warn(
            f"the spreads of columns differ {unlike:,.0f}-fold: column {called} outweighs the others. Standardise the "
            'columns, or set scaling="standard".',
            UserWarning,
            stacklevel=6,
        )
