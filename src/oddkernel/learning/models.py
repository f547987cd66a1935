"""Fitted models as files that people can exchange: inspected with any zip program, and safe to open.

A file is a zip archive. ``model.json`` says what the model is, ``answers.jsonl`` what it learned from, in the form of
`oddkernel.formats`, and ``arrays/`` holds its numbers as .npy files. There is no pickle and no code in it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, fields
from numbers import Integral, Real
from pathlib import Path
from reprlib import repr as brief
from typing import Any, TypeVar

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..comparisons import Comparisons
from ..comparisons.names import as_items
from ..formats import FORMATS, dump
from ..kernels import LowRank
from ..problem.constraints import Constraints
from ..problem.losses import LOSSES
from ..problem.solution import Solution, Status
from ..support.archive import pack, unpack
from ..support.files import replace
from .answers import places_among
from .calibration import Calibration
from .encoding import Decoder, Encoder, check_array
from .fits import SKLRFit
from .parameters import check_parameters
from .pipelines import describe_steps, read_steps
from .recipe import Recipe
from .sklr import SKLR, kernel_name
from .tuning import Trial, Tuning

Record = TypeVar("Record", Recipe, Trial, Tuning)

# Of the format. A program that knows only models would leave out the steps of a pipeline, so these have another number.
VERSION, WITH_STEPS = 1, 2

_SOLUTION_NUMBERS = ("n_iter", "residual", "gap", "divergence", "objective", "gain")
_SOLUTION_ARRAYS = ("multipliers", "slack", "answer")


def save(model: SKLR | Pipeline, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file.

    The file appears complete or not at all. Saving needs a kernel of this package, a solver given by name, and a
    ``random_state`` that is a number or None.

    Parameters
    ----------
    model : SKLR or Pipeline
        The fitted model; or a scikit-learn pipeline that ends with it, whose other steps are among those that
        `docs/models.md` lists.
    path : path-like
        The file; ``.oddkernel`` is a good ending.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from oddkernel import SKLR, Comparisons, models
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1.0, 2.0]])
    >>> model = SKLR("linear").fit(X, Comparisons.odd_one_out([[0, 2, 1]], [2]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     models.save(model, Path(folder, "model.oddkernel"))
    ...     loaded = models.load(Path(folder, "model.oddkernel"))
    >>> bool((loaded.transform(X) == model.transform(X)).all())
    True
    """
    replace(path, pack(parts_of(model)))


def parts_of(model: SKLR | Pipeline) -> dict[str, bytes]:
    """The parts of the archive that `save` writes, by name."""
    metric = model.steps[-1][1] if type(model) is Pipeline else model
    if type(metric) is not SKLR:
        raise ValueError(
            f"a {type(metric).__name__} can't be saved; expected a fitted SKLR, or a scikit-learn Pipeline that ends "
            "with it"
        )
    check_is_fitted(metric)
    parts: dict[str, bytes] = {}
    described = _describe(metric, parts)
    if type(model) is Pipeline:
        described |= {"version": WITH_STEPS, "pipeline": describe_steps(model, parts)}
    description = json.dumps(described, allow_nan=False, ensure_ascii=False, indent=2).encode()
    return {"model.json": description, "answers.jsonl": dump(metric.fit_.comparisons, "jsonl"), **parts}


