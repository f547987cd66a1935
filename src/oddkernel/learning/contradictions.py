"""Answers that no metric can agree with: copies that should be far apart, and contradictions under a hard penalty."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..kernels import LowRank
from ..problem.dual import Dual
from ..problem.solution import Solution, Status
from ..solvers import contradiction
from ..support.checks import named
from ..support.interruptible import interruptible
from ..support.types import Array, Indices


class ContradictionError(ValueError):
    """Answers that can't all hold, though every one must (``penalty=inf``).

    Attributes
    ----------
    rows : list of int
        Comparisons that contradict one another. Up to 40 of them are named without a superfluous one.
    """

    def __init__(self, message: str, rows: list[int]) -> None:
        super().__init__(message)
        self.rows = rows

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.args[0], self.rows)


def refuse_copies(problem: Dual, *, hard: bool, stacklevel: int) -> None:
    """Warn of answers whose odd one has the same features as one of the other two; raise if they must hold.

    No metric puts such an item farther away.
    """
    rows = problem.rows
    asks = (rows.near_factor > 0) | (rows.offset > 0)  # a link may ask for a distance of at least 0
    lost = ~rows.equality & (rows.far_factor > 0) & (problem.far_factor == 0) & asks
    if not lost.any():
        return
    answers = np.unique(rows.answer[lost]).tolist()
    sentence = (
        f"{named(answers)}: the item that should be far is a copy of the one it should be far from (their "
        "features are the same, or the same at this rank), so that no metric can tell them apart. Drop these rows, "
        "or give the items features that differ; where they do, set rank=None (--rank all)."
    )
    if hard:
        raise ContradictionError(sentence, answers)
    warnings.warn(sentence, UserWarning, stacklevel=stacklevel + 1)


def refuse_contradictions(problem: Dual, solution: Solution, features: LowRank, X: Array, items: Indices) -> None:
    """Raise if the rows of an unsolved problem, all of which must hold, contradict one another.

    Parameters
    ----------
    problem : Dual
        Its items are ``items``, rows of X.
    solution : Solution
    features : LowRank
        The initial kernel and its feature map, whose rank may be too small.
    """
    proof = solution.multipliers if solution.status is Status.CONTRADICTORY else None
    answers = contradiction(problem, proof)
    if answers is None:
        return
    alone = len(answers) == 1
    message = f"{named(answers)} can't {'' if alone else 'all '}hold. "
    if features.rank < features.full_rank and _hold_at_full_rank(problem, answers, features, X, items):
        message += f"{'It does' if alone else 'They do'} at the initial kernel's full rank: set rank=None (--rank all; "
        message += f"now {features.rank} dimensions)."
    else:
        message += "No metric on these features gives what it asks" if alone else "They contradict one another"
        message += f": set a finite penalty= (--penalty 10), or drop {'it' if alone else 'one of them'}."
    raise ContradictionError(message, answers.tolist())


def _hold_at_full_rank(problem: Dual, answers: Array, features: LowRank, X: Array, items: Indices) -> bool:
    matrix = features.kernel.columns(X[items], items)
    values, vectors = interruptible(lambda: np.linalg.eigh(matrix))
    positive = values > np.finfo(float).eps * len(values) * values[-1]
    whole = Dual(vectors[:, positive] * np.sqrt(values[positive]), problem.rows, problem.loss)
    return contradiction(whole.hardened(np.isin(problem.rows.answer, answers))) is None
