"""Likelihood, Brier score and calibration of predicted answers."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from oddkernel import SKLR, Comparisons
from oddkernel.learning.scores import Scores, calibration_error


def test_guessing_scores_as_guessing() -> None:
    p = np.tile([1 / 3, 1 / 3, 1 / 3, 0.0], (6, 1))
    scores = Scores.of(1 / 3, p, np.array([0, 1, 2, 0, 1, 2]), np.ones(6))
    assert scores.log_likelihood == pytest.approx(np.log(1 / 3))
    assert scores.brier == pytest.approx(2 / 3)
    assert scores.calibration_error == pytest.approx(0.0)
    assert "6 answers" in str(scores)


def test_overconfidence_shows() -> None:
    p = np.tile([0.9, 0.05, 0.05, 0.0], (10, 1))
    assert calibration_error(p, np.array([0] * 5 + [1] * 5), np.ones(10)) == pytest.approx(0.4)


def test_evaluate_counts_undecided_answers_and_weights() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(15, 2))
    shown = np.array([rng.permutation(15)[:3] for _ in range(80)])
    said = Comparisons.odd_one_out(shown, rng.integers(-1, 3, 80))
    model = SKLR("linear", loss="softmax", penalty=0.1).fit(X, said)
    scores = model.evaluate(X, said)
    assert scores.n_answers == 80
    assert scores.agreement == model.score(X, said)
    p = model.odd_one_proba(X, shown)
    assert scores.log_likelihood == pytest.approx(np.log(p[np.arange(80), said.odd]).mean())
    heavy = Comparisons.odd_one_out(shown, said.odd, weight=np.r_[np.full(40, 2.0), np.ones(40)])
    doubled = said[np.r_[:40, :40, 40:80]]
    assert model.evaluate(X, heavy).brier == pytest.approx(model.evaluate(X, doubled).brier)
    with pytest.raises(TypeError, match="evaluate needs Comparisons"):
        model.evaluate(X, said.odd)


def test_class_labels_are_scored_as_answers_drawn_from_them() -> None:
    X, y = load_iris(return_X_y=True)
    model = SKLR("linear", penalty=1.0, random_state=0).fit(X, y)
    assert model.score(X, y) == model.score(X, y) > 0.85
    drawn = Comparisons.from_labels(y, 5000, random_state=1)
    assert model.score(X, y) == pytest.approx(model.score(X, drawn), abs=0.04)
    with pytest.raises(TypeError, match="y is None; expected Comparisons"):
        model.score(X, None)
    with pytest.raises(ValueError, match="y holds 149 class labels for 150 items"):
        model.score(X, y[1:])


@pytest.mark.filterwarnings("ignore:row.* so far from everything seen in fit")
def test_scikit_learns_search_finds_the_better_setting_for_class_labels() -> None:
    X, y = load_iris(return_X_y=True)
    X = np.c_[X, 5 * np.random.default_rng(0).normal(size=len(X))]  # says nothing about the classes
    folds = StratifiedKFold(3)
    search = GridSearchCV(SKLR("linear", random_state=0), {"penalty": [1e-6, 1.0]}, cv=folds, error_score="raise")
    assert search.fit(X, y).best_params_ == {"penalty": 1.0}
    assert search.best_score_ > 0.85
