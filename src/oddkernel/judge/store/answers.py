"""Questions and answers, as the database holds them."""

from __future__ import annotations

import json
import secrets
from collections.abc import Container
from typing import Any, NamedTuple

from ..question_forms import GRID, ODD, Given, fits
from .questionnaires import Refused
from .sittings import Sitting, Sittings, Unknown
from .studies import now


class Question(NamedTuple):
    """A question that was handed out: its items in the order shown, and its place in the sitting.

    `picks` is the number of items that an answer names. `chosen` are the three items that a policy chose: of a grid,
    the one in the middle and two of those around it.
    """

    id: str
    place: int
    kind: str
    items: tuple[str, ...]
    form: str
    picks: int
    chosen: tuple[str, str, str]


class Answer(NamedTuple):
    """A stored answer, with its question and its sitting."""

    sitting: str
    participant: str
    complete: bool
    question: str
    place: int
    kind: str
    items: tuple[str, ...]
    expected: Given | None
    repeats: str | None
    client_id: str
    odd: Given
    response_ms: int
    answered_at: str
    stored_at: str
    handed_at: str
    simulated: int = 0
    list_line: int | None = None
    list_block: str | None = None
    form: str = ODD


class Records(Sittings):
    """The records of one study, within one transaction."""

    # Questions

    _COLUMNS = "q.id, q.place, q.kind, q.form, q.picks, q.a, q.b, q.c, q.around"
    _QUESTION = f"SELECT {_COLUMNS} FROM question q "
    _LIVE = "(SELECT 1 FROM answer a WHERE a.question = q.id AND a.undo_id IS NULL)"

    def asked(self, sitting: Sitting) -> list[tuple[Question, bool]]:
        """All questions handed out in a sitting, in order, and whether each has an answer."""
        rows = self._all(
            f"SELECT {self._COLUMNS}, EXISTS {self._LIVE} FROM question q WHERE q.sitting = :id ORDER BY q.place",
            id=sitting.id,
        )
        return [(_as_question(row[:-1]), bool(row[-1])) for row in rows]

    def question(self, sitting: Sitting, id: str) -> Question:
        """One question of a sitting."""
        row = self._first(self._QUESTION + "WHERE q.sitting = :sitting AND q.id = :id", sitting=sitting.id, id=id)
        if row is None:
            raise Unknown("This question isn't part of the sitting.")
        return _as_question(row)

    def open_questions(self) -> list[tuple[str, str, str]]:
        """The chosen items of all questions that wait for an answer."""
        rows = self._all(
            "SELECT q.a, q.b, q.c FROM question q JOIN sitting s ON s.id = q.sitting "
            f"WHERE s.study = :study AND q.place >= 0 AND NOT EXISTS {self._LIVE}"
        )
        return [(a, b, c) for a, b, c in rows]

    def all_shown(self) -> list[tuple[str, tuple[str, str, str]]]:
        """Kind and chosen items of all questions."""
        rows = self._all(
            "SELECT q.kind, q.a, q.b, q.c FROM question q JOIN sitting s ON s.id = q.sitting WHERE s.study = :study"
        )
        return [(kind, (a, b, c)) for kind, a, b, c in rows]

    def unanswered(self, sitting: Sitting) -> list[Question]:
        """The questions of a sitting that wait for an answer, in order."""
        rows = self._all(
            self._QUESTION + f"WHERE q.sitting = :id AND q.place >= 0 AND NOT EXISTS {self._LIVE} ORDER BY q.place",
            id=sitting.id,
        )
        return [_as_question(row) for row in rows]

    def places(self, sitting: Sitting, from_place: int = 0) -> set[int]:
        """The places of a sitting that have a question, those before `from_place` left out."""
        rows = self._all(
            "SELECT place FROM question WHERE sitting = :id AND place >= :first", id=sitting.id, first=from_place
        )
        return {place for (place,) in rows}

    def free_places(self, sitting: Sitting, count: int) -> list[int]:
        """The first places of a sitting that have no question yet."""
        n_taken, end = self._first(
            "SELECT count(*), coalesce(max(place) + 1, 0) FROM question WHERE sitting = :id AND place >= 0",
            id=sitting.id,
        )
        taken = set() if n_taken == end else self.places(sitting)  # mostly there are no gaps
        start = end if n_taken == end else 0
        return [place for place in range(start, sitting.total) if place not in taken][:count]

    def hand_out(
        self,
        sitting: Sitting,
        place: int,
        kind: str,
        items: tuple[str, ...],
        expected: Given | None = None,
        repeats: str | None = None,
        line: int | None = None,
        block: str | None = None,
        form: str = ODD,
        picks: int = 1,
        chosen: tuple[str, str, str] | None = None,
    ) -> Question:
        """Add a question to a sitting; line and block are those of a list, the chosen items by default the first."""
        a, b, c = chosen or items[:3]
        named, picked = _columns(expected)
        id = secrets.token_hex(12)
        self._run(
            "INSERT INTO question (id, sitting, place, kind, a, b, c, expected, expected_picked, repeats, handed_at, "
            "line, block, form, around, picks) VALUES (:id, :sitting, :place, :kind, :a, :b, :c, :expected, :picked, "
            ":repeats, :now, :line, :block, :form, :around, :picks)",
            id=id,
            sitting=sitting.id,
            place=place,
            kind=kind,
            a=a,
            b=b,
            c=c,
            expected=named,
            picked=picked,
            repeats=repeats,
            now=now(),
            line=line,
            block=block,
            form=form,
            around=json.dumps(items[1:], ensure_ascii=False) if form == GRID else None,
            picks=picks,
        )
        return Question(id, place, kind, items, form, picks, (a, b, c))

    def retire(self, question: Question) -> None:
        """Free the place of a question that can no longer be asked.

        The question stays, at a place below 0: a page that has it already may still answer it.
        """
        row = self._first(
            "SELECT min(p.place) FROM question p JOIN question q ON p.sitting = q.sitting WHERE q.id = :id",
            id=question.id,
        )
        self._run("UPDATE question SET place = :place WHERE id = :id", id=question.id, place=min(0, row[0]) - 1)

    # Answers

    def answer(
        self, sitting: Sitting, client_id: str, question_id: str, odd: Given, response_ms: int, answered_at: str
    ) -> tuple[Question, bool]:
        """Store an answer; returns its question, and False if the same answer was stored before."""
        question = self.question(sitting, question_id)
        if not fits(odd, question.form, len(question.items), question.picks):
            raise Unknown("This answer doesn't fit the question.")
        earlier = self._all(
            "SELECT client_id, question, odd, picked, undo_id FROM answer "
            "WHERE sitting = :sitting AND (client_id = :client OR question = :question)",
            sitting=sitting.id,
            client=client_id,
            question=question_id,
        )
        for sent_as, sent_for, *sent, _ in earlier:
            if sent_as == client_id:
                if (sent_for, _given(*sent)) != (question_id, odd):
                    raise Refused("Another answer was stored under this client_id.")
                return question, False
        if any(undo_id is None for *_, undo_id in earlier):
            raise Refused("This question has an answer already.")
        named, picked = _columns(odd)
        self._run(
            "INSERT INTO answer (sitting, client_id, question, odd, picked, response_ms, answered_at, stored_at) "
            "VALUES (:sitting, :client, :question, :odd, :picked, :response_ms, :answered_at, :now)",
            sitting=sitting.id,
            client=client_id,
            question=question_id,
            odd=named,
            picked=picked,
            response_ms=response_ms,
            answered_at=answered_at,
            now=now(),
        )
        return question, True

    def undo(self, sitting: Sitting, undo_id: str, client_id: str) -> tuple[Question, bool]:
        """Take the last answer back; returns its question, and False if the same request was handled before.

        The answer stays in the database, marked, and no longer counts as one.
        """
        row = self._first(
            "SELECT question, undo_id FROM answer WHERE sitting = :sitting AND client_id = :client",
            sitting=sitting.id,
            client=client_id,
        )
        if row is None:
            raise Unknown("There is no such answer to take back.")
        question = self.question(sitting, row[0])
        if row[1] == undo_id:
            return question, False
        last = self._first(
            "SELECT a.client_id FROM answer a JOIN question q ON q.id = a.question "
            "WHERE a.sitting = :sitting AND a.undo_id IS NULL ORDER BY q.place DESC LIMIT 1",
            sitting=sitting.id,
        )
        if question.place >= 0 and (last is None or last[0] != client_id):
            raise Refused("Only the last answer can be taken back.")
        self._run(
            "UPDATE answer SET undo_id = :undo, undone_at = :now WHERE sitting = :sitting AND client_id = :client",
            undo=undo_id,
            now=now(),
            sitting=sitting.id,
            client=client_id,
        )
        return question, True

    def answers(self) -> list[Answer]:
        """All answers except those taken back, in the order of sittings and of their questions."""
        complete = {sitting.id for sitting in self.sittings() if sitting.done}
        rows = self._all(
            f"SELECT {self._COLUMNS}, s.id, s.participant, q.expected, q.expected_picked, q.repeats, a.client_id, "
            "a.odd, a.picked, a.response_ms, a.answered_at, a.stored_at, q.handed_at, s.simulated, q.line, q.block "
            "FROM answer a JOIN question q ON q.id = a.question JOIN sitting s ON s.id = q.sitting "
            "WHERE s.study = :study AND a.undo_id IS NULL ORDER BY s.started_at, s.id, q.place"
        )
        return [_as_answer(row, complete) for row in rows]

    def version(self) -> tuple[Any, ...]:
        """A value that changes whenever an answer or a sitting is added or removed."""
        counts = self._first(
            "SELECT count(*), count(a.undo_id), max(a.stored_at), max(a.undone_at) "
            "FROM answer a JOIN sitting s ON s.id = a.sitting WHERE s.study = :study"
        )
        return *counts, *self._first("SELECT count(*), max(started_at) FROM sitting WHERE study = :study")

    def n_answers(self) -> int:
        """Number of answers, without those taken back."""
        row = self._first(
            "SELECT count(*) FROM answer a JOIN sitting s ON s.id = a.sitting "
            "WHERE s.study = :study AND a.undo_id IS NULL"
        )
        return int(row[0])


