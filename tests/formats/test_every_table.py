"""Every table that we write is one that pandas, R and spreadsheets open as it is."""

from __future__ import annotations

import csv
import io
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from oddkernel import SKLR, Comparisons, formats, scale
from oddkernel.formats.listing import list_items
from oddkernel.items import tables

NAMES = ["ant", "-bee", "=cat()", "dog, or wolf", 'the "elk"', "two\nlines", " fox ", "é", "#gnu", "'hen", "@", "+1"]
N = len(NAMES)
X = np.random.default_rng(0).normal(size=(N, 2))
SAID = Comparisons.odd_one_out(
    [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]], [0, 1, 2, -1], rater=["ann", "=bob", "", "cem\n"], items=NAMES
) + Comparisons.must_link([[0, 1]], at_most=0.5, items=NAMES)
DECIDED = SAID[:3]
FRAME = pd.DataFrame(X, index=NAMES, columns=["-x", "y"])
MODEL = SKLR("linear", penalty=1.0).fit(FRAME, SAID)


def as_file(write: Callable[[Path], object]) -> Callable[[Path], bytes]:
    def written(folder: Path) -> bytes:
        write(folder / "table.csv")
        return (folder / "table.csv").read_bytes()

    return written


def peer(name: str) -> Callable[[Path], bytes]:
    def written(folder: Path) -> bytes:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that weights are left out
            return formats.dump(DECIDED, name)

    return written


TABLES: dict[str, tuple[Callable[[Path], bytes], int]] = {
    "answers": (lambda folder: formats.dump(SAID, "csv"), 5),
    "answers with details": (lambda folder: formats.dump(SAID, "csv", details={"place": [0, 1, 2, 3, None]}), 5),
    "answers by number": (lambda folder: formats.dump(SAID.with_names(None), "csv"), 5),
    "no answers": (lambda folder: formats.dump(SAID[:0], "csv"), 0),
    "items": (lambda folder: list_items(NAMES), N),
    "features": (as_file(lambda path: tables.write(path, {"item": NAMES, "-x": X[:, 0], "y": X[:, 1]})), N),
    "coordinates": (as_file(lambda path: scale.transform(MODEL, FRAME, path)), N),
    "groups": (as_file(lambda path: scale.cluster(MODEL, FRAME, [2, 3], path)), N),
    "salmon": (peer("salmon"), 6),
    "triplettools": (peer("triplettools"), 6),
    "meadows": (peer("meadows"), 3),
}


@pytest.mark.parametrize(("write", "n_rows"), TABLES.values(), ids=TABLES)
def test_a_header_then_rows_of_as_many_cells(write: Callable[[Path], bytes], n_rows: int, tmp_path: Path) -> None:
    data = write(tmp_path)
    header, *rows = csv.reader(io.StringIO(data.decode(), newline=""), strict=True)
    assert all(header)
    assert len(set(header)) == len(header)
    assert [len(row) for row in rows] == [len(header)] * n_rows  # R's read.csv takes a shorter header for row names
    frame = pd.read_csv(io.BytesIO(data))
    assert frame.columns.tolist() == header
    assert len(frame) == n_rows


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_table_of_items_comes_back_as_it_was(suffix: str, tmp_path: Path) -> None:
    file = tmp_path / f"items{suffix}"
    tables.write(file, {"item": NAMES, "-x": X[:, 0], "y": X[:, 1]})
    items = tables.read(file)
    assert (items.names, items.columns) == (tuple(NAMES), ("-x", "y"))
    assert np.array_equal(items.X, X)
    assert tables.read_names(file) == NAMES
    assert items.join(SAID).shown.tolist() == SAID.shown.tolist()
    assert np.allclose(scale.transform(MODEL, file), MODEL.transform(FRAME))


@pytest.mark.parametrize("format", formats.OWN)
def test_answers_come_back_as_they_were(format: str, tmp_path: Path) -> None:
    for said in (SAID, SAID.with_names(None), SAID[:0], SAID.with_weight(0.1)):
        formats.write(said, tmp_path / f"said.{format}")
        assert formats.read(tmp_path / f"said.{format}") == said
