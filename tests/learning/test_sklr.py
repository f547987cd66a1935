"""SKLR: the learned kernel keeps what the solution says, and all its methods tell the same story."""

from __future__ import annotations

import os
import re
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from scipy.io import loadmat
from scipy.spatial.distance import cdist

from oddkernel import SKLR, Comparisons
from oddkernel.kernels import AdaptiveGaussian, Gaussian, Identity, Linear, LowRank
from oddkernel.problem.constraints import Constraints
from oddkernel.problem.solution import Status
from oddkernel.support.progress import Heartbeat

RATIO, MARGIN = 2.0, 0.05
KERNELS = {
    "adaptive": AdaptiveGaussian(neighbors=10),
    "gaussian": "gaussian",
    "linear": "linear",
    "identity": "identity",
    "sum": 0.5 * Gaussian() + 0.5 * Linear() + 0.1 * Identity(),
    "precomputed": "precomputed",
}


def squared(K):
    """δ of all pairs of items, from their kernel matrix."""
    return np.diagonal(K)[:, None] - 2 * K + np.diagonal(K)


def row_values(delta, said, *, at_most=np.nan, at_least=np.nan):
    """tr(K C_c) + b_c of every row, from the squared distances."""
    rows = Constraints.from_comparisons(said, ratio=RATIO, margin=MARGIN, at_most=at_most, at_least=at_least)
    near, far = (delta[tuple(pair.T)] for pair in (rows.near, rows.far))
    return rows.near_factor * near - rows.far_factor * far + rows.offset


def test_kernel_matrix_satisfies_what_the_solution_says(fitted, said):
    model, X, _ = fitted
    phi = model.features_.transform(X)
    initial = squared(phi @ phi.T)[np.triu_indices(len(X), 1)]
    at_most, at_least = np.percentile(initial, [5, 95])
    assert model.solution_.status is Status.OPTIMAL
    values = row_values(squared(model.kernel_matrix(X)), said, at_most=at_most, at_least=at_least)
    np.testing.assert_allclose(values, model.solution_.slack, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kernel", ["adaptive", "linear", "gaussian"])
def test_under_an_infinite_penalty_every_row_holds(items, kernel):
    X, _ = items
    # What a hidden linear metric says can't contradict itself, and holds at full rank of any of these kernels.
    hidden = cdist(X * [3.0, 0.3, 0.1, 1.0], X * [3.0, 0.3, 0.1, 1.0], "sqeuclidean")
    triples = np.array([np.random.default_rng(seed).permutation(len(X))[:3] for seed in range(60)])
    anchor, close, far = triples.T
    triples = triples[RATIO * hidden[anchor, close] < hidden[anchor, far]]
    answers = Comparisons.closer(*triples.T)
    model = SKLR(kernel, rank=None, ratio=RATIO, penalty=np.inf, tol=1e-9).fit(X, answers)
    delta = squared(model.kernel_matrix(X))
    anchor, close, far = triples.T
    assert (RATIO * delta[anchor, close] <= delta[anchor, far] * (1 + 1e-7)).all()
    assert model.solution_.divergence > 0


def test_ratio_and_margin_play_no_part_in_score(items, said):
    X, _ = items
    model = SKLR().fit(X, said)
    scores = {SKLR(ratio=ratio, margin=margin).fit(X).score(X, said) for ratio, margin in ((1, 0.0), (9, 5.0))}
    assert len(scores) == 1
    assert model.score(X, said) > scores.pop()


@pytest.mark.parametrize("kernel", [Gaussian(1.5), Gaussian(1.5) + 0.3 * Identity()], ids=["gaussian", "sum"])
@pytest.mark.parametrize("penalty", [10.0, np.inf])
def test_items_nobody_compared_follow_the_formula(iris, kernel, penalty):
    X, y = iris
    X = X + np.random.default_rng(0).normal(scale=0.1, size=X.shape)  # iris holds copies
    said = Comparisons.from_labels(y[:12], 12, random_state=0)
    model = SKLR(kernel, rank=None, ratio=1.5, penalty=penalty, tol=1e-11)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "rows? .* so far from everything", UserWarning)
        formula = model.fit(X[:12], said).kernel_matrix(X[:40], residual=True)
    refitted = model.fit(X[:40], said).kernel_matrix(X[:40], residual=True)
    np.testing.assert_allclose(formula, refitted, rtol=0, atol=1e-8)
    # At full rank nothing is left over, so that the residual plays no part.
    np.testing.assert_allclose(model.kernel_matrix(X[:40]), refitted, rtol=0, atol=1e-8)


