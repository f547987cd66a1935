"""Problems of real size: the optimum, or the contradiction, is there, as a check that shares no code with it says.

`oddkernel_benchmarks.problems` draws them and checks them; the long run with new seeds is
``python -m oddkernel_benchmarks.problems --minutes 30``.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from oddkernel_benchmarks.problems import NAMED, Outcome, digits, draw
from oddkernel_benchmarks.problems.certificate import SINGULAR, Rows, room
from oddkernel_benchmarks.problems.drawing import KERNELS, LOSSES
from oddkernel_benchmarks.problems.run import bins, report

from oddkernel import Comparisons
from oddkernel.comparisons import Kind
from oddkernel.kernels import Columns, KernelSum
from oddkernel.problem.constraints import Constraints
from oddkernel.problem.dual import Dual
from oddkernel.problem.losses import Conjugate
from oddkernel.solvers.feasibility import feasible

# fmt: off
SEEDS = [
    0, 2, 4, 7, 8, 10, 19, 21, 30, 34, 35, 38, 39, 40, 47, 52, 57, 58, 59, 61,
    72, 79, 81, 83, 88, 93, 95, 98, 105, 106, 112, 113, 116, 132, 133, 137, 139, 141, 143, 145,
    149, 155, 156, 160, 163, 167, 169, 172, 209, 222, 235, 1002, 1006, 1009, 1022, 1025, 1029, 1030,
    600106, 800079, 900112, 18000044, 18000161, 18000298, 18000307, 19210325, 20000007, 20000084, 20000134,
    21000022, 21000024, 21000416, 21000474, 21000550, 21000931, 21001982, 21002223, 21002313, 21002908, 21003059,
    21003380, 23000066,
]
# fmt: on

# Those that take about a second or more.
SLOW = {20000007, 21000024, 21000416, 21000474, 21000931, 23000066}
SLOW_NAMED = {"logistic, 3000 noisy answers"}

drawn = cache(draw)


@pytest.mark.parametrize("seed", [pytest.param(seed, marks=[pytest.mark.slow] * (seed in SLOW)) for seed in SEEDS])
def test_the_optimum_is_found(seed: int) -> None:
    drawn(seed).check()


# Losses that outweigh the divergence a million times: first steps in the dual once led to the edge of its domain.
@pytest.mark.slow
@pytest.mark.parametrize("seed", [18000013, 18000015, 18000310, 19000019, 19100141, 19200173, 61001514])
def test_losses_that_outweigh_the_divergence_are_solved(seed: int) -> None:
    drawn(seed).check()


# Whether these rows contradict one another could not be told in 400 steps towards the centre.
@pytest.mark.slow
def test_a_contradiction_by_a_hair_is_told() -> None:
    problem = drawn(22000237)
    settings = problem.settings
    rows = Constraints.from_comparisons(problem.said, ratio=settings["ratio"], margin=settings["margin"])
    assert feasible(Dual(problem.phi, rows, Conjugate.hard(rows.equality))).holds is False


# Random questions about ten classes, most of whose answers are can't tell: on these Newton's method once stalled.
@pytest.mark.slow
@pytest.mark.parametrize("seed", [3, 4, 7, 29, 53])
def test_random_questions_about_digits_are_solved(seed: int) -> None:
    digits(seed).check()


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name in SLOW_NAMED)) for name in NAMED]
)
def test_what_once_failed_is_solved(name: str) -> None:
    NAMED[name]().check()


def test_the_seeds_cover_every_loss_kernel_kind_and_extreme() -> None:
    problems = [drawn(seed) for seed in SEEDS]
    settings = [problem.settings for problem in problems]
    assert {each["loss"] for each in settings} == set(LOSSES)
    objects = {KernelSum: "sum", Columns: "columns"}
    assert {objects.get(type(each["kernel"]), each["kernel"]) for each in settings} == set(KERNELS)
    assert {type(each["rank"]) for each in settings} == {type(None), float, int}
    penalties = [each["penalty"] for each in settings]
    assert min(penalties) < 0.01
    assert sorted(set(penalties))[-2] > 1e4
    for known in (False, True):
        assert any(problem.hard and problem.feasible == known for problem in problems)
    assert {kind for problem in problems for kind in problem.said.kind.tolist()} == set(Kind)
    undecided = {float(problem.said.undecided.mean()) for problem in problems}
    assert {0.0, 1.0} < undecided
    assert max(each["ratio"] for each in settings) > 8
    assert {"margin", "softness"} < {name for each in settings for name in each}
    said = [problem.said for problem in problems]
    assert any((answers.weight != 1).any() for answers in said)
    assert any(np.isnan(answers.bound[answers.links]).any() for answers in said)
    assert any(np.isfinite(answers.bound).any() for answers in said)
    assert any(len(np.unique(np.column_stack([a.shown, a.odd, a.kind]), axis=0)) < len(a) for a in said)
    assert any(problem.compared and problem.small for problem in problems)


def test_a_seed_always_draws_the_same_problem() -> None:
    first, again = draw(8), draw(8)
    np.testing.assert_array_equal(first.X, again.X)
    assert first.said == again.said
    assert first.code() == again.code()
    assert "draw(8).check()" in first.code()


@pytest.mark.parametrize("loss", LOSSES)
def test_a_kernel_that_is_not_the_optimum_is_noticed(loss: str) -> None:
    early = {"loss": loss, "penalty": 0.01, "solver": "ascent", "max_iter": 1}
    problem = replace(drawn(8), settings=drawn(8).settings | early)
    found = problem.run()
    assert found.status == "EXHAUSTED"
    assert found.residual > 1e-5
    assert any("the residual is" in sentence for sentence in found.failures)
    with pytest.raises(AssertionError, match=r"draw\(8\).check\(\)"):
        problem.check()


@pytest.mark.parametrize(
    ("said", "contradictory"),
    [
        (Comparisons.closer([0, 0], [1, 2], [2, 1]), True),  # each twice as close as the other
        (Comparisons.closer([0, 1], [1, 2], [2, 0]), False),
        (Comparisons.must_link([[0, 1]], 0.1) + Comparisons.cannot_link([[0, 1]], 0.2), True),
        (Comparisons.must_link([[0, 1]], 0.2) + Comparisons.cannot_link([[0, 1]], 0.1), False),
        (Comparisons.odd_one_out([[0, 1, 2], [0, 1, 2]], [-1, 0]), True),
        (Comparisons.odd_one_out([[0, 1, 2], [1, 2, 3]], [-1, -1]), False),
    ],
)
def test_a_contradiction_is_told_from_answers_that_can_hold(said: Comparisons, contradictory: bool) -> None:
    left = room(np.random.default_rng(0).normal(size=(5, 4)), Rows.of(said, 2.0, 0.0))
    assert left is not None
    assert (left <= SINGULAR) == contradictory


def outcome(seconds: float, **changed: Any) -> Outcome:
    return replace(Outcome(f"draw({seconds})", "OPTIMAL", seconds, 0.0, "hinge", 100, 30, 5), **changed)


def test_slow_fits_are_told_from_their_like() -> None:
    found = [outcome(0.1), outcome(0.2), outcome(0.1), outcome(1.6), outcome(1.6, rows=130), outcome(1.6, loss="hard")]
    table = bins(found)
    assert [(each.loss, each.rows, len(each.seconds)) for each in table] == [
        ("hard", 64, 1),
        ("hinge", 64, 4),
        ("hinge", 128, 1),
    ]
    assert [slow.seconds for each in table for slow in each.slow] == [1.6]


def test_the_report_tells_how_many_slow_fits_wait_for_the_kernel() -> None:
    found = [
        outcome(0.1),
        outcome(0.1),
        outcome(0.1),
        outcome(2.0, kernel_seconds=1.5),
        outcome(3.0, kernel_seconds=1.0),
    ]
    lines = "\n".join(report(found))
    assert "2 fits took more than 10 times the median of their bin; 1 of them would not have without" in lines


def test_the_report_prints_failures_as_code() -> None:
    lines = "\n".join(report([outcome(0.1), outcome(0.2, status="STALLED", failures=("the gap is 1",))]))
    assert "2 problems, 1 failures" in lines
    assert "draw(0.2)\n    # STALLED" in lines
