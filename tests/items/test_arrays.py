"""Features that other programs wrote, in their own layout."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from oddkernel.items.arrays import read_array
from oddkernel.items.encoders import encode, find_encoder
from oddkernel.items.sources import Source

NAMES = ("birds/wren.jpg", "cat.jpg", "dog.jpg")
PHOTOS = Source("image", NAMES, paths=tuple(Path(name) for name in NAMES))
X = np.random.default_rng(0).normal(size=(3, 4)).astype(np.float32)
ORDER = [2, 0, 1]  # of the rows in the files
ROWS = X[ORDER]
LISTED = [f"/data/photos/{NAMES[row]}" for row in ORDER]


def looked_up(path: Path) -> None:
    found = encode(find_encoder(str(path), "image"), PHOTOS).items
    assert found.names == NAMES
    np.testing.assert_allclose(found.X, X, rtol=1e-6)


def safetensors(rows: np.ndarray, **more: object) -> bytes:
    about = {"dtype": "F32", "shape": list(rows.shape), "data_offsets": [0, rows.nbytes], **more}
    header = json.dumps({"__metadata__": {"format": "np"}, "embeddings": about}).encode()
    return len(header).to_bytes(8, "little") + header + rows.tobytes()


def test_thingsvision(tmp_path: Path) -> None:
    np.save(tmp_path / "features.npy", ROWS)
    (tmp_path / "file_names.txt").write_text("\n".join(LISTED) + "\n")
    looked_up(tmp_path / "features.npy")
    looked_up(tmp_path)  # its folder
    (tmp_path / "features.npy").unlink()
    np.savetxt(tmp_path / "features.txt", ROWS)
    looked_up(tmp_path)


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_image_folders_of_hugging_face(tmp_path: Path, form: str) -> None:
    (tmp_path / "embeddings.safetensors").write_bytes(safetensors(ROWS))
    table = pd.DataFrame({"file_name": [NAMES[row] for row in ORDER], "label": [1, 2, 3]})
    if form == "csv":
        table.to_csv(tmp_path / "metadata.csv", index=False)
    else:
        table.to_json(tmp_path / "metadata.jsonl", orient="records", lines=True)
    looked_up(tmp_path / "embeddings.safetensors")


@pytest.mark.parametrize("column", ["file_name", "image", "item"])
def test_datasets_of_hugging_face(tmp_path: Path, column: str) -> None:
    named = [{"bytes": None, "path": name} for name in LISTED] if column == "image" else LISTED
    pd.DataFrame({column: named, "embeddings": list(ROWS)}).to_parquet(tmp_path / "train.parquet")
    looked_up(tmp_path / "train.parquet")


def test_texts_are_found_by_themselves(tmp_path: Path) -> None:
    source = Source("text", ("a", "b", "c"), texts=("red apple", "green apple", "car"))
    pd.DataFrame({"text": ["car", "red apple", "green apple"], "embeddings": list(ROWS)}).to_parquet(
        tmp_path / "texts.parquet"
    )
    np.testing.assert_allclose(encode(find_encoder(str(tmp_path / "texts.parquet"), "text"), source).items.X, X)


def test_tables_of_our_own(tmp_path: Path) -> None:
    np.savez(tmp_path / "mine.npz", X=ROWS, names=np.array(LISTED))
    looked_up(tmp_path / "mine.npz")


def test_items_without_a_row_are_named(tmp_path: Path) -> None:
    np.save(tmp_path / "features.npy", np.vstack([ROWS, ROWS[:1]]))
    (tmp_path / "file_names.txt").write_text("one/dog.jpg\nbirds/wren.jpg\nmouse.jpg\ntwo/dog.jpg\n")
    with pytest.warns(UserWarning, match=r"cat\.jpg \(no row of that name in features\.npy\); dog\.jpg \(two rows"):
        found = encode(find_encoder(str(tmp_path), "image"), PHOTOS)
    assert found.items.names == ("birds/wren.jpg",)


def test_files_that_say_nothing_clear_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "features.npy"
    np.save(file, ROWS)
    with pytest.raises(ValueError, match=r"the features don't name their items; expected file_names\.txt beside it"):
        looked_up(file)
    (tmp_path / "file_names.txt").write_text("a\nb\n")
    with pytest.raises(ValueError, match="3 rows for 2 file names beside it"):
        looked_up(file)
    (tmp_path / "file_names.txt").write_text("a\nb\nc\n")
    with pytest.raises(ValueError, match="no row is called like any of the items; the first row is 'a'"):
        looked_up(file)
    np.save(tmp_path / "more.npy", ROWS)
    with pytest.raises(ValueError, match="2 files of features; expected one"):
        looked_up(tmp_path)
    with pytest.raises(ValueError, match=r"absent\.npy: no such file"):
        looked_up(tmp_path / "absent.npy")
    np.save(file, ROWS.astype(object), allow_pickle=True)
    with pytest.raises(ValueError, match=r"not a readable \.npy file of numbers"):
        looked_up(file)


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "not a readable file of safetensors"),
        (b"\xff" * 20, "not a readable file of safetensors"),
        (safetensors(ROWS, shape=[3, 5]), "cut off"),
        (safetensors(ROWS, dtype="BF16"), "an array of type 'BF16'"),
        (safetensors(ROWS, data_offsets=[-1, 5]), "an array of type 'F32'"),
        (safetensors(ROWS, shape=[12]), "expected a row for each item"),
        (safetensors(np.full((2, 2), np.nan, dtype=np.float32)), "row 0 holds NaN"),
    ],
)
def test_broken_safetensors_are_refused(tmp_path: Path, data: bytes, sentence: str) -> None:
    file = tmp_path / "e.safetensors"
    file.write_bytes(data)
    with pytest.raises(ValueError, match=sentence):
        read_array(file)
