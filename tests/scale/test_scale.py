from __future__ import annotations

import csv
import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from oddkernel import SKLR, Comparisons, scale
from oddkernel.kernels import AdaptiveGaussian, Identity, Linear
from oddkernel.scale import memory
from oddkernel.scale.sink import open_sink
from oddkernel.scale.source import open_source

X, DIGITS = load_digits(return_X_y=True)
TRAINING = slice(0, 500)
SAID = Comparisons.from_labels(DIGITS[TRAINING], 150, random_state=0)
NAMES = [f"digit {i}" for i in range(len(X))]
KERNELS = {
    "adaptive": "adaptive",
    "linear": "linear",
    "sum": 0.5 * Linear() + 0.5 * AdaptiveGaussian(20) + 0.2 * Identity(),
    "diffusion": "diffusion",
}


@pytest.fixture(scope="module")
def model() -> SKLR:
    return SKLR(rank=60, penalty=10.0).fit(X[TRAINING], SAID)


@pytest.fixture(scope="module")
def expected(model: SKLR) -> Any:
    return model.transform(X)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(rows: slice = slice(None), *, names: bool = True) -> pa.Table:
    columns = {f"pixel{j}": X[rows, j] for j in range(X.shape[1])}
    return pa.table({**({"item": NAMES[rows]} if names else {}), **columns})


@pytest.mark.parametrize("kernel", KERNELS)
def test_blocks_give_what_the_model_gives(kernel: str) -> None:
    few = Comparisons.from_labels(DIGITS[:300], 60, random_state=0)
    fitted = SKLR(KERNELS[kernel], rank=0.8, penalty=10.0).fit(X[:300], few)
    known = X[250:350] if kernel != "sum" else X[200:300]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert np.allclose(scale.transform(fitted, known, block=33), fitted.transform(known), rtol=0, atol=1e-11)


def test_rows_of_a_precomputed_kernel_come_in_blocks() -> None:
    K = Linear().fit(X[:200])(X[:200])
    fitted = SKLR("precomputed", penalty=10.0).fit(K, Comparisons.from_labels(DIGITS[:200], 40, random_state=0))
    assert np.allclose(scale.transform(fitted, K[:50], block=7), fitted.transform(K[:50]), rtol=0, atol=1e-11)


@pytest.mark.slow
@examples(10)
@given(block=st.integers(1, 80), n_jobs=st.integers(1, 3))
def test_neither_block_nor_threads_matter(model: SKLR, expected: Any, block: int, n_jobs: int) -> None:
    rows = slice(0, 60)
    assert np.allclose(scale.transform(model, X[rows], block=block, n_jobs=n_jobs), expected[rows], rtol=0, atol=1e-12)
    groups = scale.cluster(model, X[rows], 4, block=block, n_jobs=n_jobs, random_state=0)
    assert np.array_equal(groups.labels, scale.cluster(model, X[rows], 4, random_state=0).labels)
    near = scale.nearest(model, X[rows], X[:4], 3, block=block, n_jobs=n_jobs)
    assert np.array_equal(near.rows, scale.nearest(model, X[rows], X[:4], 3).rows)


def test_from_file_to_file(model: SKLR, expected: Any) -> None:
    np.save("X.npy", X.astype(np.float32))  # pixels are whole numbers: nothing is lost
    assert scale.transform(model, "X.npy", "Z.npy", block=100) == Path("Z.npy")
    assert np.allclose(np.load("Z.npy"), expected, rtol=0, atol=1e-12)
    assert np.allclose(scale.transform(model, np.load("X.npy", mmap_mode="r")), expected, rtol=0, atol=1e-12)
    pq.write_table(table(), "X.parquet", row_group_size=500)
    scale.transform(model, "X.parquet", "Z.parquet", block=100)
    Z = pd.read_parquet("Z.parquet")
    assert Z["item"].tolist() == NAMES
    assert np.allclose(Z.drop(columns="item"), expected, rtol=0, atol=1e-12)
    assert sorted(os.listdir()) == ["X.npy", "X.parquet", "Z.npy", "Z.parquet"]


