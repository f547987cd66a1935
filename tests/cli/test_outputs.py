from __future__ import annotations

import csv
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from oddkernel import Comparisons, formats
from oddkernel.cli import main

NAMES = [f"item {i}" for i in range(9)]
SAID = Comparisons.from_labels(np.arange(9) % 3, 60, random_state=0, items=NAMES)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to work in, with a table, texts, answers, a model and links to the table."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(9, 2))
    for name, header, rows in (
        ("A.csv", ["item", "width", "height"], [[item, *row] for item, row in zip(NAMES, X.tolist(), strict=True)]),
        ("texts.csv", ["item", "text"], [[item, f"words about {item}"] for item in NAMES]),
        ("known.csv", ["item", "group"], [[item, "some"] for item in NAMES[:3]]),
    ):
        with Path(name).open("w", newline="") as file:
            csv.writer(file).writerows([header, *rows])
    for name in ("said.csv", "named.csv"):
        formats.write(SAID, name)
    Path("sub").mkdir()
    assert main(["fit", "A.csv", "said.csv", "--penalty", "1", "--out", "m"]) == 0
    for name in ("page.html", "said.items.csv"):
        shutil.copy("A.csv", name)
    shutil.copy("texts.csv", "A.people.csv")
    return tmp_path


def run(*words: str) -> int:
    try:
        return main(words)
    except SystemExit as end:  # argparse's way
        return int(end.code or 0)


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    "command",
    [
        "transform A.csv --model m --out A.csv",
        "transform A.csv --model m --out sub/../A.csv",
        "transform A.csv --model m --out {folder}/A.csv",
        "cluster A.csv --model m -k 2 --out A.csv",
        "cluster A.csv --model m --known known.csv --out known.csv",
        "query A.csv A.csv --model m --out A.csv",
        "dimensions A.csv --model m --out A.csv",
        "dimensions A.csv --model m --out l.csv --save A.csv",
        "features texts.csv --out texts.csv",
        "features texts.csv --with A.csv --out A.csv",
        "questions texts.csv --n 4 --out texts.csv",
        "judge texts.csv --export texts.csv",
        "judge texts.csv --features A.csv --export A.csv",
        "judge A.people.csv --export A.csv",
        "report A.csv said.csv --about page.html --out page.html",
        "fit A.csv said.csv --out A.csv",
        "fit m said.csv --out m",
        "convert said.csv said.csv",
        "convert said.csv A.csv --items A.csv",
        "convert named.csv said.csv --items said.items.csv",
    ],
)
def test_no_command_overwrites_what_it_reads(command: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = contents(folder)
    assert run(*command.format(folder=folder).split()) == 2
    told = capsys.readouterr().err.splitlines()[-1]
    assert "this is what the command reads" in told
    assert "would be overwritten; expected another name" in told
    assert contents(folder) == before


def test_a_link_to_what_is_read_is_told_apart(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        Path("link.csv").symlink_to("A.csv")
        os.link("A.csv", "hard.csv")
    except OSError:
        pytest.skip("this file system has no links")
    before = contents(folder)
    for read, out in (("A.csv", "link.csv"), ("link.csv", "A.csv"), ("A.csv", "hard.csv")):
        assert run("transform", read, "--model", "m", "--out", out) == 2
        assert f"--out {out}: this is what the command reads as {read}" in capsys.readouterr().err
    assert contents(folder) == before


def test_what_a_command_wrote_itself_it_writes_again(folder: Path) -> None:
    for command in (
        "transform A.csv --model m --out z.csv",
        "cluster A.csv --model m -k 2 --out g.csv",
        "convert said.csv again.csv",
        "features texts.csv --out f.csv",
        "questions texts.csv --n 4 --out q.csv",
        "dimensions A.csv --model m -n 2 --save m --out l.csv",
    ):
        for _ in range(2):
            assert run(*command.split()) == 0


@pytest.mark.parametrize(
    "command",
    [
        "transform A.csv --model m --out",
        "cluster A.csv --model m --out",
        "query A.csv A.csv --model m --out",
        "dimensions A.csv --model m --out",
        "features texts.csv --out",
        "questions texts.csv --n 4 --out",
        "judge texts.csv --export",
        "judge texts.csv --backup",
        "judge texts.csv --outlook",
        "report A.csv said.csv --out",
        "fit A.csv said.csv --out",
        "convert said.csv",
        "bench page --page",
    ],
)
@pytest.mark.parametrize(
    ("out", "sentence"),
    [
        ("nodir/g.csv", "nodir/g.csv: the folder nodir doesn't exist; make it, or name another one"),
        (".", ". is a folder; expected the name of a file in it"),
        ("sub", "sub is a folder; expected the name of a file in it"),
        ("g/", "g/ is a folder; expected the name of a file in it"),
    ],
)
def test_where_nothing_can_be_written_is_said_before_the_work(
    command: str, out: str, sentence: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(folder)
    capsys.readouterr()
    assert run(*command.split(), out) == 2
    assert sentence in capsys.readouterr().err.splitlines()[-1].replace("\\", "/")
    assert contents(folder) == before


def test_folders_to_write_to(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("demo --out A.csv", "demo --out A.csv/deeper", "reproduce map --out A.csv", "bench --out A.csv"):
        assert run(*command.split()) == 2
        assert "A.csv is a file; expected the name of a folder" in capsys.readouterr().err


def test_results_do_not_become_items(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("transform", "A.csv", "--model", "m", "--out", "sub/z.parquet") == 0
    assert run("transform", "sub", "--model", "m", "--out", "sub/more.parquet") == 2
    assert "would be taken for an item in sub; expected a name in another folder" in capsys.readouterr().err
    assert run("judge", "sub", "--outlook", "sub/outlook.png") == 2
    assert "would be taken for an item in sub" in capsys.readouterr().err