# Many items


def half_spaces(n):
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, Comparisons.from_labels((X[:300, 0] > 0).astype(int), 60, random_state=0)


@pytest.mark.slow
def test_many_items_never_form_a_full_matrix(monkeypatch):
    X, said = half_spaces(5200)
    sizes = []
    columns = Linear.columns

    def watched(self, A, items):
        sizes.append(len(A) * len(items))
        return columns(self, A, items)

    def never(self, A, B=None):
        raise AssertionError("the whole kernel matrix was asked for")

    monkeypatch.setattr(Linear, "columns", watched)
    monkeypatch.setattr(Linear, "__call__", never)
    model = SKLR("linear", rank=None).fit(X, said)
    assert max(sizes) <= 1000**2
    assert set(said.constrained) <= set(model.features_.landmarks)
    assert model.transform(X).shape == (5200, 3)


def test_landmarks_change_nothing_for_a_linear_kernel(monkeypatch):
    X, said = half_spaces(1100)
    full = SKLR("linear", rank=None, penalty=10.0, tol=1e-10).fit(X, said)
    fit = LowRank.fit
    monkeypatch.setattr(LowRank, "fit", lambda *args, **options: fit(*args, **options, max_items=200))
    part = SKLR("linear", rank=None, penalty=10.0, tol=1e-10).fit(X, said)
    assert (len(full.features_.landmarks), len(part.features_.landmarks)) == (1100, 200)
    np.testing.assert_allclose(part.kernel_matrix(X[:50], X[-50:]), full.kernel_matrix(X[:50], X[-50:]), atol=1e-8)
    assert part.solution_.divergence == pytest.approx(full.solution_.divergence, rel=1e-8)


# What y may be


@pytest.mark.slow
def test_labels_draw_comparisons_among_the_labelled(iris):
    X, y = iris
    labels = np.where(np.arange(len(y)) < 30, y, -1)
    model = SKLR(random_state=0).fit(X, labels)
    assert len(model.comparisons_) == 90
    assert model.comparisons_.constrained.max() < 30
    assert model.comparisons_ == Comparisons.from_labels(labels, 90, random_state=0)
    assert len(SKLR(n_comparisons=7).fit(X, labels).comparisons_) == 7
    held_out = Comparisons.from_labels(y, 300, random_state=1)
    assert model.score(X, held_out) > SKLR().fit(X).score(X, held_out)


@pytest.mark.parametrize(
    "as_labels",
    [
        lambda y: np.array(["setosa", "versicolor", "virginica"])[y],
        lambda y: y.astype(float),
        lambda y: y.tolist(),
        lambda y: np.array([name if name else -1 for name in np.array(["", "a", "b"])[y]], dtype=object),
    ],
    ids=["text", "float", "list", "text and -1"],
)
def test_labels_of_any_type(iris, as_labels):
    X, y = iris
    assert len(SKLR(n_comparisons=20).fit(X, as_labels(y)).comparisons_) == 20


@pytest.mark.parametrize("y", [None, Comparisons.empty(), np.full(60, -1)], ids=["None", "empty", "unlabelled"])
@pytest.mark.parametrize("rank", [0.9, 3, None])
def test_nothing_said_leaves_the_initial_kernel(items, y, rank):
    X, new = items
    model = SKLR(rank=rank).fit(X, y)
    assert model.solution_.status is Status.OPTIMAL
    assert model.solution_.divergence == 0
    assert model.n_iter_ == 0
    np.testing.assert_array_equal(model.transform(new), model.features_.transform(new))
    values, vectors = np.linalg.eigh(model.kernel_(X))
    kept = model.features_.rank
    best = (vectors[:, -kept:] * values[-kept:]) @ vectors[:, -kept:].T
    np.testing.assert_allclose(model.kernel_matrix(X), best, atol=1e-10)


