"""Likelihood, Brier score and calibration of predicted answers."""

from __future__ import annotations

import numpy as np
import pytest

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
