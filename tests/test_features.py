from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image
from sklearn.neighbors import KNeighborsClassifier

from oddkernel import features, formats, tables
from oddkernel.cli import main

SIDE = 90


def stripes(angle: float, period: float, colour: tuple[int, int, int], shift: float = 0.0) -> Image.Image:
    y, x = np.mgrid[:SIDE, : SIDE + 20]
    wave = np.sin(2 * np.pi * (x * np.cos(angle) + y * np.sin(angle)) / period + shift) > 0
    return Image.fromarray(np.where(wave[..., None], np.array(colour), 255).astype(np.uint8))


def save_all(folder: Path, pictures: dict[str, Image.Image]) -> list[Path]:
    for name, picture in pictures.items():
        picture.save(folder / name)
    return sorted(folder.glob("*.png"))


def nearest(X: np.ndarray[Any, Any], labels: list[int]) -> float:
    """Share of items whose nearest other item has their label."""
    found = KNeighborsClassifier(1).fit(X, labels).kneighbors(n_neighbors=1, return_distance=False)[:, 0]
    return float(np.mean(np.array(labels)[found] == labels))


def test_shapes_are_told_apart_whatever_their_place_and_lightness(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    kinds = [(0.0, 9.0), (np.pi / 2, 9.0), (np.pi / 4, 9.0), (0.0, 25.0)]
    pictures = {
        f"{kind}{copy}.png": stripes(angle, period, (int(dark),) * 3, shift)  # type: ignore[arg-type]
        for kind, (angle, period) in enumerate(kinds)
        for copy, (shift, dark) in enumerate(zip(rng.uniform(0, 6, 5), rng.uniform(0, 150, 5), strict=True))
    }
    paths = save_all(tmp_path, pictures)
    X = features.of_images(paths)
    assert X.shape == (20, 608)
    assert nearest(X, [int(path.name[0]) for path in paths]) == 1


def test_colours_are_told_apart(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    hues = [(200, 40, 40), (40, 160, 40), (40, 40, 200)]
    pictures = {}
    for kind, hue in enumerate(hues):
        for copy in range(5):
            colour = tuple(np.clip(np.array(hue) + rng.integers(-30, 30, 3), 0, 255).tolist())
            pictures[f"{kind}{copy}.png"] = stripes(rng.uniform(0, 3), 20.0, colour)
    paths = save_all(tmp_path, pictures)
    assert nearest(features.of_images(paths), [int(path.name[0]) for path in paths]) == 1


def test_colours_are_those_of_cielab() -> None:
    rgb = np.array([[[1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]])
    white, black, red = 100 * features._lab(rgb)[0]
    assert np.allclose(white, [100, 0, 0], atol=0.1)
    assert np.allclose(black, 0, atol=0.1)
    assert np.allclose(red, [53.24, 80.09, 67.20], atol=0.1)


def test_pictures_of_every_kind_are_understood(tmp_path: Path) -> None:
    plain = stripes(0.3, 12.0, (90, 20, 20))
    plain.save(tmp_path / "a.png")
    turned = plain.transpose(Image.Transpose.ROTATE_90)
    exif = turned.getexif()
    exif[0x0112] = 6  # to be turned by 90 degrees
    turned.save(tmp_path / "b.png", exif=exif)
    plain.convert("P", palette=Image.Palette.ADAPTIVE).save(tmp_path / "c.gif")
    see_through = plain.convert("RGBA")
    see_through.putalpha(Image.fromarray(np.where(np.asarray(plain)[..., 1] > 128, 0, 255).astype(np.uint8)))
    see_through.save(tmp_path / "d.png")
    X = features.of_images([tmp_path / name for name in ("a.png", "b.png", "c.gif", "d.png")])
    assert np.allclose(X[1:], X[0], atol=0.02)
    Image.new("L", (1, 1)).save(tmp_path / "dot.png")
    Image.new("I;16", (3, 300)).save(tmp_path / "long.png")
    assert np.isfinite(features.of_images([tmp_path / "dot.png", tmp_path / "long.png"])).all()


def test_people_agree_with_the_features_of_cars_more_often_than_with_chance() -> None:
    folder = os.environ.get("ODDKERNEL_DATA")
    if folder is None:
        pytest.skip("ODDKERNEL_DATA names no folder with cars60_images and cars60_survey.csv")
    X = features.of_images([Path(folder, "cars60_images", f"{number}.jpg") for number in range(1, 61)])
    anchor, near, far = formats.read(Path(folder, "cars60_survey.csv"), format="central").shown.T
    agrees = np.linalg.norm(X[anchor] - X[near], axis=1) < np.linalg.norm(X[anchor] - X[far], axis=1)
    assert agrees.mean() > 0.55  # of 14,194 statements; chance gives 0.50 ± 0.01


def test_what_is_no_picture_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\n broken")
    with pytest.raises(ValueError, match=r"a\.png: not an image that can be read"):
        features.of_images([tmp_path / "a.png"])


def test_texts() -> None:
    texts = [f"{animal} {verb} slowly" for animal in ("horse", "donkey") for verb in ("walks", "eats", "sleeps")]
    texts += [f"the {part} of the {machine}" for part in ("wheel", "engine") for machine in ("car", "lorry", "bus")]
    X = features.of_texts(texts)
    assert X.shape == (12, 11)
    assert nearest(X, [0] * 6 + [1] * 6) == 1
    assert np.array_equal(features.of_texts(texts), X)
    assert features.of_texts(["a", "a"]).shape == (2, 1)
    with pytest.raises(ValueError, match="1 texts; expected at least 2"):
        features.of_texts(["alone"])
    with pytest.raises(ValueError, match="no words"):
        features.of_texts(["...", "!!"])


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "pictures"
    folder.mkdir()
    save_all(folder, {f"p {i}.png": stripes(i, 10.0, (i, i, i)) for i in range(4)})
    assert main(["features", str(folder), "--out", str(tmp_path / "f.parquet"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_features"] == 608
    items = tables.read(tmp_path / "f.parquet")
    assert items.names == tuple(f"p {i}.png" for i in range(4))
    table = tmp_path / "texts.csv"
    table.write_text("item,text\nx,one word\ny,two words\nz,three\n")
    assert main(["features", str(table), "--out", str(tmp_path / "t.csv")]) == 0
    assert "3 texts described by words" in capsys.readouterr().out
    assert tables.read(tmp_path / "t.csv").names == ("x", "y", "z")


def test_what_the_user_can_mend(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "things"
    folder.mkdir()
    save_all(folder, {f"{i}.png": stripes(i, 10.0, (0, 0, 0)) for i in range(3)})
    table = tmp_path / "texts.csv"
    table.write_text("text\na\nb\nc\n")
    for arguments, told in (
        ([str(folder), "--out", "f.txt"], "ends with .csv, .parquet"),
        ([str(folder), "--out", str(tmp_path / "no" / "f.csv")], "folder doesn't exist"),
        ([str(table), "--out", str(table)], "expected another file"),
        ([str(tmp_path / "nothing"), "--out", str(tmp_path / "f.csv")], "nothing"),
    ):
        assert main(["features", *arguments]) == 2
        assert told in capsys.readouterr().err
    (folder / "song.mp3").write_bytes(b"...")
    assert main(["features", str(folder), "--out", str(tmp_path / "f.csv")]) == 2
    assert "audio and image; expected either images or texts" in capsys.readouterr().err


def test_a_model_that_one_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    class StandIn:
        def __init__(self, name: str, *, local_files_only: bool) -> None:
            assert local_files_only
            asked.append(name)

        def encode(self, things: list[Any], *, show_progress_bar: bool) -> np.ndarray[Any, Any]:
            asked.append(type(things[0]).__name__)
            return np.ones((len(things), 5), dtype=np.float32)

    module = ModuleType("sentence_transformers")
    module.__dict__.update(vars(SimpleNamespace(SentenceTransformer=StandIn)))
    monkeypatch.setitem(sys.modules, "sentence_transformers", module)
    paths = save_all(tmp_path, {f"{i}.png": stripes(i, 10.0, (0, 0, 0)) for i in range(3)})
    assert features.by_model("clip", paths).shape == (3, 5)
    assert features.by_model("words", ["a", "b"]).shape == (2, 5)
    assert asked == ["clip", "Image", "words", "str"]
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ImportError, match=r"oddkernel\[embeddings\]"):
        features.by_model("words", ["a"])
