"""What ``oddkernel fit`` says was chosen."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from oddkernel import Comparisons, formats, models
from oddkernel.cli import main

X = np.random.default_rng(0).normal(size=(40, 3))


def fit(folder: Path, said: Comparisons, capsys: pytest.CaptureFixture[str]) -> tuple[str, dict[str, Any]]:
    """The summary for a person, and the facts for a program."""
    np.save(folder / "features.npy", X)
    formats.write(said, folder / "said.jsonl")
    words = ["fit", *(str(folder / name) for name in ("features.npy", "said.jsonl")), "--out", str(folder / "m")]
    assert main(words) == 0
    told = capsys.readouterr().out
    assert main([*words, "--json"]) == 0
    return told, json.loads(capsys.readouterr().out)


def test_everything_that_was_chosen_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told, facts = fit(tmp_path, Comparisons.from_labels((X[:, 0] > 0).astype(int), 80, random_state=0), capsys)
    model = models.load(tmp_path / "m")
    assert (facts["kernel"], facts["loss"], facts["ratio"]) == (model.fit_.recipe.kernel, model.loss_, model.ratio_)
    assert (facts["rank"], facts["scaling"], facts["rounds"]) == (model.rank_, None, len(model.fit_.penalties))
    assert facts["penalties"] == list(model.fit_.penalties)
    assert facts["softness"] == (model.softness_ if model.loss_ == "softmax" else None)
    assert facts["gain_interval"] == list(model.tuning_.gain_interval)
    assert facts["learned"]
    line = next(line for line in told.splitlines() if line.startswith("Chosen: "))
    for word in (
        f"{model.fit_.recipe.kernel} kernel",
        f"{model.loss_} loss",
        f"penalty {model.fit_.penalties[0]:.3g}",
        f"{model.rank_} dimensions",
        "round",
        "features as they are",
    ):
        assert word in line
    assert "Nothing was learned" not in told


@pytest.mark.filterwarnings("ignore:Nothing was learned")
def test_a_model_that_learned_nothing_says_so_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    shown = [rng.permutation(len(X))[:3] for _ in range(60)]
    told, facts = fit(tmp_path, Comparisons.odd_one_out(shown, rng.integers(0, 3, 60)), capsys)
    assert told.startswith("Nothing was learned: the model is the initial kernel.\n")
    assert (facts["learned"], facts["penalty"], facts["gain"]) == (False, 0.0, 0.0)
