"""Features that are made once and kept beside the items."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from oddkernel.items import feature_cache, read_source
from oddkernel.items.encoders import Numbers, Row, find_encoder
from oddkernel.items.feature_cache import keep_features, read_kept, up_to_date
from oddkernel.items.images import Gist
from oddkernel.items.sources import Source


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    for number, colour in enumerate(["red", "green", "blue", "white"]):
        Image.new("RGB", (20, 20), colour).save(tmp_path / f"{number}.png")
    return tmp_path


@pytest.fixture
def encoded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The items that an encoder of images was asked about, in order."""
    asked: list[str] = []
    rows = Gist.rows

    def noted(self: Gist, source: Source) -> Iterator[Row]:
        asked.extend(source.names)
        return rows(self, source)

    monkeypatch.setattr(Gist, "rows", noted)
    return asked


def test_features_are_made_once(photos: Path, encoded: list[str]) -> None:
    first = keep_features(read_source(photos), photos)
    assert (first.encoder, first.n_made, len(encoded)) == ("gist", 4, 4)
    again = keep_features(read_source(photos), photos)
    assert (again.n_made, len(encoded)) == (0, 4)
    np.testing.assert_array_equal(again.items.X, first.items.X)
    assert again.items.names == first.items.names
    assert again.items.columns == first.items.columns
    with np.load(photos / ".oddkernel" / "features.npz") as arrays:  # numbers that anyone can read
        np.testing.assert_array_equal(arrays["X"], first.items.X)


def test_only_changed_items_are_encoded_again(photos: Path, encoded: list[str]) -> None:
    first = keep_features(read_source(photos), photos)
    encoded.clear()
    os.utime(photos / "0.png", (1, 1))  # another date, the same content
    assert keep_features(read_source(photos), photos).n_made == 0
    Image.new("RGB", (20, 20), "black").save(photos / "1.png")
    Image.new("RGB", (20, 20), "pink").save(photos / "4.png")
    (photos / "2.png").unlink()
    source = read_source(photos)
    assert up_to_date(source, photos) is None
    then = keep_features(source, photos)
    assert encoded == ["1.png", "4.png"]
    assert then.items.names == ("0.png", "1.png", "3.png", "4.png")
    np.testing.assert_array_equal(then.items.X[[0, 2]], first.items.X[[0, 3]])
    assert not np.array_equal(then.items.X[1], first.items.X[1])
    found = up_to_date(source, photos)
    assert found is not None
    np.testing.assert_array_equal(found.items.X, then.items.X)


def test_another_encoder_replaces_the_features_only_if_it_is_asked_for(photos: Path) -> None:
    source = read_source(photos)
    keep_features(source, photos, "none")
    assert keep_features(source, photos).encoder == Numbers.name
    assert keep_features(source, photos, "gist").n_made == 4
    assert keep_features(source, photos).encoder == "gist"
    assert keep_features(source, photos, "gist").n_made == 0  # the same again is no reason


def test_a_bad_picture_is_named_each_time_and_read_once(photos: Path, encoded: list[str]) -> None:
    (photos / "bad.png").write_bytes(b"not a picture")
    source = read_source(photos)
    for made in (5, 0):
        with pytest.warns(UserWarning, match=r"left out, 1 of 5 images can't be read: .*bad\.png"):
            found = keep_features(source, photos)
        assert found.n_made == made
        assert list(found.left_out) == ["bad.png"]
        assert "bad.png" not in (found.items.names or ())
    Image.new("RGB", (20, 20), "black").save(photos / "bad.png")
    assert keep_features(source, photos).n_made == 1


def test_what_was_done_survives_ctrl_c(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_cache, "EVERY", 2)

    def interrupt(sentence: str) -> None:
        if sentence.startswith("image 3 of 4"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        keep_features(read_source(photos), photos, progress=interrupt)
    assert [path.name for path in (photos / ".oddkernel").iterdir()] == ["features.npz"]
    assert up_to_date(read_source(photos), photos) is None
    assert keep_features(read_source(photos), photos).n_made == 2


@pytest.mark.parametrize("damage", ["cut", "other", "shape", "pickle"])
def test_a_damaged_file_is_made_anew(photos: Path, damage: str) -> None:
    keep_features(read_source(photos), photos)
    file = photos / ".oddkernel" / "features.npz"
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:-100])
    elif damage == "other":
        file.write_text("something else")
    elif damage == "shape":
        data = file.read_bytes()
        with zipfile.ZipFile(file) as archive:
            about = archive.read("about.json")
        file.write_bytes(data.replace(about, about.replace(b'"0.png"', b'"9.png"')))
    else:
        np.savez(file, X=np.array([{"a": 1}], dtype=object))
    assert damage == "shape" or read_kept(photos) is None
    assert keep_features(read_source(photos), photos).items.X.shape == (4, 560)


def test_a_folder_that_cannot_be_written_to_is_no_obstacle(photos: Path) -> None:
    (photos / ".oddkernel").write_text("a file where the folder would be")
    found = keep_features(read_source(photos), photos)
    assert (found.file, found.items.X.shape) == (None, (4, 560))


def test_texts_depend_on_one_another(tmp_path: Path) -> None:
    table = tmp_path / "fruit.csv"
    table.write_text("item,text\na,red apple\nb,green apple\nc,blue car\n")
    assert keep_features(read_source(table), tmp_path).encoder == "tfidf"
    assert keep_features(read_source(table), tmp_path).n_made == 0
    table.write_text("item,text\na,red apple\nb,green apple\nc,blue car\nd,blue van\n")
    assert keep_features(read_source(table), tmp_path).n_made == 4


def test_encoders_that_do_not_fit_are_refused() -> None:
    with pytest.raises(
        ValueError, match=r"no such encoder; did you mean 'clip'\?; expected for images: gist, clip, none"
    ):
        find_encoder("clop", "image")
    with pytest.raises(ValueError, match="--with gist is for images; expected for texts: tfidf, sentences, none"):
        find_encoder("gist", "text")
