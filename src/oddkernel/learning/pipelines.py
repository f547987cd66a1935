"""scikit-learn's preprocessing steps as JSON and .npy files, the form in which `learning.models` keeps a pipeline.

A step is kept as its class, its parameters and what it learned: numbers, text and arrays. Only the classes listed here
are kept and read, so that a file from outside can't run code.
"""

from __future__ import annotations

from collections import UserList
from collections.abc import Mapping
from functools import cache
from reprlib import repr as brief
from typing import Any

import numpy as np

from .encoding import Decoder, Encoder

_SHARED_BY_ENCODERS = (
    "_default_to_infrequent_mappings",
    "_infrequent_enabled",
    "_infrequent_indices",
    "_missing_indices",
)
# The classes, and what else than public attributes they learn; found by fitting each with scikit-learn 1.9.
_LEARNED_IN_PRIVATE: dict[str, tuple[str, ...]] = {
    "Binarizer": (),
    "ColumnTransformer": (
        "_columns",
        "_name_to_fitted_passthrough",
        "_remainder",
        "_transformer_to_input_indices",
        "_transformers_feature_names_out",
    ),
    "FunctionTransformer": (),  # as a column transformer keeps columns that pass through: without a function
    "MaxAbsScaler": (),
    "MinMaxScaler": (),
    "MissingIndicator": ("_n_features", "_precomputed"),
    "Normalizer": (),
    "OneHotEncoder": (*_SHARED_BY_ENCODERS, "_drop_idx_after_grouping", "_n_features_outs"),
    "OrdinalEncoder": _SHARED_BY_ENCODERS,
    "PCA": ("_fit_svd_solver",),
    "Pipeline": (),
    "PowerTransformer": ("_scaler",),
    "QuantileTransformer": (),
    "RobustScaler": (),
    "SimpleImputer": ("_fill_dtype", "_fit_dtype"),
    "StandardScaler": (),
    "TruncatedSVD": (),
    "VarianceThreshold": (),
}
# Parameters that say how to compute, not what; a cache on the disk would be read with pickle.
_NOT_KEPT = ("memory", "n_jobs", "transform_input", "transformer_weights", "verbose")
_OUTPUTS = (None, "default", "pandas", "polars")
_OUTPUT = "_sklearn_output_config"  # where scikit-learn keeps what ``set_output`` chose
_DTYPES = ("bool", "float32", "float64", "int32", "int64", "object")


@cache
def _classes() -> dict[str, Any]:
    from sklearn import compose, decomposition, feature_selection, impute, pipeline, preprocessing

    places = (compose, decomposition, feature_selection, impute, pipeline, preprocessing)
    return {name: next(getattr(place, name) for place in places if hasattr(place, name)) for name in savable_steps()}


def savable_steps() -> tuple[str, ...]:
    """The names of the classes that can be kept."""
    return tuple(_LEARNED_IN_PRIVATE)


def describe_steps(pipeline: Any, parts: dict[str, bytes]) -> dict[str, Any]:
    """What the steps before a model are, and what a pipeline calls them; their arrays go to the parts."""
    *before, (name, model) = pipeline.steps
    _check_steps(pipeline[:-1], model.n_features_in_)
    encoder = StepEncoder()
    steps = [
        {"name": called, "step": encoder.value("passthrough" if step is None else step, f"pipeline.{called}")}
        for called, step in before
    ]
    parts.update(encoder.parts)
    return {"steps": steps, "model": name, "output": getattr(model, _OUTPUT, {}).get("transform")}


def read_steps(described: Mapping[str, Any], parts: Mapping[str, bytes], model: Any) -> list[tuple[str, Any]]:
    """The steps of a pipeline that ends with this model; the reverse of `describe_steps`."""
    decoder = StepDecoder(parts)
    steps: list[tuple[str, Any]] = []
    for entry in described["steps"]:
        step = decoder.value(entry["step"])
        if step != "passthrough" and not hasattr(step, "transform"):
            raise ValueError(f"step {brief(entry['name'])} is {brief(step)}; expected one that transforms")
        steps.append((str(entry["name"]), step))
    _set_container(model, described["output"])
    _check_steps(_classes()["Pipeline"](steps), model.n_features_in_)
    return [*steps, (str(described["model"]), model)]


