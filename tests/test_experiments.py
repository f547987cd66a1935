"""The paper's experiments: the protocol, the results that are kept, and the pages made from them."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import oddkernel_experiments as experiments
import pandas as pd
import pytest
from networks import image_network
from oddkernel_experiments import (
    encoders,
    figures,
    forms,
    generalization,
    methods,
    next_question,
    people,
    questions,
    runner,
    samples,
    table1,
    things_dimensions,
    trials,
)
from oddkernel_experiments.means import Mean, drawn, means
from oddkernel_experiments.samples import BINARY, MULTICLASS, Items
from oddkernel_experiments.trials import FITTED, LEFT_OUT, SPREAD, UNASKED, Trial
from PIL import Image
from sklearn.utils import Bunch

from oddkernel import SKLR, Comparisons, datasets
from oddkernel.cli import main, reproduce
from oddkernel.comparisons import Kind
from oddkernel.items import read_source

pytestmark = pytest.mark.slow  # runs experiments

ROOT = Path(__file__).parents[1]
STORED = ROOT / "experiments" / "results"
OPPOSITE = ((1, 2), (0, 2), (0, 1))
PAPERS = ("vehicle", "scene", "usps")


def stand_in() -> Bunch:
    """Four clouds of 24 items; the first two are one group, the others another."""
    random = np.random.default_rng(0)
    target = np.repeat(np.arange(4), 24)
    # Many dimensions, so that answers which must all hold can.
    centres = np.pad([[0, 0], [0, 3], [6, 0], [6, 3]], ((0, 0), (0, 28)))
    return Bunch(data=centres[target] + random.normal(size=(96, 30)), target=target, binary=target // 2)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Stand-ins for the paper's data sets, with which everything takes moments."""
    for name, per_class in (("vehicle", None), ("scene", 12), ("usps", 12)):
        monkeypatch.setitem(samples.DATASETS, name, samples.DataSet(name.capitalize(), stand_in, 4, per_class))
    caches = (samples.everything, samples.sample, next_question._features)
    for cached in caches:
        cached.cache_clear()
    yield
    for cached in caches:
        cached.cache_clear()


