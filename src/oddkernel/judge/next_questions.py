"""What a person is asked: the plan of a sitting, and its next questions."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..questions.history import History, Triple, as_triple, draw_triples, key
from ..questions.policies import DEFAULT, LEARNING, POLICIES, PREPARED
from .answer_cache import AnswerCache
from .choosing import Choosing, Wish
from .progress import OVER, state_of
from .question_forms import GRID, ODD, Given, filled, form_at, positions, shuffled
from .question_list import LISTED, arranged
from .question_queue import Choice
from .settings import Settings
from .store import Database, Question, Records, Sitting
from .study import Study

if TYPE_CHECKING:
    from ..questions.background import Background
    from ..questions.process import LearningProcess

CHOSEN = "chosen"
"""In a plan: a question that the study's policy chooses."""

REPEAT_AFTER = 5
"""A question is repeated after at least five others. Chosen by hand."""

REPEATED = ("random", "adaptive")
"""Kinds of questions that may be repeated. Held-out questions may not: repeats are learned from."""

MOST_WAITING = 20
"""Largest number of questions that wait for an answer in one sitting. Chosen by hand; the page asks for 14."""


def plan(study: Study, rng: np.random.Generator) -> list[str]:
    """The kinds of a sitting's questions, in order: those of the list, and then those of `kinds_of`."""
    table = study.settings.list
    first = [] if table is None else [row.kind for row in arranged(table, study.listed, rng)]
    return first + kinds_of(study.settings, study.n_questions - len(first), rng)


