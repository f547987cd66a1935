"""Searching over parameters with folds over comparisons."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from oddkernel import SKLR, Comparisons
from oddkernel.learning.selection import SearchCV

X, y = load_wine(return_X_y=True)


def test_the_best_held_out_score_wins_in_a_pipeline() -> None:
    said = Comparisons.from_labels(y, 60, random_state=0)
    grid = {"sklr__penalty": [1e-3, 10.0], "sklr__kernel": ["linear"]}
    search = SearchCV(make_pipeline(StandardScaler(), SKLR()), grid, random_state=0).fit(X, said)
    results = search.cv_results_
    assert search.best_params_ == results["params"][int(np.argmax(results["mean_test_score"]))]
    assert results["mean_test_score"].shape == (2,)
    splits = np.array([results[f"split{k}_test_score"] for k in range(5)])
    assert splits.mean(axis=0) == pytest.approx(results["mean_test_score"])
    assert sorted(results["rank_test_score"]) == [1, 2]
    assert search.score(X, said) == search.best_estimator_.score(X, said)
    assert len(search.transform(X)) == len(X)
    assert clone(search).get_params()["param_grid"] == grid


def test_only_answers_can_be_put_into_folds() -> None:
    with pytest.raises(TypeError, match="Comparisons"):
        SearchCV(SKLR(), {}).fit(X, y)
    with pytest.raises(ValueError, match="too few"):
        SearchCV(SKLR(), {}).fit(X, Comparisons.odd_one_out([[0, 1, 2]], [1]))


def test_equal_settings_have_equal_ranks() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    said = Comparisons.from_labels((X[:, 0] > 0).astype(int), 60, random_state=0)
    grid = {"penalty": [10.0], "tol": [1e-6, 1e-6], "ratio": [4.0, 1.0]}
    results = SearchCV(SKLR("linear"), grid, random_state=0).fit(X, said).cv_results_
    for one, other in ((0, 1), (2, 3)):
        assert results["params"][one] == results["params"][other]
        assert results["rank_test_score"][one] == results["rank_test_score"][other]
    assert results["rank_test_score"].min() == 1


@pytest.mark.parametrize("n", [100, len(X), 300])
def test_scikit_learns_own_search_points_to_ours(n: int) -> None:
    said = Comparisons.from_labels(y, n, random_state=0)
    model = make_pipeline(StandardScaler(), SKLR("linear", penalty=1.0))
    with pytest.raises(TypeError, match=r"oddkernel\.SearchCV"):
        GridSearchCV(model, {"sklr__penalty": [1.0, 10.0]}).fit(X, said)
    with pytest.raises(TypeError, match=r"oddkernel\.SearchCV"):
        cross_val_score(SKLR(penalty=1.0), X, said)
    with pytest.raises(TypeError, match=r"oddkernel\.SearchCV"):
        train_test_split(X, said)
