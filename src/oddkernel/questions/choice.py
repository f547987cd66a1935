"""The next questions by a policy: different ones, none that is open."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..comparisons import Comparisons
from ..support.checks import is_count, require
from ..support.types import Indices
from .history import History, Triple, as_triple, key
from .policies import DEFAULT, Policy, resolve

if TYPE_CHECKING:
    from .belief import Belief, Space

TRIES = 20
"""A policy is asked at most 20 times for questions that nobody is being asked already. Chosen by hand."""

FEW, MANY = 30, 1000
"""If a policy finds no question that nobody is being asked: with up to 30 items all possible questions (4,060) are
looked through, with more items 1,000 random ones. Chosen by hand, as a bound on the time."""


def choose(policy: Policy, history: History, n: int, rng: np.random.Generator) -> list[Triple]:
    """Choose n different questions by a policy, each in random order; none that is open, if there are others."""
    history = replace(history, open=set(history.open))
    found: list[Triple] = []
    refused: list[Triple] = []
    for _ in range(TRIES):
        for row in policy(history, n - len(found), rng):
            items = as_triple(row, history.n_items)
            if key(items) in history.open:
                refused.append(items)
            else:
                history.open.add(key(items))
                found.append(items)
        if len(found) == n:
            break
    while len(found) < n:
        by_chance = (as_triple(row, history.n_items) for row in history.draw(MANY, rng))
        every = combinations(range(history.n_items), 3) if history.n_items <= FEW else by_chance
        free = [triple for triple in every if key(triple) not in history.open]
        items = free[int(rng.integers(len(free)))] if free else refused[len(found) % len(refused)]
        history.open.add(key(items))
        found.append(items)
    return [as_triple(rng.permutation(items), history.n_items) for items in found]


def next_questions(
    X: ArrayLike,
    said: Comparisons | None = None,
    *,
    policy: str | Policy = DEFAULT,
    n: int,
    random_state: int | np.random.Generator | None = None,
) -> Indices:
    """The n questions that a policy would ask next, all at once.

    Parameters
    ----------
    X : array-like of shape (n_items, d)
        The items' features.
    said : Comparisons, optional
        The answers so far, about rows of X.
    policy : str or callable, default="auto"
        A name in `POLICIES`, or a function of a `History`, a number of questions and a random generator.
    n : int
        Number of questions; all are different, unless there are fewer.
    random_state : int, Generator or None
        Seed of the random choices.

    Returns
    -------
    ndarray of shape (n, 3)
        The items of each question, in the order in which to show them.

    Examples
    --------
    >>> next_questions([[0.0], [1.0], [5.0]], n=1, policy="random", random_state=0).shape
    (1, 3)
    """
    require(n is not None and is_count(n), "n", n, "a whole number of at least 1")
    features = np.asarray(X, dtype=np.float64)
    answers = Comparisons.empty() if said is None else said
    beliefs: list[Belief] = []

    def belief() -> Belief:
        from .belief import Belief

        if not beliefs:
            beliefs.append(Belief.learn(features, answers))
        return beliefs[0]

    def space() -> Space:
        return belief().space

    times_shown = np.zeros(len(features), dtype=np.intp)
    history = History(len(features), times_shown, lambda: answers, features, belief=belief, space=space)
    for row in answers.shown[(answers.shown >= 0).all(axis=1)]:
        history.shown(as_triple(row, len(features)))
    chosen = choose(resolve(policy), history, n, np.random.default_rng(random_state))
    return np.array(chosen, dtype=np.intp).reshape(-1, 3)