def test_a_folder_of_parquet_is_read_in_the_order_of_its_names(model: SKLR, expected: Any) -> None:
    Path("parts").mkdir()
    for part, rows in (("b", slice(700, None)), ("a", slice(0, 700))):
        pq.write_table(table(rows), f"parts/{part}.parquet")
    scale.transform(model, "parts", "Z.csv", block=301)
    with Path("Z.csv").open(newline="") as file:
        header, *rows_read = csv.reader(file)
    assert header[:2] == ["item", "sklr0"]
    assert [row[0] for row in rows_read] == NAMES
    assert np.allclose(np.array([row[1:] for row in rows_read], dtype=float), expected, rtol=0, atol=1e-12)
    chosen = np.array([3, 699, 700, 1796])
    source = open_source("parts", n_features=64)
    assert np.array_equal(source.take(chosen), X[chosen])


def test_features_by_name_are_put_in_order(expected: Any) -> None:
    frame = pd.DataFrame(X, columns=[f"pixel{j}" for j in range(64)])
    named = SKLR(rank=60, penalty=10.0).fit(frame[TRAINING], SAID)
    turned = table(names=False).select([f"pixel{j}" for j in reversed(range(64))])
    pq.write_table(turned, "X.parquet")
    assert np.allclose(scale.transform(named, "X.parquet"), expected, rtol=0, atol=1e-12)
    assert np.allclose(scale.transform(named, frame[frame.columns[::-1]]), expected, rtol=0, atol=1e-12)
    pq.write_table(turned.rename_columns(["other", *turned.column_names[1:]]), "other.parquet")
    with pytest.raises(ValueError, match=r"missing \['pixel63'\], new \['other'\]"):
        scale.transform(named, "other.parquet")


def test_half_the_size(model: SKLR, expected: Any) -> None:
    Z = scale.transform(model, X, dtype=np.float32)
    assert Z.dtype == np.float32
    assert np.allclose(Z, expected, rtol=0, atol=1e-5)


def test_groups_are_those_of_the_nearest_centre(model: SKLR, expected: Any) -> None:
    found = scale.cluster(model, X, [10, 3], random_state=0)
    for labels, centers, sizes in zip(found.labels.T, found.centers, found.sizes or (), strict=True):
        distance = np.linalg.norm(expected[:, None] - centers[None], axis=2)
        assert np.array_equal(labels, distance.argmin(axis=1))
        assert np.array_equal(np.bincount(labels, minlength=len(centers)), sizes)
    assert adjusted_rand_score(DIGITS, found.labels[:, 0]) > 0.75


def test_groups_in_files(model: SKLR) -> None:
    np.save("X.npy", X)
    pq.write_table(table(), "X.parquet")
    labels = scale.cluster(model, X, 5, random_state=0).labels
    assert scale.cluster(model, "X.npy", 5, "groups.npy", random_state=0, block=99).labels == Path("groups.npy")
    assert np.array_equal(np.load("groups.npy"), labels)
    scale.cluster(model, "X.parquet", 5, "groups.parquet", random_state=0)
    read = pd.read_parquet("groups.parquet")
    assert read["item"].tolist() == NAMES
    assert np.array_equal(read["group_of_5"], labels)
    scale.cluster(model, "X.npy", 5, "groups.csv", random_state=0)
    assert pd.read_csv("groups.csv")["row"].tolist() == list(range(len(X)))


def test_sorted_items_are_no_obstacle(model: SKLR) -> None:
    order = np.argsort(DIGITS, kind="stable")
    labels = scale.cluster(model, X[order], 10, random_state=0).labels
    assert adjusted_rand_score(DIGITS[order], labels) > 0.75


def test_nearest_agrees_with_scikit_learn(model: SKLR, expected: Any) -> None:
    near = scale.nearest(model, X, X[:20], 5, block=97)
    distance, rows = NearestNeighbors(n_neighbors=5, algorithm="brute").fit(expected).kneighbors(expected[:20])
    assert np.array_equal(near.rows, rows)
    assert np.allclose(near.distance[:, 1:], distance[:, 1:])
    assert np.allclose(near.distance[:, 0], 0, atol=1e-12)


