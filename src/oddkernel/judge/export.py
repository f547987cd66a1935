"""Exporting answers as `Comparisons` with details, filtered, with or without the names of people.

`formats.csv_tables` writes them as CSV, header included.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ..comparisons import Comparisons
from .question_forms import comparisons, n_rows, named
from .response_times import possible_seconds
from .store import Answer

HoldOut = Literal["drop", "only", "keep"]

FAILED = 0.5
"""A person fails the catch questions by answering at least this share of them wrongly. Chosen by hand."""

SIMULATED = "simulated "
"""How the names of simulated people begin, also where people are numbered."""

_LETTERS = ("a", "b", "c")


@dataclass(frozen=True)
class Filter:
    """Which answers to take.

    Attributes
    ----------
    holdout : {"drop", "only", "keep"}
        What to do with answers to the random questions that are held out: drop them to learn from the others, take
        only them to evaluate, or keep both.
    failed_catches : bool
        Whether to leave out people who failed half of their catch questions or more.
    too_fast : float or None
        Answers that took fewer seconds, or can't have taken more, are left out; None leaves out none.
    incomplete : bool
        Whether to leave out people who have not finished.
    participants : bool
        Whether to include the participants' names. If not, they are numbered, and the times of their answers are left
        out.
    """

    holdout: HoldOut = "drop"
    failed_catches: bool = False
    too_fast: float | None = None
    incomplete: bool = False
    participants: bool = True

    def choose(self, answers: Iterable[Answer]) -> list[Answer]:
        """Those of the answers to take."""
        every = list(answers)
        seconds = possible_seconds(every) if self.too_fast is not None else [0.0] * len(every)
        failed = failed_catches(every) if self.failed_catches else set()
        return [
            answer
            for answer, took in zip(every, seconds, strict=True)
            if answer.sitting not in failed
            and (answer.complete or not self.incomplete)
            and (self.too_fast is None or took >= self.too_fast)
            and (self.holdout == "keep" or (answer.kind == "holdout") == (self.holdout == "only"))
        ]


class Export(NamedTuple):
    """Answers, ready to be written.

    Attributes
    ----------
    said : Comparisons
        The answers, with names of items and raters.
    details : dict of str to list
        Columns about each answer, such as its response time, as `oddkernel.formats.write` takes them.
    """

    said: Comparisons
    details: dict[str, list[Any]]


def failed_catches(answers: Iterable[Answer]) -> set[str]:
    """The sittings that failed half of their catch questions or more."""
    caught: dict[str, list[bool]] = defaultdict(list)
    for answer in answers:
        if answer.expected is not None:
            caught[answer.sitting].append(answer.odd != answer.expected)
    return {sitting for sitting, failed in caught.items() if sum(failed) >= FAILED * len(failed)}


def numbered(answers: Iterable[Answer]) -> dict[str, str]:
    """A number in place of a name for everybody who answered, by sitting and in the order of the numbers.

    They are ordered by a hash: the order of arrival would show who is who to people who were there.
    """
    simulated = {answer.sitting: answer.simulated for answer in answers}
    shuffled = sorted(simulated, key=lambda sitting: hashlib.sha256(sitting.encode()).digest())
    return {
        sitting: f"{SIMULATED if simulated[sitting] else ''}person {number}"
        for number, sitting in enumerate(shuffled, start=1)
    }


def export(answers: Sequence[Answer], names: Sequence[str], study: str, chosen: Filter | None = None) -> Export:
    """Make `Comparisons` of stored answers.

    Parameters
    ----------
    answers : sequence of Answer
        All answers of the study.
    names : sequence of str
        The items' names, in order. Names of items that the study no longer has come after them.
    study : str
        What the study is called.
    chosen : Filter, optional
        Which answers to take; by default all but those held out.

    Returns
    -------
    Export
        A grid's answer has a row for each item picked and each other one; the rows share the answer's id.
    """
    chosen = chosen or Filter()
    taken = chosen.choose(answers)
    known = dict.fromkeys(names)
    known |= dict.fromkeys(sorted({name for answer in taken for name in answer.items} - known.keys()))
    alias = {answer.sitting: answer.participant for answer in taken}
    if not chosen.participants:
        alias = numbered(answers)
        order = {sitting: number for number, sitting in enumerate(alias)}
        taken.sort(key=lambda answer: (order[answer.sitting], answer.place))
    rows_of = [n_rows(answer.items, answer.odd) for answer in taken]
    said = comparisons(
        ((answer.form, answer.items, answer.odd) for answer in taken),
        rater=[alias[answer.sitting] for answer in taken],
        items=known,
    )
    columns = [[(said.items or ())[item] for item in row] for row in said.shown.tolist()]
    taken = [answer for answer, n in zip(taken, rows_of, strict=True) for _ in range(n)]
    details: dict[str, list[Any]] = {
        "study": [study] * len(taken),
        "asked_as": [answer.kind for answer in taken],
        "place": [answer.place for answer in taken],
        "expected": [_expected(answer, row) for answer, row in zip(taken, columns, strict=True)],
        "response_ms": [answer.response_ms for answer in taken],
    }
    for name in ("list_line", "list_block", "simulated"):
        values = [getattr(answer, name) or None for answer in taken]
        if any(values):
            details[name] = values
    if chosen.participants:
        details["answered_at"] = [answer.answered_at for answer in taken]
        details["answer_id"] = [answer.client_id for answer in taken]
    return Export(said, details)


def _expected(answer: Answer, row: Sequence[str]) -> str | None:
    """The column of the right answer; of two items in a grid that are both right, or both wrong, none."""
    right = set() if answer.expected is None else named(answer.items, answer.expected)
    places = [place for place, name in enumerate(row) if name in right]
    return _LETTERS[places[0]] if len(places) == 1 else None