class StepEncoder(Encoder):
    """An `Encoder` that also knows steps and what they hold.

    A step becomes ``{"step": class, "parameters": …, "fitted": …, "output": …}``, where the output is what
    ``set_output`` chose. What JSON doesn't know becomes ``{"tuple": …}``, ``{"mapping": …}``, ``{"slice": …}``,
    ``{"dtype": …}``, ``{"type": …}`` or, for arrays of text, ``{"entries": …}``.
    """

    def value(self, value: Any, place: str) -> Any:
        """One value; ``place`` is what a part, or an error, calls it."""
        match value:
            case np.bool_():
                return bool(value)
            case tuple():
                return {"tuple": [self.value(entry, f"{place}.{number}") for number, entry in enumerate(value)]}
            case dict():
                return {
                    "mapping": [[self.value(key, place), self.value(value[key], f"{place}.{key}")] for key in value]
                }
            case UserList():  # columns, as ColumnTransformer keeps them in scikit-learn 1.6
                return self.value(value.data, place)
            case slice():
                return {"slice": [self.value(end, place) for end in (value.start, value.stop, value.step)]}
            case np.dtype():
                return {"dtype": value.name}
            case type() if issubclass(value, (np.generic, int, float, bool)):
                return {"type": np.dtype(value).name}
            case np.ndarray() if value.dtype.kind in "OU" and value.ndim == 1:
                return {
                    "entries": [self.value(entry, f"{place}.{row}") for row, entry in enumerate(value.tolist())]
                } | ({} if value.dtype.kind == "O" else {"dtype": value.dtype.str})
            case np.ndarray() if value.ndim and value.dtype.name in _DTYPES[:-1]:
                described = super().value(value, place)
                kept = {"f": "float64", "i": "int64", "b": "bool"}[value.dtype.kind]
                return described if value.dtype.name == kept else described | {"dtype": value.dtype.name}
        if hasattr(value, "get_params") and not isinstance(value, type):
            return self.step(value, place)
        return super().value(value, place)

    def step(self, step: Any, place: str) -> dict[str, Any]:
        """A step, fitted or not."""
        name = type(step).__name__
        kind = _classes().get(name)
        if kind is None or kind is not step.__class__:
            raise ValueError(f"{place}: a {name} can't be saved; expected one of {', '.join(savable_steps())}, or SKLR")
        parameters = {key: value for key, value in step.get_params(deep=False).items() if key not in _NOT_KEPT}
        if getattr(step, "transformer_weights", None) is not None:
            raise ValueError(f"{place}: transformer_weights can't be saved; expected None")
        if hasattr(step, "_columns"):  # columns that a function chose are kept as what it chose
            parameters["transformers"] = [
                (called, inner, columns)
                for (called, inner, _), columns in zip(step.transformers, step._columns, strict=True)
            ]
        if hasattr(step, "verbose_feature_names_out") and not isinstance(step.verbose_feature_names_out, bool):
            raise ValueError(f"{place}: verbose_feature_names_out can't be saved; expected True or False")
        learned = {key: value for key, value in vars(step).items() if key not in step.get_params(deep=False)}
        output = learned.pop(_OUTPUT, {}).get("transform")
        for key in learned:
            if not _is_learned(kind, key):
                raise ValueError(f"{place}: the {name} holds {key}, which can't be saved")
        return {
            "step": name,
            "parameters": self.mapping(parameters, f"{place}.parameters"),
            "fitted": self.mapping(learned, place),
            "output": output,
        }


class StepDecoder(Decoder):
    """The reverse of `StepEncoder`."""

    def value(self, described: Any) -> Any:
        """One value."""
        match described:
            case {"step": str()}:
                return self.step(described)
            case {"tuple": list(entries)}:
                return tuple(self.value(entry) for entry in entries)
            case {"mapping": list(pairs)}:
                return {_key(key): self.value(value) for key, value in pairs}
            case {"slice": [start, stop, step]}:
                return slice(*(_whole(end) for end in (start, stop, step)))
            case {"entries": list(entries)}:
                return _texts([self.value(entry) for entry in entries], described.get("dtype"))
            case {"array": str(name), "dtype": str(dtype)} if dtype in _DTYPES[:-1]:
                return self._array(name).astype(dtype)
            case {"dtype": str(name)} if name in _DTYPES:
                return np.dtype(name)
            case {"type": str(name)} if name in _DTYPES:
                return np.dtype(name).type
        return super().value(described)

    def step(self, described: Mapping[str, Any]) -> Any:
        """A step, as it was when it was kept."""
        name = described["step"]
        if name not in savable_steps():
            raise ValueError(f"step {brief(name)} is unknown; expected one of {', '.join(savable_steps())}")
        kind = _classes()[name]
        parameters = self.mapping(described["parameters"])
        if set(parameters) & set(_NOT_KEPT) or not isinstance(parameters.get("verbose_feature_names_out", True), bool):
            raise ValueError(f"{name} has parameters that can't be kept")
        step = kind(**parameters)
        step._validate_params()
        _set_container(step, described["output"])
        for key, value in self.mapping(described["fitted"]).items():
            if not _is_learned(kind, key):
                raise ValueError(f"{brief(key)} is nothing that a {name} learns")
            setattr(step, key, value)
        return step


def _set_container(step: Any, output: object) -> None:
    """Make a step return what ``set_output`` chose."""
    if output not in _OUTPUTS:
        raise ValueError(f"output {brief(output)}; expected one of {', '.join(map(str, _OUTPUTS))}")
    if output is not None:
        setattr(step, _OUTPUT, {"transform": output})


def _check_steps(steps: Any, n_features: int) -> None:
    """Raise a ValueError unless these steps, a pipeline, make this many features."""
    made = len(steps.get_feature_names_out()) if len(steps) else n_features
    if made != n_features:
        raise ValueError(f"the steps make {made} features, and the model takes {n_features}")


def _is_learned(kind: type, name: str) -> bool:
    """Whether a class of steps may learn an attribute of this name: by scikit-learn's habit it ends with "_"."""
    public = name.endswith("_") and not name.startswith("_")
    return (public or name in _LEARNED_IN_PRIVATE[kind.__name__]) and name.isidentifier() and not hasattr(kind, name)


def _key(key: object) -> str | int:
    if isinstance(key, (str, int)):
        return key
    raise ValueError(f"key {brief(key)}; expected text or a whole number")


def _whole(end: object) -> int | None:
    if end is None or type(end) is int:
        return end
    raise ValueError(f"slice to {brief(end)}; expected a whole number")


def _texts(entries: list[Any], dtype: object) -> Any:
    """An array of text, or of text and numbers, as scikit-learn keeps names and categories."""
    if not all(entry is None or isinstance(entry, (str, bool, int, float)) for entry in entries):
        raise ValueError(f"entries {brief(entries)}; expected text and numbers")
    if dtype is None:
        array = np.empty(len(entries), dtype=object)
        array[:] = entries
        return array
    if not all(isinstance(entry, str) for entry in entries):
        raise ValueError(f"entries {brief(entries)}; expected text")
    return np.array(entries, dtype=str)
