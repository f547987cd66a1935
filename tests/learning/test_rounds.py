"""Learning in rounds, each from halfway to what the last one learned."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from oddkernel import SKLR, Comparisons, solvers
from oddkernel.learning import Recipe, learn, rounds
from oddkernel.learning.rounds import halfway
from oddkernel.problem import Status
from oddkernel.solvers import Newton, starts


def test_rounds_can_be_asked_for_and_give_what_they_would_one_by_one(wine) -> None:
    X, y = wine
    said = Comparisons.from_labels(y, 40, random_state=0)
    settings = {"loss": "softmax", "tol": 1e-10}
    model = SKLR("linear", rank=None, penalty=(0.5, 0.2), **settings).fit(X, said)
    first = SKLR("linear", rank=None, penalty=0.5, **settings).fit(X, said)
    phi = first.features_.transform(X[said.constrained])
    start = halfway(phi, first.fit_.root)
    again = SKLR("precomputed", rank=None, penalty=0.2, **settings)
    whole = first.features_.transform(X) @ start
    again.fit(whole @ whole.T, said)
    assert model.kernel_matrix(X) == pytest.approx(again.kernel_matrix(whole @ whole.T), rel=1e-5, abs=1e-5)
    assert model.penalty_ == 0.2
    assert model.transform(X) @ model.transform(X).T == pytest.approx(model.kernel_matrix(X))


def test_rounds_start_warm(wine) -> None:
    X, y = wine
    said = Comparisons.from_labels(y, 60, random_state=0)
    model = SKLR("linear", loss="softmax", penalty=(0.5, 0.2), warm_start=True, tol=1e-8).fit(X, said)
    kernel, steps = model.kernel_matrix(X), model.n_iter_
    assert model.fit(X, said).kernel_matrix(X) == pytest.approx(kernel, rel=1e-5, abs=1e-6)
    assert model.n_iter_ < steps


@pytest.mark.parametrize("penalty", [(), (1.0, 0.0), (1.0, np.inf), ("auto",), (-1.0, 1.0), [None]])
def test_rounds_need_a_positive_number_each(wine, penalty) -> None:
    X, y = wine
    with pytest.raises(ValueError, match="penalty"):
        SKLR(penalty=penalty).fit(X, Comparisons.from_labels(y, 20, random_state=0))


def test_items_that_no_answer_is_about_change_nothing() -> None:
    phi = np.random.default_rng(0).normal(size=(9, 3))
    recipe = Recipe("linear", "squared", ratio=2.0, margin=0.1)
    few, many = Comparisons.closer([0, 2], [1, 1], [2, 0]), Comparisons.closer([3, 8], [5, 5], [8, 3])
    one = learn(phi[[3, 5, 8]], few, recipe, [10.0], solver=Newton(), tol=1e-9)
    other = learn(phi, many, recipe, [10.0], solver=Newton(), tol=1e-9)
    assert other.metric == pytest.approx(one.metric)


def test_a_penalty_of_zero_learns_nothing() -> None:
    phi = np.random.default_rng(0).normal(size=(4, 3))
    recipe = Recipe("linear", "softmax", ratio=1.0, margin=0.0)
    learned = learn(phi, Comparisons.closer([0], [1], [2]), recipe, [0.0], solver=Newton(), tol=1e-6)
    assert learned.metric.tolist() == np.eye(3).tolist()
    assert learned.solution.n_iter == 0


@pytest.mark.parametrize("loss", ["squared", "softmax"])
def test_a_rough_solution_is_near_the_optimum_and_in_single_precision(
    wine, monkeypatch: pytest.MonkeyPatch, loss: str
) -> None:
    X, y = wine
    said = Comparisons.from_labels(y, 200, random_state=0)
    phi = SKLR("adaptive", penalty=0).fit(X, said).features_.transform(X)
    recipe = Recipe("adaptive", loss, ratio=2.0, margin=0.0)
    exact = learn(phi, said, recipe, [0.1], solver=Newton(), tol=1e-8)
    monkeypatch.setattr(starts, "LARGE", 0.0)
    rough = learn(phi, said, recipe, [0.1], solver=Newton(), tol=1e-2, rough=True)
    assert rough.point.problem.coordinates.dtype == np.float32
    assert rough.solution.status.success
    assert rough.metric == pytest.approx(exact.metric, abs=0.02)


def test_a_rough_solution_that_is_not_found_is_looked_for_in_double_precision(
    wine, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = wine
    said = Comparisons.from_labels(y, 60, random_state=0)
    recipe = Recipe("linear", "squared", ratio=2.0, margin=0.0)

    def solve(problem, *args, **settings):
        solution, point = solvers.solve(problem, *args, **settings)
        stalled = problem.coordinates.dtype == np.float32
        return replace(solution, status=Status.STALLED) if stalled else solution, point

    monkeypatch.setattr(starts, "LARGE", 0.0)
    monkeypatch.setattr(rounds, "solve", solve)
    learned = learn(X - X.mean(axis=0), said, recipe, [10.0], solver=Newton(), tol=1e-2, rough=True)
    assert learned.point.problem.coordinates.dtype == np.float64
    assert learned.solution.status.success
