from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judge_studies import JSON, Running, make_folder, running

from oddkernel import Comparisons
from oddkernel.judge import question_queue
from oddkernel.judge.choosing import Choosing, Wish
from oddkernel.judge.question_queue import AHEAD, OLDEST, RUSH, SECOND, Choice, QuestionQueue
from oddkernel.judge.store import Records
from oddkernel.questions.history import History, Triple, key
from oddkernel.questions.unlearned import random


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def choices(n: int) -> list[Choice]:
    return [Choice("random", (3 * i, 3 * i + 1, 3 * i + 2)) for i in range(n)]


def in_a_rush(clock: Clock, n_requests: int = RUSH, n_items: int = 100) -> QuestionQueue:
    queue = QuestionQueue(n_items, clock)
    for _ in range(n_requests):
        queue.requested(1)
    return queue


def test_nothing_is_chosen_ahead_unless_many_ask() -> None:
    clock = Clock()
    queue = in_a_rush(clock, RUSH - 1)
    assert queue.missing() == 0
    queue.requested(1)
    assert queue.missing() == RUSH
    clock.now += SECOND + 0.1
    assert queue.missing() == 0


def test_a_person_who_asks_for_many_is_no_rush() -> None:
    queue = QuestionQueue(100, Clock())
    queue.requested(20)
    assert queue.missing() == 0


