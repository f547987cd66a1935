"""Response times that are claimed, against when the question was handed out."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_studies import make_folder, running

from oddkernel.judge.export import Filter
from oddkernel.judge.response_times import possible_seconds
from oddkernel.judge.simulate import Crowd, by_chance
from oddkernel.judge.store import Answer

from .test_export import answer


def at(seconds: float) -> str:
    return f"2026-05-04T10:{int(seconds // 60):02}:{seconds % 60:06.3f}+00:00"


def test_answers_in_no_time_are_too_fast_whatever_they_claim(tmp_path: Path) -> None:
    with running(make_folder(tmp_path / "birds", 12, "questions = 50\ntoo_fast = 59.0\n")) as run:
        run.person(participant="script").answer_all(ms=60_000)
        told = run.experimenter().get("/experimenter/api/summary").json()
        left = run.experimenter().get("/experimenter/api/export?format=csv&holdout=keep&too_fast=drop").text
    (person,) = told["persons"]
    assert person["too_fast"] == 50
    assert told["too_fast"] == 1.0
    assert "script" not in left


def test_simulated_people_are_marked_and_not_too_fast(tmp_path: Path) -> None:
    with running(make_folder(tmp_path / "birds", 12, "questions = 10\ntoo_fast = 0.3\n")) as run:
        told = Crowd(run.server.url, run.study, run.judge.keys, by_chance).answer(2, 10)
        assert not told.problems
        assert len(told.stored) == 20
        run.person(participant="script").answer_all(ms=60_000)
        summary = run.experimenter().get("/experimenter/api/summary").json()
        left = run.experimenter().get("/experimenter/api/export?format=csv&holdout=keep&too_fast=drop").text
    persons = {person["participant"]: person for person in summary["persons"]}
    assert [person["simulated"] for person in persons.values()].count(True) == 2
    assert summary["simulated"] == 20
    assert persons["script"]["too_fast"] == 10
    assert not persons["script"]["simulated"]
    assert [persons[f"simulated {n}"]["too_fast"] for n in range(2)] == [0, 0]
    assert left.count("simulated ") == 20
    assert "script" not in left


def test_nobody_can_claim_to_be_simulated(tmp_path: Path) -> None:
    with running(make_folder(tmp_path / "birds", 6)) as run:
        of_another = run.judge.keys.simulation("simulated 1")
        for proof in ("yes", of_another, "é"):
            entrance = {"participant": "eve", "simulated": proof}
            assert run.client().post("/api/sitting", json=entrance).status_code == 403
        assert run.database.read(lambda records: records.sittings()) == []


def test_waiting_first_and_answering_all_at_once_is_no_way_around() -> None:
    burst = [answer(client_id=str(n), place=n, response_ms=1500, handed_at=at(0), stored_at=at(2)) for n in range(20)]
    assert possible_seconds(burst) == [1.5, 0.5] + [0.0] * 18
    assert len(Filter(too_fast=0.3).choose(burst)) == 2


def test_answers_kept_without_a_network_are_as_they_were() -> None:
    kept = [answer(client_id=str(n), place=n, response_ms=1500, handed_at=at(0), stored_at=at(60)) for n in range(20)]
    assert possible_seconds(kept) == [1.5] * 20


def test_each_sitting_has_its_own_time() -> None:
    both = [answer(who, response_ms=2000, handed_at=at(0), stored_at=at(2)) for who in ("ann", "bob")]
    assert possible_seconds(both) == [2.0, 2.0]


@given(st.lists(st.tuples(st.integers(0, 9000), st.integers(0, 3000), st.integers(0, 3000)), max_size=15))
def test_who_answers_in_earnest_is_never_cut_short(steps: list[tuple[int, int, int]]) -> None:
    """Looks at one question after the other, after it was handed out; each answer is stored some time later."""
    clock, stored_before, answers = 10_000, 0, list[Answer]()
    for place, (took, pause, delay) in enumerate(steps):
        handed = clock - delay  # handed out ahead
        clock += pause + took
        stored_before = max(stored_before, clock + delay)
        answers.append(
            answer(
                client_id=str(place),
                place=place,
                response_ms=took,
                handed_at=at(handed / 1000),
                stored_at=at(stored_before / 1000),
            )
        )
    assert possible_seconds(answers) == pytest.approx([took / 1000 for took, _, _ in steps])