def _describe(model: SKLR, parts: dict[str, bytes]) -> dict[str, Any]:
    """What a model is; its arrays go to the parts."""
    from .. import __version__

    encoder = Encoder()
    fit = model.fit_
    features, solution, recipe = fit.features, fit.solution, fit.recipe
    rows = fit.rows.renumbered(fit.comparisons.constrained)  # in a file, items are rows of X
    names = getattr(model, "feature_names_in_", None)
    described = {
        "oddkernel": "model",
        "version": VERSION,
        "written_by": __version__,
        "class": "SKLR",
        "parameters": encoder.mapping(model.get_params(deep=False), "parameters"),
        "n_features_in": model.n_features_in_,
        "feature_names": None if names is None else [str(name) for name in names],
        "items": None if fit.given is None else list(fit.given),
        "kernel": encoder.value(features.kernel, "kernel"),
        "features": encoder.mapping(
            {field.name: getattr(features, field.name) for field in fields(LowRank) if field.name != "kernel"},
            "features",
        ),
        "chosen": encoder.mapping(
            {"loss": recipe.loss, "ratio": recipe.ratio, "penalty": fit.penalties[-1], "softness": recipe.softness}
            | fit.calibration._asdict(),
            "chosen",
        ),
        "tuning": None if fit.tuning is None else encoder.mapping(asdict(fit.tuning), "tuning"),
        "metric": encoder.value(fit.metric, "metric"),
        "root": encoder.value(fit.root, "root"),
        "asked": encoder.value(fit.asked, "asked"),
        "prior": encoder.value(fit.prior, "prior"),
        "earlier": encoder.value(fit.multipliers[:-1], "earlier"),
        "rows": encoder.mapping({field.name: getattr(rows, field.name) for field in fields(Constraints)}, "rows"),
        "solution": {
            "status": solution.status.name,
            **encoder.mapping(
                {name: getattr(solution, name) for name in (*_SOLUTION_NUMBERS, *_SOLUTION_ARRAYS)}, "solution"
            ),
            "gain_interval": encoder.value(solution.gain_interval, "gain_interval"),
            "history": encoder.mapping(solution.history, "history"),
        },
    }
    parts.update(encoder.parts)
    return described


def load(path: str | os.PathLike[str]) -> SKLR:
    """Read a model that `save` wrote; what it computes is the same to the last bit.

    Parameters
    ----------
    path : path-like
        The file. It may come from anyone: nothing in it is executed.

    Returns
    -------
    SKLR

    Raises
    ------
    ValueError
        If the file doesn't hold a model, or one that is damaged or doesn't fit together.
    """
    model, steps = _open(path)
    if steps is not None:
        raise ValueError(f"{os.fspath(path)}: holds a pipeline; open it with models.load_pipeline")
    return model


def load_pipeline(path: str | os.PathLike[str]) -> Pipeline:
    """Read a pipeline that `save` wrote; what it computes is the same to the last bit with the same scikit-learn.

    Parameters
    ----------
    path : path-like
        The file. It may come from anyone: nothing in it is executed.

    Returns
    -------
    Pipeline
        Its last step is an `SKLR`. A file that holds a model alone gives a pipeline of one step.

    Raises
    ------
    ValueError
        If the file doesn't hold a model, or one that is damaged or doesn't fit together.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import RobustScaler
    >>> from oddkernel import SKLR, Comparisons, models
    >>> X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0], [1.0, 2.0]])
    >>> pipeline = make_pipeline(RobustScaler(), SKLR("linear")).fit(X, Comparisons.odd_one_out([[0, 2, 1]], [2]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     models.save(pipeline, Path(folder, "model.oddkernel"))
    ...     loaded = models.load_pipeline(Path(folder, "model.oddkernel"))
    >>> bool((loaded.transform(X) == pipeline.transform(X)).all())
    True
    """
    model, steps = _open(path)
    return Pipeline([("sklr", model)]) if steps is None else Pipeline(steps)


def _open(path: str | os.PathLike[str]) -> tuple[SKLR, list[tuple[str, Any]] | None]:
    """The model in a file, and the steps of the pipeline that ends with it, if there is one."""
    data = Path(path).read_bytes()
    try:
        parts = unpack(data)
        description = json.loads(parts["model.json"])
        model = _read(description, parts)
        steps = description.get("pipeline")
        return model, None if steps is None else read_steps(steps, parts, model)
    except KeyError as error:
        raise ValueError(f"{os.fspath(path)}: not a usable model: {brief(error.args[0])} is missing") from error
    # Whatever a damaged or hostile description leads to is the file's fault, and no reason for a traceback.
    except (ArithmeticError, AttributeError, IndexError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"{os.fspath(path)}: not a usable model: {error}") from error


