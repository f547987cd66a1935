"""What a learned metric can do: all its methods tell the same story."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from oddkernel import SKLR, Comparisons
from oddkernel.baselines import ITML, LSML, SKMS
from oddkernel.learning import Fit, LearnedMetric


@pytest.mark.parametrize("model", [ITML(), SKMS(), LSML(), SKLR(penalty=1.0)], ids=lambda model: type(model).__name__)
def test_an_estimator_holds_one_record_of_its_fit(model: LearnedMetric, items) -> None:
    model.fit(items[0])
    held = {name for name in vars(model) if name not in model.get_params()}
    assert held - {"bounds_"} == {"fit_", "n_features_in_"}
    assert isinstance(model.fit_, Fit)
    assert hasattr(model, "distance_std") == hasattr(model, "odd_one_std") == isinstance(model, SKLR)


def test_score_counts_weights_ties_and_closer():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [1.0]])
    model = SKLR("linear").fit(X)
    right, wrong = Comparisons.odd_one_out([[0, 1, 2]], [2]), Comparisons.odd_one_out([[0, 1, 2]], [0], weight=3.0)
    assert model.score(X, right + wrong) == 0.25
    assert model.score(X, Comparisons.closer([0, 0], [1, 2], [2, 1])) == 0.5
    # Items 1 and 4 are copies, as far from 0 as one another.
    assert model.score(X, Comparisons.closer([0], [1], [4])) == 0.5
    unheard = Comparisons.odd_one_out([[0, 1, 2]], [-1]) + Comparisons.must_link([[0, 3]])
    assert model.score(X, right + unheard) == 1.0
    with pytest.raises(ValueError, match="nothing to score"):
        model.score(X, unheard)
    with pytest.raises(ValueError, match="nothing to evaluate"):
        model.evaluate(X, Comparisons.most_central([0], [[1, 2]]))
    with pytest.raises(ValueError, match=r"Comparisons\.odd_one_out"):  # as fit does
        model.score(X, [[0, 1, 2]])


def test_odd_one_of_no_questions():
    X = np.eye(4)
    assert SKLR("linear").fit(X).odd_one(X, []).shape == (0,)


def test_residual_is_what_truncation_leaves_out(items, said):
    X, new = items
    model = SKLR(rank=0.5).fit(X, said)
    phi = model.features_.transform
    difference = model.kernel_matrix(new, X, residual=True) - model.kernel_matrix(new, X)
    np.testing.assert_allclose(difference, model.kernel_(new, X) - phi(new) @ phi(X).T, atol=1e-12)


def test_warns_of_items_out_of_reach(items, said):
    X, new = items
    far = np.where(np.arange(len(new))[:, None] == [3], 1e3, new)
    model = SKLR().fit(X, said)
    with pytest.warns(UserWarning, match="row 3: so far from everything seen in fit"):
        model.transform(far)
    with pytest.warns(UserWarning, match="row 3: so far from everything seen in fit"):
        model.score(far, Comparisons.odd_one_out([[3, 4, 5]], [0]))


def test_one_item():
    model = SKLR().fit([[1.0, 2.0]])
    assert model.kernel_matrix([[1.0, 2.0]]) == pytest.approx(1.0)
    assert model.distance([[1.0, 2.0]]) == 0


def test_methods_agree_on_items_known_and_new(fitted):
    model, X, new = fitted
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "rows .* so far from everything", UserWarning)  # new items without features
        for A, B in ((X, X), (new, X), (new, new)):
            z, w = model.transform(A), model.transform(B)
            np.testing.assert_allclose(model.kernel_matrix(A, B), z @ w.T, rtol=1e-9, atol=1e-12)
            if A is X:  # coordinates can't hold what new items lack
                np.testing.assert_allclose(model.distance(A, B), cdist(z, w), rtol=1e-7, atol=1e-12)
            else:
                assert (model.distance(A, B) >= cdist(z, w) - 1e-7).all()
            initial, other = model.features_.transform(A), model.features_.transform(B)
            np.testing.assert_allclose(model.kernel_matrix(A, B), initial @ model.metric_ @ other.T, atol=1e-9)
        for A in (X, new):
            np.testing.assert_allclose(model.kernel_matrix(A), model.kernel_matrix(A, A), rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(model.distance(A), model.distance(A, A), rtol=1e-9, atol=1e-12)
            shown = np.array([np.random.default_rng(seed).permutation(len(A))[:3] for seed in range(50)])
            delta = model.distance(A)
            sides = np.stack([delta[tuple(shown[:, pair].T)] for pair in ([1, 2], [2, 0], [0, 1])], axis=1)
            tied = np.isclose(np.sort(sides)[:, 0], np.sort(sides)[:, 1], rtol=1e-9)
            odd = model.odd_one(A, shown)
            np.testing.assert_array_equal(odd[~tied], sides.argmin(axis=1)[~tied])
            if (~tied).any():
                assert model.score(A, Comparisons.odd_one_out(shown, odd)[~tied]) == 1.0
                assert model.score(A, Comparisons.odd_one_out(shown, (odd + 1) % 3)[~tied]) == 0.0


def test_embedding_needs_held_out_answers_or_a_number(wine) -> None:
    X, y = wine
    model = SKLR("linear", penalty=1.0).fit(X, Comparisons.from_labels(y, 20, random_state=0))
    with pytest.raises(ValueError, match="n_components"):
        model.embed(X)
    with pytest.raises(ValueError, match="n_components"):
        model.embed(X, 0)
    apart = np.square(np.diff(model.embed(X, X.shape[1])[:2], axis=0)).sum() ** 0.5
    assert apart == pytest.approx(model.distance(X[:1], X[1:2])[0, 0])
