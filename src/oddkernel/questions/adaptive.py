"""Policies that look at what the answers have taught so far.

All of them ask about typical items only, more of them the more answers there are: an answer about an item that stands
for many others carries far, and answers about the same items can be joined. Where the questions are given, they choose
among those.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from scipy import special

from ..support.types import Array, Indices
from .belief import Belief
from .history import History, Triple, as_triple, draw_triples, key
from .plain import random
from .spread import Spread

# Questions among which one is chosen, the items that these are about, and questions where they are given: bounds on
# what a choice costs.
POOL, ITEMS, RECORDED = 1000, 50, 250
# Typical items: so many at first, and one more for every answer that named one of three. *Can't tell* places none, and
# with many classes most answers are that: the items must not outrun what is known about them.
FIRST = 25
# What a question is still worth once one was chosen that has no item in common with it, one, two, or all.
OVERLAP = np.array([1.0, 0.7, 0.25, 0.0])


def typical(history: History, n: int, rng: np.random.Generator) -> Indices:
    """Three typical items, each choice as likely as any other."""
    belief = history.belief()
    if belief is None or history.allowed is not None:
        return random(history, n, rng)
    items = _typical_items(belief, rng)
    return items[draw_triples(len(items), n, rng)]


def uncertain(history: History, n: int, rng: np.random.Generator) -> Indices:
    """What the model can foretell least: the entropy of the predicted answer, *can't tell* counted as one."""
    belief = history.belief()
    if belief is None or not belief.n_answers:
        return typical(history, n, rng)
    given = history.allowed
    pool = _among_typical(belief, rng) if given is None else _among_allowed(history, given, n, rng)
    proba = belief.probabilities(belief.sides(pool))
    return _best(history, pool, special.entr(proba).sum(axis=1), n, rng)


def informative(history: History, n: int, rng: np.random.Generator) -> Indices:
    """What tells most about the kernel; see `Spread`."""
    belief = history.belief()
    if belief is None:
        return random(history, n, rng)
    spread = _spread(history, belief, n, rng)
    return _best(history, spread.pool, spread.worth(), n, rng)


def diverse(history: History, n: int, rng: np.random.Generator) -> Indices:
    """What tells most about the kernel beyond what is being asked at this moment, and beyond the rest of the batch."""
    belief = history.belief()
    if belief is None:
        return random(history, n, rng)
    spread = _spread(history, belief, n, rng)
    if history.allowed is None:
        spread = belief.remembered("told", spread.copy)
    spread.tell(history.open)
    chosen: list[Indices] = []
    batch: set[Triple] = set()
    for _ in range(n):
        chosen.append(_best(history, spread.pool, spread.worth(), 1, rng, besides=batch)[0])
        batch.add(key(as_triple(chosen[-1], history.n_items)))
        spread.tell(batch)
    return np.array(chosen, dtype=np.intp).reshape(n, 3)


def prepare(belief: Belief, rng: np.random.Generator) -> Spread:
    """Do the work that `informative` and `diverse` would do at the first choice by a new belief."""
    made: Spread = belief.remembered("spread", lambda: Spread(belief, _among_typical(belief, rng)))
    return made


def _typical_items(belief: Belief, rng: np.random.Generator) -> Indices:
    known = belief.space.typical[: FIRST + belief.n_decided]
    return known if len(known) <= ITEMS else rng.choice(known, ITEMS, replace=False)


def _among_typical(belief: Belief, rng: np.random.Generator) -> Indices:
    """Different questions about typical items."""
    items = _typical_items(belief, rng)
    pool = items[draw_triples(len(items), POOL, rng)]
    return pool[np.unique(np.sort(pool, axis=1), axis=0, return_index=True)[1]]


def _among_allowed(history: History, allowed: Indices, n: int, rng: np.random.Generator) -> Indices:
    """Different questions of those that can be asked, at least as many as are wanted."""
    return history.draw(min(max(RECORDED, n), len(allowed)), rng)


def _spread(history: History, belief: Belief, n: int, rng: np.random.Generator) -> Spread:
    # What can be asked changes with every recorded answer that is used up; else one pool serves until the next fit.
    if history.allowed is not None:
        return Spread(belief, _among_allowed(history, history.allowed, n, rng))
    return prepare(belief, rng)


def _best(
    history: History,
    pool: Indices,
    worth: Array,
    n: int,
    rng: np.random.Generator,
    besides: Collection[Triple] = (),
) -> Indices:
    """The most worthwhile questions, each lowering the worth of those like it; none that was or is being asked."""
    asked = history.asked if history.allowed is None else ()  # a recorded question may have several answers
    taken = (history.open, besides, asked)
    fresh = [not any(tuple(row) in known for known in taken) for row in np.sort(pool, axis=1).tolist()]
    worth = np.where(fresh, worth + 1e-9 * rng.random(len(worth)), -1.0)
    chosen: list[Indices] = []
    while len(chosen) < n and worth.max(initial=-1.0) >= 0.0:
        best = int(worth.argmax())
        chosen.append(rng.permutation(pool[best]))
        worth = np.where(worth > 0, worth * OVERLAP[np.isin(pool, pool[best]).sum(axis=1)], worth)
        worth[best] = -1.0
    missing = random(history, n - len(chosen), rng)
    return np.concatenate([np.array(chosen, dtype=np.intp).reshape(-1, 3), missing])