@pytest.fixture(autouse=True)
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def facts(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert main(["reproduce", *arguments, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def some_trials(draws: int = 2) -> list[Trial]:
    return [Trial("usps", method, BINARY, 48, draw) for draw in range(draws) for method in ("kkm", "sklr", "itml")]


def quiet(_: str) -> None:
    pass


# The command


@pytest.mark.usefixtures("small")
def test_table1_goes_on_where_it_ended(capsys: pytest.CaptureFixture[str]) -> None:
    n_trials = len(table1.trials(1))
    first = facts(capsys, "table1", "--draws", "1")
    assert first["measured"] == n_trials
    assert facts(capsys, "table1", "--draws", "1")["measured"] == 0
    second = facts(capsys, "table1", "--draws", "2")
    assert second["measured"] == n_trials
    mean = second["table1"]["means"]["usps binary sklr"]
    assert mean["draws"] == 2
    assert -0.5 <= mean["mean"] <= 1
    assert set(second["table1"]["reached"]) == set(second["table1"]["above_rivals"])
    page = Path(second["page"]).read_text()
    assert "(0.715)" in page  # the paper's figure beside ours
    assert "mean ± standard error over" in page
    assert facts(capsys, "table1", "--draws", "2", "--again", "itml")["measured"] == 12


@pytest.mark.skipif(
    not all(Path(os.environ.get("ODDKERNEL_DATA", "absent"), datasets.SOURCES[name].file).exists() for name in PAPERS),
    reason="ODDKERNEL_DATA names no folder with vehicle.scale, usps_all.mat and scene_gist.npz",
)
def test_table1_on_the_papers_data(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    columns = table1.COLUMNS
    # The methods whose figures are compared here; the others run on the stand-ins.
    for name in ("COLUMNS", "SETTINGS"):
        monkeypatch.setattr(table1, name, ["sklr", "sklr_paper", *methods.RIVALS])
    found = facts(capsys, "table1", "--draws", "2")["table1"]
    assert len(found["above_rivals"]) == len(table1.GOAL)
    assert all(found["above_rivals"].values()), found["above_rivals"]
    for cell in table1.GOAL:
        exact, papers = (found["means"][f"{cell.dataset} {cell.resolution} {name}"] for name in ("sklr", "sklr_paper"))
        assert exact["mean"] > papers["mean"] - 0.1
        assert exact["mean"] > 0.9 * max(cell.printed(method) or 0.0 for method in columns)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("name", [name for name in reproduce.PAPER if name != "table1"])
def test_every_experiment_runs(name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oddkernel_experiments.curves.LABELLED", (3,))
    monkeypatch.setattr("oddkernel_experiments.noise.LEVELS", (0.0, 0.4))
    monkeypatch.setattr("oddkernel_experiments.noise.LABELLED", 3)
    monkeypatch.setattr("oddkernel_experiments.equalities.NUMBERS", (0, 5))
    monkeypatch.setattr("oddkernel_experiments.equalities.LABELLED", 3)
    monkeypatch.setattr("oddkernel_experiments.map.LABELLED", 3)
    monkeypatch.setitem(experiments.paper.RUNNING_TIME, "comparisons", 20)
    found = facts(capsys, name, "--draws", "1")
    assert found["measured"] > 0
    assert experiments.EXPERIMENTS[name].compute(Path(found["results"]), draws=1, jobs=1, tell=quiet) == 0
    page = Path(found["page"]).read_text()
    for figure in Path("oddkernel-paper", name).glob("*"):
        assert f"({name}/{figure.name})" in page
    assert page.count("## ") == 1


@pytest.mark.usefixtures("small")
def test_the_next_question_runs_on_classes(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(next_question, "NAMES", {"usps": "USPS Digits"})
    monkeypatch.setattr(next_question, "POINTS", 2)
    monkeypatch.setitem(next_question.ASKED, "usps", 20)
    found = facts(capsys, "next_question", "--draws", "2")
    assert found["measured"] == 2 * (10 + 5)
    assert next_question.EXPERIMENT.compute(Path(found["results"]), draws=2, jobs=1, tell=quiet) == 0
    assert facts(capsys, "next_question", "--draws", "2", "--again", "diverse")["measured"] == 4
    page = Path(found["page"]).read_text()
    assert "![What the next question is worth](next_question/next_question.svg)" in page
    assert page.count("the goal of at most") == 2
    curves = found["next_question"]["rand"]
    assert curves["usps 0.0 diverse 20"]["draws"] == 2


def test_measuring_a_policy_anew_leaves_the_files_of_other_experiments_alone(tmp_path: Path) -> None:
    shutil.copytree(STORED, tmp_path, dirs_exist_ok=True)
    before = sorted(tmp_path.rglob("*.parquet"))
    experiments.forget(tmp_path, ["auto"])
    changed = set(before) ^ set(tmp_path.rglob("*.parquet"))
    assert {file.parent.name for file in changed} == {"next_question"}
    assert "auto" not in set(next_question.results(tmp_path).read()["policy"])


def test_the_default_policy_is_compared_with_random_questions_in_the_same_draws() -> None:
    by_chance = {0: 0.5, 1: 0.1, 2: 0.9}  # much farther apart than the policies are
    rows = [
        {"dataset": "usps", "policy": policy, "noise": 0.0, "draw": draw, "n_answers": n, "rand": r + d, "agreement": r}
        for draw, r in by_chance.items()
        for n, lead in ((20, -0.1), (40, 0.1))
        for policy, d in (("random", 0.0), (next_question.DEFAULT, lead + 0.01 * draw))
    ]
    below, *where = next_question._paired(pd.DataFrame(rows))
    assert "at 1 of 4 points" in below
    assert below.endswith("at 1.")
    assert where == ["*auto* below random, USPS Digits, Adjusted Rand index: at 20 (−0.090 ± 0.006)."]
    assert next_question._paired(pd.DataFrame(rows[:4])) == []  # a single draw
    assert next_question._paired(pd.DataFrame(rows), "prototypes") == []  # not measured


def test_a_figure_of_many_curves_is_a_small_file() -> None:
    curves = [
        figures.Curve(name, [(n, Mean(0.1 * n, 0.01, 3, 0)) for n in range(1, 11)], {"color": colour})
        for name, colour in (("one <b>", "#555555"), ("other", "#e15759"))
    ]
    drawn = figures.panels([figures.Panel(f"panel {k}", "index", curves) for k in range(4)], "questions")
    assert drawn == figures.panels([figures.Panel(f"panel {k}", "index", curves) for k in range(4)], "questions")
    texts = [text.text for text in ElementTree.fromstring(drawn).iter("{http://www.w3.org/2000/svg}text")]
    assert {"panel 3", "one <b>", "other", "questions", "index"} <= set(texts)
    assert texts.count("other") == 1
    assert not re.search(rb"[ML] \d+\.\d\d", drawn)
    assert len(drawn) < 60_000


def test_the_next_question_plays_back_what_people_said(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 3))
    shown = np.sort(np.array([rng.choice(30, 3, replace=False) for _ in range(150)]), axis=1)
    said = {
        "things": Comparisons.odd_one_out(shown, rng.integers(3, size=150)),
        "cars60": Comparisons.most_central(shown[:, 0], shown[:, 1:]),
    }
    monkeypatch.setattr(next_question, "recorded", lambda dataset: (X, said[dataset]))
    monkeypatch.setattr(next_question, "THINGS", 30)
    next_question._recorded.cache_clear()
    for dataset in said:
        monkeypatch.setitem(next_question.ASKED, dataset, 50)
        rows = next_question.measure(next_question.Asking(dataset, "diverse", 0.0, 0))
        assert [row["n_answers"] for row in rows] == list(range(5, 51, 5))
        assert all(0 <= row["agreement"] <= 1 and np.isnan(row["rand"]) for row in rows)
    next_question._recorded.cache_clear()


def test_an_encoder_is_held_against_gist(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    colours = rng.uniform(size=(24, 3))
    (tmp_path / "photos").mkdir()
    for number, colour in enumerate(colours):  # noise hides the colours from GIST, not from the network
        noise = rng.normal(scale=80.0, size=(32, 32, 1))
        pixels = np.clip(255 * colour + noise, 0, 255).astype(np.uint8)
        Image.fromarray(pixels).save(tmp_path / "photos" / f"{number:02}.png")
    source = read_source(tmp_path / "photos")
    shown = np.array([rng.choice(24, 3, replace=False) for _ in range(400)])
    opposite = np.stack([np.linalg.norm(colours[shown[:, i]] - colours[shown[:, j]], axis=1) for i, j in OPPOSITE])
    central = opposite.argmax(axis=0)
    others = np.array([np.delete(row, place) for row, place in zip(shown, central, strict=True)])
    said = Comparisons.most_central(shown[np.arange(400), central], others)
    monkeypatch.setattr(encoders, "cars", lambda: (source, said))
    monkeypatch.setattr(people, "SKLR", partial(SKLR, loss="softmax", penalty=0.1))  # nothing to choose: quick
    network = str(image_network(tmp_path / "mean.onnx", ["n", 3, 8, 8]))

    found = facts(capsys, "encoders", "--with", network, "--draws", "2")
    assert found["measured"] == 2 * (3 + 3 + 2)
    assert facts(capsys, "encoders", "--with", network, "--draws", "2")["measured"] == 0
    means = found["encoders"]["means"]
    (name,) = {key.rpartition(" before")[0] for key in means if key.startswith("mean.onnx") and "before" in key}
    assert means[f"{name} before 0"]["mean"] > means["gist before 0"]["mean"]
    assert min(means[f"{each} sklr 0"]["mean"] for each in (name, "gist", "none")) > 0.6
    assert facts(capsys, "encoders", "--draws", "3")["measured"] == 3 + 2  # the stored encoder stays on the page
    page = Path(found["page"]).read_text()
    assert f"| {name} | " in page
    assert f"{name} minus GIST and colours, paired by draw: +" in page
    (tmp_path / "photos" / "03.png").write_bytes(b"no picture")
    assert main(["reproduce", "encoders", "--with", network, "--results", "new"]) == 2
    assert "expected features of all 24 photographs" in capsys.readouterr().err


def test_the_next_question_asks_people_without_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(next_question.ASKED, next_question.GRADUAL, 20)
    rows = next_question.measure(next_question.Asking(next_question.GRADUAL, "random", 0.0, 0))
    assert [row["n_answers"] for row in rows] == list(range(2, 21, 2))
    assert all(0.3 < row["agreement"] <= 1 and np.isnan(row["rand"]) and row["undecided"] < 0.8 for row in rows)


@pytest.mark.usefixtures("small")
def test_forms_are_compared_at_equal_costs(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(forms, "PER_CLASS", dict.fromkeys(PAPERS, 12))
    monkeypatch.setattr(forms, "ASKED", 18)
    monkeypatch.setattr(forms, "AT", {"grid": (3, 6, 9, 18), **dict.fromkeys(("odd", "anchor", "central"), (6, 18))})
    found = facts(capsys, "forms", "--draws", "2")
    assert found["measured"] == 2 * 3 * 2 * 2 * 4
    assert forms.EXPERIMENT.compute(Path(found["results"]), draws=2, jobs=1, tell=quiet) == 0
    assert found["forms"]["rand"]["usps class 0.1 grid 9"]["draws"] == 2
    assert all(" class " in key for key in found["forms"]["rand"])
    page = Path(found["page"]).read_text()
    assert page.index("What was assumed about people") < page.index("![What a form is worth](forms/forms.svg)")
    assert "- Adjusted rand index: with half of the items shown, 3 grids reach what 18 odd-one-outs reach in" in page
    assert page.count("of 6 settings") == page.count("of 12 settings") == 4


def test_forms_ask_what_they_say() -> None:
    person = forms.ByMetric(np.random.default_rng(0).normal(size=(20, 2)))
    for form in forms.FORMS:
        said, ends = forms.answers(form, person, 20, 7, np.random.default_rng(1))
        assert (said.n_answers, ends[7], ends[0]) == (7, len(said), 0)
        assert said[: ends[3]].n_answers == 3
        assert len(np.unique(said[: ends[1]].shown)) == forms.SHOWN[form]


def test_a_policy_below_random_is_named() -> None:
    rows = [
        {"dataset": "usps", "noise": 0.0, "policy": policy, "draw": draw, "n_answers": n, "rand": value + 0.01 * draw,
         "agreement": 0.5, "undecided": 0.5}
        for policy, values in (("random", (0.3, 0.5)), ("auto", (0.2, 0.6))) for draw in range(2)
        for n, value in zip((100, 200), values, strict=True)
    ]  # fmt: skip
    shown = next_question.outcome(pd.DataFrame(rows))
    sentence = "needs 175 questions to reach what 200 random ones reach; the goal of at most 100 is missed."
    assert sentence in shown.remarks[0]
    assert shown.remarks[1:] == [
        "Worse than random by more than the error bars: auto on USPS Digits, Adjusted Rand index, at 100.",
        "In the same draws, the default policy is below random by more than the standard error of the difference at "
        "1 of 4 points of the curves, by more than two at 1.",
        "*auto* below random, USPS Digits, Adjusted Rand index: at 100 (−0.100 ± 0.000).",
    ]


@pytest.mark.usefixtures("small")
def test_several_processes_measure_the_same(tmp_path: Path) -> None:
    stores = [trials.results(tmp_path / name) for name in ("one", "two")]
    # Workers are new processes, to which the stand-ins are unknown: measuring happens in threads here.
    from joblib import parallel_config

    for jobs, store in enumerate(stores, 1):
        with parallel_config(backend="threading"):
            assert runner.run(some_trials(1), store, jobs=jobs, tell=quiet) == 3
    one, two = (store.read().sort_values("method")["rand"].tolist() for store in stores)
    assert one == two


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("table1 --draws 0", "--draws 0; expected a number of at least 1"),
        ("table1 --jobs 0", "--jobs 0; expected a number of at least 1"),
        ("table1 --with clip", "--with clip; only the experiment encoders takes it"),
        ("encoders --answers 9", "--answers 9; only the experiment unseen takes it"),
        ("encoders --with absent.onnx", "absent.onnx: no such file; expected an encoder in ONNX format"),
        ("table1 --again nothing", "--again nothing; expected one of kkm, "),
        ("table2", "invalid choice"),
    ],
)
def test_what_the_user_can_mend_takes_one_line(command: str, sentence: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        status = main(["reproduce", *command.split()])
    except SystemExit as end:  # argparse's way
        status = int(end.code or 0)
    assert status == 2
    assert sentence in capsys.readouterr().err.splitlines()[-1]


def test_missing_data_is_said_before_any_work(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("ODDKERNEL_DATA", str(tmp_path))
    monkeypatch.setattr(datasets, "_download", lambda url, path: (_ for _ in ()).throw(OSError(f"{path} isn't there")))
    samples.everything.cache_clear()
    assert main(["reproduce", "table1"]) == 2
    assert "isn't there" in capsys.readouterr().err.splitlines()[-1]
    assert not Path("oddkernel-paper").exists()


def test_missing_packages_are_named(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduce, "find_spec", lambda name: None)
    assert main(["reproduce", "table1"]) == 2
    assert 'need matplotlib and pandas and pyarrow: pip install "oddkernel[paper]"' in capsys.readouterr().err


def test_the_command_knows_every_experiment() -> None:
    assert {*reproduce.PAPER, *reproduce.PEOPLE, *reproduce.OURS} == set(experiments.EXPERIMENTS)
    assert set(figures.STYLE) <= set(methods.METHODS)


# Results that are kept


@pytest.mark.usefixtures("small")
def test_an_interrupted_run_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store, measure = trials.results(tmp_path), runner.measure
    measured = []

    def interrupted(trial: Trial) -> list[dict[str, Any]]:
        if len(measured) == 2:
            raise KeyboardInterrupt
        measured.append(trial)
        return measure(trial)

    monkeypatch.setattr(runner, "measure", interrupted)
    with pytest.raises(KeyboardInterrupt):
        runner.run(some_trials(), store, jobs=1, tell=quiet)
    assert len(store.read()) == 2
    monkeypatch.setattr(runner, "measure", measure)
    assert runner.run(some_trials(), store, jobs=1, tell=quiet) == 4
    assert len(store.read()) == 6


@pytest.mark.usefixtures("small")
def test_a_half_written_file_costs_only_itself(tmp_path: Path) -> None:
    store = trials.results(tmp_path)
    runner.run(some_trials(1), store, jobs=1, tell=quiet)
    kept = store.read()
    store.append(trials.measure(some_trials(2)[-1]))
    newest = max(tmp_path.glob("*.parquet"))
    newest.write_bytes(newest.read_bytes()[:-100])
    with pytest.warns(UserWarning, match="no complete file of results .* is computed again, all else stays"):
        assert store.read().equals(kept)
    assert newest.with_suffix(".damaged").exists()
    assert runner.run(some_trials(), store, jobs=1, tell=quiet) == 3


@pytest.mark.usefixtures("small")
def test_other_settings_are_another_measurement(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = trials.results(tmp_path)
    runner.run(some_trials(1), store, jobs=1, tell=quiet)
    changed = methods.Method("ITML", methods.PAIRS, methods.ITML, {"slack": 2.0})
    monkeypatch.setitem(methods.METHODS, "itml", changed)
    assert trials.missing(some_trials(1), store.read()) == [some_trials(1)[-1]]
    assert len(trials.select(some_trials(1), store.read())) == 2


@pytest.mark.usefixtures("small")
def test_items_left_out_are_scored_when_asked(tmp_path: Path) -> None:
    store = trials.results(tmp_path)
    asked, plain = (Trial("usps", "sklr", questions.MIXED, 24, 0, left_out=wanted) for wanted in (True, False))
    store.append(trials.measure(asked))
    rows = store.read()
    assert set(zip(rows["resolution"], rows["items"], strict=True)) == {
        (resolution, place) for resolution in (BINARY, MULTICLASS) for place in (FITTED, UNASKED, LEFT_OUT, SPREAD)
    }
    assert trials.missing([plain, asked], rows) == []  # who scores them has scored the others
    store.drop(rows["items"] == SPREAD)
    assert trials.missing([plain, asked], store.read()) == [asked]


@pytest.mark.usefixtures("small")
def test_a_classifier_told_every_class_is_scored_on_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "ENOUGH", 10)
    rows = trials.measure(Trial("usps", "told", BINARY, 0, 0, left_out=True))
    index = {row["items"]: row["rand"] for row in rows}
    assert index[FITTED] > 0.9
    assert index[LEFT_OUT] > 0.5
    assert np.isnan(index[UNASKED])  # there are none
    assert {row["resolution"] for row in rows} == {BINARY}

    some = trials.measure(Trial("usps", "told", questions.MIXED, 6, 0, left_out=True))
    assert {row["resolution"] for row in some} == {BINARY, MULTICLASS}
    index = {row["items"]: row["rand"] for row in some if row["resolution"] == MULTICLASS}
    assert index[FITTED] > max(index[UNASKED], index[LEFT_OUT])  # it keeps what it was told


def test_items_left_out_are_held_against_those_not_asked_about_where_there_are_enough() -> None:
    rows = pd.DataFrame(
        [
            {
                "dataset": "usps",
                "method": "ssklr",
                "answers": BINARY,
                "resolution": BINARY,
                "n_answers": questions.count(labelled, 10),
                "items": place,
                "draw": draw,
                "rand": index,
            }
            for labelled, unasked in ((5, [0.7, 0.7, np.nan]), (9, [0.2, np.nan, np.nan]))
            for place, indices in (
                (FITTED, [0.8] * 3),
                (UNASKED, unasked),
                (LEFT_OUT, [0.69] * 3),
                (SPREAD, [0.73, 0.74, 0.75] if labelled == 5 else [np.nan] * 3),
            )
            for draw, index in enumerate(indices)
        ]
    )
    outcome = generalization.outcome(rows)
    summary, places = outcome.tables[:2]
    assert [line[1:] for line in summary.rows] == [
        ["0 of 1 (0); +0.110, +0.110", "1 of 1 (1); +0.010, +0.010", "0 of 1 (1); +0.060, +0.060"],
        ["0 of 2 (0); +0.110, +0.110", "1 of 1 (1); +0.010, +0.010", "0 of 1 (1); +0.060, +0.060"],
    ]
    first, second = places.rows
    assert first[1:6] == ["0.800 ± 0.000", "0.700 ± 0.000", "0.690 ± 0.000", "0.740 ± 0.006", "+0.060 ± 0.006"]
    assert [second[j] for j in (2, 4, 5)] == ["–"] * 3


def test_contradicting_answers_leave_no_index(monkeypatch: pytest.MonkeyPatch, small: None) -> None:
    hopeless = methods.Method("SKLR", methods.TRIPLES, methods.SKLR, {"penalty": np.inf, "rank": 1})
    monkeypatch.setitem(methods.METHODS, "sklr", hopeless)
    (row,) = trials.measure(Trial("usps", "sklr", MULTICLASS, 300, 0, noise=0.5))
    assert np.isnan(row["rand"])
    assert "hold" in row["note"]


# The protocol


def items() -> Items:
    found = stand_in()
    return Items(found.data, {MULTICLASS: found.target, BINARY: found.binary})


@pytest.mark.parametrize(("dataset", "expected"), [("vehicle", 80), ("scene", 160), ("usps", 200)])
def test_as_many_answers_as_in_the_paper(dataset: str, expected: int) -> None:
    n_classes = samples.DATASETS[dataset].n_classes
    assert questions.count(table1.LABELLED, n_classes) == expected
    assert {trial.n_answers for trial in table1.trials(1) if trial.dataset == dataset} == {expected}


@pytest.mark.parametrize("answers", [BINARY, MULTICLASS])
@pytest.mark.parametrize("noise", [0.0, 0.25])
def test_pairs_among_the_labelled(answers: str, noise: float) -> None:
    there = items()
    n = questions.count(5, 4)
    said = questions.pairs(there, answers, n, noise=noise, draw=3)
    alike = there.labels[answers][said.shown[:, 0]] == there.labels[answers][said.shown[:, 1]]
    wrong = alike != (said.kind == Kind.MUST_LINK)
    assert len(said) == n
    assert len(said.constrained) <= 20
    assert alike.sum() == n // 2
    assert wrong.sum() == round(noise * n)


@pytest.mark.parametrize("noise", [0.0, 0.25])
def test_triples_by_class(noise: float) -> None:
    there = items()
    said = questions.triples(there, MULTICLASS, 80, noise=noise, equalities=7, draw=3)
    decided = said[~said.undecided]
    kinds = there.labels[MULTICLASS][decided.shown]
    odd = np.array([[(row != kind).sum() == 2 for kind in row] for row in kinds])
    assert (len(said), len(decided)) == (87, 80)
    assert odd[np.arange(80), decided.odd].sum() == 80 - round(noise * 80)


def test_noise_and_equalities_leave_the_questions_as_they_are() -> None:
    plain, noisy, more = (
        questions.triples(items(), MULTICLASS, 40, noise=noise, equalities=n, draw=1)
        for noise, n in ((0.0, 0), (0.5, 0), (0.0, 9))
    )
    assert np.array_equal(plain.shown, noisy.shown)
    assert np.array_equal(plain.shown, more.shown[:40])


def test_mixed_answers_join_both_resolutions() -> None:
    mixed = questions.triples(items(), questions.MIXED, 40, draw=1)
    assert mixed == questions.triples(items(), BINARY, 40, draw=1) + questions.triples(items(), MULTICLASS, 40, draw=1)
    assert len(questions.pairs(items(), questions.MIXED, 80, draw=1)) == 160


@pytest.mark.usefixtures("small")
def test_draws_are_repeatable_and_leave_the_others_out() -> None:
    taken, left = samples.sample("usps", 1)
    samples.sample.cache_clear()
    again, _ = samples.sample("usps", 1)
    assert np.array_equal(taken.X, again.X)
    assert (len(taken), len(left)) == (48, 48)
    assert np.bincount(taken.labels[MULTICLASS]).tolist() == [12] * 4
    assert not {tuple(x) for x in taken.X} & {tuple(x) for x in left.X}
    whole = samples.everything("vehicle").X
    assert np.allclose(whole.mean(axis=0), 0)
    assert np.allclose(whole.std(axis=0), 1)


# Means and the page


def test_means_and_standard_errors() -> None:
    rows = pd.DataFrame({"method": ["a"] * 3 + ["b"], "rand": [0.1, 0.3, np.nan, 0.5]})
    found = means(rows, ["method"])
    assert found["a",] == (pytest.approx(0.2), pytest.approx(0.1), 2, 1)
    assert str(found["a",]) == "0.200 ± 0.100"
    assert str(found["b",]) == "0.500"
    assert drawn(found) == "1 to 2 draws"


def test_the_page_is_what_the_stored_results_show(tmp_path: Path) -> None:
    assert main(["reproduce", "page", "--results", str(STORED), "--out", str(tmp_path)]) == 0
    written, committed = tmp_path / "paper.md", ROOT / "docs" / "paper.md"
    assert written.read_text() == committed.read_text()
    assert {file.name for file in (tmp_path / "paper").iterdir()} == {
        file.name for file in (ROOT / "docs" / "paper").iterdir()
    }


def test_a_page_of_no_results(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    page = ["reproduce", "page", "--out", str(tmp_path / "out"), "--results"]
    assert main([*page, str(tmp_path / "results")]) == 2
    assert "no results are there; measure some first" in capsys.readouterr().err
    assert main([*page, str(tmp_path)]) == 0


@pytest.mark.parametrize("name", [*reproduce.PEOPLE, *reproduce.OURS])
def test_our_own_pages_are_what_the_stored_results_show(name: str, tmp_path: Path) -> None:
    if name == "unseen" and not (STORED / name).exists():  # a page is committed together with its results
        assert not (ROOT / "docs" / f"{name}.md").exists()
        return
    shown = experiments.EXPERIMENTS[name].show(STORED, draws=30)
    written = experiments.write(tmp_path, name, {name: shown})
    assert written.read_text() == (ROOT / "docs" / f"{name}.md").read_text()
    assert all((ROOT / "docs" / name / figure).exists() for figure in shown.figures)


def test_the_dimensions_of_things_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    groups = np.arange(45) % 3
    X = 2 * np.eye(3)[groups] + 0.2 * rng.normal(size=(45, 3))
    said = Comparisons.from_labels(groups, 500, noise=0.1, random_state=0)
    monkeypatch.setattr(things_dimensions, "recorded", lambda dataset: (X, said))
    names = SimpleNamespace(names=[f"object_{row}" for row in range(45)])
    monkeypatch.setattr(things_dimensions, "load_things", lambda: names)
    usual = {"loss": "softmax", "penalty": 0.1, "verbose": 0}
    monkeypatch.setattr(things_dimensions, "_kernel", lambda X, said: SKLR("linear", **usual).fit(X, said))
    monkeypatch.setattr(things_dimensions, "N_DIMENSIONS", 3)
    experiment = things_dimensions.EXPERIMENT
    assert experiment.compute(tmp_path, draws=1, jobs=1, tell=quiet) == 3
    assert experiment.compute(tmp_path, draws=1, jobs=1, tell=quiet) == 0
    outcome = experiment.show(tmp_path, draws=1)
    assert [row[0] for row in outcome.tables[0].rows] == list(things_dimensions.PARTS)
    assert "object " in outcome.markdown()
    new = [row["new_objects"] for row in outcome.facts["rows"] if row["part"] == "objects left out"]
    assert min(new) > 0.8
