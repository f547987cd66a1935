"""Pipelines of preprocessing steps and SKLR survive in a file, and no file makes anything else of them."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from oddkernel import SKLR, Comparisons, models
from oddkernel.support.archive import pack, unpack

N = 24
Y = np.arange(N) % 3
X = np.random.default_rng(0).normal(size=(N, 4)) * [1, 10, 100, 1000] + 2.0 * np.eye(3, 4)[Y]
NAMES = [f"item {i}" for i in range(N)]
FRAME = pd.DataFrame(X, columns=list("wxyz"), index=NAMES).assign(
    kind=np.array(["cat", "dog", "elk"])[Y], size=np.array(["S", "M"])[Y % 2]
)
FRAME.iloc[3, 1] = np.nan
SAID = Comparisons.from_labels(Y, 40, random_state=0)
NAMED = SAID.with_names(NAMES)

NUMBERS = [
    StandardScaler(),
    MinMaxScaler(feature_range=(-1, 2)),
    MaxAbsScaler(),
    RobustScaler(quantile_range=(10.0, 90.0)),
    Normalizer("l1"),
    Binarizer(threshold=0.5),
    QuantileTransformer(n_quantiles=7, output_distribution="normal"),
    # Its search of scikit-learn 1.6 overflows in single precision, and goes on.
    pytest.param(PowerTransformer(), marks=pytest.mark.filterwarnings("ignore:overflow encountered")),
    SimpleImputer(strategy="median"),
    PCA(2, whiten=True),
    PCA(0.9, random_state=3),
    TruncatedSVD(2, random_state=0),
    VarianceThreshold(1.0),
]
NUMBER_COLUMNS = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
MIXED = [
    ColumnTransformer(
        [("numbers", NUMBER_COLUMNS, ["w", "x", "y"]), ("kinds", OneHotEncoder(sparse_output=False), ["kind"])]
    ),
    ColumnTransformer(
        [
            ("numbers", SimpleImputer(), make_column_selector(dtype_include="number")),
            ("kinds", OneHotEncoder(sparse_output=False, min_frequency=10, handle_unknown="ignore"), ["kind", "size"]),
        ],
        n_jobs=2,
    ),
    ColumnTransformer(
        [
            ("sizes", OrdinalEncoder(categories=[["S", "M"]], dtype=np.float32), ["size"]),
            ("kinds", OneHotEncoder(sparse_output=False, drop="first", dtype=np.int32), ["kind"]),
            ("left_out", "drop", ["x"]),
        ],
        remainder="passthrough",
        verbose_feature_names_out=False,
    ),
    ColumnTransformer([("first", make_pipeline(SimpleImputer(strategy="most_frequent"), RobustScaler()), slice(0, 3))]),
]


def round_trip(pipeline: Pipeline, folder: Path) -> Pipeline:
    models.save(pipeline, folder / "model.oddkernel")
    return models.load_pipeline(folder / "model.oddkernel")


def assert_same(one: Pipeline, other: Pipeline, items: Any, said: Comparisons) -> None:
    moved, again = one.transform(items), other.transform(items)
    assert type(moved) is type(again)
    np.testing.assert_array_equal(np.asarray(moved), np.asarray(again))
    assert one.score(items, said) == other.score(items, said)
    assert [name for name, _ in one.steps] == [name for name, _ in other.steps]


@pytest.mark.parametrize("step", NUMBERS, ids=str)
@pytest.mark.parametrize("items", [X, X.astype(np.float32), FRAME[["w", "y", "z"]]], ids=["array", "float32", "frame"])
@pytest.mark.filterwarnings("ignore:row.* a copy of")  # the binariser makes copies
def test_steps_on_numbers_come_back_bit_for_bit(step: Any, items: Any, tmp_path: Path) -> None:
    pipeline = make_pipeline(step, SKLR("linear", penalty=1.0)).fit(items, SAID)
    assert_same(pipeline, round_trip(pipeline, tmp_path), items, SAID)


@pytest.fixture(autouse=True)
def in_threads() -> Iterator[None]:
    """Steps with ``n_jobs`` work in threads: what is saved is the same, and no processes are started."""
    with joblib.parallel_config("threading"):
        yield


@pytest.mark.parametrize("step", MIXED, ids=range(len(MIXED)))
@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_steps_on_columns_come_back_bit_for_bit(step: Any, output: str, tmp_path: Path) -> None:
    items = FRAME.reset_index(drop=True) if output == "polars" else FRAME
    pipeline = Pipeline([("columns", step), ("none", None), ("metric", SKLR(penalty=1.0))])
    pipeline.set_output(transform=output)
    pipeline.fit(items, NAMED)
    loaded = round_trip(pipeline, tmp_path)
    assert_same(pipeline, loaded, items.iloc[::-1] if output == "pandas" else items, NAMED)
    if output == "pandas":
        assert loaded[-1].items_ == tuple(NAMES)
        assert loaded.score(FRAME.iloc[::-1], NAMED) == pipeline.score(FRAME, NAMED)


def test_a_loaded_pipeline_can_learn_again(tmp_path: Path) -> None:
    pipeline = make_pipeline(MIXED[1], SKLR("linear", penalty=1.0)).fit(FRAME, SAID)
    loaded = round_trip(pipeline, tmp_path).fit(FRAME, SAID)
    np.testing.assert_array_equal(loaded.transform(FRAME), pipeline.transform(FRAME))


def test_a_model_alone_is_a_pipeline_of_one_step(tmp_path: Path) -> None:
    model = SKLR("linear", penalty=1.0).fit(X, SAID)
    models.save(model, tmp_path / "model.oddkernel")
    np.testing.assert_array_equal(models.load_pipeline(tmp_path / "model.oddkernel").transform(X), model.transform(X))


def test_load_points_to_load_pipeline(tmp_path: Path) -> None:
    pipeline = make_pipeline(StandardScaler(), SKLR("linear", penalty=1.0)).fit(X, SAID)
    models.save(pipeline, tmp_path / "model.oddkernel")
    with pytest.raises(ValueError, match=r"model.oddkernel: holds a pipeline; open it with models.load_pipeline"):
        models.load(tmp_path / "model.oddkernel")


class OwnStep(TransformerMixin, BaseEstimator):
    """A step of somebody's own."""

    def fit(self, X: Any, y: Any = None) -> OwnStep:
        return self

    def transform(self, X: Any) -> Any:
        return X

    def get_feature_names_out(self, names: Any = None) -> list[str]:
        return list("wxyz")