def test_items_out_of_reach_are_named_once(model: SKLR) -> None:
    strange = X[:100].copy()
    strange[[3, 97]] = 1e6
    with pytest.warns(UserWarning, match="rows 3, 97: so far from everything seen") as told:
        Z = scale.transform(model, strange, block=10)
    assert len(told) == 1
    with pytest.warns(UserWarning, match="rows 3, 97"):
        assert np.allclose(Z, model.transform(strange), rtol=0, atol=1e-12)
    with pytest.warns(UserWarning, match="rows 3, 97") as told:
        scale.cluster(model, strange, 3, random_state=0)
    assert len(told) == 1
    strange[:] = 1e6
    with pytest.warns(UserWarning, match=r"rows 0, 1, .* 9 \(100 in all\)"):
        scale.transform(model, strange, block=7)


def _broken(kind: str) -> str:
    match kind:
        case "narrow":
            np.save("narrow.npy", X[:, :63])
        case "flat":
            np.save("flat.npy", X[:, 0])
        case "words":
            np.save("words.npy", np.array([["a"]]))
        case "columns":
            np.save("columns.npy", np.asfortranarray(X))
        case "nan":
            broken = X.copy()
            broken[1234, 5] = np.nan
            np.save("nan.npy", broken)
        case "cut":
            np.save("whole.npy", X)
            Path("cut.npy").write_bytes(Path("whole.npy").read_bytes()[:-1])
        case "noise":
            Path("noise.npy").write_bytes(b"noise")
        case "empty":
            np.save("empty.npy", X[:0])
    return f"{kind}.npy"


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("narrow", "narrow.npy: 63 features; expected 64, as many as the model learned from"),
        ("flat", "two dimensions"),
        ("words", "expected numbers"),
        ("columns", "stored column by column"),
        ("nan", "nan.npy: row 1234, column 5 holds nan"),
        ("cut", "it was cut off"),
        ("noise", "noise.npy: not a readable .npy file"),
        ("empty", "no items"),
    ],
)
def test_unusable_files_are_refused_and_leave_nothing(kind: str, sentence: str, model: SKLR, folder: Path) -> None:
    path = _broken(kind)
    before = sorted(folder.iterdir())
    with pytest.raises(ValueError, match=sentence):
        scale.transform(model, path, "Z.npy", block=100)
    assert sorted(folder.iterdir()) == before


def test_unusable_parquet_is_refused(model: SKLR) -> None:
    Path("parts").mkdir()
    with pytest.raises(ValueError, match=r"no .parquet file"):
        scale.transform(model, "parts")
    pq.write_table(table(), "parts/a.parquet")
    pq.write_table(table().drop(["pixel0"]), "parts/b.parquet")
    with pytest.raises(ValueError, match=r"b.parquet: columns .* expected those of parts/a.parquet"):
        scale.transform(model, "parts")
    Path("parts/b.parquet").write_bytes(b"noise")
    with pytest.raises(ValueError, match=r"b.parquet: not a readable Parquet file"):
        scale.transform(model, "parts")
    pq.write_table(pa.table({"item": ["a"], "x": ["red"]}), "colours.parquet")
    with pytest.raises(ValueError, match=r"colours.parquet: column x holds string"):
        scale.transform(model, "colours.parquet")
    holes = pa.table({**{f"pixel{j}": [1.0, 2.0] for j in range(63)}, "pixel63": [1.0, None]})
    pq.write_table(holes, "holes.parquet")
    with pytest.raises(ValueError, match="row 1, column 63 holds nan"):
        scale.transform(model, "holes.parquet")


