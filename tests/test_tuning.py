"""Held-out answers choose the penalty and say what learning gains."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from oddkernel import SKLR, Comparisons
from oddkernel.tuning import folds_of


@pytest.fixture(scope="module")
def wine() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def random_state() -> np.random.RandomState:
    return np.random.RandomState(0)


def test_folds_keep_a_triple_together_and_never_hold_out_links() -> None:
    rng = np.random.default_rng(0)
    said = Comparisons.odd_one_out([rng.permutation(5)[:3] for _ in range(200)], rng.integers(-1, 3, 200))
    said = said + Comparisons.must_link([[0, 1]])
    folds = list(folds_of(said, 4, random_state()))
    held = np.concatenate(folds)
    assert sorted(held) == list(range(200))
    triples = [{tuple(row) for row in said.item_sets()[rows]} for rows in folds]
    assert not any(a & b for i, a in enumerate(triples) for b in triples[:i])


def test_clean_answers_are_worth_learning_from(wine) -> None:
    X, y = wine
    model = SKLR("linear", penalty="auto", random_state=0).fit(X, Comparisons.from_labels(y, 150, random_state=0))
    assert model.penalty_ > 0
    assert model.tuning_.gain_interval[0] > 0
    assert model.tuning_.trials[0].penalty == 0
    assert "better" in str(model.tuning_)
    fresh = Comparisons.from_labels(y, 1000, random_state=1)
    assert model.score(X, fresh) > SKLR("linear", penalty=0).fit(X, fresh).score(X, fresh)


def test_answers_that_mean_nothing_leave_the_kernel_alone(wine) -> None:
    X, _ = wine
    rng = np.random.default_rng(0)
    said = Comparisons.odd_one_out([rng.permutation(len(X))[:3] for _ in range(120)], rng.integers(0, 3, 120))
    with pytest.warns(UserWarning, match="don't support a change"):
        model = SKLR("linear", penalty="auto", random_state=0).fit(X, said)
    before = SKLR("linear", penalty=0).fit(X, said)
    fresh = Comparisons.from_labels(load_wine().target, 1000, random_state=1)
    assert model.score(X, fresh) >= before.score(X, fresh) - 0.03


def test_noise_calls_for_a_smaller_penalty_or_a_likelihood(wine) -> None:
    X, y = wine
    said = Comparisons.from_labels(y, 300, noise=0.35, random_state=0)
    fresh = Comparisons.from_labels(y, 1000, random_state=1)
    paper = SKLR("linear", penalty=1e5, random_state=0).fit(X, said)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # either verdict will do: it is the comparison that counts
        tuned = SKLR("linear", penalty="auto", random_state=0).fit(X, said)
    assert tuned.score(X, fresh) > paper.score(X, fresh) + 0.03


def test_too_few_answers_choose_nothing(wine) -> None:
    X, y = wine
    model = SKLR("linear", penalty="auto").fit(X, Comparisons.from_labels(y, 20, random_state=0))
    assert model.tuning_ is None
    assert model.penalty_ == 10.0


def test_the_result_does_not_depend_on_the_units_of_a_precomputed_kernel(wine) -> None:
    X, y = wine
    said = Comparisons.from_labels(y, 80, noise=0.1, random_state=0)
    K = X @ X.T
    small, large = (SKLR("precomputed", penalty="auto", tol=1e-9, random_state=0).fit(c * K, said) for c in (1e-3, 1e3))
    assert small.loss_ == large.loss_
    assert large.kernel_matrix(1e3 * K) == pytest.approx(1e6 * small.kernel_matrix(1e-3 * K), rel=1e-4, abs=1e-2)


@pytest.mark.parametrize("loss", ["squared", "hinge", "logistic", "softmax"])
def test_weight_two_is_the_answer_doubled(wine, loss: str) -> None:
    X, y = wine
    said = Comparisons.from_labels(y, 30, noise=0.2, random_state=0)
    heavy = Comparisons.odd_one_out(said.shown, said.odd, weight=2.0)
    settings = {"loss": loss, "penalty": 1.0, "tol": 1e-10}
    doubled = SKLR("linear", **settings).fit(X, said + said).kernel_matrix(X)
    assert SKLR("linear", **settings).fit(X, heavy).kernel_matrix(X) == pytest.approx(doubled, rel=1e-6, abs=1e-6)


def test_probabilities_are_calibrated(wine) -> None:
    X, y = wine
    said = Comparisons.from_labels(y, 400, noise=0.3, random_state=0)
    model = SKLR("linear", penalty="auto", random_state=0).fit(X, said)
    fresh = Comparisons.from_labels(y, 4000, noise=0.3, random_state=1)
    p = model.odd_one_proba(X, fresh.shown)
    assert p.sum(axis=1) == pytest.approx(1.0)
    assert p[:, :3].argmax(axis=1).tolist() == model.odd_one(X, fresh.shown).tolist()
    sure = p.max(axis=1)
    right = p.argmax(axis=1) == fresh.odd
    assert abs(sure.mean() - right.mean()) < 0.08