# Links


def test_links_alone_reach_their_bounds(items):
    X, _ = items
    said = Comparisons.must_link([[0, 1]], at_most=0.05) + Comparisons.cannot_link([[2, 3]], at_least=3.0)
    model = SKLR("linear", rank=None, penalty=np.inf, tol=1e-9).fit(X, said)
    assert model.distance(X[:1], X[1:2]) ** 2 <= 0.05 * (1 + 1e-7)
    assert model.distance(X[2:3], X[3:4]) ** 2 == pytest.approx(3.0, rel=1e-7)


def test_links_without_bounds_take_percentiles(items):
    X, _ = items
    model = SKLR("linear", rank=None).fit(X)
    at_most, at_least = np.percentile(model.distance(X)[np.triu_indices(len(X), 1)] ** 2, [5, 95])
    pair = [[0, 1]]
    for bare, bound in (
        (Comparisons.must_link(pair), Comparisons.must_link(pair, at_most)),
        (Comparisons.cannot_link(pair), Comparisons.cannot_link(pair, at_least)),
    ):
        one, other = (SKLR("linear", rank=None).fit(X, said) for said in (bare, bound))
        np.testing.assert_allclose(one.metric_, other.metric_, atol=1e-12)
        assert one.solution_.divergence > 0


def test_links_and_answers_together_pull_together(items, said):
    X, _ = items
    answers, links = said[said.kind < 2], said[said.kind >= 2]
    divergences = [SKLR(tol=1e-9).fit(X, part).solution_.objective for part in (answers, links, said)]
    assert divergences[2] > max(divergences[:2])


# Solvers and stopping


@pytest.mark.parametrize("solver", ["newton", "ascent"])
def test_exact_solvers_agree(items, said, solver):
    X, _ = items
    auto, other = (SKLR(solver=name, tol=1e-10).fit(X, said) for name in ("auto", solver))
    np.testing.assert_allclose(other.metric_, auto.metric_, atol=1e-7)


def test_projection_stops_short_of_the_optimum(items, said):
    X, _ = items
    answers = said[:20]
    exact = SKLR(ratio=1.0, rank=None, penalty=np.inf, tol=1e-9).fit(X, answers)
    published = SKLR(ratio=1.0, rank=None, penalty=np.inf, solver="projection").fit(X, answers)
    assert published.solution_.status is Status.FEASIBLE
    assert published.solution_.divergence >= exact.solution_.divergence - 1e-6


@pytest.mark.skipif(
    not Path(os.environ.get("ODDKERNEL_DATA", "absent"), "usps_all.mat").exists(),
    reason="ODDKERNEL_DATA names no folder with usps_all.mat",
)
@pytest.mark.parametrize("binary", [True, False])
def test_usps(binary):
    pixels = loadmat(Path(os.environ["ODDKERNEL_DATA"], "usps_all.mat"))["data"]
    X = np.concatenate([pixels[:, :40, digit].T for digit in range(10)]) / 255.0
    y = np.repeat((np.arange(10) + 1) % 10, 40)
    y = y % 2 if binary else y
    said = Comparisons.from_labels(y, 120, random_state=0)
    model = SKLR(penalty=1e5).fit(X, said)
    assert model.solution_.status is Status.OPTIMAL
    assert model.score(X, said) > 0.95
    held_out = Comparisons.from_labels(y, 500, random_state=1)
    assert model.score(X, held_out) > SKLR().fit(X).score(X, held_out)


@pytest.mark.parametrize("verbose", [0, None])
def test_progress_is_reported_unless_silenced(
    verbose: int | None, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oddkernel.learning.sklr.Heartbeat", partial(Heartbeat, every=1e-4))
    X = np.random.default_rng(0).normal(size=(60, 3))
    said = Comparisons.from_labels((X[:, 0] > 0).astype(int), 60, random_state=0)
    SKLR("linear", loss="squared", **({} if verbose is None else {"verbose": verbose})).fit(X, said)
    told = capsys.readouterr().err
    assert bool(re.search(r"oddkernel: step \d+ of at most \d+, trying linear kernel, .* \(\d+ s\)", told)) == (
        verbose is None
    )