def test_a_queue_is_filled_when_half_of_it_is_gone() -> None:
    queue = in_a_rush(Clock(), 3 * AHEAD)
    assert queue.missing() == AHEAD
    queue.put(choices(AHEAD))
    assert queue.missing() == 0
    queue.take(AHEAD // 2)
    assert queue.missing() == 0
    queue.take(1)
    assert queue.missing() == AHEAD // 2 + 1


def test_of_few_possible_questions_none_is_kept_back() -> None:
    assert in_a_rush(Clock(), n_items=8).missing() == 0


def test_what_was_chosen_long_ago_is_not_handed_out() -> None:
    clock = Clock()
    queue = in_a_rush(clock)
    queue.put(choices(2))
    clock.now += OLDEST - 0.5
    queue.put(choices(3)[2:])
    assert queue.take(4) == []
    clock.now += 1.0
    assert queue.take(1) == []
    assert queue.discard_old() == choices(2)
    assert queue.take(1) == choices(3)[2:]


def test_a_closed_queue_gives_nothing_and_is_reopened_empty() -> None:
    queue = in_a_rush(Clock())
    queue.put(choices(2))
    queue.close()
    queue.close()
    assert not queue
    assert queue.take(1) == []
    assert queue.missing() == 0
    queue.reopen()
    assert queue.take(1) == []
    queue.reopen()
    assert queue.take(1) == []
    assert queue.missing() == RUSH


@pytest.fixture
def rush(monkeypatch: pytest.MonkeyPatch) -> None:
    """Choose ahead from the first request on."""
    monkeypatch.setattr(question_queue, "RUSH", 1)
    monkeypatch.setattr(question_queue, "SECOND", 600.0)
    monkeypatch.setattr(question_queue, "OLDEST", 600.0)


def choosing(n_items: int = 60) -> tuple[Choosing, History]:
    history = History(n_items, np.zeros(n_items, dtype=np.intp), Comparisons.empty)
    return Choosing(random, "random", history), history


def wait_for_queue(chooser: Choosing) -> None:
    chooser.settle()
    chooser.settle()  # what the first one was granted together with is in the queue now


@pytest.mark.usefixtures("rush")
def test_what_is_in_the_queue_is_asked_of_nobody_else() -> None:
    chooser, history = choosing()
    try:
        asked = [choice.items for choice in chooser.choose(Wish(15, 2, frozenset())).result(60)]
        for _ in range(10):
            wait_for_queue(chooser)
            asked += [choice.items for choice in chooser.take(3)]
            asked += [choice.items for choice in chooser.choose(Wish(2, 0, frozenset())).result(60)]
        chooser.settle()
        assert len({key(items) for items in asked}) == len(asked) >= 17 + 10 * 4
        assert {key(items) for items in asked} <= history.open
        assert history.times_shown.sum() == 3 * len(asked)  # what waits in the queue was not shown
    finally:
        chooser.close()


@pytest.mark.usefixtures("rush")
def test_a_new_record_empties_the_queue() -> None:
    chooser, history = choosing()
    try:
        chooser.choose(Wish(10, 0, frozenset())).result(60)
        wait_for_queue(chooser)
        assert chooser.has_stock()
        being_asked: list[Triple] = [(0, 1, 2), (3, 4, 5)]
        chooser.replace([("random", items) for items in being_asked], being_asked)
        assert chooser.take(1) == []
        chooser.settle()
        taken = {key(choice.items) for _ in range(5) for choice in chooser.take(1)}
        chooser.settle()
        assert set(being_asked) | taken <= history.open
        assert not set(being_asked) & taken
    finally:
        chooser.close()


def ids(question: JSON) -> frozenset[str]:
    return frozenset(item["url"] for item in question["items"])


def everybody(run: Running, names: str, work: Any) -> list[Any]:
    people = [run.person(participant=name) for name in names]
    with ThreadPoolExecutor(len(people)) as pool:
        return list(pool.map(work, people))


@pytest.mark.slow
@pytest.mark.usefixtures("rush")
@pytest.mark.parametrize("policy", ["random", "least_answered"])
def test_people_who_come_together_are_not_asked_the_same(policy: str, tmp_path: Path) -> None:
    shares = "repeat_share = 0.1\nholdout_share = 0.2\n"
    with running(make_folder(tmp_path / "birds", 40, f'questions = 20\npolicy = "{policy}"\n{shares}')) as run:
        assert everybody(run, "abcdef", lambda person: person.answer_all()) == [20] * 6
        asked = [each for found in everybody(run, "ghijkl", lambda person: person.questions(10)) for each in found]
        answers = run.database.read(lambda records: records.answers())
        handed_out = run.database.read(lambda records: records.open_questions())
        index_of, open_now = run.study.index_of, run.judge.asking.history.open
    assert len({ids(question) for question in asked}) == len(asked) == 60
    chosen = "random" if policy == "random" else "adaptive"
    assert Counter(answer.kind for answer in answers) == {chosen: 6 * 14, "holdout": 6 * 4, "repeat": 6 * 2}
    known = {tuple(sorted(index_of[name] for name in items)) for items in handed_out}
    assert len(known) == 60
    assert known <= open_now
    assert len(open_now) <= 60 + AHEAD


@pytest.mark.slow
@pytest.mark.usefixtures("rush")
def test_a_question_that_could_not_be_stored_may_be_asked_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = "questions = 20\nrepeat_share = 0.0\nholdout_share = 0.0\n"
    with running(make_folder(tmp_path / "birds", 40, settings)) as run:
        ann = run.person(participant="ann")
        (first,) = ann.questions(1)
        asking = run.judge.asking
        wait_for_queue(asking._choosing)
        before = set(asking.history.open)
        lost: list[Triple] = []
        hand_out = Records.hand_out

        def fail(self: Records, sitting: Any, place: int, kind: str, items: tuple[str, str, str], **more: Any) -> Any:
            lost.append(key(asking._indices(items)))
            raise RuntimeError("the disk is full")

        monkeypatch.setattr(Records, "hand_out", fail)
        assert ann.client.get("/api/questions?count=2").status_code == 500
        monkeypatch.setattr(Records, "hand_out", hand_out)
        assert lost
        assert lost[0] in before  # it came from the queue
        assert lost[0] not in asking.history.open
        assert ann.questions(2)[0]["id"] == first["id"]


@pytest.mark.slow
@pytest.mark.usefixtures("rush")
def test_a_person_who_asks_twice_in_a_rush_gets_the_same_questions(tmp_path: Path) -> None:
    with running(make_folder(tmp_path / "birds", 40, "questions = 20\nholdout_share = 0.0\n")) as run:
        run.person(participant="bob").questions(1)
        ann = run.person(participant="ann")
        together = threading.Barrier(2)

        def ask(_: int) -> list[str]:
            together.wait(60)
            return [question["id"] for question in ann.questions(5)]

        with ThreadPoolExecutor(2) as pool:
            first, second = pool.map(ask, range(2))
        assert first == second
        assert len(first) == 5


@pytest.mark.slow
@pytest.mark.usefixtures("rush")
def test_a_paused_study_hands_nothing_out_of_the_queue(tmp_path: Path) -> None:
    with running(make_folder(tmp_path / "birds", 40, "questions = 20\nholdout_share = 0.0\n")) as run:
        ann = run.person(participant="ann")
        ann.questions(1)
        wait_for_queue(run.judge.asking._choosing)
        run.database.write(lambda records: records.pause(True)).result(60)
        assert ann.questions(5) == []
