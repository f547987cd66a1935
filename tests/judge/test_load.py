"""A small load; ``python -m oddkernel_benchmarks.judge_load`` is the full one: 200 people with 50 questions each."""

from __future__ import annotations

from pathlib import Path

import pytest
from judge_databases import KINDS, cluster  # noqa: F401
from oddkernel_benchmarks.judge_load import load

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
