from __future__ import annotations

import logging
import threading
import uuid
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_studies import make_folder, running
from properties import examples

from oddkernel import Comparisons
from oddkernel.judge.answer_cache import AnswerCache
from oddkernel.judge.catch_questions import Catch
from oddkernel.judge.next_questions import CHOSEN, REPEAT_AFTER, Asking, Needed, kinds_of
from oddkernel.judge.settings import Settings
from oddkernel.questions import Belief
from oddkernel.questions.choice import choose
from oddkernel.questions.history import History, Indices, key
from oddkernel.questions.policies import LEARNING, POLICIES
from oddkernel.questions.process import LearningProcess
from oddkernel.questions.unlearned import least_answered, random

pytestmark = pytest.mark.slow  # starts servers


def history(n_items: int, times: list[int] | None = None) -> History:
    shown = np.zeros(n_items, dtype=np.intp) if times is None else np.array(times)
    return History(n_items, shown, Comparisons.empty)


@pytest.mark.parametrize("name", POLICIES)
@given(n_items=st.integers(3, 12), n=st.integers(0, 5), seed=st.integers(0, 2**32))
@examples(30)
def test_policies_choose_three_different_items(name: str, n_items: int, n: int, seed: int) -> None:
    chosen = POLICIES[name](history(n_items), n, np.random.default_rng(seed))
    assert chosen.shape == (n, 3)
    assert all(len(set(row)) == 3 and min(row) >= 0 and max(row) < n_items for row in chosen.tolist())


def test_random_is_uniform() -> None:
    rng = np.random.default_rng(0)
    rows = random(history(5), 6000, rng)
    times = Counter(map(tuple, np.sort(rows, axis=1).tolist()))
    assert len(times) == 10
    assert max(times.values()) < 1.25 * min(times.values())
    places = np.array([np.bincount(rows[:, place], minlength=5) for place in range(3)])
    assert places.min() > 0.9 * 1200


def test_least_answered_evens_out() -> None:
    past, rng = history(10, [5, 0, 0, 0, 0, 0, 0, 0, 0, 0]), np.random.default_rng(0)
    for _ in range(30):
        past.shown(choose(least_answered, past, 1, rng)[0])
    assert past.times_shown.max() - past.times_shown.min() <= 1


def test_a_question_that_someone_is_being_asked_is_not_chosen() -> None:
    past, rng = history(4), np.random.default_rng(0)
    past.open = {(0, 1, 2), (0, 1, 3), (0, 2, 3)}
    assert all(key(choose(random, past, 1, rng)[0]) == (1, 2, 3) for _ in range(20))
    past.open.add((1, 2, 3))
    choose(random, past, 1, rng)  # nothing else is left, so it is asked again


def test_a_policy_that_knows_one_question_gives_way_to_others() -> None:
    past, rng = history(40), np.random.default_rng(0)
    past.open = {(0, 1, 2)}
    chosen = choose(lambda past, n, rng: np.array([[2, 1, 0]] * n), past, 1, rng)[0]
    assert key(chosen) != (0, 1, 2)


@given(
    total=st.integers(1, 60),
    shares=st.tuples(st.floats(0, 0.33), st.floats(0, 0.33), st.floats(0, 0.33)),
    seed=st.integers(0, 2**32),
)
@examples(60)
def test_a_plan_has_the_shares_that_it_should(total: int, shares: tuple[float, float, float], seed: int) -> None:
    catch_share, repeat_share, holdout_share = shares
    wanted = Settings(
        questions=total,
        catch_share=catch_share,
        repeat_share=repeat_share,
        holdout_share=holdout_share,
        catch=(Catch(("a", "b", "c"), "a"),),
    )
    kinds = kinds_of(wanted, wanted.questions, np.random.default_rng(seed))
    assert len(kinds) == total
    assert kinds[0] != "catch"
    assert kinds[0] == CHOSEN or "repeat" not in kinds
    assert "repeat" not in kinds[: REPEAT_AFTER + 1]
    room = max(0, total - REPEAT_AFTER - 1)
    times = Counter(kinds)
    assert times["repeat"] == min(round(repeat_share * total), room)
    assert times["holdout"] <= round(holdout_share * total)
    assert set(times) <= {"repeat", "catch", "holdout", CHOSEN}


def test_without_known_answers_there_are_no_catches() -> None:
    assert "catch" not in kinds_of(Settings(catch_share=0.5), 30, np.random.default_rng(0))


SETTINGS = """
questions = 30
catch_share = 0.1
repeat_share = 0.2
holdout_share = 0.2
policy = "least_answered"
[[catch]]
items = ["picture 0.png", "picture 1.png", "picture 2.png"]
odd = "picture 2.png"
"""