def _read(description: Any, parts: Mapping[str, bytes]) -> SKLR:
    if not isinstance(description, dict) or description.get("oddkernel") != "model":
        raise ValueError('model.json doesn\'t describe a model; expected "oddkernel": "model"')
    expected = WITH_STEPS if "pipeline" in description else VERSION
    if description["version"] != expected:
        raise ValueError(f"version {brief(description['version'])} of the format; this oddkernel reads {expected}")
    if description["class"] != "SKLR":
        raise ValueError(f"class {brief(description['class'])}; expected SKLR")
    decoder = Decoder(parts)
    model = SKLR(**decoder.mapping(description["parameters"]))
    check_parameters(model)
    model.n_features_in_ = _count(description["n_features_in"], "n_features_in")
    if (names := description["feature_names"]) is not None:
        if len(names) != model.n_features_in_ or not all(isinstance(name, str) for name in names):
            raise ValueError(f"feature_names; expected {model.n_features_in_} names")
        model.feature_names_in_ = np.array(names, dtype=object)

    features = LowRank(
        decoder.kernel(description["kernel"], model.n_features_in_), **decoder.mapping(description["features"])
    )
    said = FORMATS["jsonl"].read(parts["answers.jsonl"]).understand()
    model.fit_ = _read_fit(description, decoder, model, features, said)
    _check_kernel(features, model.n_features_in_)
    return model


def _read_fit(
    description: Mapping[str, Any], decoder: Decoder, model: SKLR, features: LowRank, said: Comparisons
) -> SKLRFit:
    n_items = len(features.kernel.X_fit_) if hasattr(features.kernel, "X_fit_") else model.n_features_in_
    said.check_items(n_items)
    r = features.rank
    if not isinstance(features.share, Real) or not isinstance(features.full_rank, Integral):
        raise ValueError(f"share {brief(features.share)} and full_rank {brief(features.full_rank)}; expected numbers")
    check_array(features.landmarks, "landmarks", (len(features.basis),), "i", below=n_items)
    check_array(features.basis, "basis", (len(features.landmarks), r), "f")
    rows = _read_rows(description["rows"], decoder, said)
    chosen = decoder.mapping(description["chosen"])
    numbers = {name: _check_number(value, name) for name, value in chosen.items() if name != "loss"}
    tuning = _read_tuning(description["tuning"], decoder)
    kept = r if tuning is None else min(tuning.rank, r)
    solution = _read_solution(description["solution"], decoder, len(rows), len(said))
    earlier = [check_array(each, "multipliers", (len(rows),), "f") for each in decoder.value(description["earlier"])]
    given = model.penalty if isinstance(model.penalty, list) else [numbers["penalty"]]
    return SKLRFit(
        comparisons=said,
        features=features,
        asked=check_array(decoder.value(description["asked"]), "asked", (len(said.constrained), r), "f"),
        solution=solution,
        metric=check_array(decoder.value(description["metric"]), "metric", (r, r), "f"),
        root=check_array(decoder.value(description["root"]), "root", (r, kept), "f"),
        calibration=Calibration(numbers["temperature"], numbers["tie"], numbers["guess"]),
        tuning=tuning,
        recipe=Recipe(
            kernel_name(model.kernel) if tuning is None else tuning.recipe.kernel,
            _check_loss(chosen["loss"]),
            numbers["ratio"],
            float(model.margin),
            numbers["softness"],
        ),
        penalties=tuple(map(float, given)) if tuning is None else tuning.penalties,
        rows=rows,
        prior=check_array(decoder.value(description["prior"]), "prior", (r, r), "f"),
        multipliers=(*earlier, solution.multipliers),
        given=_read_given(description.get("items"), said),  # files of earlier versions don't say
    )


def _read_given(names: Any, said: Comparisons) -> tuple[str, ...] | None:
    if names is None:
        return None
    given = as_items(names) or ()
    if set(given) != set(said.items or ()):
        raise ValueError("items names others than the answers do")
    return given


def _read_rows(described: Mapping[str, Any], decoder: Decoder, said: Comparisons) -> Constraints:
    rows, items = Constraints(**decoder.mapping(described)), said.constrained
    m = len(rows.answer)
    for name in ("near", "far"):
        numbers = check_array(getattr(rows, name), name, (m, 2), "i", below=int(items.max(initial=-1)) + 1)
        if (places_among(items, numbers) < 0).any():
            raise ValueError(f"rows.{name} holds items that no answer is about")
    for name in ("near_factor", "far_factor", "offset", "weight"):
        check_array(getattr(rows, name), name, (m,), "f")
    check_array(rows.equality, "equality", (m,), "b")
    check_array(rows.answer, "answer", (m,), "i", below=len(said))
    return rows.renumbered(places_among(items, np.arange(items.max(initial=-1) + 1)))


