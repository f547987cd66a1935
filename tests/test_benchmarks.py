"""The benchmarks work; what they measure is nothing that a test could assert."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import measured_work
import numpy as np
import pytest
from oddkernel_benchmarks import (
    CASES,
    answers,
    choosing,
    clustering,
    first_call,
    growth,
    items,
    octave,
    page,
    paper,
    versions,
)
from oddkernel_benchmarks.data import judgements
from oddkernel_benchmarks.measure import Clock, Measured, measure, python_with
from oddkernel_benchmarks.published import check, project, rank_two_passes, rows_of
from oddkernel_benchmarks.results import Case, Growth, Row

from oddkernel.cli import bench, main

pytestmark = pytest.mark.slow  # starts programs

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"


def measure_here(work: Callable[..., Any], options: Mapping[str, Any] | None = None, **_: object) -> Measured:
    """What `measure` does, without the seconds that a new process takes."""
    clock = Clock()
    return Measured(
        facts=work(clock, **(options or {})), seconds=clock.seconds, cpu_seconds=clock.cpu_seconds, peak_mib=1.0
    )


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ODDKERNEL_DATA", octave.FOLDER):
        monkeypatch.delenv(name, raising=False)
    for module in (answers, clustering, first_call, growth, items, paper):
        monkeypatch.setattr(module, "measure", measure_here)


@pytest.mark.usefixtures("quick")
@pytest.mark.parametrize("name", CASES)
def test_every_case_runs_and_is_kept(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "python_with", lambda library: None)
    monkeypatch.setattr(answers, "judgements", partial(judgements, n_items=120))
    for program in ("LEARN", "INSTEAD"):
        monkeypatch.setattr(first_call, program, "import numpy")
    told: list[str] = []
    case = CASES[name]("tiny", told.append)
    assert case.name == name
    assert told
    assert all(row.seconds > 0 for row in case.rows)
    assert Case.load(case.save(tmp_path)).facts().keys() == case.facts().keys()
    assert [file.name for file in tmp_path.iterdir()] == [f"{name}.json"]


def test_what_the_published_code_lacks_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(octave.FOLDER, raising=False)
    assert "names no folder" in str(octave.missing())
    monkeypatch.setenv(octave.FOLDER, str(tmp_path))
    assert f"holds no {octave.FILE}" in str(octave.missing())
    (tmp_path / octave.FILE).write_text("another version")
    monkeypatch.setenv("PATH", "")
    assert octave.missing() == "octave-cli isn't installed"
    with pytest.raises(ValueError, match="expected the code of"):
        octave.project(np.eye(3), np.array([[0, 1]]), np.array([2]), 1, 0.9)


@pytest.mark.usefixtures("quick")
def test_all_ways_find_the_same_minimum() -> None:
    rows = {(row.task, row.way): row.facts for row in paper.run("tiny", lambda _: None).rows}
    least = rows[paper.OPTIMUM, "oddkernel, auto"]["divergence"]
    for (task, way), facts in rows.items():
        if task == paper.OPTIMUM and way.startswith("oddkernel"):
            assert facts["divergence"] == pytest.approx(least, rel=1e-6)
            assert facts["residual"] <= paper.TOLERANCE
    small = [facts["divergence"] for (task, _), facts in rows.items() if task == paper.SMALLER]
    assert small == pytest.approx([small[0]] * 3, rel=1e-3)
    passes = [facts for (task, _), facts in rows.items() if task == paper.TEN_PASSES]
    assert passes[0]["divergence"] == pytest.approx(passes[1]["divergence"], rel=1e-6)
    assert passes[2]["projections"] == passes[1]["projections"] > 0


def test_the_published_way_is_the_algorithm_with_rank_two_updates() -> None:
    random = np.random.default_rng(0)
    features = random.normal(size=(12, 5))
    shown = np.stack([random.permutation(12)[:3] for _ in range(6)])
    u, v = rows_of(features, shown, np.array([0, 1, 2, 0, 1, 2]))
    W, counts = rank_two_passes(u, v, 2.0, 1)
    root, projections = np.eye(5), 0
    for a, b in zip(u, v, strict=True):
        M = 2.0 * np.outer(a, a) - np.outer(b, b)
        if check(root, M) > 1e-8 * (2 * a @ root @ root.T @ a + b @ root @ root.T @ b):
            root = project(root, M)
            projections += 1
    assert projections == counts["projections"] > 0
    assert np.allclose(root @ root.T, W)


def test_a_measurement_is_a_process_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    measured = measure(measured_work.sum_twice, {"n": 1000})
    assert measured.facts == {"total": 499500}
    assert measured.seconds > 0
    assert measured.peak_mib > 1
    with pytest.raises(RuntimeError, match="no such thing"):
        measure(measured_work.fail)


def test_another_checkout_is_measured_with_its_own_code(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    for folder, where in (("src", "there"), ("benchmarks", "unused")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "somewhere.py").write_text(f"WHERE = {where!r}")
    assert measure(measured_work.say_where, checkout=tmp_path).facts == {"where": "there"}


@pytest.mark.usefixtures("quick")
def test_versions_are_compared_task_by_task(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(versions, "measure", measure_here)
    monkeypatch.setattr(versions, "TURNS", dict.fromkeys(versions.TURNS, 1))
    monkeypatch.setattr(answers, "judgements", partial(judgements, n_items=120))
    assert versions.main([str(ROOT), "--size", "tiny"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 7
    assert all(" s before " in line and " times; " in line for line in lines)
    with pytest.raises(SystemExit):
        versions.main([str(ROOT / "tests")])
    with pytest.raises(SystemExit):
        versions.main([str(ROOT), "nothing"])
    assert "there are paper, answers, items" in capsys.readouterr().err


def test_libraries_may_live_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert python_with("numpy") is not None
    monkeypatch.setenv("ODDKERNEL_PYTHON_NOWHERE", "/some/python")
    assert python_with("nowhere") == "/some/python"


def test_growth_is_the_slope_on_logarithmic_scales() -> None:
    grown = Growth("work", "items", [1.0, 10.0, 100.0], [3.0, 300.0, 30000.0])
    assert grown.exponent == pytest.approx(2)
    assert grown.last_exponent == pytest.approx(2)


def test_the_page_shows_what_was_kept(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no results there"):
        page.write(tmp_path)
    rows = [
        Row("task", "ours", 0.5, 0.5, 100.0, {"residual": 1e-9}),
        Row("task", "theirs", 1000.0, 1000.0, 200.0, scaled=True),
    ]
    Case("paper", "The title", "tiny", rows, notes=["A note."]).save(tmp_path)
    Case("growth", "Growth", "tiny", growth=[Growth("work", "items", [1.0, 10.0], [1.0, 10.0])]).save(tmp_path)
    written = page.write(tmp_path, tmp_path / "shown.md").read_text()
    assert "| ours | 0.5 | 1 | 0.5 | 100 | 1e-09 |" in written
    assert "| theirs | ~1,000 | 2,000 | ~1,000 | 200 |  |" in written
    assert (tmp_path / "_static" / "growth.svg").read_text().startswith("<?xml")


def test_the_page_says_what_more_items_would_cost(tmp_path: Path) -> None:
    facts = {"n_items": 1_000_000, "rank": 500}
    rows = [
        Row(items.COORDINATES, items.FLOAT32, 50.0, 100.0, 400.0, facts),
        Row(items.GROUPS, items.GROUPED, 30.0, 60.0, 300.0),
    ]
    Case("items", "A million items", "full", rows).save(tmp_path)
    written = page.text(page.load(tmp_path))
    assert "| 1,000,000 | 256 MB | 2 GB | 100 s | 60 s | 1 | 2 GB | 500 MB |" in written
    assert "| 1,000,000,000 | 256 GB | 2 TB | 27.8 h | 16.7 h | 1 | 2 TB | 500 GB |" in written


def test_the_documented_page_is_that_of_the_kept_results() -> None:
    assert (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8") == page.text(page.load(RESULTS))


@pytest.mark.usefixtures("quick")
def test_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert tuple(CASES) == bench.CASES
    assert main(["bench", "clustering", "--size", "tiny", "--out", "kept"]) == 0
    told = capsys.readouterr()
    assert "scikit-learn, KMeans in the coordinates" in told.out
    assert "measuring clustering" in told.err
    assert main(["bench", "clustering", "--size", "tiny", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["cases"][0]["rows"][0]["ratio"] == 1
    assert main(["bench", "page", "--out", "kept", "--page", "shown.md"]) == 0
    assert Path("shown.md").exists()
    assert main(["bench", "page", "--out", "nothing"]) == 2
    assert main(["bench", "page", "clustering"]) == 2
    assert "no results there" in capsys.readouterr().err
    monkeypatch.setattr("oddkernel.cli.bench.find_spec", lambda name: None)
    assert main(["bench", "paper"]) == 2
    assert sorted(os.listdir()) == ["kept", "shown.md"]


def test_what_choosing_costs_is_told(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    timed = choosing.timed
    monkeypatch.setattr(choosing, "timed", lambda name, n: timed(name, n // 4))  # also of what it begins with
    choosing.times(["random"], 400, 1, None, one_fit=True)
    told = capsys.readouterr().out
    assert told.startswith("random, 400 answers: ")
    assert "; one fit " in told
    assert "trials, chosen " in told


def test_answers_by_a_hidden_metric_are_drawn_as_many_as_asked_for() -> None:
    X, said = choosing.timed("millions", 1000)
    assert (len(X), len(said)) == (1854, 1000)
    assert (np.diff(np.sort(said.shown, axis=1), axis=1) > 0).all()
    assert said.decided.all()


@pytest.mark.skipif("ODDKERNEL_DATA" not in os.environ, reason="the paper's data sets are not here")
def test_the_chosen_ratio_is_compared_with_given_ones(capsys: pytest.CaptureFixture[str]) -> None:
    choosing.mixed(["vehicle"], 2)
    told = capsys.readouterr().out
    assert told.startswith("vehicle: chosen 0.")
    assert told.endswith("over 2 draws\n")


@pytest.mark.skipif("ODDKERNEL_DATA" not in os.environ, reason="the paper's data sets are not here")
def test_choosing_is_timed_on_the_draws_of_the_experiments() -> None:
    from oddkernel_experiments.questions import triples
    from oddkernel_experiments.samples import MULTICLASS, sample

    for name in ("vehicle", "scene", "usps"):
        items, _ = sample(name, 0)
        [n] = choosing.TIMED[name]
        X, said = choosing.timed(name, n)
        assert pytest.approx(items.X) == X
        assert said == triples(items, MULTICLASS, n, draw=0)
