"""The estimator: loadings of known and new items, names, explanations, what it refuses."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from oddkernel import SKLR, Comparisons
from oddkernel.dimensions import Dimensions
from oddkernel.dimensions.loadings import correlations, match

from .planted import planted, planted_model


@pytest.fixture(scope="module")
def fitted() -> tuple[np.ndarray, np.ndarray, Dimensions]:
    loadings, X, model = planted_model()
    return loadings, X, Dimensions(3, shrinkage=30.0, sparsity=1.0, random_state=0, verbose=0).fit(X, model=model)


def test_planted_loadings_are_found(fitted: tuple[np.ndarray, np.ndarray, Dimensions]) -> None:
    loadings, X, found = fitted
    assert found.loadings_.shape == (45, 3)
    assert (found.loadings_ >= 0).all()
    place = match(loadings, found.loadings_)
    assert np.diagonal(correlations(loadings, found.loadings_[:, place])).min() > 0.95
    assert (np.diff(found.weight_) <= 0).all()
    assert found.reproducible_.all()
    assert found.score(X, found.model_.comparisons_) > 0.8
    weight, error = found.weigh(X, found.model_.comparisons_)
    assert (weight > error).all()


def test_known_items_keep_their_loadings_and_new_ones_get_some(
    fitted: tuple[np.ndarray, np.ndarray, Dimensions],
) -> None:
    _, X, found = fitted
    np.testing.assert_array_equal(found.transform(X), found.loadings_)
    new = found.transform(X + 1e-6)
    assert (new >= 0).all()
    assert not np.array_equal(new, found.loadings_)
    assert np.diagonal(correlations(found.loadings_, new)).min() > 0.95


def test_one_two_and_three_items_are_explained(fitted: tuple[np.ndarray, np.ndarray, Dimensions]) -> None:
    found = fitted[2]
    alike = found.explain(0, 3)
    assert alike.share[0] > 0.9
    assert alike.share.sum() == pytest.approx(1.0)
    assert alike.contribution.sum() == pytest.approx(found.loadings_[0] @ found.loadings_[3])
    three = found.explain(1, 0, 3)
    assert three.odd == 1
    assert three.names[0] == alike.names[0]
    assert str(found.explain(0)).startswith(alike.names[0])
    with pytest.raises(ValueError, match="row from 0 to 44"):
        found.explain(45)
    with pytest.raises(ValueError, match="one, two or three"):
        found.explain()


def test_names_can_be_given(fitted: tuple[np.ndarray, np.ndarray, Dimensions]) -> None:
    found = fitted[2]
    assert found.names_ == ("dimension 1", "dimension 2", "dimension 3")
    assert found.rename({2: "round"}).rename({"round": "food"}).get_feature_names_out()[1] == "food"
    for names in (["a", "b"], ["a", "b", "b"], ["a", "", "c"], "abc"):
        with pytest.raises(ValueError, match="expected"):
            found.names_ = names
    with pytest.raises(ValueError, match="no dimension 7"):
        found.rename({7: "seven"})
    found.rename({2: "dimension 2"})


def test_names_go_to_the_dimensions_that_are_like_those_named() -> None:
    _, X, model = planted_model()
    settings = {"shrinkage": 30.0, "sparsity": 1.0, "verbose": 0}
    first = Dimensions(3, random_state=0, **settings).fit(X, model=model).rename(["food", "round", "dimension 3"])
    again = Dimensions(3, random_state=5, **settings).fit(X, model=model)
    assert again.inherit(first) == []
    for name in ("food", "round"):
        k, j = first.names_.index(name), again.names_.index(name)
        assert np.corrcoef(first.loadings_[:, k], again.loadings_[:, j])[0, 1] > 0.9
    fewer = Dimensions(1, random_state=0, **settings).fit(X, model=model)
    assert set(fewer.inherit(first)) | set(fewer.names_) >= {"food", "round"}


def test_a_frame_is_joined_by_name() -> None:
    loadings, said = planted()
    names = [f"item {row}" for row in range(len(loadings))]
    frame = pd.DataFrame(loadings, index=names).iloc[::-1]
    frame.columns = [f"x{column}" for column in frame.columns]
    answers = Comparisons.odd_one_out(said.shown, said.odd, items=names)
    model = SKLR("linear", loss="softmax", penalty=0.1, random_state=0, verbose=0).fit(frame, answers)
    found = Dimensions(3, shrinkage=100.0, sparsity=1.0, random_state=0, verbose=0).fit(frame, model=model)
    np.testing.assert_array_equal(found.transform(frame), found.loadings_)
    assert found.item_names_ == tuple(frame.index)
    assert found.explain("item 0", "item 1", "item 3").odd == list(frame.index).index("item 1")


def test_what_it_refuses() -> None:
    loadings, said = planted(n_answers=100)
    with pytest.raises(ValueError, match="n_dimensions=0"):
        Dimensions(0).fit(loadings, said)
    with pytest.raises(ValueError, match="shrinkage=-1"):
        Dimensions(shrinkage=-1).fit(loadings, said)
    with pytest.raises(ValueError, match="both"):
        Dimensions().fit(loadings)
    model = SKLR("linear", penalty=1.0, verbose=0).fit(loadings, said[:20])
    with pytest.raises(ValueError, match="20 answers name one of three items; dimensions need at least 50"):
        Dimensions().fit(loadings, model=model)
    model.fit(loadings, said)
    with pytest.raises(ValueError, match="not the items"):
        Dimensions(verbose=0).fit(loadings[::-1], model=model)
    with pytest.raises(ValueError, match="n_dimensions=46"):
        Dimensions(46, verbose=0).fit(loadings, model=model)
    assert clone(Dimensions(5, sparsity=2.0)).get_params()["sparsity"] == 2.0
