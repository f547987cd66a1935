"""Dimensions as files: what is kept, that a model's readers take it, what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from oddkernel import dimensions, models
from oddkernel.dimensions import Dimensions
from oddkernel.support.archive import pack, unpack

from .planted import planted_model


def test_a_file_holds_loadings_names_and_model(tmp_path: Path) -> None:
    _, X, model = planted_model()
    found = Dimensions(3, shrinkage=100.0, sparsity=1.0, random_state=0, verbose=0).fit(X, model=model)
    file = tmp_path / "planted.oddkernel"
    dimensions.save(found.rename({1: "größe"}), file)
    loaded = dimensions.load(file)
    assert loaded.names_ == ("größe", "dimension 2", "dimension 3")
    np.testing.assert_array_equal(loaded.transform(X + 1e-6), found.transform(X + 1e-6))
    np.testing.assert_array_equal(loaded.transform(X), found.loadings_)
    np.testing.assert_array_equal(loaded.reproducible_, found.reproducible_)
    np.testing.assert_array_equal(models.load(file).transform(X), model.transform(X))

    parts = unpack(file.read_bytes())
    for change, problem in (
        ({"names": ["a", "b"]}, "expected 3 names"),
        ({"version": 9}, "version 9"),
        ({"settings": {"n_dimensions": 4, "shrinkage": 1.0, "sparsity": 0.0}}, "expected an array of shape"),
        ({"arrays": {}}, "'loadings' is missing"),
        ({"parameters": {"n_dimensions": "many"}}, "n_dimensions"),
    ):
        changed = json.loads(parts["dimensions.json"]) | change
        file.write_bytes(pack(parts | {"dimensions.json": json.dumps(changed).encode()}))
        with pytest.raises(ValueError, match=problem):
            dimensions.load(file)
    models.save(model, file)
    with pytest.raises(ValueError, match="a model without dimensions"):
        dimensions.load(file)
