"""A report on raters: statistics of each one's answers, and flags for careless ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from ..comparisons import Comparisons
from ..comparisons.columns import as_column, as_numbers
from ..support.checks import refuse
from ..support.types import Array, Indices
from . import flags
from .votes import Votes

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class RaterRow:
    """Statistics of one rater's answers. A share is None where there is no answer to compute it from.

    Attributes
    ----------
    rater : str
        Name of the rater.
    n_answers : int
        Number of odd-one-out answers.
    undecided : float
        Share of *can't tell*.
    with_model : float or None
        Share of answers that the model agrees with.
    with_others : float or None
        Share of answers that equal the majority answer of the others, among questions that others answered.
    with_self : float or None
        Share of answers that the rater gave again, among questions answered more than once.
    places : tuple of three floats, or None
        Share of answers that name each place as shown, without *can't tell*.
    seconds : float or None
        Median time for an answer.
    too_fast : float or None
        Share of answers given in less than 0.3 seconds or a third of everyone's median, whichever is more.
    failed : float or None
        Share of catch questions failed.
    flags : tuple of str
        Signs of carelessness, as text.
    """

    rater: str
    n_answers: int
    undecided: float
    with_model: float | None
    with_others: float | None
    with_self: float | None
    places: tuple[float, float, float] | None
    seconds: float | None
    too_fast: float | None
    failed: float | None
    flags: tuple[str, ...]


@dataclass(frozen=True)
class RaterReport:
    """One `RaterRow` for each rater, sorted by name; ``report["ann"]`` is one of them.

    Attributes
    ----------
    rows : tuple of RaterRow
        All of them.
    """

    rows: tuple[RaterRow, ...]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[RaterRow]:
        return iter(self.rows)

    def __getitem__(self, rater: str) -> RaterRow:
        for row in self.rows:
            if row.rater == rater:
                return row
        raise KeyError(rater)

    @property
    def flagged(self) -> dict[str, tuple[str, ...]]:
        """The flags of each flagged rater."""
        return {row.rater: row.flags for row in self.rows if row.flags}

    def to_frame(self) -> pd.DataFrame:
        """Make a pandas DataFrame with a line for each rater and the attributes of `RaterRow` as columns."""
        try:
            import pandas as pd
        except ImportError:
            raise ImportError('to_frame needs pandas: pip install "oddkernel[pandas]"') from None
        return pd.DataFrame([asdict(row) for row in self.rows])


def report(
    said: Comparisons,
    agrees: ArrayLike | None = None,
    *,
    seconds: ArrayLike | None = None,
    caught: ArrayLike | None = None,
) -> RaterReport:
    """Compute statistics of each rater's answers, and flag careless raters.

    A rater is flagged who

    - takes too little time for half of the answers or more;
    - names the same place in half of the answers or more, and more often than by chance, where chance is a third for
      each place, as for items shown in random order;
    - fails more catch questions than a careful rater, who fails 5% of them;
    - agrees with others, or with the model, less often than the average rater, and nearer to the chance level than to
      the average.

    "More" and "less" mean significantly, at the 0.1% level.

    Parameters
    ----------
    said : Comparisons
        Odd-one-out answers with raters; other kinds are ignored. Answers without a rater count only as other people's.
    agrees : array-like of shape (m,), optional
        Whether a model agrees with each answer: true or false, or a share from 0 to 1; NaN where that is undefined, as
        for *can't tell*.
    seconds : array-like of shape (m,), optional
        The time that each answer took; NaN where unknown.
    caught : array-like of shape (m,), optional
        For catch questions, whose correct answer is known: 1 for failed, 0 for passed; NaN for all other questions.

    Returns
    -------
    RaterReport

    Examples
    --------
    >>> import numpy as np
    >>> from oddkernel import Comparisons
    >>> shown, odd = np.arange(90).reshape(30, 3), np.arange(30) % 3
    >>> said = Comparisons.empty()
    >>> for name, answers in {"ann": odd, "bob": odd, "cat": 0 * odd}.items():
    ...     said += Comparisons.odd_one_out(shown, answers, rater=name)
    >>> looked_at = report(said)
    >>> looked_at["cat"].with_others
    0.33
    >>> looked_at.flagged["cat"][0]
    'names place 0 in 100% of answers'
    """
    votes = Votes.of(said)
    votes.check_raters()
    m, row = len(said), votes.row
    answers = _Answers(
        odd=said.odd[row].astype(np.intp),
        with_model=_agreement(agrees, m)[row],
        with_others=votes.with_others(),
        with_self=votes.with_self(),
        seconds=_times(seconds, m)[row],
        failed=_catches(caught, m)[row],
    )
    order = np.argsort(votes.person, kind="stable")
    ends = np.searchsorted(votes.person[order], np.arange(1, len(votes.raters) + 1))
    by_rater = np.split(order, ends)[:-1]  # the last part has no rater
    return RaterReport(tuple(answers.of(rater, rows) for rater, rows in zip(votes.raters, by_rater, strict=True)))


@dataclass(frozen=True, eq=False)
class _Answers:
    """What is known about each answer; NaN where unknown."""

    odd: Indices
    with_model: Array
    with_others: Array
    with_self: Array
    seconds: Array
    failed: Array

    @cached_property
    def limit(self) -> float:
        return flags.too_fast_below(_present(self.seconds))

    @cached_property
    def usual_with_others(self) -> float | None:
        return _mean(_present(self.with_others))

    @cached_property
    def usual_with_model(self) -> float | None:
        return _mean(_present(self.with_model))

    def of(self, rater: str, rows: Indices) -> RaterRow:
        odd = self.odd[rows]
        named = np.bincount(odd[odd >= 0], minlength=3)
        first, second, third = (named / max(named.sum(), 1)).tolist()
        seconds, failed = _present(self.seconds[rows]), _present(self.failed[rows])
        with_model, with_others = _present(self.with_model[rows]), _present(self.with_others[rows])
        signs = (
            flags.hurried(seconds, self.limit),
            flags.same_place(named),
            flags.fell_for_catches(failed),
            flags.apart(with_others, self.usual_with_others, "others"),
            flags.apart(with_model, self.usual_with_model, "the model"),
        )
        return RaterRow(
            rater=rater,
            n_answers=len(rows),
            undecided=float(np.mean(odd < 0)),
            with_model=_mean(with_model),
            with_others=_mean(with_others),
            with_self=_mean(_present(self.with_self[rows])),
            places=(first, second, third) if named.any() else None,
            seconds=float(np.median(seconds)) if len(seconds) else None,
            too_fast=_mean(seconds < self.limit),
            failed=_mean(failed),
            flags=tuple(sign for sign in signs if sign is not None),
        )


def _present(values: Array) -> Array:
    return values[~np.isnan(values)]


def _mean(values: Array) -> float | None:
    return float(values.mean()) if len(values) else None


def _agreement(agrees: ArrayLike | None, n_rows: int) -> Array:
    accepted = "true or false, a number from 0 to 1, or NaN"
    values = _column(None if agrees is None else np.asarray(agrees, dtype=np.float64), n_rows, "agrees", accepted)
    refuse((values < 0) | (values > 1), lambda row: f"agrees holds {values[row]:g}; expected {accepted}")
    return values


def _times(seconds: ArrayLike | None, n_rows: int) -> Array:
    accepted = "a time of 0 seconds or more, or NaN"
    values = _column(seconds, n_rows, "seconds", accepted)
    refuse((values < 0) | np.isinf(values), lambda row: f"seconds holds {values[row]:g}; expected {accepted}")
    return values


def _catches(caught: ArrayLike | None, n_rows: int) -> Array:
    # Booleans are refused: False could mean a catch question passed or a question that was no catch.
    accepted = "1 for a catch question failed, 0 for one passed, NaN for any other question"
    values = _column(caught, n_rows, "caught", accepted)
    known = np.isin(values, (0, 1)) | np.isnan(values)
    refuse(~known, lambda row: f"caught holds {values[row]:g}; expected {accepted}")
    return values


def _column(values: ArrayLike | None, n_rows: int, what: str, accepted: str) -> Array:
    return np.full(n_rows, np.nan) if values is None else as_numbers(as_column(values, what), n_rows, what, accepted)