class OwnScaler(StandardScaler):
    """A class that inherits from one that can be kept."""


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (OwnStep(), "pipeline.ownstep: a OwnStep can't be saved; expected one of Binarizer"),
        (OwnScaler(), "a OwnScaler can't be saved"),
        (type("StandardScaler", (StandardScaler,), {})(), "a StandardScaler can't be saved"),
        (RBFSampler(n_components=4), "a RBFSampler can't be saved"),
        (
            FunctionTransformer(np.abs, feature_names_out="one-to-one"),
            "func is <ufunc 'absolute'>, which can't be saved",
        ),
        (PCA(2, random_state=np.random.RandomState(0)), "random_state is .* which can't be saved"),
        (
            ColumnTransformer([("own", StandardScaler(), [0])], transformer_weights={"own": 2.0}),
            "transformer_weights can't be saved",
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_other_steps_are_refused_by_name(step: Any, message: str, tmp_path: Path) -> None:
    pipeline = make_pipeline(step, SKLR("linear", penalty=1.0)).fit(X, SAID)
    with pytest.raises(ValueError, match=message):
        models.save(pipeline, tmp_path / "model.oddkernel")
    assert not list(tmp_path.iterdir())


def test_a_pipeline_that_ends_with_something_else_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="a StandardScaler can't be saved; expected a fitted SKLR"):
        models.save(make_pipeline(StandardScaler()).fit(X), tmp_path / "model.oddkernel")


def scaler(description: Any) -> Any:
    return description["pipeline"]["steps"][0]["step"]


