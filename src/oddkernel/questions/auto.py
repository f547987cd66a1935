"""The default policy: `prototypes` if people think in groups, `uncertain` if they compare by degree.

The share of *can't tell* among the first answers decides. People who think in groups can't tell when three items are of
one group or of three. If the groups have the shares p of a large collection, the answer to a random question is decided
with probability 3 Σ p²(1 − p), the mean of 3 p(1 − p) over the items: at most 3/4. So at least a quarter of the answers
to random questions are *can't tell*, whatever the number and the sizes of the groups.

The first 20 questions of `prototypes` are not quite random: they show items that probably belong together. With two or
three groups, or with groups that the features show clearly, people can decide most of them. Then `auto` goes on with
`uncertain`, although people think in groups.
"""

from __future__ import annotations

import numpy as np

from ..comparisons import Comparisons, Kind
from ..support.types import Indices
from .adaptive import uncertain
from .history import History
from .prototypes import prototypes

# Number of first answers that decide. Chosen by hand, as in `prototypes`.
EARLY = 20
# Smallest share of *can't tell* among the answers of people who think in groups to random questions. Derived above.
LEAST = 0.25


def auto(history: History, n: int, rng: np.random.Generator) -> Indices:
    """`prototypes`, or `uncertain` if less than a quarter of the first 20 answers are *can't tell*.

    Random questions without features.
    """
    policy = uncertain if by_degree(history.said()) else prototypes
    return policy(history, n, rng)


def by_degree(said: Comparisons) -> bool:
    """Whether people seem to compare by degree: less than a quarter of the first 20 answers are *can't tell*.

    Examples
    --------
    >>> shown = [[0, 1, 2]] * 20
    >>> by_degree(Comparisons.odd_one_out(shown, [2] * 16 + [-1] * 4))
    True
    >>> by_degree(Comparisons.odd_one_out(shown, [2] * 15 + [-1] * 5))
    False
    """
    early = said.undecided[said.kind == Kind.ODD_ONE_OUT][:EARLY]
    return len(early) == EARLY and bool(early.mean() < LEAST)
