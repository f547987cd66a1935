"""Columns of unlike units."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

from oddkernel import SKLR, Comparisons, models
from oddkernel.kernels import Gaussian, Linear, Standardised
from oddkernel.learning.scaling import UNLIKE, VERY_UNLIKE, unlikeness

WINE, KINDS = datasets.load_wine(return_X_y=True)
BY_HAND = StandardScaler().fit_transform(WINE)
FEW = Comparisons.from_labels(KINDS, 30, random_state=0)
MANY = Comparisons.from_labels(KINDS, 150, random_state=0)
UNSEEN = Comparisons.from_labels(KINDS, 500, random_state=1)


@pytest.mark.parametrize("name", ["digits", "iris", "diabetes"])
@pytest.mark.parametrize("n", [30, 100, 1000])
def test_columns_of_one_unit_are_alike(name, n):
    X = getattr(datasets, f"load_{name}")(return_X_y=True)[0]
    assert unlikeness(X[np.random.default_rng(0).permutation(len(X))[:n]]) < UNLIKE


@pytest.mark.parametrize(
    "X",
    [
        WINE,
        datasets.load_breast_cancer(return_X_y=True)[0],
        datasets.load_diabetes(return_X_y=True, scaled=False)[0],
        np.column_stack([np.eye(40, 8), 1000.0 * np.arange(40)]),
        np.column_stack([np.random.default_rng(0).normal(size=(50, 99)), 100.0 * np.arange(50)]),
    ],
    ids=["wine", "cancer", "diabetes", "categories and one number", "one among many"],
)
def test_columns_of_unlike_units_are_not(X):
    assert unlikeness(X) > UNLIKE


def test_constant_columns_play_no_part():
    assert unlikeness(np.column_stack([np.arange(5.0), np.full(5, 1e9)])) == 1.0
    assert unlikeness(np.ones((5, 2))) == 1.0


def test_the_default_on_columns_of_one_unit_is_as_without_scaling():
    X, y = datasets.load_digits(return_X_y=True)
    X, said = X[:200], Comparisons.from_labels(y[:200], 60, random_state=0)
    one, other = (SKLR(penalty=10.0, scaling=scaling).fit(X, said) for scaling in ("auto", None))
    np.testing.assert_array_equal(one.transform(X), other.transform(X))
    assert one.scaling_ is None


@pytest.mark.parametrize("settings", [{"penalty": 10.0}, {"kernel": "linear"}, {}])
def test_few_answers_and_unlike_units(settings):
    model = SKLR(**settings).fit(WINE, FEW)
    assert model.scaling_ == "standard"
    by_hand = SKLR(**settings).fit(BY_HAND, FEW)
    np.testing.assert_allclose(model.kernel_matrix(WINE), by_hand.kernel_matrix(BY_HAND), atol=1e-6)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_wine_as_it_is(seed):
    said = Comparisons.from_labels(KINDS, 150, random_state=10 + seed)
    model = SKLR(random_state=0).fit(WINE, said)
    by_hand = SKLR(random_state=0).fit(BY_HAND, said).score(BY_HAND, UNSEEN)
    assert model.score(WINE, UNSEEN) >= by_hand - 0.02
    assert model.scaling_ == "standard"
    assert {trial.recipe.kernel for trial in model.tuning_.trials} == {"standardised adaptive", "adaptive"}


def test_held_out_answers_may_prefer_the_columns_as_they_are():
    rng = np.random.default_rng(0)
    X = np.column_stack([100.0 * rng.normal(size=150), rng.normal(size=(150, 12))])  # the wide column is what counts
    said = Comparisons.from_labels((X[:, 0] > 0).astype(int), 200, random_state=0)
    assert SKLR(random_state=0).fit(X, said).scaling_ is None


def test_given_scalings():
    assert SKLR(scaling="standard", penalty=1.0).fit(BY_HAND, FEW).scaling_ == "standard"
    assert SKLR("identity", scaling="standard", penalty=1.0).fit(WINE, FEW).scaling_ is None
    assert SKLR("precomputed", scaling="standard", penalty=1.0).fit(BY_HAND @ BY_HAND.T, FEW).scaling_ is None
    assert SKLR(Gaussian(300.0), penalty=1.0).fit(WINE, FEW).scaling_ is None
    assert SKLR(Linear(), scaling="standard", penalty=1.0).fit(WINE, FEW).scaling_ == "standard"
    with pytest.raises(ValueError, match="scaling='minmax'; expected 'auto', 'standard' or None"):
        SKLR(scaling="minmax").fit(WINE, FEW)


def test_no_scaling_warns_of_very_unlike_units():
    assert unlikeness(WINE) > VERY_UNLIKE
    frame = pd.DataFrame(WINE, columns=datasets.load_wine().feature_names)
    with pytest.warns(UserWarning, match=r"differ 1,336-fold: column 'proline' outweighs") as caught:
        SKLR(scaling=None, penalty=1.0).fit(frame, FEW)
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SKLR("identity", scaling=None, penalty=1.0).fit(WINE, FEW)


def test_a_saved_model_keeps_its_scaling(tmp_path):
    model = SKLR(penalty=10.0).fit(WINE[::2], Comparisons.from_labels(KINDS[::2], 30, random_state=0))
    models.save(model, tmp_path / "wine.oddkernel")
    loaded = models.load(tmp_path / "wine.oddkernel")
    assert isinstance(loaded.kernel_, Standardised)
    np.testing.assert_array_equal(loaded.transform(WINE[1::2]), model.transform(WINE[1::2]))


def test_the_animals_of_the_documentation():
    animals = pd.DataFrame(
        {
            "legs": [6, 6, 6, 0, 0, 0, 4, 4],
            "wings": [0, 4, 2, 0, 0, 0, 0, 0],
            "height": [0.002, 0.01, 0.005, 30, 50, 0.1, 0.25, 1.6],
            "weight": [0.00001, 0.0001, 0.00002, 10000, 6000, 0.01, 4, 500],
        },
        index=["ant", "bee", "fly", "oak", "fir", "daisy", "cat", "horse"],
    )
    shown = [["ant", "bee", "oak"], ["oak", "daisy", "horse"], ["cat", "fly", "horse"], ["fir", "bee", "daisy"]]
    said = Comparisons.odd_one_out([*shown, ["ant", "fir", "cat"]], [2, 2, 1, 1, -1], items=animals.index)
    assert SKLR("linear", rank=None).fit(animals, said).score(animals, said) == 1.0
    assert SKLR("linear", rank=None, scaling=None).fit(animals, said).score(animals, said) == 0.25


def test_new_units_give_the_same():
    units = np.exp(np.random.default_rng(0).normal(scale=3.0, size=WINE.shape[1]))
    model, other = SKLR(penalty=10.0).fit(WINE, MANY), SKLR(penalty=10.0).fit(units * WINE, MANY)
    assert other.score(units * WINE, UNSEEN) == model.score(WINE, UNSEEN)