def kinds_of(settings: Settings, total: int, rng: np.random.Generator) -> list[str]:
    """The kinds of questions that no list says, in order: catch, holdout, repeat or chosen by the policy.

    Repeats come in the second half, if there is room, so that earlier questions exist. The first question is no catch.

    Examples
    --------
    >>> settings = Settings(repeat_share=0.1, holdout_share=0.2)
    >>> sorted(Counter(kinds_of(settings, 20, np.random.default_rng(0))).items())
    [('chosen', 14), ('holdout', 4), ('repeat', 2)]
    """
    kinds = [CHOSEN] * total
    repeats = round(settings.repeat_share * total)
    # The kind with the fewest possible places goes first.
    for kind, share, earliest in (
        ("repeat", settings.repeat_share, max(REPEAT_AFTER + 1, min(total // 2, total - repeats))),
        ("catch", settings.catch_share if settings.catch else 0.0, 1),
        ("holdout", settings.holdout_share, 1 if settings.repeat_share else 0),
    ):
        free = [place for place in range(min(earliest, total), total) if kinds[place] == CHOSEN]
        for place in rng.permutation(free)[: round(share * total)]:
            kinds[int(place)] = kind
    return kinds


class Needed(NamedTuple):
    """What has to be done before a person can be given the next questions.

    Attributes
    ----------
    waiting : list of Question
        Questions that wait for this person's answer.
    gone : list of Question
        Questions that waited, about items that were removed from the study.
    kinds : dict of int to str
        The kind of question to hand out at each place.
    own : frozenset of tuple
        The questions, as sorted items, that this person was asked, if that matters.
    """

    waiting: list[Question]
    gone: list[Question]
    kinds: dict[int, str]
    own: frozenset[Triple]


class Asking:
    """Hands out questions; keeps in memory what the policies use.

    All methods that take `Records`, but for `look`, are called by the database's one writing thread.
    """

    def __init__(self, study: Study, database: Database) -> None:
        self._study = study
        self._database = database
        name = study.settings.policy
        if name == DEFAULT and study.features is None:
            name = "random"
        if name in LEARNING and study.features is None:
            raise ValueError(
                f'policy = "{name}" in study.toml needs features of the items: give a file with --features (oddkernel '
                'features makes one), or choose "random"'
            )
        self._rng = np.random.default_rng()
        self._said = AnswerCache()
        n_items = len(study.items)
        self._history = History(n_items, np.zeros(n_items, dtype=np.intp), self._said.comparisons, study.features)
        self._choosing = Choosing(POLICIES[name], name, self._history)
        self._learning: LearningProcess | None = None
        self._background: Background | None = None
        if name in LEARNING and study.features is not None:
            # They load the learner: here, before people come, and not at all where no policy learns.
            from ..questions.background import Background
            from ..questions.process import LearningProcess

            self._learning = LearningProcess(study.features, prepared=name in PREPARED)
            self._background = Background(study.features, self._said.comparisons, learn=self._learning.learn)
            self._history.belief = self._background.latest
            self._history.space = self._background.space
        database.write(self.refresh).result()
        if self._background is not None:
            self._background.answered(0)

    @property
    def history(self) -> History:
        """What the policies use, up to date."""
        self._choosing.settle()
        return self._history

    def close(self) -> None:
        """Choose and learn nothing more."""
        if self._background is not None and self._learning is not None:
            self._background.close()
            self._learning.close()
        self._choosing.close()

    def refresh(self, records: Records) -> None:
        """Read from the records which questions were asked, which wait for an answer, and all answers."""
        self._said.clear()
        for answer in records.answers():
            if answer.kind != "holdout" and self._known(answer.items):
                self._said.add(answer.question, self._indices(answer.items), answer.odd, answer.form)
        self._said.comparisons()  # so that the first choice needn't wait until all of them are checked
        self._choosing.replace(
            (
                (kind, self._chosen(items))
                for kind, items in records.all_shown()
                if kind not in ("catch", "repeat") and self._known(items)  # these two aren't a policy's choice
            ),
            (self._chosen(items) for items in records.open_questions() if self._known(items)),
        )

    def look(self, records: Records, sitting: Sitting, count: int) -> Needed:
        """Find the questions of a sitting that wait for an answer, and the kinds of the new ones to hand out."""
        unanswered = records.unanswered(sitting)
        waiting = [question for question in unanswered if self._known(question.items)]
        gone = [question for question in unanswered if not self._known(question.items)]
        n_new = max(0, min(count, MOST_WAITING, sitting.left) - len(waiting))
        free = sorted([question.place for question in gone] + records.free_places(sitting, n_new))[:n_new]
        kinds = {place: sitting.plan[place] for place in free}
        own: frozenset[Triple] = frozenset()
        if "repeat" in kinds.values() or "holdout" in kinds.values():
            asked = [question for question, _ in records.asked(sitting) if self._known(question.items)]
            own = frozenset(key(self._chosen(question.chosen)) for question in asked)
            repeatable = [question.place for question in asked if question.kind in REPEATED and question.place >= 0]
            repeatable += [place for place, kind in kinds.items() if kind == CHOSEN]
            for place, kind in kinds.items():
                if kind == "repeat" and min(repeatable, default=place) >= place - REPEAT_AFTER:
                    kinds[place] = CHOSEN
        kinds = {
            # A line that was taken out of the list, or is about an item that is gone, can't be asked.
            place: CHOSEN if kind.startswith(LISTED) and kind not in self._study.listed_by else kind
            for place, kind in kinds.items()
        }
        if not self._study.settings.catch:
            kinds = {place: CHOSEN if kind == "catch" else kind for place, kind in kinds.items()}
        return Needed(waiting, gone, kinds, own)

    async def next(self, who: Callable[[Records], Sitting], count: int) -> tuple[Sitting, list[Question]]:
        """A sitting, and its next questions: those that wait for an answer, then new ones.

        There are none while the study is paused, and for people who were screened out or have run out of time.

        `who` finds the sitting in the records.
        """
        taken: list[Choice] = []

        def look(records: Records) -> tuple[Sitting, Needed]:
            sitting = who(records)
            if state_of(sitting, self._study.settings) in ("paused", *OVER):
                return sitting, Needed([], [], {}, frozenset())
            return sitting, self.look(records, sitting, count)

        def look_and_hand_out(records: Records) -> tuple[Sitting, Needed]:
            sitting, needed = look(records)
            n = len(needed.kinds)
            if not n or set(needed.kinds.values()) != {CHOSEN} or not (len(taken) == n or self._take(n, taken)):
                return sitting, needed
            new = self._hand_out(records, sitting, needed, {CHOSEN: taken})
            return sitting, Needed(sorted([*needed.waiting, *new], key=lambda each: each.place), [], {}, frozenset())

        try:
            if self._choosing.has_stock():  # many people ask: what was chosen ahead is handed out in one step
                sitting, needed = await asyncio.wrap_future(self._database.write(look_and_hand_out))
            else:
                sitting, needed = await asyncio.to_thread(self._database.read, look)
        except BaseException:
            self._give_up(taken)
            raise
        count = min(count, sitting.left)
        if not needed.kinds and not needed.gone:
            return sitting, needed.waiting[:count]
        return sitting, (await self._choose_and_hand_out(sitting, needed))[:count]

    def _take(self, n: int, taken: list[Choice]) -> bool:
        """Fill `taken` with n questions that were chosen ahead; False if there are too few."""
        self._give_up(taken)
        taken[:] = self._choosing.take(n)
        return bool(taken)

    def _give_up(self, chosen: list[Choice]) -> None:
        """Record that these questions, which were chosen, are not handed out."""
        for choice in chosen:
            self._choosing.answered(choice.items)
        chosen.clear()

    async def _choose_and_hand_out(self, sitting: Sitting, needed: Needed) -> list[Question]:
        kinds = list(needed.kinds.values())
        wish = Wish(kinds.count(CHOSEN), kinds.count("holdout"), needed.own)
        chosen = await asyncio.wrap_future(self._choosing.choose(wish)) if wish.by_policy or wish.held_out else []
        left = {CHOSEN: chosen[: wish.by_policy], "holdout": chosen[wish.by_policy :]}

        def hand_out(records: Records) -> list[Question]:
            self._hand_out(records, sitting, needed, left)
            return [question for question in records.unanswered(sitting) if self._known(question.items)]

        try:
            return await asyncio.wrap_future(self._database.write(hand_out))
        except BaseException:
            self._give_up(chosen)
            raise

    def _hand_out(
        self, records: Records, sitting: Sitting, needed: Needed, left: dict[str, list[Choice]]
    ) -> list[Question]:
        """Store new questions in their places; choices for places that were filled meanwhile are given up."""
        for question in needed.gone:
            records.retire(question)
        left = {kind: list(choices) for kind, choices in left.items()}  # this may be called again
        taken = records.places(sitting, from_place=min(needed.kinds, default=0))
        new = []
        for place, kind in sorted(needed.kinds.items()):
            choice = left[kind].pop(0) if kind in left else None
            if place in taken:  # the same person asked twice at once
                if choice is not None:
                    self._choosing.answered(choice.items)
            elif choice is not None:
                form = form_at(self._study.settings.forms, sitting.seed, place)
                items, picks = self._asked_as(form, choice.items, self._rng)
                a, b, c = self._names(choice.items)
                new.append(
                    records.hand_out(sitting, place, choice.kind, items, form=form, picks=picks, chosen=(a, b, c))
                )
            elif (row := self._study.listed_by.get(kind)) is not None:
                table = self._study.settings.list
                items = shuffled(ODD, row.items, self._rng) if table is not None and table.shuffle else row.items
                expected = None if row.odd is None else items.index(row.odd)
                new.append(records.hand_out(sitting, place, LISTED, items, expected, line=row.line, block=row.block))
            elif kind == "catch":
                catches = self._study.settings.catch
                catch = catches[int(self._rng.integers(len(catches)))]
                items = shuffled(catch.form, catch.items, self._rng)
                known = positions(items, catch.answer)
                picks = len(known) if isinstance(known, tuple) else 1
                new.append(records.hand_out(sitting, place, kind, items, known, form=catch.form, picks=picks))
            elif (earlier := self._to_repeat(records, sitting, place)) is not None:
                items = shuffled(earlier.form, earlier.items, self._rng)
                _, _, _, _, form, picks, chosen = earlier
                new.append(
                    records.hand_out(
                        sitting, place, kind, items, repeats=earlier.id, form=form, picks=picks, chosen=chosen
                    )
                )
        return new

    def can_ask(self, question: Question) -> bool:
        """Whether the study still has the question's items."""
        return self._known(question.items)

    def answered(self, question: Question, odd: Given) -> None:
        """Record an answer, and that the question is no longer open."""
        if self._known(question.items):
            self._choosing.answered(self._chosen(question.chosen))
            if question.kind != "holdout":
                self._said.add(question.id, self._indices(question.items), odd, question.form)
        if self._background is not None:
            self._background.answered()

    def taken_back(self, question: Question) -> None:
        """Record that an answer was taken back and that its question is open again."""
        self._said.remove(question.id)
        if self._known(question.items):
            self._choosing.asked_again(self._chosen(question.chosen))

    def practice(self, sitting: Sitting) -> list[tuple[str, tuple[str, ...], int]]:
        """Form, items and picks of the practice questions; always the same for one sitting. Forms take turns."""
        rng = np.random.default_rng(sitting.seed)
        rows = draw_triples(len(self._study.items), self._study.settings.practice, rng)
        forms = self._study.settings.forms
        turns = [forms[number % len(forms)] for number in range(len(rows))]
        return [
            (form, *self._asked_as(form, as_triple(row, len(self._study.items)), rng))
            for form, row in zip(turns, rows, strict=True)
        ]

    def _asked_as(self, form: str, items: Triple, rng: np.random.Generator) -> tuple[tuple[str, ...], int]:
        """The items to show for three that were chosen, and how many of them are to be picked."""
        if form != GRID:
            return self._names(items), 1
        settings = self._study.settings
        return self._names(filled(items, settings.grid_size, len(self._study.items), rng)), settings.grid_picks

    def _to_repeat(self, records: Records, sitting: Sitting, place: int) -> Question | None:
        """An earlier question to repeat, or None: the one asked least often, as chance may have repeated some."""
        asked = [question for question, _ in records.asked(sitting)]
        times = Counter(frozenset(question.items) for question in asked)
        earlier = [
            question
            for question in asked
            if 0 <= question.place < place - REPEAT_AFTER and question.kind in REPEATED and self._known(question.items)
        ]
        self._rng.shuffle(earlier)
        return min(earlier, key=lambda question: times[frozenset(question.items)], default=None)

    def _known(self, items: Sequence[str]) -> bool:
        return all(name in self._study.index_of for name in items)

    def _indices(self, items: Sequence[str]) -> tuple[int, ...]:
        return tuple(self._study.index_of[name] for name in items)

    def _chosen(self, items: Sequence[str]) -> Triple:
        first, second, third = self._indices(items)
        return first, second, third

    def _names(self, items: Sequence[int]) -> tuple[str, ...]:
        return tuple(self._study.items[index].name for index in items)
