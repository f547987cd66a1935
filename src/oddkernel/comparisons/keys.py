"""Keys of rows: equal for two rows exactly when they say the same."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..support.types import Indices
from .kinds import Kind

ODD_LAST = np.array([[1, 2, 0], [0, 2, 1], [0, 1, 2]])
"""For each position of the odd one: the two other positions, then this one."""


def canonical_keys(
    kind: NDArray[np.int8], shown: Indices, odd: NDArray[np.int8], bound: NDArray[np.float64]
) -> NDArray[np.int64]:
    """See `Comparisons.canonical`: kind, whether undecided, the items in an order that depends only on what is said,
    and the bound."""
    undecided = (kind == Kind.ODD_ONE_OUT) & (odd == -1)
    content = shown.copy()
    chosen = np.flatnonzero(odd >= 0)
    content[chosen] = np.take_along_axis(content[chosen], ODD_LAST[odd[chosen]], axis=1)
    first = np.isin(kind, (Kind.MOST_CENTRAL, Kind.EQUALLY_CLOSE))  # the first item is special, the others are alike
    ordered = (kind == Kind.CLOSER) | first
    content[~ordered, :2] = np.sort(content[~ordered, :2], axis=1)
    content[first, 1:] = np.sort(content[first, 1:], axis=1)
    content[undecided] = np.sort(content[undecided], axis=1)
    # Floats that are not negative sort like the integers with the same bits.
    bounds = np.where(np.isnan(bound), -1, bound.view(np.int64))
    return np.column_stack([kind, undecided, content, bounds]).astype(np.int64)