def _as_question(row: Any) -> Question:
    id, place, kind, form, picks, a, b, c, around = row
    items = (a, b, c) if around is None else (a, *json.loads(around))
    return Question(id, place, kind, items, form, picks, (a, b, c))


def _as_answer(row: Any, complete: Container[str]) -> Answer:
    id, place, kind, items, form, *_ = _as_question(row[:9])
    sitting, who, expected, expected_picked, repeats, client_id, odd, picked, ms, answered, stored, handed, *rest = row[
        9:
    ]
    known = None if expected is None and expected_picked is None else _given(expected, expected_picked)
    simulated, line, block = rest
    return Answer(
        sitting,
        who,
        sitting in complete,
        id,
        place,
        kind,
        items,
        known,
        repeats,
        client_id,
        _given(odd, picked),
        ms,
        answered,
        stored,
        handed,
        simulated,
        line,
        block,
        form,
    )


def _given(odd: int | None, picked: str | None) -> Given:
    """An answer from its two columns: what was picked of a grid is a list in JSON."""
    return tuple(json.loads(picked)) if picked is not None else int(odd or 0)


def _columns(given: Given | None) -> tuple[int | None, str | None]:
    """An answer as its two columns."""
    return (None, json.dumps(given)) if isinstance(given, tuple) else (given, None)
