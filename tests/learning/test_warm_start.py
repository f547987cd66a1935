"""A warm start changes how long fitting takes, never what it finds."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from oddkernel import SKLR, Comparisons, ContradictionError
from oddkernel.kernels import Gaussian

X, y = load_iris(return_X_y=True)
SAID = Comparisons.from_labels(y, 60, undecided=5, noise=0.1, random_state=0)
MORE = Comparisons.from_labels(y, 6, random_state=1)
LINKS = Comparisons.must_link([[0, 1], [2, 3]]) + Comparisons.cannot_link([[0, 149]], at_least=2.0)
SHUFFLED = np.random.default_rng(0).permutation(len(SAID))


def learner(**parameters):
    # A kernel that knows nothing of the data keeps K₀ apart from numerical noise the same.
    return SKLR(Gaussian(1.5), warm_start=True, tol=1e-10, **({"penalty": 10.0} | parameters))


def assert_same_optimum(warm, answers):
    cold = clone(warm).fit(X, answers)
    np.testing.assert_allclose(warm.kernel_matrix(X), cold.kernel_matrix(X), rtol=0, atol=1e-6)
    assert warm.solution_.objective == pytest.approx(cold.solution_.objective, rel=1e-9)
    return cold


@pytest.mark.parametrize(
    "changed",
    [
        SAID,
        SAID + MORE,
        MORE + SAID,
        SAID[:-6],
        SAID[SHUFFLED],
        SAID + SAID[:6],
        SAID[::2] + MORE + SAID[1::4],
        SAID + LINKS,
        MORE,
        Comparisons.empty(),
    ],
    ids=["same", "more", "before", "fewer", "shuffled", "repeated", "mixed", "links", "others", "none"],
)
@pytest.mark.parametrize("solver", ["auto", "newton"])
def test_finds_the_same_optimum(changed, solver):
    warm = learner(solver=solver).fit(X, SAID).fit(X, changed)
    assert_same_optimum(warm, changed)


@pytest.mark.parametrize("solver", ["auto", "newton", "ascent"])
def test_more_answers_take_fewer_iterations(solver):
    warm = learner(solver=solver).fit(X, SAID).fit(X, SAID + MORE)
    cold = assert_same_optimum(warm, SAID + MORE)
    assert warm.n_iter_ < cold.n_iter_


def test_the_same_answers_take_none():
    model = learner().fit(X, SAID)
    assert model.fit(X, SAID).n_iter_ == 0
    assert model.fit(X, SAID[SHUFFLED]).n_iter_ == 0


@pytest.mark.parametrize(
    "parameters",
    [
        {"ratio": 3.0},
        {"margin": 0.1},
        {"penalty": 30.0},
        {"rank": 0.8},
        {"kernel": Gaussian(1.2)},
        {"loss": "hinge"},
        {"loss": "softmax"},
    ],
)
def test_parameters_may_change(parameters):
    warm = learner().fit(X, SAID).set_params(**parameters).fit(X, SAID)
    assert_same_optimum(warm, SAID)


def test_links_take_part():
    warm = learner().fit(X, SAID + LINKS)
    assert warm.fit(X, LINKS[::-1] + SAID).n_iter_ == 0
    assert_same_optimum(warm.fit(X, LINKS + SAID + MORE), LINKS + SAID + MORE)


def test_under_an_infinite_penalty():
    X_spread = X + np.random.default_rng(0).normal(scale=0.05, size=X.shape)
    answers = Comparisons.from_labels(y, 30, random_state=2)
    warm = learner(rank=None, ratio=1.5, penalty=np.inf).fit(X_spread, answers[:25]).fit(X_spread, answers)
    cold = clone(warm).fit(X_spread, answers)
    np.testing.assert_allclose(warm.kernel_matrix(X_spread), cold.kernel_matrix(X_spread), rtol=0, atol=1e-6)


def test_items_may_change():
    # Answers are about rows of X: with other items the last multipliers are a poor start, and nothing worse.
    warm = learner().fit(X[::-1], SAID).fit(X, SAID)
    assert_same_optimum(warm, SAID)


def test_without_it_fitting_starts_anew():
    model = learner().set_params(warm_start=False).fit(X, SAID)
    n_iter = model.n_iter_
    assert n_iter > 0
    assert model.fit(X, SAID).n_iter_ == n_iter


def test_a_fit_that_fails_keeps_the_last_start():
    model = learner(penalty=np.inf, rank=None).fit(X, MORE)
    before = dict(vars(model))
    with pytest.raises(ContradictionError):
        model.fit(X, MORE + Comparisons.odd_one_out([[0, 1, 60], [0, 1, 60]], [0, 1]))
    assert vars(model) == before
    assert model.fit(X, MORE).n_iter_ == 0
