"""Small loads; ``python -m oddkernel_benchmarks.judge_load`` runs the full ones."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from judge_databases import KINDS, cluster  # noqa: F401
from oddkernel_benchmarks.judge_load import load, main

pytestmark = pytest.mark.slow  # starts servers

N_PEOPLE, N_QUESTIONS = 20, 8


@pytest.mark.parametrize("kind", KINDS)
def test_many_people_at_once_lose_double_and_misplace_nothing(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    address = None if kind == "sqlite" else request.getfixturevalue("cluster")
    outcome = load(tmp_path, address, N_PEOPLE, N_QUESTIONS)
    assert outcome.told.problems == []
    assert len(outcome.told.stored) == outcome.n_stored == N_PEOPLE * N_QUESTIONS
    assert (outcome.lost, outcome.doubled, outcome.misplaced) == (0, 0, 0)


@pytest.mark.parametrize(
    ("scenario", "told"),
    [
        ("answers --people 5 --questions 6 --kill --form odd anchor central grid", 30),
        ("studies --studies 3 --people 4 --questions 5", 60),
        ("pages --people 10 --pictures 6", 11),
        ("slow --people 1 --clients 600", 50),
    ],
    ids=lambda given: str(given).partition(" ")[0],
)
def test_scenarios_lose_and_break_nothing(scenario: str, told: int, capsys: pytest.CaptureFixture[str]) -> None:
    measured(scenario, told, capsys)


def test_answers_are_sent_again_where_the_server_is_killed_in_the_middle(capsys: pytest.CaptureFixture[str]) -> None:
    facts = measured("answers --people 12 --questions 10 --kill", 120, capsys)
    assert facts["sent_again"] > 0  # of 120 answers, some are surely on their way when it is killed


def test_choosing_weighs_the_server_from_the_first_answers_to_the_last(capsys: pytest.CaptureFixture[str]) -> None:
    facts = measured("choosing --people 2 --items 30 --answers 200 --measured 100 --warm 0", 100, capsys)
    weighed = [int(n) for n in facts["server_mb"]]
    assert (weighed[0], weighed[-1]) == (100, 200)
    assert all(facts["server_mb"].values())
    assert {"server_growth_percent", "server_cpu_ms_per_answer", "question_p99_ms"} <= facts.keys()


def measured(scenario: str, told: int, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """What the program reports of a scenario, in which nothing may be lost or broken."""
    assert main([*scenario.split(), "--json"]) == 0
    facts: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert (facts["lost"], facts["doubled"], facts["broken"], facts["told"]) == (0, 0, 0, told)
    assert facts["answer_p50_ms"] <= facts["answer_p99_ms"]
    return facts
