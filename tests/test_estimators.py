"""The learner is a scikit-learn citizen, and so are the manners that all estimators share."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import oddkernel
from oddkernel import SKLR, Comparisons
from oddkernel.kernels import Gaussian, Identity

pytestmark = pytest.mark.slow  # tunes in every check

EXPECTED_FAILURES = {
    "check_transformer_n_iter": "its blobs lie so far apart that the initial kernel is the optimum: no step is taken",
}
EXPECTED_FAILURES_PRECOMPUTED = EXPECTED_FAILURES | {
    "check_positive_only_tag_during_fit": "gives features, not a kernel matrix, also where the tags ask for one",
    "check_estimators_dtypes": "cuts the kernel matrix to whole numbers, which is no longer positive semidefinite",
    "check_estimators_nan_inf": "gives transform features, not rows of a kernel matrix: their number is wrong first",
}


# Some checks give random labels, which no kernel can learn from: it says so.
@pytest.mark.filterwarnings("ignore:Nothing was learned")
@parametrize_with_checks(
    [SKLR(), SKLR(kernel="precomputed", penalty=10.0)],  # the first chooses its penalty in every check
    expected_failed_checks=lambda model: (
        EXPECTED_FAILURES_PRECOMPUTED if model.kernel == "precomputed" else EXPECTED_FAILURES
    ),
)
def test_is_a_scikit_learn_estimator(estimator, check):
    check(estimator)


NAMED = [getattr(oddkernel, name) for name in oddkernel.__all__]
PUBLIC = [value for value in NAMED if inspect.isclass(value) and issubclass(value, BaseEstimator)]
ESTIMATORS = [
    *PUBLIC,
    *oddkernel.kernels.KERNELS.values(),
    oddkernel.kernels.KernelSum,
    oddkernel.kernels.Columns,
    oddkernel.kernels.Standardised,
]


def test_every_estimator_is_looked_at():
    assert {"SKLR", "KernelKMeans", "KernelMeanShift"} <= {estimator.__name__ for estimator in PUBLIC}


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_no_parameter_shares_a_name_with_a_method(estimator):
    parameters = set(inspect.signature(estimator).parameters)
    assert not {name for name in parameters if hasattr(estimator, name)}


# A search takes the estimator and the grid by position, as those of scikit-learn do.
POSITIONAL = {"SearchCV": ["estimator", "param_grid"]}


@pytest.mark.parametrize("estimator", PUBLIC)
def test_all_but_the_first_parameter_are_keywords(estimator):
    parameters = inspect.signature(estimator).parameters
    named = [name for name, each in parameters.items() if each.kind is inspect.Parameter.KEYWORD_ONLY]
    assert [*POSITIONAL.get(estimator.__name__, list(parameters)[:1]), *named] == list(parameters)


@pytest.fixture(scope="module")
def X():
    return load_iris().data


@pytest.fixture(scope="module")
def said():
    return Comparisons.from_labels(load_iris().target, 40, random_state=0)


def test_in_a_pipeline(X, said):
    pipeline = make_pipeline(StandardScaler(), SKLR()).fit(X, said)
    alone = SKLR().fit(StandardScaler().fit_transform(X), said)
    np.testing.assert_allclose(pipeline.transform(X), alone.transform(StandardScaler().fit_transform(X)))
    assert pipeline.score(X, said) == alone.score(StandardScaler().fit_transform(X), said)


@pytest.mark.parametrize("kernel", ["adaptive", Gaussian(1.5) + 0.1 * Identity()])
def test_clones_and_copies_fit_alike(X, said, kernel):
    model = SKLR(kernel, rank=None, penalty=5.0).fit(X, said)
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied.transform(X[:10]), model.transform(X[:10]))
    assert copied.comparisons_ == said

    fresh = clone(model)
    assert not hasattr(fresh, "solution_")
    np.testing.assert_allclose(fresh.fit(X, said).metric_, model.metric_)


def test_fitting_changes_no_parameter(X, said):
    kernel = Gaussian()
    model = SKLR(kernel)
    before = dict(model.get_params())
    model.fit(X, said)
    assert model.get_params() == before
    assert not hasattr(kernel, "bandwidth_")
    assert model.kernel_ is not kernel


def test_set_output_and_feature_names(X, said):
    frame = load_iris(as_frame=True).data
    plain = SKLR().fit(X, said)
    model = SKLR().set_output(transform="pandas").fit(frame, said)
    assert model.feature_names_in_.tolist() == frame.columns.tolist()
    out = model.transform(frame)
    assert isinstance(out, pd.DataFrame)
    assert out.columns.tolist() == model.get_feature_names_out().tolist()
    assert out.columns[0] == "sklr0"
    np.testing.assert_allclose(out.to_numpy(), plain.transform(X))
    # What isn't called transform stays an array.
    for method in (model.kernel_matrix, model.distance):
        assert type(method(frame)) is np.ndarray
    assert model.score(frame, said) == plain.score(X, said)
    with pytest.raises(ValueError, match="feature names"):
        model.transform(frame[frame.columns[::-1]])


def test_fit_transform_is_both(X, said):
    np.testing.assert_allclose(SKLR().fit_transform(X, said), SKLR().fit(X, said).transform(X))


def test_same_seed_same_model():
    X, y = load_iris(return_X_y=True)
    one, two = (SKLR(random_state=3, n_comparisons=300).fit(X, y) for _ in range(2))
    assert one.penalty_ > 0
    assert one.comparisons_ == two.comparisons_
    np.testing.assert_array_equal(one.metric_, two.metric_)