def test_what_makes_no_sense_is_refused(model: SKLR) -> None:
    with pytest.raises(ValueError, match="block=0; expected a whole number"):
        scale.transform(model, X, block=0)
    with pytest.raises(ValueError, match="n_jobs=-1; expected a whole number"):
        scale.transform(model, X, n_jobs=-1)
    with pytest.raises(ValueError, match="dtype='int8'; expected float64 or float32"):
        scale.transform(model, X, dtype="int8")
    with pytest.raises(ValueError, match=r"ends with .npy, .parquet, .csv"):
        scale.transform(model, X, "Z.txt")
    with pytest.raises(ValueError, match="folder no/such doesn't exist"):
        scale.cluster(model, X, 3, "no/such/folder.npy")
    with pytest.raises(ValueError, match="n_clusters=2000; expected at most 1797"):
        scale.cluster(model, X, 2000)
    with pytest.raises(ValueError, match=r"n_clusters=\[0\]"):
        scale.cluster(model, X, [0])
    with pytest.raises(ValueError, match="k=1798; expected a number from 1 to 1797"):
        scale.nearest(model, X, X[:2], 1798)


def test_too_little_memory_is_found_before_the_work_starts(model: SKLR, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory, "available", lambda: 2**20)
    with pytest.raises(MemoryError, match=r"transforming 1797 items takes about .* give out= a file"):
        scale.transform(model, X)
    with pytest.raises(MemoryError, match="lower block= or n_jobs="):
        scale.transform(model, X, "Z.npy")
    with pytest.raises(MemoryError, match="a smaller rank="):
        scale.cluster(model, X, 3)
    assert not os.listdir()


def test_memory_is_the_least_of_what_machine_and_group_allow(tmp_path: Path) -> None:
    (tmp_path / "memory.max").write_text("1000\n")
    (tmp_path / "memory.current").write_text("400\n")
    assert memory._of_group(tmp_path) == 600
    (tmp_path / "memory.max").write_text("max\n")
    assert memory._of_group(tmp_path) is None
    assert (memory.available() or 1) > 0


def test_interruption_leaves_nothing(model: SKLR, folder: Path) -> None:
    Path("Z.npy").write_text("older")

    def interrupt(sentence: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scale.transform(model, X, "Z.npy", block=100, progress=interrupt)
    assert [file.name for file in folder.iterdir()] == ["Z.npy"]
    assert Path("Z.npy").read_text() == "older"


def test_progress_counts_items(model: SKLR) -> None:
    told: list[str] = []
    scale.transform(model, X[:250], block=100, progress=told.append)
    assert told == ["100 of 250 items", "200 of 250 items", "250 of 250 items"]


PEAK = """
import sys
from pathlib import Path
import numpy as np
from oddkernel import SKLR, Comparisons, scale
random = np.random.default_rng(0)
X = random.normal(size=(200, 16))
model = SKLR(rank=64, penalty=10.0).fit(X, Comparisons.from_labels(np.arange(200) % 4, 50, random_state=0))
n = int(sys.argv[1])
with open("X.npy", "wb") as file:
    header = {"descr": "<f4", "fortran_order": False, "shape": (n, 16)}
    np.lib.format.write_array_header_1_0(file, header)
    for _ in range(n // 1000):
        file.write(random.normal(size=(1000, 16)).astype("f4").data)
scale.transform(model, "X.npy", "Z.npy", block=2000, n_jobs=1)
scale.cluster(model, "X.npy", 3, "g.npy", block=2000, n_jobs=1, random_state=0)
# Not getrusage: a process begins with the peak of the one that started it.
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="asks Linux for the peak of memory")
def test_memory_does_not_grow_with_the_items() -> None:
    few, many = (
        int(subprocess.run([sys.executable, "-c", PEAK, str(n)], capture_output=True, text=True, check=True).stdout)
        for n in (20_000, 80_000)
    )
    # The larger file of coordinates holds 29 MiB more than the smaller.
    assert many - few < 12 * 2**10


def test_names_in_a_csv_file_are_harmless_in_spreadsheets(tmp_path: Path) -> None:
    who = {"item": ["=1+1", "@sum", "-5", "cat"]}
    with open_sink(tmp_path / "z.csv", 4, ["first"], np.float64) as sink:
        sink.write(np.array([[-1.0], [2.0], [3.0], [4.0]]), who)
    with (tmp_path / "z.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows == [["item", "first"], ["'=1+1", "-1.0"], ["'@sum", "2.0"], ["-5", "3.0"], ["cat", "4.0"]]
