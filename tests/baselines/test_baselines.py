"""The rivals: the same optimum as independent solvers find, and the estimator's manners."""

from __future__ import annotations

import inspect
import json
import os
import pickle
import subprocess
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from references import from_metric_learn
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from oddkernel import Comparisons, ContradictionError, KernelKMeans, KernelMeanShift
from oddkernel.baselines import ITML, LSML, SKMS, links, links_from_labels
from oddkernel.baselines.slack import LogSlack
from oddkernel.comparisons import Kind, RowError
from oddkernel.problem.constraints import Constraints

EXPECTED_FAILURES_LSML = {
    "check_transformer_n_iter": "its blobs lie so far apart that the initial kernel is the optimum: no step is taken",
}


@pytest.mark.slow
@parametrize_with_checks(
    [ITML(), SKMS(1.0), LSML()],
    expected_failed_checks=lambda model: EXPECTED_FAILURES_LSML if isinstance(model, LSML) else {},
)
def test_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


X, CLASSES = load_iris(return_X_y=True)
SAID = Comparisons.from_labels(CLASSES, 40, random_state=0)
LINKS = links_from_labels(CLASSES, 20, random_state=0)
FITTED = [(ITML(), LINKS), (SKMS(), LINKS), (LSML(), SAID)]
IDS = [type(model).__name__ for model, _ in FITTED]


@pytest.mark.slow
@pytest.mark.parametrize(("model", "said"), FITTED, ids=IDS)
def test_manners(model, said):
    model = clone(model).fit(X, said)
    assert model.solution_.status.success
    assert model.comparisons_ == said
    z = model.transform(X)
    np.testing.assert_allclose(model.kernel_matrix(X), z @ z.T, atol=1e-9)
    np.testing.assert_allclose(model.distance(X)[3, 70], np.linalg.norm(z[3] - z[70]))
    assert model.odd_one(X, [[0, 1, 149]]).tolist() == [2]
    assert 0.5 < model.score(X, SAID) <= 1
    np.testing.assert_allclose(model.odd_one_proba(X, [[0, 1, 149]]).sum(), 1.0)
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.transform(X[:9]), model.transform(X[:9]))
    assert not hasattr(clone(model), "solution_")
    assert make_pipeline(StandardScaler(), clone(model)).fit(X, said).transform(X).shape[0] == len(X)


@pytest.mark.parametrize("model", [ITML(), SKMS(), LSML()], ids=IDS)
def test_without_answers_nothing_changes(model):
    model = clone(model).fit(X)
    np.testing.assert_array_equal(model.metric_, np.eye(model.features_.rank))


@pytest.mark.slow
@pytest.mark.parametrize("model", [ITML(), SKMS(), LSML()], ids=IDS)
def test_class_labels(model):
    some = np.where(np.arange(len(X)) % 5 == 0, CLASSES, -1)
    one, two = (clone(model).set_params(random_state=3).fit(X, some) for _ in range(2))
    assert one.comparisons_ == two.comparisons_
    assert (some[one.comparisons_.constrained] != -1).all()
    with pytest.raises(ValueError, match="holds one class"):
        clone(model).fit(X, np.zeros(len(X)))
    with pytest.raises(ValueError, match=r"150 items|one label an item"):
        clone(model).fit(X, some[:-1])


@pytest.fixture(scope="module")
def skms():
    return SKMS().fit(X, LINKS)


@pytest.mark.slow
def test_skms_with_either_clustering(skms):
    K = skms.kernel_matrix(X)
    assert len(set(KernelKMeans(3, random_state=0).fit_predict(K))) == 3
    assert len(KernelMeanShift().fit(K, skms.comparisons_).labels_) == len(X)


