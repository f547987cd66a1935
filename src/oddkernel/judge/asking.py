"""What a person is asked: the plan of a sitting, and the next questions in it."""

from __future__ import annotations

import logging
from collections import Counter

import numpy as np

from ..comparisons import Comparisons
from ..questions.adaptive import prepare
from ..questions.background import Background
from . import policy
from .policy import History, Triple
from .store import Database, Question, Records, Sitting
from .study import Settings, Study

log = logging.getLogger(__name__)

CHOSEN = "chosen"
"""In a plan: whatever the study's policy chooses."""

REPEAT_AFTER = 5
"""A question is repeated after at least so many others."""

MOST_WAITING = 20
"""So many questions can wait for an answer in one sitting."""


def plan(settings: Settings, rng: np.random.Generator) -> list[str]:
    """The kinds of a sitting's questions, in order: catch, holdout, repeat or whatever the policy chooses.

    Repeats come in the second half, if they fit, so that there is something to repeat; no catch comes first.

    Examples
    --------
    >>> settings = Settings(questions=20, repeat_share=0.1, holdout_share=0.2)
    >>> sorted(Counter(plan(settings, np.random.default_rng(0))).items())
    [('chosen', 14), ('holdout', 4), ('repeat', 2)]
    """
    total = settings.questions
    kinds = [CHOSEN] * total
    repeats = round(settings.repeat_share * total)
    # Those with the fewest places to go choose first.
    for kind, share, earliest in (
        ("repeat", settings.repeat_share, max(REPEAT_AFTER + 1, min(total // 2, total - repeats))),
        ("catch", settings.catch_share if settings.catch else 0.0, 1),
        ("holdout", settings.holdout_share, 1 if settings.repeat_share else 0),
    ):
        free = [place for place in range(min(earliest, total), total) if kinds[place] == CHOSEN]
        for place in rng.permutation(free)[: round(share * total)]:
            kinds[int(place)] = kind
    return kinds


class Asking:
    """Hands out questions; keeps in memory what policies look at.

    All methods that take `Records` are called by the database's one writing thread.
    """

    def __init__(self, study: Study, database: Database) -> None:
        self._study = study
        name = study.settings.policy
        if name in policy.LEARNING and study.features is None:
            raise ValueError(
                f'policy = "{name}" in study.toml needs features of the items: give a file with --features (oddkernel '
                'features makes one), or choose "random"'
            )
        self._policy = policy.POLICIES[name]
        self._kind = "random" if self._policy is policy.random else "adaptive"
        self._rng = np.random.default_rng()
        self._held_out: Counter[Triple] = Counter()
        self._answers: dict[str, tuple[Triple, int]] = {}  # by question: the items as shown, and which is odd
        self.history = History(len(study.items), np.zeros(len(study.items), dtype=np.intp), self._said, study.features)
        self._background: Background | None = None
        if name in policy.LEARNING and study.features is not None:
            rng = np.random.default_rng()
            self._background = Background(
                study.features,
                self._said,
                prepare=(lambda belief: prepare(belief, rng)) if name in policy.PREPARED else None,
            )
            self.history.belief = self._background.latest
            self.history.space = self._background.space
            self._background.answered(0)
        database.write(self.refresh).result()

    def close(self) -> None:
        """Learn nothing more."""
        if self._background is not None:
            self._background.close()

    def refresh(self, records: Records) -> None:
        """Take from the records what was shown, what was said, and what is waiting for an answer."""
        self.history.forget()
        self._held_out.clear()
        self._answers = {
            answer.question: (self._indices(answer.items), answer.odd)
            for answer in records.answers()
            if answer.kind != "holdout" and self._known(answer.items)
        }
        for kind, items in records.all_shown():
            if kind not in ("catch", "repeat") and self._known(items):  # these two aren't a policy's choice
                self._note(kind, self._indices(items))
        self.history.open = {
            policy.key(self._indices(items)) for items in filter(self._known, records.open_questions())
        }

    def _note(self, kind: str, items: Triple) -> None:
        self.history.shown(items)
        if kind == "holdout":
            self._held_out[policy.key(items)] += 1

    def next(self, records: Records, sitting: Sitting, count: int) -> list[Question]:
        """The next questions of a sitting: those that wait for an answer, then new ones."""
        asked = records.asked(sitting)
        waiting = [question for question, is_answered in asked if not is_answered]
        taken = {question.place for question, _ in asked}
        for question in [question for question in waiting if not self._known(question.items)]:
            records.drop(question)  # its item was taken out of the study
            waiting.remove(question)
            taken.remove(question.place)
        free = [place for place in range(sitting.total) if place not in taken]
        for place in free[: max(0, min(count, MOST_WAITING) - len(waiting))]:
            waiting.append(self._draw(records, sitting, place))
        return sorted(waiting, key=lambda question: question.place)[:count]

    def answered(self, question: Question, odd: int) -> None:
        """Note what was said, and that nobody is being asked this any more."""
        if self._known(question.items):
            items = self._indices(question.items)
            self.history.open.discard(policy.key(items))
            if question.kind != "holdout":
                self._answers[question.id] = items, odd
        if self._background is not None:
            self._background.answered()

    def taken_back(self, question: Question) -> None:
        """Note that someone is being asked this again."""
        self._answers.pop(question.id, None)
        if self._known(question.items):
            self.history.open.add(policy.key(self._indices(question.items)))

    def practice(self, sitting: Sitting) -> list[tuple[str, str, str]]:
        """Items for the practice, the same whenever this sitting asks for them."""
        rng = np.random.default_rng(sitting.seed)
        return [self._names(_triple(row)) for row in policy.random(self.history, self._study.settings.practice, rng)]

    def _draw(self, records: Records, sitting: Sitting, place: int) -> Question:
        kind = sitting.plan[place]
        catches = self._study.settings.catch
        if kind == "catch" and catches:
            catch = catches[int(self._rng.integers(len(catches)))]
            items = _shuffled(catch.items, self._rng)
            return records.hand_out(sitting, place, kind, items, expected=items.index(catch.odd))
        if kind == "repeat" and (earlier := self._to_repeat(records, sitting, place)) is not None:
            items = _shuffled(earlier.items, self._rng)
            return records.hand_out(sitting, place, kind, items, repeats=earlier.id)
        if kind == "holdout":
            chosen = self._to_share(records, sitting) or self._to_hold_out()
            return self._hand_out(records, sitting, place, kind, chosen)
        try:
            return self._hand_out(
                records, sitting, place, self._kind, policy.choose(self._policy, self.history, self._rng)
            )
        except Exception:
            if self._policy is policy.random:
                raise
            log.exception("the policy %s failed; this question is a random one", self._study.settings.policy)
        return self._hand_out(records, sitting, place, "random", policy.choose(policy.random, self.history, self._rng))

    def _hand_out(self, records: Records, sitting: Sitting, place: int, kind: str, items: Triple) -> Question:
        self._note(kind, items)
        self.history.open.add(policy.key(items))
        return records.hand_out(sitting, place, kind, self._names(items))

    def _to_share(self, records: Records, sitting: Sitting) -> Triple | None:
        """Every other time, a question held out that one other person was asked: so one sees how far people agree."""
        if self._rng.random() < 0.5:
            return None
        own = {frozenset(question.items) for question, _ in records.asked(sitting)}
        once = [
            triple
            for triple, times in self._held_out.items()
            if times == 1 and triple not in self.history.open and frozenset(self._names(triple)) not in own
        ]
        return _triple(self._rng.permutation(once[int(self._rng.integers(len(once)))])) if once else None

    def _to_hold_out(self) -> Triple:
        """Any three items, and not those of a question that is held out already, if others are soon found."""
        for _ in range(policy.TRIES):
            chosen = policy.choose(policy.random, self.history, self._rng)
            if not self._held_out[policy.key(chosen)]:
                break
        return chosen

    def _to_repeat(self, records: Records, sitting: Sitting, place: int) -> Question | None:
        """An earlier question, if there is one, that came up least often: with few items some come up by chance."""
        asked = [question for question, _ in records.asked(sitting)]
        times = Counter(frozenset(question.items) for question in asked)
        earlier = [
            question
            for question in asked
            if question.place < place - REPEAT_AFTER
            and question.kind in ("random", "adaptive")  # what is held out must not come back among the others
            and self._known(question.items)
        ]
        self._rng.shuffle(earlier)
        return min(earlier, key=lambda question: times[frozenset(question.items)], default=None)

    def _said(self) -> Comparisons:
        said = list(self._answers.values())  # at once: the background asks for it, too
        if not said:
            return Comparisons.empty()
        return Comparisons.odd_one_out([items for items, _ in said], [odd for _, odd in said])

    def _known(self, items: tuple[str, str, str]) -> bool:
        return all(name in self._study.index_of for name in items)

    def _indices(self, items: tuple[str, str, str]) -> Triple:
        first, second, third = (self._study.index_of[name] for name in items)
        return first, second, third

    def _names(self, items: Triple) -> tuple[str, str, str]:
        first, second, third = (self._study.items[index].name for index in items)
        return first, second, third


def _shuffled(items: tuple[str, str, str], rng: np.random.Generator) -> tuple[str, str, str]:
    first, second, third = (items[int(place)] for place in rng.permutation(3))
    return first, second, third


def _triple(row: policy.Indices) -> Triple:
    first, second, third = (int(item) for item in row)
    return first, second, third
