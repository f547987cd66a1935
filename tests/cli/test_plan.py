from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from oddkernel.cli import main

pytestmark = pytest.mark.slow  # learns with the default settings


@pytest.fixture
def features(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = [f"item {i}," + ",".join(f"{x:.3f}" for x in rng.standard_normal(4)) for i in range(20)]
    file = tmp_path / "features.csv"
    file.write_text("\n".join(["item,a,b,c,d", *rows]))
    return file


def test_a_table_is_planned(features: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["plan", str(features), "--seconds", "0.1", "--questions", "20", "--agreement", "0.9"]
    assert main([*command, "--noise", "0.3"]) == 0
    told = capsys.readouterr()
    assert "20 items with 4 features" in told.out
    assert "     50       3  " in told.out
    assert "30% of the answers are guesses" in told.out
    assert "90% is out of reach: the guesses leave at most 80%." in told.out
    assert "simulating for about 0 s" in told.err
    assert main([*command, "--noise", "0", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    (row,) = facts["rows"]
    assert (row["n_answers"], row["n_people"], facts["per_person"], facts["ceiling"]) == (50, 3, 20, 1.0)
    assert len(facts["assumed"]) == 3


def test_where_the_features_alone_will_do_no_answers_are_needed(
    features: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["plan", str(features), "--seconds", "0.1", "--agreement", "0.34"]
    assert main(command) == 0
    assert "34% needs no answers: the features alone reach it." in capsys.readouterr().out
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_answers_needed"] == 0


def test_labels_are_joined_by_name(features: Path, capsys: pytest.CaptureFixture[str]) -> None:
    labels = features.with_name("labels.csv")
    labels.write_text("\n".join(["item,label", *(f"item {i},{i % 2}" for i in reversed(range(20)))]))
    command = ["plan", str(features), "--seconds", "0.1", "--policy", "random", "--labels", str(labels)]
    assert main(command) == 0
    assert "Everybody goes by the same classes." in capsys.readouterr().out
    labels.write_text("item,label\nitem 1,a\n")
    assert main(command) == 2
    assert "19 items have no label" in capsys.readouterr().err


def test_a_study_is_planned_with_its_settings(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("fastapi", reason="the judge needs oddkernel[judge]")
    folder = tmp_path / "sounds"
    folder.mkdir()
    for number in range(6):
        (folder / f"{number}.mp3").write_bytes(b"...")
    (folder / "study.toml").write_text('questions = 40\nholdout_share = 0.25\npolicy = "random"\n')
    assert main(["plan", str(folder), "--seconds", "0.1", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["per_person"] == 30
    assert facts["assumed"][0] == "Everybody goes by the same 5 random coordinates of the items."
    assert not (folder / "answers.sqlite3").exists()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--agreement", "70"], "--agreement 70.0; expected a share between 0 and 1"),
        (["--questions", "0"], "--questions 0; expected a number from 1 up"),
        (["--policy", "clever"], "clever"),
        (["--noise", "1"], "noise"),
    ],
)
def test_what_cannot_be_meant_is_named(
    features: Path, options: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["plan", str(features), *options]) == 2
    assert sentence in capsys.readouterr().err
