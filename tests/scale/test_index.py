from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from oddkernel import SKLR, Comparisons, models, scale
from oddkernel.cli import main
from oddkernel.items import tables
from oddkernel.scale import index as retrieval
from oddkernel.scale import memory
from oddkernel.scale.index import Index

pytest.importorskip("faiss")

X, DIGITS = load_digits(return_X_y=True)
NAMES = [f"digit {i}" for i in range(len(X))]


@pytest.fixture(scope="module")
def model() -> SKLR:
    return SKLR(rank=60).fit(X[:500], Comparisons.from_labels(DIGITS[:500], 150, random_state=0))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write_items() -> None:
    tables.write("items.parquet", {"item": NAMES, **{f"pixel{j}": X[:, j] for j in range(64)}})


@pytest.mark.slow
def test_an_index_finds_what_looking_at_each_finds(model: SKLR) -> None:
    index = Index.build(model, X)
    assert len(index) == len(X)
    found = index.query(X[:50], 5)
    near = scale.nearest(model, X, X[:50], 5)
    assert np.array_equal(found.rows, near.rows)
    assert np.allclose(found.distance[:, 1:], near.distance[:, 1:], rtol=1e-3)
    assert found.names is None


@pytest.mark.slow
def test_many_items_go_into_cells(model: SKLR, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retrieval, "EXACT", 1000)
    index = Index.build(model, X)
    near = scale.nearest(model, X, X[:200], 5)
    hits = [
        len(set(a) & set(b)) for a, b in zip(index.query(X[:200], 5).rows.tolist(), near.rows.tolist(), strict=True)
    ]
    assert np.mean(hits) > 4.5
    again = Index.build(model, X)
    assert np.array_equal(again.query(X, 5).rows, index.query(X, 5).rows)


def test_an_index_keeps_names_and_model(model: SKLR) -> None:
    write_items()
    index = Index.build(model, "items.parquet")
    index.save("digits.index")
    read = Index.load("digits.index")
    found, kept = read.query(X[:3], 4), index.query(X[:3], 4)
    assert found.names == kept.names == [[NAMES[row] for row in rows] for rows in kept.rows.tolist()]
    assert np.array_equal(found.distance, kept.distance)
    assert sorted(file.name for file in Path("digits.index").iterdir()) == [
        "index.faiss",
        "index.json",
        "model.oddkernel",
        "names.jsonl",
    ]
    with pytest.raises(ValueError, match="already there"):
        index.save("digits.index")


def test_fewer_found_than_asked_for(model: SKLR) -> None:
    index = Index.build(model, X, factory="IVF40,Flat")
    index._searcher.nprobe = 1
    index.names = NAMES
    found = index.query(X[:5], 1000)
    assert (found.rows[:, -1] == -1).all()
    assert np.isinf(found.distance[:, -1]).all()
    assert found.names is not None
    assert found.names[0][-1] is None


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (lambda f: (f / "index.faiss").write_bytes(b"noise"), "index.faiss isn't the file that was written"),
        (lambda f: (f / "names.jsonl").unlink(), "names.jsonl isn't the file"),
        (lambda f: (f / "index.json").write_text("{}"), "not a usable index: 'oddkernel'"),
        (lambda f: (f / "index.json").write_text("noise"), "not a usable index"),
        (
            lambda f: (f / "index.json").write_text(json.dumps({"oddkernel": "model", "version": 1})),
            "expected an index",
        ),
    ],
)
def test_damage_is_found(harm: Any, sentence: str, model: SKLR) -> None:
    write_items()
    Index.build(model, "items.parquet").save("digits.index")
    harm(Path("digits.index"))
    with pytest.raises(ValueError, match=sentence):
        Index.load("digits.index")


def test_what_makes_no_sense_is_refused(model: SKLR, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="factory='Round'; expected a description that FAISS knows"):
        Index.build(model, X, factory="Round")
    index = Index.build(model, X)
    with pytest.raises(ValueError, match="k=1798; expected a number from 1 to 1797"):
        index.query(X[:1], 1798)
    with pytest.raises(ValueError, match="3 features; expected 64"):
        index.query(X[:1, :3])
    monkeypatch.setattr(memory, "available", lambda: 2**20)
    with pytest.raises(MemoryError, match=r'an index of 1797 items .* give factory="IVF42,SQ8"'):
        Index.build(model, X)


def test_without_faiss_one_sentence_says_what_to_install(model: SKLR, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "faiss", None)
    with pytest.raises(ImportError, match=r'pip install "oddkernel\[faiss\]"'):
        Index.build(model, X)


def test_index_and_query_from_the_command_line(model: SKLR, capsys: pytest.CaptureFixture[str]) -> None:
    write_items()
    models.save(model, "m.oddkernel")
    assert main(["index", "items.parquet", "--model", "m.oddkernel", "--out", "digits.index"]) == 0
    assert f"1797 items, with their names, by {model.rank_} coordinates." in capsys.readouterr().out
    np.save("new.npy", X[:2])
    assert main(["query", "digits.index", "new.npy", "-k", "3", "--out", "alike.csv", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_queries"] == 2
    lines = Path("alike.csv").read_text().splitlines()
    assert lines[0] == "query,place,item,distance"
    assert lines[1].startswith("0,1,digit 0,")
    assert len(lines) == 7
    assert main(["index", "items.parquet", "--model", "m.oddkernel", "--out", "digits.index"]) == 2
    assert "already there" in capsys.readouterr().err
    assert main(["query", "digits.index", "digit 7", "-k", "2", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)["found"]
    assert found["query"] == "digit 7"
    assert "digit 7" not in found["items"]
    rows = scale.nearest(model, X, X[7:8], k=3).rows[0]
    assert found["items"] == [f"digit {row}" for row in rows if row != 7]
    assert main(["query", "m.oddkernel", "new.npy", "--out", "alike.csv"]) == 2
