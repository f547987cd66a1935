"""The people of a study as a table: how far each is, a panel's ids, and what they said about themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..comparisons import Kind
from ..comparisons.kinds import singled_out
from .export import Export, numbered
from .progress import state_of
from .questionnaire import is_name
from .settings import Settings
from .store import Answer, Sitting

Replies = Mapping[str, Mapping[str, str | float | None]]
"""What people said about themselves, by sitting and name."""

PREFIX = "person_"
"""How the columns about a person begin where they stand beside an answer."""


def table_of_people(
    sittings: Sequence[Sitting],
    answers: Sequence[Answer],
    replies: Replies,
    settings: Settings,
    *,
    participants: bool = True,
) -> dict[str, list[Any]]:
    """Columns with an entry for everybody who answered, or said something about themselves.

    Parameters
    ----------
    sittings : sequence of Sitting
        All of them.
    answers : sequence of Answer
        All answers of the study.
    replies : mapping
        What people said about themselves, by sitting and name.
    settings : Settings
    participants : bool, default=True
        Whether to include names, a panel's ids and texts that people wrote; if not, people are numbered as in the
        export of the answers.
    """
    alias = numbered(answers)
    alias |= {sitting: f"person {len(alias) + n}" for n, sitting in enumerate(sorted(replies.keys() - alias), start=1)}
    known = [sitting for sitting in sittings if sitting.id in alias]
    if not participants:
        known.sort(key=lambda sitting: list(alias).index(sitting.id))
    columns: dict[str, list[Any]] = {
        "participant": [sitting.participant if participants else alias[sitting.id] for sitting in known],
        "state": [state_of(sitting, settings) for sitting in known],
        "answered": [sitting.answered for sitting in known],
        "simulated": [int(sitting.simulated) for sitting in known],
    }
    if participants and settings.panel is not None:
        for name in settings.panel.keep:
            columns[name] = [sitting.panel.get(name, "") for sitting in known]
    asked = {about.name: about for about in settings.about}
    for name in dict.fromkeys([*asked, *(name for own in replies.values() for name in own)]):
        values = [replies.get(sitting.id, {}).get(name) for sitting in known]
        if name not in asked and (name in columns or not is_name(name)):
            continue  # no question of this study had that name: somebody sent it by hand
        if participants:
            columns[name] = _column(values)
        elif name in asked and asked[name].kind != "text":
            columns[name] = _column([value if asked[name].accepts(value) else None for value in values])
    return columns


def _column(values: Sequence[str | float | None]) -> list[Any]:
    """Numbers where all are, else texts, empty for what was skipped: a column of a table has one type."""
    if all(isinstance(value, (int, float)) for value in values):
        return list(values)
    return ["" if value is None else str(value) for value in values]


def joined(found: Export, people: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
    """A plain table with a row for each answer, and what is known about the person beside it."""
    said, names = found.said, found.said.items or ()
    raters = [] if said.rater is None else said.rater.tolist()
    row_of = {name: row for row, name in enumerate(people["participant"])}
    table: dict[str, list[Any]] = {
        letter: [names[item] for item in said.shown[:, place]] for place, letter in enumerate("abc")
    }
    table["kind"] = said.to_dict()["kind"]
    chosen = singled_out(said.kind, said.odd)
    chosen[said.kind == Kind.CLOSER] = 1  # the pair opposite the far one is singled out, and the near one named
    table["answer"] = ["can't tell" if place < 0 else "abc"[place] for place in chosen]
    table["rater"] = raters
    table |= {name: ["" if value is None else value for value in values] for name, values in found.details.items()}
    for name, values in people.items():
        if name != "participant":
            table[PREFIX + name] = [values[row_of[rater]] for rater in raters]
    return table
