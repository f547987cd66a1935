"""The experimenter's statistics: counts, times, catches, repeats, agreement, and a row for each person."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import raters
from .export import Filter, export
from .question_forms import ODD, named
from .response_times import possible_seconds
from .store import Answer, Sitting

EDGES = (0.0, 0.3, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, 12.0, 20.0)
"""Lower ends, in seconds, of the bars in the histogram of response times; the last bar is open. Chosen by hand."""


def statistics(
    sittings: Sequence[Sitting], answers: Sequence[Answer], names: Sequence[str], *, too_fast: float
) -> dict[str, Any]:
    """Facts about a study, ready for JSON.

    Parameters
    ----------
    sittings : sequence of Sitting
        All of them.
    answers : sequence of Answer
        All answers except those taken back.
    names : sequence of str
        The items' names.
    too_fast : float
        Seconds below which an answer is too fast; see `possible_seconds`.
    """
    seconds = np.array([answer.response_ms / 1000 for answer in answers])
    fast = [took < too_fast for took in possible_seconds(answers)]
    catches, repeats = _catches(answers), _repeats(answers)
    odd = [row for row, answer in enumerate(answers) if answer.form == ODD]  # agreement is known for these only
    said = export([answers[row] for row in odd], names, "", Filter(holdout="keep")).said
    right = [catches.get((answers[row].client_id, answers[row].sitting)) for row in odd]
    caught = np.array([np.nan if each is None else float(not each) for each in right])
    told = raters.report(said, seconds=seconds[odd], caught=caught) if odd else None
    report = {} if told is None else {row.rater: row for row in told.rows}
    # A catch question has one answer, so agreement about it says nothing.
    ceiling = raters.noise_ceiling(said[np.isnan(caught)]) if odd else None
    by_sitting: dict[str, list[Answer]] = defaultdict(list)
    n_fast: Counter[str] = Counter()
    for answer, is_fast in zip(answers, fast, strict=True):
        by_sitting[answer.sitting].append(answer)
        n_fast[answer.sitting] += is_fast
    people = []
    for sitting in sittings:
        if not sitting.answered:  # the page was opened, perhaps by a program that looks at links
            continue
        own = by_sitting[sitting.id]
        row = report.get(sitting.participant)
        people.append(
            {
                "participant": sitting.participant,
                "simulated": any(answer.simulated for answer in own),
                "answered": sitting.answered,
                "total": sitting.total,
                "done": sitting.done,
                "median_seconds": float(np.median([answer.response_ms / 1000 for answer in own])) if own else None,
                "too_fast": n_fast[sitting.id],
                "cant_tell": sum(answer.odd == -1 for answer in own),
                "catches": _tally([catches[answer.client_id, answer.sitting] for answer in own if _is_catch(answer)]),
                "repeats": _tally(
                    [same for answer in own if (same := repeats.get((answer.client_id, answer.sitting))) is not None]
                ),
                "with_others": None if row is None else row.with_others,
                "flags": [] if row is None else list(row.flags),
                "last_answer_at": max((answer.stored_at for answer in own), default=None),
            }
        )
    return {
        "answers": len(answers),
        "by_kind": dict(Counter(answer.kind for answer in answers)),
        "by_form": dict(Counter(answer.form for answer in answers)),
        "simulated": sum(bool(answer.simulated) for answer in answers),
        "people": len(people),
        "opened": len(sittings) - len(people),
        "finished": sum(sitting.done for sitting in sittings),
        "cant_tell": _share([answer.odd == -1 for answer in answers]),
        "too_fast": _share(fast),
        "response_times": {
            "edges": list(EDGES),
            "counts": np.histogram(seconds, bins=[*EDGES, np.inf])[0].tolist(),
            "median": float(np.median(seconds)) if len(seconds) else None,
        },
        "catches": _tally(list(catches.values())),
        "repeats": _tally(list(repeats.values())),
        "agreement": None
        if ceiling is None or ceiling.agreement is None
        else {
            "share": ceiling.agreement,
            "low": ceiling.low,
            "high": ceiling.high,
            "questions": ceiling.n_questions,
            "answers": ceiling.n_answers,
        },
        "persons": people,
    }


def _is_catch(answer: Answer) -> bool:
    return answer.expected is not None


def _catches(answers: Sequence[Answer]) -> dict[tuple[str, str], bool]:
    """Whether each answer to a catch question is right."""
    return {
        (answer.client_id, answer.sitting): answer.odd == answer.expected for answer in answers if _is_catch(answer)
    }


def _repeats(answers: Sequence[Answer]) -> dict[tuple[str, str], bool]:
    """Whether each answer to a repeated question is the same as the first time."""
    first = {answer.question: answer for answer in answers}
    return {
        (answer.client_id, answer.sitting): named(answer.items, answer.odd) == named(before.items, before.odd)
        for answer in answers
        if answer.repeats is not None and (before := first.get(answer.repeats)) is not None
    }


def _tally(right: Sequence[bool]) -> dict[str, int]:
    return {"asked": len(right), "right": sum(right)}


def _share(values: Sequence[bool]) -> float | None:
    return sum(values) / len(values) if values else None