def _read_tuning(described: Mapping[str, Any] | None, decoder: Decoder) -> Tuning | None:
    if described is None:
        return None

    def numbers(values: Any, name: str) -> tuple[float, ...]:
        return tuple(_check_number(decoder.value(value), name) for value in values)

    def record(kind: type[Record], values: Mapping[str, Any], **known: Any) -> Record:
        names = {field.name for field in fields(kind)} - known.keys()
        return kind(**known | {name: _check_number(decoder.value(values[name]), name) for name in names})

    def recipe(values: Mapping[str, Any]) -> Recipe:
        return record(Recipe, values, loss=_check_loss(values["loss"]), kernel=str(values["kernel"]))

    def trial(values: Mapping[str, Any]) -> Trial:
        penalties = numbers(values["penalties"], "penalties")
        rank = _count(values["rank"], "rank")
        solved = values.get("solved", True)  # files of earlier versions don't say
        if not isinstance(solved, bool):
            raise ValueError(f"solved is {brief(solved)}; expected true or false")
        judges = values.get("n_answers")  # nor this
        known = {"rank": rank, "solved": solved, "n_answers": None if judges is None else _count(judges, "n_answers")}
        return record(Trial, values, recipe=recipe(values["recipe"]), penalties=penalties, **known)

    low, high = numbers(described["gain_interval"], "gain_interval")
    return record(
        Tuning,
        described,
        recipe=recipe(described["recipe"]),
        penalties=numbers(described["penalties"], "penalties"),
        trials=tuple(map(trial, described["trials"])),
        gain_interval=(low, high),
        dimensions=tuple(
            (_count(dimension, "dimensions"), _check_number(likelihood, "dimensions"))
            for dimension, likelihood in described["dimensions"]
        ),
        dimension=_count(described["dimension"], "dimension"),
        rank=_count(described["rank"], "rank"),
    )


def _read_solution(described: Mapping[str, Any], decoder: Decoder, m: int, n_answers: int) -> Solution:
    numbers = {name: decoder.value(described[name]) for name in _SOLUTION_NUMBERS}
    if not all(isinstance(number, Real) for number in numbers.values()):
        raise ValueError(f"solution {brief(numbers)}; expected numbers")
    arrays = {name: decoder.value(described[name]) for name in _SOLUTION_ARRAYS}
    check_array(arrays["multipliers"], "multipliers", (m,), "f")
    check_array(arrays["slack"], "slack", (m,), "f")
    check_array(arrays["answer"], "answer", (m,), "i", below=n_answers)
    low, high = (_check_number(end, "gain_interval") for end in decoder.value(described["gain_interval"]))
    history = decoder.mapping(described["history"])
    return Solution(status=Status[described["status"]], history=history, gain_interval=(low, high), **numbers, **arrays)


def _check_kernel(features: LowRank, n_features: int) -> None:
    """Compute with what was read, once: parts that don't fit together show."""
    kernel = features.kernel
    item = kernel.X_fit_[:1] if hasattr(kernel, "X_fit_") else np.zeros((1, n_features))
    with np.errstate(all="ignore"):
        phi = features.transform(item)
    if not np.isfinite(phi).all():
        raise ValueError("the kernel yields values that aren't finite")


def _check_number(value: Any, name: str) -> float:
    if not isinstance(value, Real) or isinstance(value, bool):
        raise ValueError(f"{name} is {brief(value)}; expected a number")
    return float(value)


def _check_loss(value: Any) -> str:
    if not isinstance(value, str) or value not in LOSSES:
        raise ValueError(f"loss {brief(value)}; expected one of {', '.join(LOSSES)}")
    return value


def _count(value: object, name: str) -> int:
    if type(value) is not int or value < 1:
        raise ValueError(f"{name} is {brief(value)}; expected a whole number of at least 1")
    return value