def columns(description: Any) -> Any:
    return description["pipeline"]["steps"][1]["step"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: scaler(d).update(step="FunctionTransformerr"), "'FunctionTransformerr' is unknown"),
        (lambda d: scaler(d).update(step="os.system"), "'os.system' is unknown"),
        (lambda d: scaler(d).update(step="GridSearchCV"), "'GridSearchCV' is unknown"),
        (lambda d: scaler(d)["parameters"].update(unknown=1), "unexpected keyword"),
        (lambda d: scaler(d)["parameters"].update(with_mean="eval"), "with_mean"),
        (lambda d: scaler(d)["fitted"].update(transform="x"), "'transform' is nothing that a StandardScaler learns"),
        (lambda d: scaler(d)["fitted"].update(__class__="x"), "'__class__' is nothing"),
        (lambda d: scaler(d)["fitted"].update(__reduce__="x"), "'__reduce__' is nothing"),
        (lambda d: scaler(d)["fitted"].update(_private_="x"), "'_private_' is nothing"),
        (lambda d: scaler(d)["fitted"].update(mean_={"array": "arrays/none.npy"}), "is missing"),
        (lambda d: scaler(d)["fitted"].update(mean_={"pickle": "x"}), "describes nothing known"),
        (lambda d: scaler(d).update(output="os"), "output 'os'; expected"),
        (lambda d: scaler(d).update(output={"transform": "pandas"}), "output"),
        (lambda d: d["pipeline"].update(output="evil"), "output 'evil'"),
        (lambda d: columns(d)["parameters"].update(n_jobs=99), "parameters that can't be kept"),
        (lambda d: columns(d)["parameters"].update(verbose_feature_names_out="{a}"), "parameters that can't be kept"),
        (lambda d: d["pipeline"]["steps"].append({"name": "x", "step": "drop"}), "expected one that transforms"),
        (lambda d: d["pipeline"]["steps"].pop(1), "the steps make 4 features, and the model takes 2"),
        (lambda d: d["pipeline"].pop("steps"), "'steps' is missing"),
        (lambda d: d["pipeline"].update(steps=[1]), "not a usable model"),
        (lambda d: d.pop("pipeline"), "version 2 of the format; this oddkernel reads 1"),
        (lambda d: d.update(version=1), "version 1 of the format; this oddkernel reads 2"),
        (lambda d: scaler(d)["fitted"].update(n_features_in_={"type": "os"}), "describes nothing known"),
        (lambda d: scaler(d)["fitted"].update(n_features_in_={"slice": ["a", 1, 1]}), "slice to 'a'"),
        (lambda d: scaler(d)["fitted"].update(n_features_in_={"entries": [[1]]}), "expected text and numbers"),
        (lambda d: scaler(d)["fitted"].update(n_features_in_={"mapping": [[None, 1]]}), "key None; expected"),
    ],
)
def test_crafted_files_are_refused(change: Callable[[Any], Any], message: str, tmp_path: Path) -> None:
    keep = ColumnTransformer([("kept", "passthrough", [0, 2])])
    pipeline = make_pipeline(StandardScaler(), keep, SKLR("linear", penalty=1.0)).fit(X, SAID)
    path = tmp_path / "model.oddkernel"
    models.save(pipeline, path)
    parts = unpack(path.read_bytes())
    description = json.loads(parts["model.json"])
    change(description)
    path.write_bytes(pack(parts | {"model.json": json.dumps(description).encode()}))
    with pytest.raises(ValueError, match=f"model.oddkernel: .*{message}"):
        models.load_pipeline(path)


def test_a_pickled_array_is_refused(tmp_path: Path) -> None:
    pipeline = make_pipeline(StandardScaler(), SKLR("linear", penalty=1.0)).fit(X, SAID)
    path = tmp_path / "model.oddkernel"
    models.save(pipeline, path)
    parts = unpack(path.read_bytes())
    name = next(name for name in parts if "mean_" in name)
    path.write_bytes(pack(parts | {name: pickle.dumps(X)}))
    with pytest.raises(ValueError, match="not a usable model"):
        models.load_pipeline(path)
