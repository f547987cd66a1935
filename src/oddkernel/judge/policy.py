"""The next question of a study: a policy's choice that nobody is being asked at this moment."""

from __future__ import annotations

from itertools import combinations

import numpy as np

from ..questions.history import History, Indices, Triple, as_triple, key
from ..questions.plain import least_answered, random
from ..questions.policies import LEARNING, POLICIES, PREPARED, Policy

__all__ = [
    "LEARNING", "POLICIES", "PREPARED", "History", "Indices", "Policy", "Triple", "as_triple", "choose", "key",
    "least_answered", "random",
]  # fmt: skip

# A policy's choice that someone is being asked already is drawn again so many times at most.
TRIES = 20

# Among so few items, all questions can be looked through for one that nobody is being asked; else so many by chance.
FEW, MANY = 30, 1000


def choose(policy: Policy, history: History, rng: np.random.Generator) -> Triple:
    """One question by a policy, in random order, that nobody is being asked at this moment if that can be had."""
    for _ in range(TRIES):
        found = as_triple(policy(history, 1, rng)[0], history.n_items)
        if key(found) not in history.open:
            break
    else:
        by_chance = (as_triple(row, history.n_items) for row in history.draw(MANY, rng))
        every = combinations(range(history.n_items), 3) if history.n_items <= FEW else by_chance
        free = [triple for triple in every if key(triple) not in history.open]
        found = free[int(rng.integers(len(free)))] if free else found
    first, second, third = rng.permutation(found).tolist()
    return first, second, third
