"""``oddkernel dimensions``: loadings, names, the file that keeps them, dissimilarities."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from oddkernel import SKLR, Comparisons, dimensions, models
from oddkernel.cli import main

from ..dimensions.planted import planted


@pytest.fixture
def study(tmp_path: Path) -> Path:
    loadings, said = planted(n_answers=300)
    names = [f"item {row}" for row in range(len(loadings))]
    frame = pd.DataFrame(loadings, columns=["a", "b", "c"]).assign(item=names)
    frame.to_csv(tmp_path / "items.csv", index=False)
    answers = Comparisons.odd_one_out(said.shown, said.odd, items=names)
    model = SKLR("linear", loss="softmax", penalty=0.1, verbose=0).fit(
        frame.set_index("item")[["a", "b", "c"]], answers
    )
    models.save(model, tmp_path / "model.oddkernel")
    return tmp_path


def facts(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, object]:
    assert main([*map(str, arguments), "--json"]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_loadings_names_and_dissimilarities_are_written(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    items, model = study / "items.csv", study / "model.oddkernel"
    command = ["dimensions", items, "--model", model, "--out", study / "loadings.csv"]
    found = facts(capsys, *command, "-n", 3, "--save", model, "--rdm", study / "rdm.npz")
    assert found["n_dimensions"] == 3
    loadings = pd.read_csv(study / "loadings.csv", index_col="item")
    assert list(loadings.columns) == ["dimension 1", "dimension 2", "dimension 3"]
    with np.load(study / "rdm.npz") as file:
        assert file["dissimilarities"].shape == (1, 45 * 44 // 2)
        assert file["item"].tolist() == loadings.index.tolist()

    # Named, and found again in the file without fitting anew.
    (study / "names.csv").write_text("dimension,name\n2,round\n3,\n")
    facts(capsys, *command, "--call", study / "names.csv", "--save", model)
    assert dimensions.load(model).names_ == ("dimension 1", "round", "dimension 3")
    again = pd.read_csv(study / "loadings.csv", index_col="item")
    np.testing.assert_array_equal(again["round"], loadings["dimension 2"])

    # Other dimensions take the name over where they are alike; otherwise the earlier file is kept.
    fewer = facts(capsys, *command, "-n", 1, "--save", model)
    assert "round" in [each["name"] for each in fewer["dimensions"]] or (study / "model-1.oddkernel").exists()


def test_what_it_refuses(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["dimensions", study / "items.csv", "--model", study / "model.oddkernel", "--out", study / "loadings.csv"]
    (study / "names.csv").write_text("dimension,name\n9,round\n")
    assert main([*map(str, command), "-n", "2", "--call", str(study / "names.csv")]) == 2
    assert "dimension '9'; expected a number from 1 to 2" in capsys.readouterr().err
    assert main([*map(str, command), "--rdm", "rdm.csv"]) == 2
    assert ".npz" in capsys.readouterr().err
