"""Folds of answers: the parts that are held out in turn.

The judging page's hold-out is another thing: questions that no policy chose, planned in `judge.next_questions`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..comparisons import Comparisons
from ..support.types import Array

# Fewest decided answers from which held-out answers choose the settings. Chosen by hand.
FEWEST = 50
# With this many answers about more than this many items, every fit counts as expensive. Chosen by hand.
MANY, FEW_ITEMS = 5_000, 200
# From this many answers on, a tenth of them is held out instead of a fifth. Chosen by hand.
TENTH = 20_000
# Most rows held out in one part: the share of 20,000 answers that is predicted has a standard error of at most 0.004.
MOST = 20_000


def expensive(said: Comparisons) -> bool:
    """Whether every fit takes long: at least 5,000 answers about more than 200 items."""
    return int(np.count_nonzero(~said.links)) >= MANY and len(said.constrained) > FEW_ITEMS


def folds_of(said: Comparisons, folds: int | None, random: np.random.RandomState) -> Iterator[Array]:
    """Rows held out together; all answers to one question are in one fold, and links in none.

    All rows of a grid's answer, and all answers about the same items, belong to one question (`Comparisons.questions`).
    Questions with decided answers are spread evenly over the folds.

    By default 5 folds, 3 from 500 rows on. From 5,000 rows about more than 200 items on, only one part is held
    out: a fifth, or a tenth from 20,000 rows on, but no more than 20,000 rows.
    """
    rows = np.flatnonzero(~said.links)
    found, question = np.unique(said.questions()[rows], return_inverse=True)
    wanted = folds if folds is not None else 5 if len(rows) < 500 else 1 if expensive(said) else 3
    parts = wanted if wanted > 1 else 5 if len(rows) < TENTH else max(10, len(rows) // MOST)
    order = random.permutation(len(found))
    # Questions with decided answers, which judge, are put into folds first: as many into each.
    decides = np.bincount(question, said.decided[rows], minlength=len(found)) > 0
    part = np.empty(len(found), dtype=np.intp)
    part[np.lexsort((order, ~decides))] = np.arange(len(found)) % parts
    for fold in range(wanted):
        yield rows[part[question] == fold]


def without(said: Comparisons, held_out: Array) -> Comparisons:
    """The answers that are not held out."""
    return said[np.setdiff1d(np.arange(len(said)), held_out)]
