"""Answers that can't all hold: a set of them none of which can be spared."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from oddkernel_benchmarks.problems import draw
from problems import Problem, random_problem

from oddkernel import Comparisons
from oddkernel.problem.constraints import Constraints
from oddkernel.problem.dual import Dual
from oddkernel.problem.losses import Conjugate
from oddkernel.problem.solution import Status
from oddkernel.solvers import Auto, contradiction, solve
from oddkernel.solvers.feasibility import feasible

HOLDS = Comparisons.odd_one_out([[0, 3, 4], [1, 4, 5]], [2, -1])


def assert_minimal(problem: Problem, named: np.ndarray) -> None:
    assert contradiction(problem.saying(problem.said[named]).dual()) is not None
    for spared in named:
        assert contradiction(problem.saying(problem.said[named[named != spared]]).dual()) is None


@pytest.mark.parametrize("seed", range(20))
def test_answers_of_one_metric_dont_contradict_one_another(seed: int) -> None:
    assert contradiction(random_problem(seed).dual()) is None


@pytest.mark.parametrize("seed", [*range(20), 62, 70, pytest.param(136, marks=pytest.mark.slow)])
def test_none_of_the_answers_named_can_be_spared(seed: int) -> None:
    problem = random_problem(seed, noisy=True)
    named = contradiction(problem.dual())
    if named is not None:
        assert_minimal(problem, named)


@pytest.mark.parametrize("seed", range(4))
def test_many_answers_are_thinned_in_parts(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left contradicts itself all the same."""
    rng = np.random.default_rng(seed)
    shown = np.array([rng.choice(12, 3, replace=False) for _ in range(120)])
    said = Comparisons.odd_one_out(shown, rng.integers(3, size=120))
    problem = Problem(rng.normal(size=(12, 8)), said, ratio=2.0)
    minimal = contradiction(problem.dual())
    monkeypatch.setattr(import_module("oddkernel.solvers.contradiction"), "FEW", 2)
    named = contradiction(problem.dual())
    assert_minimal(problem, minimal)
    assert contradiction(problem.saying(said[named]).dual()) is not None
    assert len(minimal) <= len(named) <= 3 * len(minimal)


@pytest.mark.parametrize("seed", range(20))
def test_a_proof_names_answers_that_a_second_look_cannot_tell(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A solver may prove that thousands of hard rows contradict one another where another order of them won't."""
    problem = random_problem(seed, noisy=True)
    verdict = feasible(problem.dual())
    if verdict.holds is False:
        assert_minimal(problem, contradiction(problem.dual(), verdict.weight))
        untold = replace(verdict, holds=None)
        monkeypatch.setattr(import_module("oddkernel.solvers.contradiction"), "feasible", lambda *_, **__: untold)
        named = contradiction(problem.dual(), verdict.weight)
        monkeypatch.undo()
        assert contradiction(problem.saying(problem.said[named]).dual()) is not None


@pytest.mark.parametrize("ratio", [1.0, 4.0])
def test_two_answers_about_the_same_three(ratio: float) -> None:
    facing = Comparisons.odd_one_out([[0, 1, 2], [0, 1, 2]], [2, 1])
    problem = Problem(np.eye(6), HOLDS + facing, ratio=ratio, margin=0.1)
    assert contradiction(problem.dual()).tolist() == [2, 3]


def test_a_cycle_of_answers() -> None:
    """δ(0,1) < δ(1,2) < δ(2,3) < δ(3,0) < δ(0,1)."""
    cycle = Comparisons.closer([1, 2, 3, 0], [0, 1, 2, 3], [2, 3, 0, 1])
    problem = Problem(np.eye(6), cycle[:2] + HOLDS + cycle[2:], ratio=1.5)
    assert contradiction(problem.dual()).tolist() == [0, 1, 4, 5]


def test_links_whose_bounds_exclude_one_another() -> None:
    """Their matrices cancel, P = 0: only bᵀα tells."""
    links = Comparisons.must_link([[0, 1]], 1.0) + HOLDS + Comparisons.cannot_link([[1, 0]], 1.5)
    assert contradiction(Problem(np.eye(6), links).dual()).tolist() == [0, 3]
    agreeing = Comparisons.must_link([[0, 1]], 1.5) + Comparisons.cannot_link([[1, 0]], 1.0)
    assert contradiction(Problem(np.eye(6), agreeing).dual()) is None


def test_a_triangle_of_links() -> None:
    """√δ(0,2) ≤ √δ(0,1) + √δ(1,2) = 2."""
    near, far = Comparisons.must_link([[0, 1], [1, 2]], 1.0), Comparisons.cannot_link([[0, 2]], 4.5)
    assert contradiction(Problem(np.eye(6), near + HOLDS + far).dual()).tolist() == [0, 1, 4]


def test_an_odd_one_that_is_a_copy_of_another() -> None:
    features = np.eye(6)
    features[2] = features[0]
    problem = Problem(features, HOLDS + Comparisons.odd_one_out([[0, 1, 2]], [2]), ratio=2.0)
    assert contradiction(problem.dual()).tolist() == [2]


def test_copies_that_must_be_apart() -> None:
    features = np.eye(6)[[0, 0, 2, 3, 4, 5]]
    problem = Problem(features, HOLDS + Comparisons.cannot_link([[0, 1]], 0.5))
    assert contradiction(problem.dual()).tolist() == [2]


def test_a_rank_too_small_for_consistent_answers() -> None:
    """On a line, no metric makes three items equally far apart; with all coordinates one does."""
    said = HOLDS + Comparisons.odd_one_out([[0, 1, 2]], [-1])
    features = np.random.default_rng(0).normal(size=(6, 6))
    assert contradiction(Problem(features, said).dual()) is None
    named = contradiction(Problem(features[:, :1], said).dual())
    assert named is not None
    assert_minimal(Problem(features[:, :1], said), named)


def test_a_penalty_makes_no_difference() -> None:
    facing = Comparisons.odd_one_out([[0, 1, 2], [0, 1, 2]], [2, 1])
    assert contradiction(Problem(np.eye(3), facing, ratio=2.0).dual(0.1)).tolist() == [0, 1]


def test_hard_rows_are_asked_early_whether_they_contradict_one_another() -> None:
    """On draw(25000136) twenty steps and the proof took nine times as long as eight and the proof; here twice."""
    drawn = draw(21000116)
    settings = drawn.settings
    rows = Constraints.from_comparisons(drawn.said, ratio=settings["ratio"], margin=settings.get("margin", 0.0))
    solution, _ = solve(Dual(drawn.phi, rows, Conjugate.hard(rows.equality)), Auto())
    assert solution.status is Status.CONTRADICTORY
    assert solution.n_iter < 20