def test_a_sitting_is_asked_what_its_plan_says(tmp_path: Path) -> None:
    with running(make_folder(tmp_path / "birds", 12, SETTINGS)) as run:
        assert run.person(participant="ann").answer_all() == 30
        answers = run.database.read(lambda records: records.answers())
    times = Counter(answer.kind for answer in answers)
    assert times == {"catch": 3, "repeat": 6, "holdout": 6, "adaptive": 15}
    by_id = {answer.question: answer for answer in answers}
    for answer in answers:
        if answer.kind == "catch":
            assert answer.items[answer.expected] == "picture 2.png"
        if answer.kind == "repeat":
            first = by_id[answer.repeats]
            assert set(first.items) == set(answer.items)
            assert answer.place > first.place + REPEAT_AFTER
            assert first.kind == "adaptive"  # and not held out
    repeated = [answer.repeats for answer in answers if answer.kind == "repeat"]
    assert len(set(repeated)) == len(repeated)
    assert len({answer.items.index("picture 2.png") for answer in answers if answer.kind == "catch"}) <= 3


def test_some_of_what_is_held_out_is_put_to_two_people(tmp_path: Path) -> None:
    # So few items that by chance alone some question would come up twice.
    with running(make_folder(tmp_path / "birds", 15, "questions = 20\nholdout_share = 0.5\n")) as run:
        for name in "abcdef":
            run.person(participant=name).answer_all()
        answers = run.database.read(lambda records: records.answers())
    people: dict[frozenset[str], list[str]] = {}
    for answer in answers:
        if answer.kind == "holdout":
            people.setdefault(frozenset(answer.items), []).append(answer.participant)
    asked = Counter(len(names) for names in people.values())
    assert asked[2] >= 5
    assert set(asked) <= {1, 2}
    assert all(len(set(names)) == len(names) for names in people.values())


def test_two_people_are_not_asked_the_same_at_once(tmp_path: Path) -> None:
    with running(make_folder(tmp_path / "birds", 6, "questions = 10\nrepeat_share = 0.0\n")) as run:
        asked = [question for name in "abcd" for question in run.person(participant=name).questions(5)]
        media = [frozenset(item["url"] for item in question["items"]) for question in asked]
    assert len(media) == len(set(media)) == 20  # of the 20 that six items make


def test_a_policy_that_fails_gives_way_to_chance_and_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(past: History, n: int, rng: np.random.Generator) -> Indices:
        raise RuntimeError("no idea")

    monkeypatch.setitem(POLICIES, "least_answered", broken)
    settings_text = 'questions = 3\nholdout_share = 0.0\npolicy = "least_answered"\n'
    with running(make_folder(tmp_path / "birds", 6, settings_text)) as run, caplog.at_level(logging.ERROR):
        assert run.person().answer_all() == 3
        kinds = {answer.kind for answer in run.database.read(lambda records: records.answers())}
    assert kinds == {"random"}
    assert "the policy least_answered failed" in caplog.text


def test_a_policy_sees_what_was_said_but_not_what_is_held_out(tmp_path: Path) -> None:
    with running(make_folder(tmp_path / "birds", 8, "questions = 20\nholdout_share = 0.5\n")) as run:
        run.person().answer_all(odd=-1)
        past = run.judge.asking.history
        said = past.said()
        assert len(said) == 10
        assert said.undecided.all()
        assert past.open == set()
        assert past.times_shown.sum() == 3 * 18  # repeats are left out
        before = past.times_shown.copy()
        run.database.write(run.judge.asking.refresh).result(timeout=60)
        assert np.array_equal(run.judge.asking.history.times_shown, before)


def features_file(folder: Path, n_items: int) -> Path:
    X = np.random.default_rng(0).standard_normal((n_items, 3))
    file = folder / "features.csv"
    rows = [",".join(["item", "a", "b", "c"]), *(f"picture {i}.png,{a},{b},{c}" for i, (a, b, c) in enumerate(X))]
    file.write_text("\n".join(rows))
    return file


