"""Whether answers come at several resolutions: some by coarse groups, others by the classes within them."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ..comparisons import Comparisons, Kind
from ..support.types import Array

# Shares of answers that part what others join, between which answers come at several resolutions. By trial on the
# digits, 60 to 240 items of six classes in two groups and 160 to 600 answers: 0.03 to 0.24 if half of the answers are
# by group, 0 if all are by class, mostly above 0.4 if 5% or more of the answers are wrong; 1,000 items of ten classes
# in two groups and 600 answers: 0.013 to 0.058, and 0.
FEWEST, MOST = 0.01, 0.3


def several_resolutions(said: Comparisons) -> bool:
    """Whether the odd-one-out answers seem to come at several resolutions.

    The two items of an answer that go together are joined. If all answers are by the same classes and right, the odd
    one is then never in the connected component of the other two. If some answers are by coarser groups, these join
    classes, and a part of the other answers has its odd one in the same component. Wrong answers join everything.

    Examples
    --------
    >>> classes = np.arange(60) % 6
    >>> by_class, by_group = (Comparisons.from_labels(y, 100, random_state=0) for y in (classes, classes % 2))
    >>> several_resolutions(by_class), several_resolutions(by_class + by_group)
    (False, True)
    """
    answers = said[said.decided & (said.kind == Kind.ODD_ONE_OUT)]
    if not len(answers):
        return False
    one, other, odd = (_item(answers, step) for step in (1, 2, 0))
    size = int(answers.shown.max()) + 1
    joined = coo_array((np.ones(len(one)), (one, other)), shape=(size, size))
    _, component = connected_components(joined, directed=False)
    parted = float(np.average(component[one] == component[odd], weights=answers.weight))
    return FEWEST <= parted <= MOST


def _item(answers: Comparisons, step: int) -> Array:
    """The items this many positions after the odd one."""
    return answers.shown[np.arange(len(answers)), (answers.odd + step) % 3]