@pytest.mark.parametrize("slack", [0.1, 1.0, 30.0])
def test_itml_is_the_optimum_that_cvxpy_finds(slack):
    random = np.random.RandomState(3)
    items = random.randn(12, 3)
    pairs = np.array([random.choice(12, 2, replace=False) for _ in range(14)])
    weight = random.uniform(0.5, 2.0, 14)
    said = Comparisons.must_link(pairs[:7], at_most=0.3, weight=weight[:7])
    said += Comparisons.cannot_link(pairs[7:], at_least=4.0, weight=weight[7:])
    model = ITML(slack, tol=1e-9).fit(items, said)
    phi = model.features_.transform(items)

    W, xi = cp.Variable((3, 3), PSD=True), cp.Variable(14, pos=True)
    bound = np.where(np.arange(14) < 7, 0.3, 4.0)
    difference = phi[pairs[:, 0]] - phi[pairs[:, 1]]
    delta = [cp.trace(W @ np.outer(d, d)) for d in difference]
    held = [delta[c] <= xi[c] if c < 7 else delta[c] >= xi[c] for c in range(14)]
    divergence = cp.trace(W) - cp.log_det(W) - 3
    cost = cp.sum(cp.multiply(slack * weight, cp.multiply(1 / bound, xi) - cp.log(xi) + np.log(bound) - 1))
    cp.Problem(cp.Minimize(divergence + cost), held).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(model.metric_, W.value, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(model.solution_.objective, (divergence + cost).value, rtol=1e-6)


@pytest.mark.parametrize("penalty", [0.1, 3.0, 100.0])
def test_lsml_is_the_optimum_that_cvxpy_finds(penalty):
    random = np.random.RandomState(5)
    items = random.randn(12, 3)
    shown = np.array([random.choice(12, 3, replace=False) for _ in range(10)])
    said = Comparisons.closer(*shown.T, weight=random.uniform(0.5, 2.0, 10))
    model = LSML(penalty, tol=1e-9).fit(items, said)
    phi = model.features_.transform(items)

    W = cp.Variable((3, 3), PSD=True)
    near, far = phi[shown[:, 0]] - phi[shown[:, 1]], phi[shown[:, 0]] - phi[shown[:, 2]]
    n = cp.hstack([cp.trace(W @ np.outer(d, d)) for d in near])
    f = cp.hstack([cp.trace(W @ np.outer(d, d)) for d in far])
    # (√n' − √f)² with n' ≥ n, f: cut off where n ≤ f.
    top = cp.Variable(10)
    residual = cp.hstack([top[c] + f[c] - 2 * cp.geo_mean(cp.hstack([top[c], f[c]])) for c in range(10)])
    objective = cp.trace(W) - cp.log_det(W) - 3 + penalty * (said.weight @ residual)
    cp.Problem(cp.Minimize(objective), [top >= n, top >= f]).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(model.metric_, W.value, rtol=1e-3, atol=1e-4)
    np.testing.assert_allclose(model.solution_.objective, objective.value, rtol=1e-5)
    assert model.solution_.gap < 1e-9


def with_metric_learn(reference, data):
    """Ours on the same data: squared distances by both, and both values of LSML's objective."""
    items = data["X"]  # centred and of unit mean squared norm: in the linear kernel's own units
    pairs, must = data["pairs"], data["y"] == 1
    said = Comparisons.must_link(pairs[must], at_most=data["bounds"][0])
    said += Comparisons.cannot_link(pairs[~must], at_least=data["bounds"][1])
    itml = ITML(1.0, tol=1e-10).fit(items, said)
    difference = items[:, None] - items
    theirs = np.einsum("ijk,kl,ijl->ij", difference, np.array(reference["itml"]), difference)
    np.testing.assert_allclose(np.square(itml.distance(items)), theirs, rtol=1e-5, atol=1e-7)

    anchor, near, _, far = data["quadruplets"].T
    said = Comparisons.closer(anchor, near, far)
    lsml = LSML(1.0 / len(said), tol=1e-10).fit(items, said)

    def objective(metric):
        toward_near, toward_far = items[anchor] - items[near], items[anchor] - items[far]
        n = np.einsum("ij,jk,ik->i", toward_near, metric, toward_near)
        f = np.einsum("ij,jk,ik->i", toward_far, metric, toward_far)
        residual = np.square(np.maximum(np.sqrt(n) - np.sqrt(f), 0)).mean()
        return np.trace(metric) - np.linalg.slogdet(metric)[1] - len(metric) + residual

    basis = lsml.features_.transform(np.eye(4)) - lsml.features_.transform(np.zeros((1, 4)))
    ours = basis @ lsml.metric_ @ basis.T
    np.testing.assert_allclose(lsml.solution_.objective, objective(ours), rtol=1e-8)
    return objective(ours), objective(np.array(reference["lsml"]))


def test_as_metric_learn_or_better():
    reference = json.loads(Path(from_metric_learn.__file__).with_suffix(".json").read_text())
    ours, theirs = with_metric_learn(reference, from_metric_learn.made())
    assert ours <= theirs
    assert theirs - ours < 0.1 * theirs


def test_as_metric_learn_where_it_is_installed():
    python = os.environ.get("METRIC_LEARN_PYTHON")
    if not python:
        pytest.skip("METRIC_LEARN_PYTHON names no Python with metric-learn, which needs an older scikit-learn")
    apart = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    told = subprocess.run([python, from_metric_learn.__file__], capture_output=True, text=True, check=True, env=apart)
    ours, theirs = with_metric_learn(json.loads(told.stdout), from_metric_learn.made())
    assert ours <= theirs


@examples(60)
@given(
    bound=st.floats(0.01, 10),
    share=st.floats(0.01, 0.99),
    slack=st.floats(0.1, 100),
    must=st.booleans(),
    violation=st.floats(-0.5, 0.9),
)
def test_slack_is_its_conjugates_conjugate(bound, share, slack, must, violation):
    said = Comparisons.must_link([[0, 1]], bound) if must else Comparisons.cannot_link([[0, 1]], bound)
    loss = LogSlack.of(Constraints.from_comparisons(said), slack)
    t = np.array([violation * bound])
    alpha = np.array([share * slack / bound])
    assert loss.fenchel_gap(alpha, t) >= -1e-9 * slack
    np.testing.assert_allclose(
        loss.fenchel_gap(alpha, t), loss.primal(t).sum() + loss.value(alpha) - (alpha * t).sum(), atol=1e-9 * slack
    )
    np.testing.assert_allclose(loss.fenchel_gap(loss.wanted(t), t), 0.0, atol=1e-9 * slack)
    if violation > 0:
        np.testing.assert_allclose(loss.slope(loss.wanted(t)), t, rtol=1e-6, atol=1e-12)
    step = 1e-6 * alpha
    slope = (loss.value(alpha + step) - loss.value(alpha - step)) / (2 * step)
    np.testing.assert_allclose(slope, loss.slope(alpha), rtol=1e-3, atol=1e-6 * bound)
    bend = (loss.slope(alpha + step) - loss.slope(alpha - step)) / (2 * step)
    np.testing.assert_allclose(bend, loss.bend(alpha)[0], rtol=1e-4)


@pytest.mark.slow
@examples(25)
@given(
    seed=st.integers(0, 2**32 - 1),
    size=st.tuples(st.integers(4, 25), st.integers(1, 6), st.integers(1, 50)),
    unit=st.sampled_from([1e-3, 1.0, 1e3]),
    strength=st.floats(1e-3, 1e3),
)
def test_the_optimum_is_found_whatever_was_said(seed, size, unit, strength):
    random = np.random.RandomState(seed)
    n, d, m = size
    items = unit * random.randn(n, d)
    items[-1] = items[0]  # a copy, which may be linked to its original
    triples = np.array([random.choice(n - 1, 3, replace=False) for _ in range(m)])
    said = Comparisons.must_link([[0, n - 1], *triples[::2, :2]]) + Comparisons.cannot_link(triples[1::2, :2])
    for model in (ITML(strength), SKMS(strength)):
        assert model.fit(items, said).solution_.status.success
    assert LSML(strength).fit(items, Comparisons.closer(*triples.T)).solution_.status.success


@pytest.mark.slow
def test_links_at_two_resolutions_exclude_one_another_and_still_have_an_optimum():
    X, digit = load_digits(return_X_y=True)
    X, known = X[:300], np.where(np.arange(300) < 80, digit[:300], -1)
    by_digit = links_from_labels(known, 400, random_state=0)
    by_parity = links_from_labels(np.where(known >= 0, known % 2, -1), 400, random_state=1)
    assert SKMS().fit(X, by_digit + by_parity).solution_.status.name == "OPTIMAL"


@pytest.mark.parametrize("model", [ITML, SKMS, LSML])
def test_no_parameter_shares_a_name_with_a_method(model):
    assert not [name for name in inspect.signature(model).parameters if hasattr(model, name)]


def test_lsml_warns_of_a_copy_that_should_be_far():
    with pytest.warns(UserWarning, match="row 0: the item that should be far is a copy"):
        model = LSML().fit([[0.0], [1.0], [0.0], [3.0]], Comparisons.closer([0, 1], [1, 0], [2, 3]))
    assert model.solution_.status.success


def test_hard_links_hold_or_are_named():
    said = Comparisons.must_link([[0, 1]], 0.01) + Comparisons.cannot_link([[0, 70]], 5.0)
    model = ITML(np.inf).fit(X, said)
    assert np.square(model.distance(X[:1], X[1:2]))[0, 0] <= 0.01 * (1 + 1e-5)
    assert np.square(model.distance(X[:1], X[70:71]))[0, 0] >= 5.0 * (1 - 1e-5)
    both = Comparisons.must_link([[0, 70]], 0.01) + Comparisons.cannot_link([[70, 0]], 5.0)
    with pytest.raises(ContradictionError, match=r"rows 0, 1 can't all hold"):
        ITML(np.inf).fit(X, both)
    assert ITML(1.0).fit(X, both).solution_.status.success


def test_a_cannot_link_between_copies_is_named():
    with pytest.raises(ContradictionError, match="row 1: the item that should be far is a copy"):
        ITML().fit([[0.0], [0.0], [1.0]], Comparisons.must_link([[0, 1]]) + Comparisons.cannot_link([[0, 1]]))


@pytest.mark.slow
def test_default_bounds(skms):
    itml = ITML().fit(X, LINKS)
    squared = np.square(ITML().fit(X).distance(X))[np.triu_indices(len(X), 1)]
    np.testing.assert_allclose(itml.bounds_, np.percentile(squared[squared > 0], [5, 95]))
    assert skms.bounds_[0] <= 0.05
    assert skms.bounds_[1] >= 1.95


@pytest.mark.parametrize(
    ("model", "said", "sentence"),
    [
        (ITML(), SAID, "row 0: ITML learns from must_link and cannot_link alone"),
        (SKMS(), LINKS + SAID, "row 40: SKMS learns from must_link and cannot_link alone"),
        (LSML(), SAID + LINKS, "row 40: LSML has no place for links"),
        (LSML(), Comparisons.odd_one_out([[0, 1, 2]], [-1]), "row 0: can't tell; LSML has no place for that"),
        (ITML(), Comparisons.must_link([[0, 1]], 0.0), "row 0: bound 0; expected a positive number"),
    ],
)
def test_other_answers_are_refused(model, said, sentence):
    with pytest.raises(RowError, match=sentence):
        model.fit(X, said)


@pytest.mark.parametrize(
    "model",
    [
        *[ITML(0.0), ITML(-1), ITML("soft"), SKMS(tol=0), SKMS(max_iter=0), SKMS(rank=-1), SKMS(bandwidth=-1)],
        *[LSML(0), LSML(np.inf), LSML("auto"), LSML(tol=-1), LSML(max_iter=0.5), LSML(n_comparisons=0)],
    ],
)
def test_senseless_parameters_are_refused(model):
    with pytest.raises(ValueError, match=r"(expected|give) "):
        model.fit(X, SAID if isinstance(model, LSML) else LINKS)


def test_copies_can_not_be_given_bounds():
    with pytest.raises(ValueError, match="all items are copies"):
        ITML().fit(np.ones((4, 2)), Comparisons.must_link([[0, 1]]))


def test_an_exhausted_solver_says_so():
    for model, said in ((ITML(np.inf), LINKS[:20]), FITTED[2]):
        with pytest.warns(UserWarning, match="Raise max_iter"):
            clone(model).set_params(max_iter=1, tol=1e-12).fit(X, said)


def test_links_from_labels():
    y = np.array([0] * 5 + [1] * 5 + [2] * 5 + [-1] * 10)
    said = links_from_labels(y, random_state=0)
    assert len(said) == 5 * 4 * 3  # ℓ(ℓ−1)·C
    must, cannot = said[said.kind == Kind.MUST_LINK], said[said.kind == Kind.CANNOT_LINK]
    assert len(must) == len(cannot)
    assert (y[must.shown[:, 0]] == y[must.shown[:, 1]]).all()
    assert (y[cannot.shown[:, 0]] != y[cannot.shown[:, 1]]).all()
    assert len(np.unique(said.item_sets(), axis=0)) == len(said)
    assert said == links_from_labels(y, random_state=0)
    noisy = links_from_labels(y, noise=0.5, random_state=0)
    same = y[noisy.shown[:, 0]] == y[noisy.shown[:, 1]]
    assert np.count_nonzero(same != (noisy.kind == Kind.MUST_LINK)) == 30
    with pytest.raises(ValueError, match="noise=2; expected a share"):
        links_from_labels(y, noise=2)
    with pytest.raises(ValueError, match="n=0; expected a whole number"):
        links_from_labels(y, 0)


def test_links_among_many_items(monkeypatch):
    monkeypatch.setattr(links, "LISTED", 10)
    y = np.arange(60) % 3
    said = links_from_labels(y, 200, random_state=0)
    assert np.bincount(said.kind).tolist() == [0, 0, 200, 200]
    assert len(np.unique(said.item_sets(), axis=0)) == 400
    few = links_from_labels(np.repeat([0, 1], 6), 1000, random_state=0)
    assert np.bincount(few.kind).tolist()[2:] == [30, 36]
