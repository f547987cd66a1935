"""Two halves of the answers: what they share, what they choose, how sure they are."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from oddkernel.dimensions import halves
from oddkernel.dimensions.halves import Halves, Settings, weighted_mean
from oddkernel.dimensions.loadings import correlations, match

from .planted import planted_model


def test_planted_dimensions_are_sure_and_one_of_noise_is_not() -> None:
    loadings, _, model = planted_model()
    both = Halves(model.fit_, np.random.RandomState(0), lambda sentence: None)
    assert len(both.unseen) == len(model.comparisons_)
    trial = both.trial(Settings(3))
    asked = loadings[model.fit_.comparisons.constrained]
    for half in trial.loadings:
        assert np.diagonal(correlations(asked, half[:, match(asked, half)])).min() > 0.9
    strength = both.strength(trial, asked)
    assert strength.sure.all()
    noise = np.random.default_rng(0).random((len(asked), 1))
    unsure = [
        np.hstack([half, 0.1 * np.random.default_rng(n).random(noise.shape)]) for n, half in enumerate(trial.loadings)
    ]
    trial = type(trial)(Settings(4), 1.0, 1.0, unsure, trial.likelihood)
    assert both.strength(trial, np.hstack([asked, noise])).sure.tolist() == [True, True, True, False]
    shared = [half[:, match(asked, half)] for half in trial.loadings]  # both halves have what the loadings lack
    trial = type(trial)(Settings(3), 1.0, 1.0, shared, trial.likelihood)
    assert both.strength(trial, np.hstack([asked[:, :2], noise])).sure.tolist() == [True, True, False]


def test_held_out_answers_choose_enough_dimensions() -> None:
    _, _, model = planted_model()
    trial = Halves(model.fit_, np.random.RandomState(0), lambda sentence: None).choose(None, 100.0, 1.0)
    assert trial.settings.n_dimensions >= 4  # 2 can't hold the three groups
    assert trial.settings[1:] == (100.0, 1.0)


def test_halves_keep_as_many_coordinates_as_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    _, _, model = planted_model()
    seen = []
    monkeypatch.setattr(halves, "gaussian", lambda coordinates: seen.append(coordinates.shape[1]))
    for rank in (model.rank_, 2):
        fit = dataclasses.replace(model.fit_, root=model.fit_.root[:, :rank])
        Halves(fit, np.random.RandomState(0), lambda sentence: None)
    assert seen == [model.rank_, model.rank_, 2, 2]


def test_a_mean_has_the_usual_error() -> None:
    values = np.random.default_rng(0).normal(size=(400, 1))
    mean, error = weighted_mean(values, np.ones(400))
    np.testing.assert_allclose([mean[0], error[0]], [values.mean(), values.std() / 20])
