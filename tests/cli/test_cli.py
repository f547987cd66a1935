from __future__ import annotations

import csv
import json
import os
import re
import runpy
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pages import ROOT, agrees, blocks

import oddkernel
from oddkernel import Comparisons, KernelKMeans, formats, models
from oddkernel.cli import COMMANDS, PATIENT_THREADS, _parser, main
from oddkernel.cli.summary import Summary, working
from oddkernel.cluster import spread

NAMES = [f"item {i}" for i in range(30)]
LABELS = np.arange(30) % 3
X = np.random.default_rng(0).normal(size=(30, 4)) + LABELS[:, None]
SAID = Comparisons.from_labels(LABELS, 40, random_state=0, items=NAMES)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with features and answers that fit."""
    monkeypatch.chdir(tmp_path)
    np.save("features.npy", X)
    with Path("features.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [["item", *"abcd"], *([name, *row] for name, row in zip(NAMES, X.tolist(), strict=True))]
        )
    formats.write(SAID, "answers.csv")
    formats.write(Comparisons.from_labels(LABELS, 40, random_state=0), "indices.jsonl")
    return tmp_path


def run(*arguments: str) -> int:
    try:
        return main(arguments)
    except SystemExit as end:  # argparse's way
        return int(end.code or 0)


def facts(capsys: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    assert run(*arguments, "--json") == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def test_from_features_and_answers_to_groups(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fit", "features.csv", "answers.csv", "--out", "model.oddkernel") == 0
    told = capsys.readouterr().out
    assert "30 items with 4 features, joined by name." in told
    assert "40 odd-one-out answers" in told
    assert "The kernel is the optimum" in told
    model = models.load("model.oddkernel")
    assert model.comparisons_.items == tuple(NAMES)
    frame = pd.DataFrame(X, columns=list("abcd"))

    assert run("transform", "features.csv", "--model", "model.oddkernel", "--out", "coordinates.csv") == 0
    with Path("coordinates.csv").open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header[:2] == ["item", "sklr0"]
    assert [row[0] for row in rows] == NAMES
    assert np.array_equal(np.array([row[1:] for row in rows], dtype=float), model.transform(frame))

    assert (
        run("cluster", "features.csv", "--model", "model.oddkernel", "-k", "3", "-k", "5", "--out", "groups.csv") == 0
    )
    assert "3 groups of" in capsys.readouterr().out
    with Path("groups.csv").open(newline="") as file:
        groups = list(csv.DictReader(file))
    expected = KernelKMeans(n_clusters=3, random_state=0).fit_predict(model.kernel_matrix(frame))
    assert [int(row["group_of_3"]) for row in groups] == expected.tolist()
    assert len({row["group_of_5"] for row in groups}) == 5


def test_known_groups_spread_to_the_other_items(capsys: pytest.CaptureFixture[str]) -> None:
    facts(capsys, "fit", "features.csv", "answers.csv", "--out", "m")
    kinds = ["fish", "bird", "worm"]
    lines = [f"{name},{kinds[label]},{label}" for name, label in zip(NAMES, LABELS, strict=True)]
    lines[1] = f"{NAMES[1]},,{LABELS[1]}"  # no kind given
    Path("known.csv").write_text("\n".join(["item,kind,number", *lines[:20]]))
    told = facts(capsys, "cluster", "features.csv", "--model", "m", "--known", "known.csv", "--out", "g.parquet")
    assert (told["n_items"], told["n_known"]) == (30, {"kind": 19, "number": 20})
    groups = pd.read_parquet("g.parquet")
    model, frame = models.load("m"), pd.DataFrame(X, columns=list("abcd"))
    known = np.where(np.arange(30) < 20, LABELS, -1)
    assert groups["item"].tolist() == NAMES
    assert groups["number"].tolist() == spread(model.transform(frame), known).tolist()
    known[1] = -1
    assert groups["kind"].tolist() == [kinds[label] for label in spread(model.transform(frame), known)]
    assert told["sizes"]["number"] == sorted(groups["number"].value_counts(), reverse=True)

    assert run("fit", "features.npy", "indices.jsonl", "--out", "m") == 0
    assert run("cluster", "features.npy", "--model", "m", "-k", "3", "--out", "all.csv") == 0
    pd.read_csv("all.csv").head(25).to_csv("some.csv", index=False)
    assert run("cluster", "features.npy", "--model", "m", "--known", "some.csv", "--out", "again.csv") == 0
    assert "group_of_3: 25 of 30 items had a group; now all are in groups of" in capsys.readouterr().out
    assert pd.read_csv("again.csv").head(25).equals(pd.read_csv("all.csv").head(25))
    Path("some.csv").write_text("row,kind\n30,a")
    assert run("cluster", "features.npy", "--model", "m", "--known", "some.csv", "--out", "again.csv") == 2
    assert "no item '30' among the features; expected a whole number from 0 to 29" in capsys.readouterr().err


def test_numbers_that_are_names_stay_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    facts(capsys, "fit", "features.csv", "answers.csv", "--out", "m")
    Path("known.csv").write_text("name,code,large\nitem 0,01,99999999999999999999\nitem 1,1,2")
    facts(
        capsys,
        "cluster",
        "features.csv",
        "--model",
        "m",
        "--names",
        "item",
        "--known",
        "known.csv",
        "--out",
        "g.parquet",
    )
    groups = pd.read_parquet("g.parquet")
    assert groups["code"].tolist()[:2] == ["01", "1"]
    assert groups["large"].tolist()[:2] == ["99999999999999999999", "2"]


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("species,kind\nitem 0,a", "no column called item or name says which item is meant; there are species, kind"),
        ("item\nitem 0", "a column of groups is missing beside item"),
        ("item,\nitem 0,a", "a column without a name beside item"),
        ("item,kind,kind\nitem 0,a,b", "known.csv: column 'kind' stands twice"),
        ("item,kind\nitem 0,a\nitem 99,b", "row 1: no item 'item 99' among the features; expected the features of all"),
        ("item,kind\nitem 0,a\nitem 0,b", "rows 0 and 1: both are about 'item 0'"),
        ("item,kind\nitem 0, ", "known.csv: kind: every cell is empty"),
        ("item,kind\nitem 4,a\nitem 3,-1", "row 1, kind: -1; expected a group, or an empty cell"),
        ("item,kind\n" + "\n".join(f"{name},a" for name in NAMES), "every item has a group"),
    ],
)
def test_known_groups_that_say_nothing_clear_are_refused(
    table: str, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("fit", "features.csv", "answers.csv", "--out", "m") == 0
    Path("known.csv").write_text(table)
    assert run("cluster", "features.csv", "--model", "m", "--known", "known.csv", "--out", "g.csv") == 2
    assert sentence in capsys.readouterr().err
    assert not Path("g.csv").exists()


@pytest.mark.parametrize(("option", "used"), [("auto", "standard"), ("standard", "standard"), ("none", None)])
def test_units(capsys: pytest.CaptureFixture[str], option: str, used: str | None) -> None:
    np.save("unlike.npy", X * np.geomspace(1, 100, X.shape[1]))
    words = ("fit", "unlike.npy", "indices.jsonl", "--out", "m", "--penalty", "1", "--scaling", option)
    assert facts(capsys, *words)["scaling"] == used
    assert run(*words) == 0
    assert ("The features were standardised." in capsys.readouterr().out) == (used == "standard")


def test_facts_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    fit = facts(capsys, "fit", "features.npy", "indices.jsonl", "--out", "m", "--solver", "newton", "--rank", "2")
    assert (fit["joined_by"], fit["n_answers"], fit["status"], fit["rank"]) == ("position", 40, "optimal", 2)
    assert facts(capsys, "transform", "features.npy", "--model", "m", "--out", "z.npy")["n_coordinates"] == 2
    assert np.load("z.npy").shape == (30, 2)
    assert facts(capsys, "cluster", "features.npy", "--model", "m", "-k", "2", "--out", "g.parquet")["sizes"]["2"]
    assert facts(capsys, "convert", "answers.csv", "a.parquet")["items_by"] == "name"
    assert formats.read("a.parquet") == SAID


def test_many_items_are_grouped_in_blocks(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    facts(capsys, "fit", "features.npy", "indices.jsonl", "--out", "m")
    few = facts(capsys, "cluster", "features.npy", "--model", "m", "-k", "3", "--out", "few.csv")["sizes"]
    monkeypatch.setattr("oddkernel.cli.cluster.MANY", 20)
    assert sum(few["3"]) == sum(
        facts(capsys, "cluster", "features.npy", "--model", "m", "-k", "3", "--out", "g.csv")["sizes"]["3"]
    )
    assert run("cluster", "features.npy", "--model", "m", "-k", "3", "-k", "2", "--out", "g.parquet") == 0
    assert "By mini-batch k-means in learned coordinates" in capsys.readouterr().out
    assert pd.read_parquet("g.parquet").columns.tolist() == ["row", "group_of_3", "group_of_2"]
    assert run("transform", "features.npy", "--model", "m", "--float32", "--out", "z.npy") == 0
    assert np.load("z.npy").dtype == np.float32


@pytest.mark.parametrize("learned", [False, True])
def test_every_command_says_whether_anything_was_learned(learned: bool, capsys: pytest.CaptureFixture[str]) -> None:
    Path("known.csv").write_text("row,kind\n0,a\n1,b\n")
    fit = ("fit", "features.npy", "indices.jsonl", "--out", "m", "--penalty", "1" if learned else "0")
    assert facts(capsys, *fit)["learned"] == learned
    for command in (
        "cluster features.npy --model m -k 2 --out g.csv",
        "cluster features.npy --model m --known known.csv --out g.csv",
        "transform features.npy --model m --out z.csv",
        "query features.npy 3 --model m",
        "query features.npy 3 --model m --out q.csv",
    ):
        assert facts(capsys, *command.split())["learned"] == learned
        assert run(*command.split()) == 0
        assert ("othing was learned" in capsys.readouterr().out) == (not learned)


def test_a_report_says_what_was_chosen(capsys: pytest.CaptureFixture[str]) -> None:
    words = "features.csv --model m --held-out answers.csv --map pca -k 2 --out r.html"
    told = facts(capsys, "fit", "features.csv", "answers.csv", "--out", "m", "--penalty", "2", "--loss", "softmax")
    found = facts(capsys, "report", *words.split())
    same = ("learned", "kernel", "rank", "scaling", "loss", "ratio", "softness", "penalty", "rounds", "gain", "n_items")
    assert {name: found[name] for name in same} == {name: told[name] for name in same}
    assert found["held_out"]["n_answers"] == 40


def test_options_reach_the_learner() -> None:
    formats.write(Comparisons.odd_one_out([[0, 3, 1]], [2]), "indices.jsonl")
    options = (
        "--kernel linear --rank all --ratio 2 --margin 0.5 --penalty inf --tol 1e-4 --random-state 7 --max-iter 99"
    )
    assert run("fit", "features.npy", "indices.jsonl", "--out", "m", *options.split()) == 0
    model = models.load("m")
    assert (model.kernel, model.rank, model.ratio, model.margin) == ("linear", None, 2.0, 0.5)
    assert (model.penalty, model.tol, model.random_state, model.max_iter) == (np.inf, 1e-4, 7, 99)


@pytest.mark.slow
def test_held_out_answers_choose(capsys: pytest.CaptureFixture[str]) -> None:
    formats.write(Comparisons.from_labels(LABELS, 80, random_state=0), "indices.jsonl")
    fit = ("fit", "features.npy", "indices.jsonl", "--out", "m", "--kernel", "linear", "--penalty", "auto")
    told = facts(capsys, *fit, "--loss", "softmax")
    model = models.load("m")
    assert model.tuning_ is not None
    assert (told["loss"], told["ratio"], told["penalty"]) == ("softmax", 1.0, model.penalty_)
    assert told["gain"] == model.tuning_.gain
    assert run(*fit) == 0
    assert "Chosen: " in capsys.readouterr().out


def test_columns_in_another_order_are_put_right() -> None:
    assert run("fit", "features.csv", "answers.csv", "--out", "m") == 0
    with Path("turned.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["d", "c", "b", "a"], *X[:, ::-1].tolist()])
    for features in ("features.csv", "turned.csv"):
        assert run("transform", features, "--model", "m", "--out", f"{features}.npy") == 0
    assert np.array_equal(np.load("features.csv.npy"), np.load("turned.csv.npy"))


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        ("fit nothing.csv answers.csv --out m", "nothing.csv: no such file"),
        ("fit features.npy answers.csv --out m", "add a column called item"),
        ("fit features.csv indices.jsonl --out m", "convert ANSWERS named.csv --items FEATURES"),
        ("fit features.csv features.csv --out m", "column answer is missing; expected at least a, b, c, answer"),
        ("fit features.csv answers.csv --out no/folder/m", "folder no/folder doesn't exist"),
        ("fit features.csv answers.csv --out m.csv", "a model's file, such as m.oddkernel"),
        ("fit features.csv answers.csv --out m --ratio 0", "ratio=0.0; expected"),
        ("fit features.csv answers.csv --out m --kernel round", "kernel='round'"),
        ("fit features.csv answers.csv --out m --rank most", "expected a share such as 0.9"),
        ("fit features.csv answers.csv --out m --penalty some", "'some'; expected a number or auto"),
        ("fit features.csv answers.csv --out m --loss huge", "loss='huge'; expected 'auto' or one of"),
        ("fit features.csv answers.csv --out m --names species", "no column called species"),
        ("transform features.csv --model features.csv --out z.csv", "not a usable model"),
        ("transform features.csv --model features.csv --out z.txt", "ends with .csv, .parquet, .npy"),
        ("cluster features.csv --model features.csv -k 2 --out g.npy", "ends with .csv, .parquet"),
        (
            "cluster features.csv -k 2 --out g.csv",
            "which model? oddkernel fit features.csv ANSWERS --out model.oddkernel",
        ),
        ("cluster features.csv", "And where to? expected --out groups.csv"),
        ("transform features.csv", "which model? oddkernel fit features.csv ANSWERS --out model.oddkernel"),
        ("cluster nothing.csv", "nothing.csv: no such file"),
        ("cluster features.csv --model m -k 2", "where to? expected --out groups.csv"),
        ("fit features.csv answers.csv", "where to? expected --out features.oddkernel"),
        ("fit features.csv --out m", "features.csv: nobody was asked about these items; oddkernel judge features.csv"),
        ("fit features.csv answers.csv --out m --with gist", "--with gist: features.csv holds features already"),
        ("report features.csv answers.csv --out page.txt", "ends with .html"),
        ("cluster features.csv --model m -k 2 --known g.csv --out g.csv", "not allowed with argument"),
        ("convert answers.csv answers.txt", "doesn't end with a known format"),
        ("unknown", "invalid choice"),
    ],
)
def test_what_the_user_can_mend_takes_one_line(
    command: str, sentence: str, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    before = sorted(folder.iterdir())
    assert run(*command.split()) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert sentence in told.err.splitlines()[-1]
    assert "Traceback" not in told.err
    assert sorted(folder.iterdir()) == before


def test_without_a_command_the_commands_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    told = capsys.readouterr().out
    assert all(f"\n    {command.__name__.rpartition('.')[2]}" in told for command in COMMANDS)


def test_answers_may_stand_behind_options(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fit", "features.csv", "--penalty", "1", "answers.csv", "--out", "m") == 0
    assert run("fit", "--out", "m", "features.csv", "answers.csv", "--penalty", "1") == 0
    capsys.readouterr()
    assert run("fit", "features.csv", "answers.csv", "--out", "m", "more.csv") == 2
    assert "unrecognized arguments: more.csv" in capsys.readouterr().err


def test_a_model_in_the_place_of_items_is_told_apart(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fit", "features.csv", "answers.csv", "--out", "m.oddkernel") == 0
    for command in ("cluster", "transform", "report", "index", "query"):
        assert run(command, "m.oddkernel", "features.csv", "--out", "o.html") == 2
        assert "expected the items first, then --model m.oddkernel" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="pipes end otherwise")
def test_whoever_reads_may_stop_reading() -> None:
    command = [sys.executable, "-c", "import sys; from oddkernel.cli import main; sys.exit(main())", "convert"]
    process = subprocess.Popen(
        [*command, "answers.csv", "a.jsonl"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    with process.stderr:
        assert "Traceback" not in process.stderr.read()
    assert process.wait() == 0


def test_too_many_groups_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fit", "features.npy", "indices.jsonl", "--out", "m") == 0
    assert run("cluster", "features.npy", "--model", "m", "-k", "31", "--out", "g.csv") == 2
    assert "-k 31; expected a number from 1 to 30" in capsys.readouterr().err


def test_debug_shows_where_an_error_arose(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fit", "nothing.csv", "answers.csv", "--out", "m", "--debug") == 2
    assert "Traceback" in capsys.readouterr().err


def test_warnings_take_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    np.save("features.npy", np.vstack([X[:1], X[:-1]]))
    formats.write(Comparisons.odd_one_out([[0, 1, 2]], [0]), "indices.jsonl")
    assert run("fit", "features.npy", "indices.jsonl", "--out", "m") == 0
    assert capsys.readouterr().err.startswith("oddkernel: warning: row 0: the item that should be far is a copy")


def test_interrupted_work_leaves_things_as_they_were(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    Path("m").write_text("older")
    before = sorted(folder.iterdir())

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    assert run("fit", "features.npy", "indices.jsonl", "--out", "m") == 130
    assert capsys.readouterr().err == "oddkernel: stopped; nothing was left half-written\n"
    assert Path("m").read_text() == "older"
    assert sorted(folder.iterdir()) == before


def test_progress_comes_when_work_takes_long(capsys: pytest.CaptureFixture[str]) -> None:
    with working("counting", every=0.01):
        told = ""
        while "\n" not in told:
            time.sleep(0.01)
            out, err = capsys.readouterr()
            assert out == ""
            told += err
    assert re.match(r"oddkernel: counting \(\d+ s\)\n", told)
    capsys.readouterr()
    with working("nothing", every=60.0):
        pass
    assert capsys.readouterr().err == ""


def test_a_summary_is_strict_json() -> None:
    with pytest.raises(ValueError, match="JSON"):
        Summary([], {"gap": float("nan")}).json()


@pytest.mark.parametrize("command", [module.__name__.rpartition(".")[2] for module in COMMANDS])
def test_help_shows_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(command, "--help") == 0
    assert f"  oddkernel {command} " in capsys.readouterr().out.split("example")[-1]


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--version") == 0
    assert capsys.readouterr().out == f"oddkernel {oddkernel.__version__}\n"


def test_python_runs_the_package_as_a_program(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in PATIENT_THREADS:
        monkeypatch.setenv(name, "")
    monkeypatch.setattr(sys, "argv", ["oddkernel", "--version"])
    with pytest.raises(SystemExit, match=r"^0$"):
        runpy.run_module("oddkernel", run_name="__main__")
    assert capsys.readouterr().out == f"oddkernel {oddkernel.__version__}\n"


@pytest.mark.slow
def test_demo(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = _parser().parse_args(["demo"])
    summary = arguments.run(arguments)
    told = json.loads(summary.json())
    assert (told["n_items"], told["n_answers"]) == (1797, 300)
    assert 0.6 < told["rand_before"] < 0.75
    assert told["rand_after"] >= 0.88
    assert told["score_after"] > told["score_before"]
    assert Path(told["picture"]).read_bytes().startswith(b"\x89PNG")
    assert "Handwritten digits: what 300 answers taught" in Path(told["report"]).read_text()
    assert len(list(Path(told["pictures"]).glob("*.png"))) == 1797

    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    (shown,) = (block.text for block in blocks(page) if block.text.startswith("$ oddkernel demo\n"))
    quoted = shown.removeprefix("$ oddkernel demo\n")
    assert agrees(quoted, summary.text()), f"docs/cli.md quotes something else than this:\n{summary.text()}"
    readme = " ".join((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert (
        f"Adjusted Rand index of {told['rand_after']:.2f}; without the answers, with {told['rand_before']:.2f}"
        in readme
    )

    words = ("oddkernel-demo/digits", "oddkernel-demo/answers.csv", "--with", "oddkernel-demo/pixels.npz")
    again = facts(capsys, "fit", *words, "--out", "m.oddkernel", "--penalty", "1")
    assert (again["n_items"], again["n_answers"], again["n_features"]) == (1797, 300, 64)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_ends_the_program_with_130() -> None:
    started = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; from oddkernel.cli import main; print(flush=True); sys.exit(main())",
            "demo",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert started.stdout is not None
    started.stdout.readline()
    time.sleep(2)  # somewhere in the middle of its work
    started.send_signal(signal.SIGINT)
    _, told = started.communicate(timeout=60)
    assert started.returncode == 130
    assert told.splitlines()[-1] == "oddkernel: stopped; nothing was left half-written"
    assert not Path("oddkernel-demo").exists()


def test_threads_of_the_program_sleep_while_they_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {"OMP_WAIT_POLICY": "active"})
    monkeypatch.setattr(sys, "argv", ["oddkernel", "--version"])
    with pytest.raises(SystemExit):
        main(["--version"])
    assert os.environ == {"OMP_WAIT_POLICY": "active"}
    with pytest.raises(SystemExit):
        main()
    assert os.environ == {"OMP_WAIT_POLICY": "active", "OPENBLAS_THREAD_TIMEOUT": "4"}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_stops_the_judge_without_complaints(tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text("text\n" + "\n".join(f"the {n}th" for n in range(9)), encoding="utf-8")
    judge = "import sys; from oddkernel.cli import main; sys.exit(main())"
    with subprocess.Popen(
        [sys.executable, "-c", judge, "judge", "texts.csv", "--port", "0", "--no-browser", "--with", "tfidf"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as server:
        assert server.stderr is not None
        assert any("Ctrl-C stops" in line for line in server.stderr)
        os.killpg(server.pid, signal.SIGINT)  # a terminal sends it to the processes that learn, too
        out, told = server.communicate(timeout=60)
    assert server.returncode == 0
    assert out.startswith("Stopped.")
    assert told == ""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_stops_simulated_people_without_complaints(tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text("text\n" + "\n".join(f"the {n}th" for n in range(60)), encoding="utf-8")
    (tmp_path / "texts-study").mkdir()
    (tmp_path / "texts-study" / "study.toml").write_text("questions = 500\n")
    judge = "import sys; from oddkernel.cli import main; sys.exit(main())"
    with subprocess.Popen(
        [sys.executable, "-c", judge, "judge", "texts.csv", "--with", "tfidf", "--simulate", "20"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as started:
        assert started.stderr is not None
        assert any("simulated people are answering" in line for line in started.stderr)
        started.send_signal(signal.SIGINT)
        out, told = started.communicate(timeout=60)
    assert started.returncode == 130
    assert out == ""
    lines = [line for line in told.splitlines() if "are answering (" not in line]
    assert lines == ["oddkernel: stopped; nothing was left half-written"]


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_ctrl_c_during_an_import_is_no_error_of_the_user(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A compiled module turns KeyboardInterrupt into an ImportError without a cause."""

    def interrupted_import(_: object) -> None:
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt:
            raise ImportError("numpy._core.multiarray failed to import") from None

    monkeypatch.setattr("oddkernel.cli.demo.run", interrupted_import)
    assert main(["demo"]) == 130
    assert capsys.readouterr().err == "oddkernel: stopped; nothing was left half-written\n"


