"""Dimensions as files: a model's file, as `learning.models` writes it, with the loadings and names beside the model.

Every command and ``models.load`` take such a file for the model that it holds.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from reprlib import repr as brief
from typing import Any

from ..learning import models
from ..learning.encoding import Decoder, Encoder, check_array
from ..learning.sklr import SKLR
from ..support.archive import pack, unpack
from ..support.checks import is_count, is_real
from ..support.files import replace
from ..support.types import Array
from .dimensions import Dimensions, check_names
from .fits import DimensionsFit
from .halves import Settings, Strength

PART = "dimensions.json"
VERSION = 1
_ARRAYS = ("loadings", "asked", "centre", "mean", "slope")


def save(dimensions: Dimensions, path: str | os.PathLike[str]) -> None:
    """Write fitted dimensions, with their names and their model, to a file; it appears complete or not at all.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from oddkernel import Comparisons, dimensions, models
    >>> X = np.random.default_rng(0).normal(size=(12, 3))
    >>> said = Comparisons.from_labels(np.arange(12) % 3, 120, random_state=0)
    >>> found = dimensions.Dimensions(2, shrinkage=100, sparsity=1, random_state=0).fit(X, said)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     dimensions.save(found.rename({1: "size"}), Path(folder, "model.oddkernel"))
    ...     dimensions.load(Path(folder, "model.oddkernel")).names_
    ('size', 'dimension 2')
    """
    fit, encoder = dimensions.fit_, Encoder()
    described = {
        "version": VERSION,
        "parameters": encoder.mapping(dimensions.get_params(), "dimensions.parameters"),
        "names": list(dimensions.names_),
        "settings": encoder.mapping(fit.settings._asdict(), "dimensions.settings"),
        "arrays": encoder.mapping({name: getattr(fit, name) for name in _ARRAYS}, "dimensions"),
        "strength": encoder.mapping(fit.strength._asdict(), "dimensions.strength"),
    }
    text = json.dumps(described, allow_nan=False, ensure_ascii=False, indent=2).encode()
    replace(path, pack({**models.parts_of(fit.model), PART: text, **encoder.parts}))


def load(path: str | os.PathLike[str]) -> Dimensions:
    """Read dimensions that `save` wrote. The file may come from anyone: nothing in it is executed.

    Raises
    ------
    ValueError
        If the file holds no dimensions, or some that are damaged or don't fit together.
    """
    model = models.load(path)
    parts = unpack(Path(path).read_bytes())
    if PART not in parts:
        raise ValueError(f"{os.fspath(path)}: holds a model without dimensions; oddkernel dimensions finds them")
    try:
        return _read(json.loads(parts[PART]), Decoder(parts), model)
    except KeyError as error:
        raise ValueError(f"{os.fspath(path)}: not usable dimensions: {brief(error.args[0])} is missing") from error
    except (ArithmeticError, AttributeError, IndexError, RecursionError, TypeError, ValueError) as error:
        raise ValueError(f"{os.fspath(path)}: not usable dimensions: {error}") from error


def _read(described: Any, decoder: Decoder, model: SKLR) -> Dimensions:
    if described["version"] != VERSION:
        raise ValueError(f"version {brief(described['version'])}; this oddkernel reads {VERSION}")
    dimensions = Dimensions(**decoder.mapping(described["parameters"]))
    dimensions._check_parameters()
    values = decoder.mapping(described["settings"])
    settings = Settings(values["n_dimensions"], values["shrinkage"], values["sparsity"])
    if settings.n_dimensions is None or not is_count(settings.n_dimensions) or not all(map(is_real, settings)):
        raise ValueError(f"settings {brief(values)}; expected three numbers")
    d, r = settings.n_dimensions, model.rank_
    arrays = decoder.mapping(described["arrays"])
    n_items = len(arrays["loadings"])
    shapes = {
        "loadings": (n_items, d),
        "asked": (len(model.fit_.asked), d),
        "centre": (r,),
        "mean": (d,),
        "slope": (r, d),
    }
    checked: dict[str, Array] = {name: check_array(arrays[name], name, shapes[name], "f") for name in _ARRAYS}
    if model.comparisons_.constrained.max(initial=-1) >= n_items or len(model.items_ or range(n_items)) != n_items:
        raise ValueError(f"loadings of {n_items} items; expected one row for each item of the model")
    strength = decoder.mapping(described["strength"])
    dimensions.fit_ = DimensionsFit(
        model, settings, **checked,
        strength=Strength(*(check_array(strength[name], name, (d,), "f") for name in Strength._fields)),
    )  # fmt: skip
    dimensions.names_ = check_names(described["names"], d)
    dimensions.n_features_in_ = model.n_features_in_
    return dimensions
