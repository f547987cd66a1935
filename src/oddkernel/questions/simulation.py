"""Asking simulated people the questions that a policy chooses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..comparisons import Comparisons
from ..items.frames import row_names, without_names
from ..support.checks import is_count, require
from ..support.types import Indices
from .belief import Belief, Space
from .history import History, as_triple
from .policies import DEFAULT, Policy, resolve
from .simulated_people import Recorded

Answer = Callable[[Any], int | Comparisons]


def simulate(
    X: ArrayLike,
    answer: Answer,
    *,
    policy: str | Policy = DEFAULT,
    n: int,
    batch: int = 20,
    random_state: int | np.random.Generator | None = None,
) -> Comparisons:
    """Ask ``answer`` n questions that a policy chooses.

    Parameters
    ----------
    X : array-like of shape (n_items, d)
        The items' features. Where X is a frame with names, recorded answers that name their items are joined by name,
        and the answers that come back name theirs.
    answer : callable
        ``answer(shown)`` returns the position 0, 1 or 2 of the odd one among three items, or -1 for *can't tell*; see
        `ByLabels`, `ByMetric` and `Recorded`. It returns answers of other kinds as `Comparisons`. If it has an
        attribute ``questions``, only those are asked.
    policy : str or callable, default="auto"
        A name in `POLICIES`, or a function of a `History`, a number of questions and a random generator.
    n : int
        Number of questions; fewer if only certain questions can be asked and they run out.
    batch : int, default=20
        Number of questions chosen at a time, before any of them is answered, as if this many people were asked at once.
        After each batch the policy sees its answers, and what was learned from them if the policy uses that.
    random_state : int, Generator or None
        Seed of the policy's random choices.

    Returns
    -------
    Comparisons
        The answers, in the order asked.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from oddkernel.questions import ByLabels
    >>> X, y = load_iris(return_X_y=True)
    >>> simulate(X, ByLabels(y), policy="random", n=30, random_state=0)
    Comparisons: 30 odd-one-out answers (11 can't tell) over 70 items
    """
    require(n is not None and is_count(n), "n", n, "a whole number of at least 1")
    require(batch is not None and is_count(batch), "batch", batch, "a whole number of at least 1")
    features = np.asarray(without_names(X), dtype=np.float64)
    names = row_names(X)
    if isinstance(answer, Recorded):
        answer = answer.about(X, len(features))
    rng = np.random.default_rng(random_state)
    choose = resolve(policy)
    said = Comparisons.empty()
    belief: Belief | None = None

    def learned() -> Belief:
        nonlocal belief
        if belief is None or belief.n_answers < len(said):
            belief = Belief.learn(features, said, last=belief)
        return belief

    def space() -> Space:
        nonlocal belief
        belief = belief or Belief.learn(features, Comparisons.empty())
        return belief.space

    times_shown = np.zeros(len(features), dtype=np.intp)
    history = History(len(features), times_shown, lambda: said, features, belief=learned, space=space)
    asked = 0
    while asked < n:
        history.allowed = getattr(answer, "questions", None)
        wanted = min(batch, n - asked)
        if history.allowed is not None:
            wanted = min(wanted, len(history.allowed))
        if not wanted:
            break
        chosen: Indices = choose(history, wanted, rng)
        for row in chosen:
            history.shown(as_triple(row, history.n_items))
            told = answer(row)
            said = said + (
                told.with_names(None) if isinstance(told, Comparisons) else Comparisons.odd_one_out([row], [told])
            )
        asked += wanted
    return said if names is None else said.with_names(names)