class TestTablesOfAnswers:
    """Answers as people have them, in every command that reads some."""

    def test_columns_may_be_called_otherwise(self, capsys: pytest.CaptureFixture[str]) -> None:
        columns = "a=Left,b=Mid,c=Right,answer=Chosen"
        lines = ["Left;Mid;Right;Chosen;when", f"{NAMES[0]};{NAMES[3]};{NAMES[1]};{NAMES[3]};today"]
        Path("said.csv").write_text("\n".join(lines) + "\n")
        told = facts(capsys, "fit", "features.csv", "said.csv", "--columns", columns, "--penalty", "1", "--out", "m")
        assert told["notes"] == ["Columns left aside: when."]
        assert run("fit", "features.csv", "said.csv", "--columns", "a=Left,b", "--out", "m") == 2
        assert "expected pairs such as a=left" in capsys.readouterr().err
        assert facts(capsys, "convert", "said.csv", "again.csv", "--columns", columns)["n_answers"] == 1

    def test_an_item_that_is_not_there_is_found_in_its_line(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("said.csv").write_text("a,b,c,answer\nitem 1,item 2,item 3,a\nitem 1,item 2,itm 4,a\n")
        assert run("fit", "features.csv", "said.csv", "--out", "m") == 2
        told = capsys.readouterr().err
        assert "said.csv: line 3: c is 'itm 4'; expected one of the 30 item names; did you mean 'item 4'?" in told

    def test_numbers_are_said_to_be_indices(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("said.csv").write_text("a,b,c,answer\n1,4,2,b\n")
        words = ("fit", "features.npy", "said.csv", "--penalty", "1", "--out", "m")
        assert run(*words) == 2
        assert "--count-from" in capsys.readouterr().err
        assert facts(capsys, *words, "--count-from", "1")["n_answers"] == 1

    def test_a_header_without_rows_has_no_answers(self, capsys: pytest.CaptureFixture[str]) -> None:
        formats.write(Comparisons.empty(), "none.csv")
        assert run("fit", "features.npy", "none.csv", "--out", "m") == 2
        assert "none.csv: no answers" in capsys.readouterr().err

    def test_numbered_answers_meet_named_features(self, capsys: pytest.CaptureFixture[str]) -> None:
        Path("numbered.csv").write_text("a,b,c,answer\n1,4,2,b\n")
        assert run("convert", "numbered.csv", "named.csv", "--items", "features.csv") == 2
        assert "--count-from" in capsys.readouterr().err
        words = ("convert", "numbered.csv", "named.csv", "--items", "features.csv", "--count-from", "1")
        told = facts(capsys, *words, "--numbers-are", "positions")  # the first is called "item 0"
        assert told["items"] == "named.items.csv"
        said = formats.read("named.csv")
        assert said.items == tuple(NAMES)
        assert said.shown.tolist() == [[0, 3, 1]]
        assert run("fit", "features.csv", "named.csv", "--penalty", "1", "--out", "m") == 0

    @pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
    def test_simulated_answers_are_called_so(self, ending: str, capsys: pytest.CaptureFixture[str]) -> None:
        file, told = f"said.{ending}", f"30 of {len(SAID)} answers are of simulated people."
        formats.write(SAID, file, details={"simulated": [1] * 30 + [0] * (len(SAID) - 30)})
        assert told in facts(capsys, "fit", "features.csv", file, "--penalty", "1", "--out", "m.oddkernel")["notes"]
        for how in ((), ("--model", "m.oddkernel")):
            assert run("report", "features.csv", file, *how, "--out", "r.html", "-k", "3", "--map", "pca") == 0
            assert told in capsys.readouterr().out.splitlines()
            assert f"features (30 of {len(SAID)} answers simulated)" in Path("r.html").read_text()
        formats.write(SAID, file, details={"simulated": [0] * len(SAID)})
        assert run("report", "features.csv", file, "--out", "r.html", "-k", "3", "--map", "pca") == 0
        assert "of simulated people" not in capsys.readouterr().out

    def test_numbered_answers_meet_names_with_other_numbers(self, capsys: pytest.CaptureFixture[str]) -> None:
        names = sorted(f"{number}.jpg" for number in range(1, 13))
        Path("photos.csv").write_text("item,size\n" + "".join(f"{name},{len(name)}\n" for name in names))
        Path("numbered.csv").write_text("a,b,c,answer\n1,2,12,c\n")
        words = ("convert", "numbered.csv", "named.csv", "--items", "photos.csv")
        assert run(*words, "--count-from", "1") == 2
        assert "item 2 could be '10.jpg', at this place" in capsys.readouterr().err
        facts(capsys, *words, "--numbers-are", "names")
        assert formats.read("named.csv").to_dict()["b"] == ["2.jpg"]
        facts(capsys, *words, "--count-from", "1", "--numbers-are", "positions")
        assert formats.read("named.csv").to_dict()["b"] == ["10.jpg"]

    def test_an_export_by_number_gets_its_names_back(self, capsys: pytest.CaptureFixture[str]) -> None:
        told = facts(capsys, "convert", "answers.csv", "trials.txt", "--to", "psiz")
        assert told["items"] == "trials.txt.items.csv"
        words = ("convert", "trials.txt", "again.csv", "--from", "psiz", "--items", "trials.txt.items.csv")
        assert facts(capsys, *words)["items_by"] == "name"
        assert formats.read("again.csv").items == SAID.items

    def test_groups_of_names_that_a_spreadsheet_would_run_are_known_again(
        self, capsys: pytest.CaptureFixture[str]
    ) -> None:
        Path("features.csv").write_text(Path("features.csv").read_text().replace("item 0,", "=item 0,"))
        formats.write(SAID.with_names({"item 0": "=item 0"}), "answers.csv")
        facts(capsys, "fit", "features.csv", "answers.csv", "--penalty", "1", "--out", "m")
        facts(capsys, "cluster", "features.csv", "--model", "m", "-k", "3", "--out", "groups.csv")
        known = Path("groups.csv").read_text().splitlines()[:20]
        assert known[1].startswith("'=item 0,")
        Path("groups.csv").write_text("\n".join(known))
        words = ("cluster", "features.csv", "--model", "m", "--known", "groups.csv", "--out", "all.csv")
        assert facts(capsys, *words)["n_known"] == {"group_of_3": 19}

    def test_how_answers_came_about_is_kept(self, capsys: pytest.CaptureFixture[str]) -> None:
        formats.write(SAID[:2], "timed.csv", details={"response_ms": [1250, None]})
        facts(capsys, "convert", "timed.csv", "timed.jsonl")
        assert formats.details("timed.jsonl") == {"response_ms": [1250, None]}
        Path("places.csv").write_text("a,b,c,answer,place\nant,oak,bee,b,London\n")
        told = facts(capsys, "convert", "places.csv", "again.csv")
        assert told["notes"][-1].startswith("Left aside: places.csv: line 2: place is 'London'")
