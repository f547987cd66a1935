"""Policies that use what was learned from the answers so far.

All of them ask about typical items only (in greedy k-medoids order), and about more of them as answers come in. An
answer about an item that represents many others says something about all of these, and answers about the same items can
be combined. If only certain questions can be asked, the policies choose among those.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
from scipy import special

from ..support.types import Array, Indices
from .history import History, Triple, as_triple, draw_triples, key
from .spread import Spread
from .unlearned import random

if TYPE_CHECKING:
    from .belief import Belief

# The constants below were chosen by hand. `oddkernel reproduce next_question` measures the policies as a whole.
# Size of the pool of candidate questions, number of items in it, and size of the pool where only certain questions can
# be asked. They bound the time for one choice.
POOL, ITEMS, RECORDED = 1000, 50, 250
# Number of typical items at first; each decided answer adds one. *Can't tell* adds none: with many classes most answers
# are *can't tell*, and the number of items must not grow faster than what is known about them.
FIRST = 25
# Factor on the worth of a question after another was chosen for the same batch that shares 0, 1, 2 or 3 items with it.
OVERLAP = np.array([1.0, 0.7, 0.25, 0.0])


def typical(history: History, n: int, rng: np.random.Generator) -> Indices:
    """Three typical items, drawn uniformly at random."""
    belief = history.belief()
    if belief is None or history.allowed is not None:
        return random(history, n, rng)
    items = _typical_items(belief, rng)
    return items[draw_triples(len(items), n, rng)]


def uncertain(history: History, n: int, rng: np.random.Generator) -> Indices:
    """Uncertainty sampling: the questions whose predicted answer, *can't tell* included, has the highest entropy."""
    belief = history.belief()
    if belief is None or not belief.n_answers:
        return typical(history, n, rng)
    given = history.allowed
    pool = _among_typical(belief, rng) if given is None else _among_allowed(history, given, n, rng)
    proba = belief.probabilities(belief.sides(pool))
    return _best(history, pool, special.entr(proba).sum(axis=1), n, rng)


def informative(history: History, n: int, rng: np.random.Generator) -> Indices:
    """The questions with the largest expected information about the kernel; see `Spread`."""
    belief = history.belief()
    if belief is None:
        return random(history, n, rng)
    spread = _spread(history, belief, n, rng)
    return _best(history, spread.pool, spread.worth(), n, rng)


def diverse(history: History, n: int, rng: np.random.Generator) -> Indices:
    """As `informative`, given the answers to all open questions and to the rest of the batch."""
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
    """Compute and cache what `informative` and `diverse` need for their first choice with a new belief."""
    made: Spread = belief.remembered("spread", lambda: Spread(belief, _among_typical(belief, rng)))
    return made


def _typical_items(belief: Belief, rng: np.random.Generator) -> Indices:
    known = belief.space.typical[: FIRST + belief.n_decided]
    return known if len(known) <= ITEMS else rng.choice(known, ITEMS, replace=False)


def _among_typical(belief: Belief, rng: np.random.Generator) -> Indices:
    """Distinct questions about typical items."""
    items = _typical_items(belief, rng)
    places = draw_triples(len(items), POOL, rng)
    number = np.sort(places, axis=1) @ len(items) ** np.arange(3)  # the same for the same three items
    return items[places[np.unique(number, return_index=True)[1]]]


def _among_allowed(history: History, allowed: Indices, n: int, rng: np.random.Generator) -> Indices:
    """Distinct questions of those that can be asked, at least ``n`` if there are as many."""
    return history.draw(min(max(RECORDED, n), len(allowed)), rng)


def _spread(history: History, belief: Belief, n: int, rng: np.random.Generator) -> Spread:
    # Each recorded answer can be used once, so that the pool changes. Otherwise one pool serves until the next fit.
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
    """Greedily choose the questions of highest worth that are new; each lowers the worth of those that overlap."""
    asked = history.asked if history.allowed is None else ()  # a recorded question may have several answers
    taken = (history.open, besides, asked)
    worth = worth + 1e-9 * rng.random(len(worth))
    chosen: list[Indices] = []
    while len(chosen) < n:
        best = _first_new(pool, worth, taken)
        if best is None:
            break
        chosen.append(rng.permutation(pool[best]))
        shared = (pool[:, :, None] == pool[best]).sum(axis=(1, 2))
        worth = np.where(worth > 0, worth * OVERLAP[shared], worth)
        worth[best] = -1.0
    missing = random(history, n - len(chosen), rng)
    return np.concatenate([np.array(chosen, dtype=np.intp).reshape(-1, 3), missing])


def _first_new(pool: Indices, worth: Array, taken: Sequence[Collection[Triple]]) -> int | None:
    """The question of highest worth that is in none of the sets `taken`; the worth of those passed over becomes -1."""
    for best in np.argsort(-worth).tolist():
        if worth[best] < 0.0:
            return None
        question = tuple(sorted(pool[best].tolist()))
        if not any(question in known for known in taken):
            return int(best)
        worth[best] = -1.0
    return None
