"""Variances of learned distances, against the inverse of the primal's Hessian."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import optimize

from oddkernel import SKLR, Comparisons
from oddkernel.learning import uncertainty
from oddkernel.learning.recipe import Recipe
from oddkernel.learning.uncertainty import Uncertainty
from oddkernel.solvers import Newton, solve


def answers(n: int, m: int, seed: int = 0) -> Comparisons:
    rng = np.random.default_rng(seed)
    return Comparisons.odd_one_out([rng.permutation(n)[:3] for _ in range(m)], rng.integers(0, 3, m))


def symmetric(entries: np.ndarray, r: int) -> np.ndarray:
    matrix = np.zeros((r, r))
    matrix[np.triu_indices(r)] = entries
    return matrix + matrix.T - np.diag(np.diagonal(matrix))


@pytest.mark.parametrize("loss", ["squared", "logistic", "softmax"])
def test_covariance_is_the_inverse_of_the_primal_hessian(loss: str) -> None:
    rng = np.random.default_rng(0)
    phi = rng.normal(size=(7, 3))
    recipe = Recipe("linear", loss, ratio=1.0, margin=0.0 if loss != "squared" else 3.0)
    rows = recipe.rows(answers(7, 12))
    problem = recipe.problem(phi, rows, 0.5)
    _, point = solve(problem, Newton(), tol=1e-12)

    def objective(entries: np.ndarray) -> float:
        W = symmetric(entries, 3)
        sign, logdet = np.linalg.slogdet(W)
        assert sign > 0
        i, j = problem.pairs.T
        d = problem.coordinates[i] - problem.coordinates[j]
        violation = problem.row_sums(np.einsum("pi,ij,pj->p", d, W, d)) + rows.offset
        return float(np.trace(W) - logdet + problem.loss.primal(violation).sum())

    at = point.metric[np.triu_indices(3)]
    gradient = [lambda x, k=k: optimize.approx_fprime(x, objective, 1e-6)[k] for k in range(6)]
    hessian = np.array([optimize.approx_fprime(at, g, 1e-4) for g in gradient])
    pairs = rng.normal(size=(5, 2, 3))
    weight = np.where(np.triu_indices(3)[0] == np.triu_indices(3)[1], 1.0, 2.0)
    linear = (pairs[..., :, None] * pairs[..., None, :])[..., *np.triu_indices(3)] * weight
    wanted = linear @ np.linalg.inv(hessian) @ linear.transpose(0, 2, 1)
    found = Uncertainty(point).covariance(pairs)
    assert found == pytest.approx(wanted, rel=2e-2, abs=2e-2 * wanted.max())


def test_conjugate_gradients_agree_with_the_factorisation(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    phi = rng.normal(size=(9, 4))
    recipe = Recipe("linear", "softmax", ratio=1.0, margin=0.0)
    problem = recipe.problem(phi, recipe.rows(answers(9, 20)), 1.0)
    _, point = solve(problem, Newton(), tol=1e-10)
    pairs = rng.normal(size=(3, 3, 4))
    direct = Uncertainty(point, 2.0).covariance(pairs)
    monkeypatch.setattr(uncertainty, "DENSE", 0)
    assert Uncertainty(point, 2.0).covariance(pairs) == pytest.approx(direct, rel=1e-2, abs=1e-3 * direct.max())


def test_answers_make_their_own_distances_surer_and_leave_others_open() -> None:
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 30.0])
    few, many = (SKLR("adaptive", rank=None, loss="softmax", penalty=1.0).fit(X, answers(20, m)) for m in (5, 200))
    asked, other = X[:20], X[20:]
    relative = [model.distance_std(asked)[0, 1:] / model.distance(asked)[0, 1:] for model in (few, many)]
    assert relative[1].mean() < relative[0].mean()
    assert many.distance_std(other)[0, 1:] == pytest.approx(0.5 * many.distance(other)[0, 1:], rel=1e-2)
    assert few.distance_std(asked, other).shape == (20, 20)
    assert not few.distance_std(asked).diagonal().any()


def test_probabilities_have_standard_deviations() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 3))
    said = answers(12, 60) + Comparisons.odd_one_out([[0, 1, 2], [3, 4, 5]], [-1, -1])
    model = SKLR("linear", loss="softmax", penalty=1.0).fit(X, said)
    shown = [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    std = model.odd_one_std(X, shown)
    assert std.shape == (3, 4)
    assert (std > 0).all()
    assert (std < 1).all()

    # The slopes are the derivatives of the probabilities.
    from oddkernel.problem import choices

    sides = rng.uniform(0.5, 2.0, (1, 3))
    for guess in (0.0, 0.3):
        slopes = choices.probability_slopes(choices.probabilities(sides, 0.7, 0.4, guess), 0.7, guess)
        for k in range(3):
            step = 1e-6 * np.eye(3)[k]
            above, below = (choices.probabilities(sides + sign * step, 0.7, 0.4, guess) for sign in (1, -1))
            assert slopes[0, :, k] == pytest.approx((above - below)[0] / 2e-6, abs=1e-6)


def test_error_bars_are_those_of_the_dimensions_kept() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 4))
    model = SKLR("linear", rank=None, loss="softmax", penalty=1.0, tol=1e-10).fit(X, answers(12, 60))
    differences, W = rng.normal(size=(5, 2, 4)), model.metric_
    kept = (model.fit_.root @ np.linalg.qr(rng.normal(size=(4, 4)))[0])[:, :2]
    inside = differences @ kept @ kept.T @ np.linalg.inv(W)  # the part of each that the kept dimensions see
    assert np.einsum("kgr,rs,kgs->kg", inside, W, inside) == pytest.approx(np.square(differences @ kept).sum(axis=-1))
    wanted = model.fit_.covariance(inside)
    model.fit_ = replace(model.fit_, root=kept, metric=kept @ kept.T)
    assert model.fit_.covariance(differences) == pytest.approx(wanted, rel=1e-8)
    assert (model.distance_std(X)[0, 1:] > 0).all()


def test_nothing_learned_leaves_everything_open() -> None:
    X = np.random.default_rng(0).normal(size=(6, 2))
    model = SKLR("linear", penalty=0).fit(X, answers(6, 4))
    # δ under W ~ the prior has variance δ², so a distance has half of itself as its standard deviation.
    assert model.distance_std(X) == pytest.approx(0.5 * model.distance(X))