@pytest.mark.parametrize("name", LEARNING)
def test_policies_that_learn_ask_people_and_learn_meanwhile(
    name: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = make_folder(tmp_path / "birds", 20, f'questions = 15\nrepeat_share = 0.0\npolicy = "{name}"\n')
    with running(folder, features=features_file(tmp_path, 20)) as run, caplog.at_level(logging.WARNING):
        background = run.judge.asking._background
        assert background is not None
        for person in "ab":
            assert run.person(participant=person).answer_all() == 15
            background.wait(60)
        belief = background.latest()
        assert belief is not None
        assert belief.n_answers > 0
        asked = [question for person in "cde" for question in run.person(participant=person).questions(5)]
        answers = run.database.read(lambda records: records.answers())
    media = [frozenset(item["url"] for item in question["items"]) for question in asked]
    assert len(media) == len(set(media)) == 15  # nobody is asked what another is being asked
    assert Counter(answer.kind for answer in answers)["adaptive"] >= 20
    assert not caplog.records


def test_a_choice_does_not_wait_for_a_fit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go = threading.Event()
    learn = LearningProcess.learn

    def slow(self: LearningProcess, said: Comparisons) -> Belief:
        go.wait(60)
        return learn(self, said)

    monkeypatch.setattr(LearningProcess, "learn", slow)
    folder = make_folder(tmp_path / "birds", 20, 'questions = 15\npolicy = "diverse"\n')
    with running(folder, features=features_file(tmp_path, 20)) as run:
        assert run.person().answer_all() == 15  # while nothing has been learned
        go.set()


def test_a_policy_that_learns_needs_features(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", 6, 'policy = "diverse"\n')
    with pytest.raises(ValueError, match="needs features of the items: give a file with --features"), running(folder):
        pass


def test_what_people_said_is_known_at_once(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", 20, 'questions = 12\nrepeat_share = 0.0\npolicy = "prototypes"\n')
    with running(folder, features=features_file(tmp_path, 20)) as run:
        study, said = run.study, run.judge.asking.history.said

        def stored() -> list[tuple[tuple[int, ...], int]]:
            answers = run.database.read(lambda records: records.answers())
            return sorted(
                (tuple(study.index_of[name] for name in answer.items), answer.odd)
                for answer in answers
                if answer.kind != "holdout"
            )

        def known() -> list[tuple[tuple[int, ...], int]]:
            return sorted(
                (tuple(row), odd) for row, odd in zip(said().shown.tolist(), said().odd.tolist(), strict=True)
            )

        assert len(said()) == 0
        ann = run.person(participant="ann")
        for number, question in enumerate(ann.questions(6)):
            sent = str(uuid.uuid4())
            ann.say(question["id"], number % 4 - 1, sent)
            assert known() == stored()
        ann.post("/api/undo", {"client_id": str(uuid.uuid4()), "of": sent})
        assert known() == stored()
        run.person(participant="bob").answer_all()
        before = len(said())
        run.experimenter().post("/experimenter/api/withdraw", json={"participant": "ann"})
        assert 0 < len(said()) < before
        assert known() == stored()
        everything = known()
    with running(folder, features=features_file(tmp_path, 20)) as again:
        said = again.judge.asking.history.said
        assert known() == everything  # as after a restart


def test_answers_are_stored_while_a_question_is_being_chosen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    go, chooses = threading.Event(), threading.Event()

    def slow(past: History, n: int, rng: np.random.Generator) -> Indices:
        if past.asked:
            chooses.set()
            go.wait(60)
        return random(past, n, rng)

    monkeypatch.setitem(POLICIES, "least_answered", slow)
    settings_text = 'questions = 9\nholdout_share = 0.0\nrepeat_share = 0.0\npolicy = "least_answered"\n'
    with running(make_folder(tmp_path / "birds", 9, settings_text)) as run:
        ann, bob = run.person(participant="ann"), run.person(participant="bob")
        (first,) = ann.questions(1)
        asks = threading.Thread(target=bob.questions, daemon=True)
        asks.start()
        assert chooses.wait(60)
        ann.say(first["id"], 0)
        assert asks.is_alive()
        go.set()
        asks.join(60)


def test_a_person_who_asks_twice_at_once_gets_the_same_questions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = threading.Barrier(2)
    look = Asking.look

    def together(*given: Any) -> Needed:
        needed = look(*given)
        both.wait(60)
        return needed

    with running(make_folder(tmp_path / "birds", 9, "questions = 20\n")) as run:
        ann = run.person(participant="ann")
        monkeypatch.setattr(Asking, "look", together)
        found: list[list[str]] = []
        tabs = [
            threading.Thread(target=lambda: found.append([question["id"] for question in ann.questions(5)]))
            for _ in range(2)
        ]
        for tab in tabs:
            tab.start()
        for tab in tabs:
            tab.join(60)
        assert len(found[0]) == 5
        assert found[0] == found[1]
        assert len(run.judge.asking.history.open) == 5


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(-1, 2), st.booleans()), max_size=60))
@examples(50)
def test_said_holds_what_was_added_and_not_removed(events: list[tuple[int, int, bool]]) -> None:
    said, expected = AnswerCache(), {}
    for number, odd, is_read in events:
        if is_read:
            assert len(said.comparisons()) == len(expected)
        if number in expected:
            said.remove(str(number))
            del expected[number]
        else:
            said.add(str(number), (number, number + 1, number + 2), odd)
            expected[number] = odd
    found = said.comparisons()
    assert found.shown[:, 0].tolist() == list(expected) if expected else not len(found)
    assert found.odd.tolist() == list(expected.values())


def test_the_default_policy_uses_features_if_there_are_any(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", 20, "questions = 15\nrepeat_share = 0.0\nholdout_share = 0.0\n")
    with running(folder) as run:
        assert run.study.settings.policy == "auto"
        assert run.judge.asking._background is None
        assert run.person(participant="ann").answer_all() == 15
        assert {answer.kind for answer in run.database.read(lambda records: records.answers())} == {"random"}
    with running(folder, features=features_file(tmp_path, 20)) as run:
        assert run.judge.asking._background is not None
        assert run.person(participant="bob").answer_all() == 15
        kinds = Counter(answer.kind for answer in run.database.read(lambda records: records.answers()))
    assert kinds == {"random": 15, "adaptive": 15}
