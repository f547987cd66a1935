"""Policies that look at what the answers have taught so far.

All of them ask about typical items only, more of them the more answers there are: an answer about an item that stands
for many others carries far, and answers about the same items can be joined. Where the questions are given, they choose
among those.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special

from .belief import Belief
from .history import History, Indices, draw_triples
from .plain import random

Array = NDArray[Any]

# Questions among which one is chosen.
POOL = 400
# Typical items that questions are about: so many at first, and one more for every so many answers.
FIRST, ANSWERS_EACH = 15, 3
# Kernels drawn from what the answers leave open.
KERNELS = 16
# A squared distance drawn is no smaller than this share of the expected one.
CLOSEST = 0.02
# What a question is still worth once one was chosen that has one item in common with it, two, or all.
OVERLAP = np.array([1.0, 0.7, 0.25, 0.0])


def typical(history: History, n: int, rng: np.random.Generator) -> Indices:
    """Three typical items, each choice as likely as any other."""
    belief = history.belief()
    if belief is None or history.allowed is not None:
        return random(history, n, rng)
    return _among_typical(history, belief, n, rng)


def uncertain(history: History, n: int, rng: np.random.Generator) -> Indices:
    """What the model can foretell least: the entropy of the predicted answer, *can't tell* counted as one."""
    belief = history.belief()
    if belief is None or not belief.n_answers:
        return typical(history, n, rng)
    pool = _pool(history, belief, n, rng)
    return _best(pool, entropy(belief.probabilities(belief.sides(pool))), n, rng)


def informative(history: History, n: int, rng: np.random.Generator) -> Indices:
    """What tells most about the kernel: the mutual information between the answer and the distances.

    With kernels drawn from what the answers leave open (Laplace's approximation, from the dual's Hessian), it is the
    entropy of the answer over all of them, less what remains of it when the kernel is known.
    """
    belief = history.belief()
    if belief is None or not belief.n_answers:
        return typical(history, n, rng)
    pool = _pool(history, belief, n, rng)
    return _best(pool, _information(belief, pool, rng), n, rng)


def diverse(history: History, n: int, rng: np.random.Generator) -> Indices:
    """As `informative`, and unlike what others are being asked at this moment, so that answers don't tell the same."""
    belief = history.belief()
    if belief is None or not belief.n_answers:
        return typical(history, n, rng)
    pool = _pool(history, belief, n, rng)
    worth = _information(belief, pool, rng)
    for triple in history.open:
        worth = worth * OVERLAP[_common(pool, np.array(triple))]
    return _best(pool, worth, n, rng)


def entropy(proba: Array) -> Array:
    """In nats, along the last axis."""
    return np.asarray(special.entr(proba).sum(axis=-1))


def _information(belief: Belief, shown: Indices, rng: np.random.Generator) -> Array:
    sides, spread = belief.sides(shown), belief.covariance(shown)
    values, axes = np.linalg.eigh(spread)
    root = axes * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    drawn = sides[:, None] + rng.standard_normal((len(shown), KERNELS, 3)) @ root.transpose(0, 2, 1)
    drawn = np.maximum(drawn, CLOSEST * sides[:, None])
    proba = belief.probabilities(drawn.reshape(-1, 3)).reshape(len(shown), KERNELS, 4)
    return np.asarray(np.maximum(entropy(proba.mean(axis=1)) - entropy(proba).mean(axis=1), 0.0))


def _among_typical(history: History, belief: Belief, n: int, rng: np.random.Generator) -> Indices:
    known = belief.space.typical
    size = min(max(FIRST + belief.n_answers // ANSWERS_EACH, 3), len(known))
    return known[draw_triples(size, n, rng)]


def _pool(history: History, belief: Belief, n: int, rng: np.random.Generator) -> Indices:
    """Questions to choose from, none twice and none that was asked or is being asked, if there are enough others."""
    if history.allowed is not None:
        return history.draw(min(max(POOL, n), len(history.allowed)), rng)
    drawn = _among_typical(history, belief, max(POOL, 2 * n), rng)
    drawn = np.unique(np.sort(drawn, axis=1), axis=0)
    asked = {tuple(row) for row in np.sort(history.said().shown, axis=1).tolist()} | history.open
    fresh = np.array([tuple(row) not in asked for row in drawn.tolist()])
    pool = drawn[fresh] if fresh.sum() >= n else np.concatenate([drawn[fresh], history.draw(n, rng)])
    return rng.permuted(pool, axis=1)


def _common(pool: Indices, triple: Indices) -> Array:
    """(m,): how many items each question has in common with one."""
    return np.asarray(np.isin(pool, triple).sum(axis=1))


def _best(pool: Indices, worth: Array, n: int, rng: np.random.Generator) -> Indices:
    """The most worthwhile questions, one after the other, each lowering the worth of those like it."""
    worth, chosen = worth + 1e-12 * rng.random(len(worth)), []
    for _ in range(n):
        best = int(worth.argmax())
        chosen.append(best)
        worth = worth * OVERLAP[_common(pool, pool[best])]
        worth[best] = -1.0
    return pool[chosen]
