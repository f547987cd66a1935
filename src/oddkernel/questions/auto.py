"""The default policy: `prototypes` if people think in groups, `uncertain` if they compare by degree.

Before items are placed in groups, each of the 20 most typical ones is shown once. If they were placed one by one, most
of the first answers would be *can't tell*, since the most typical items are far apart; and where people guess when they
can't tell, about as many of the first decided answers would be wrong as right.

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
# Number of most typical items to show once at first. On data other than those of the page of results, 20 was better
# than 12 with seven to ten classes, and not clearly worse with four.
ONCE = 20


def auto(history: History, n: int, rng: np.random.Generator) -> Indices:
    """`prototypes`, or `uncertain` if less than a quarter of the first 20 answers are *can't tell*.

    Before `prototypes` places items, each of the 20 most typical ones is shown once. Random questions without features.
    """
    if by_degree(history.said()):
        return uncertain(history, n, rng)
    return prototypes(history, n, rng, once=ONCE)


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
