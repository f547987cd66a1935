"""Features from a folder of images or a table of texts, in Python and on the command line."""

from __future__ import annotations

import io
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from oddkernel import formats
from oddkernel.cli import main
from oddkernel.items import from_images, from_texts, read_source, tables
from oddkernel.items.image_files import open_image, upright
from oddkernel.judge import items as judge_items
from oddkernel.judge.pictures import Box, scale
from oddkernel.report.thumbnails import make_thumbnails

TEXTS = ["a red apple", "two red apples", "a blue car", "blue cars and a van"]
NAMES = ["apple", "apples", "car", "cars"]


def paint(path: Path, colour: Any, size: tuple[int, int] = (64, 48), mode: str = "RGB") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    random = np.random.RandomState(len(path.name))
    image = Image.new(mode, size, colour)
    image.paste(Image.fromarray(random.randint(255, size=(20, 20), dtype=np.uint8)).convert(mode), (5, 9))
    image.save(path)
    return path


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    folder = tmp_path / "photos"
    paint(folder / "b.png", "red")
    paint(folder / "A.JPG", "blue")
    paint(folder / "sub" / "c.gif", "green")
    paint(folder / ".hidden.png", "red")
    paint(folder / ".thumbnails" / "d.png", "red")
    (folder / "notes.txt").write_text("not an image")
    return folder


def test_a_folder_of_images(photos: Path) -> None:
    source = read_source(photos)
    assert source.names == ("A.JPG", "b.png", "sub/c.gif")
    told: list[str] = []
    items = from_images(source.paths, source.names, progress=told.append)
    assert items.names == source.names
    assert items.X.shape == (3, 560)
    assert items.columns is not None
    assert len(set(items.columns)) == 560
    assert told[-1] == "image 3 of 3"
    np.testing.assert_array_equal(items.X, from_images(source.paths, source.names).X)
    corner = [items.X[1, items.columns.index(f"{colour}15")] for colour in ("red", "green", "blue")]
    np.testing.assert_allclose(corner, [0.5, 0.0, 0.0], atol=1e-3)  # the lower right of b.png is red


def test_transparent_and_turned_images(tmp_path: Path) -> None:
    clear = Image.new("RGBA", (30, 30), (0, 0, 0, 0))
    clear.save(tmp_path / "clear.png")
    Image.new("RGB", (30, 30), "white").save(tmp_path / "white.png")
    left = Image.new("L", (40, 40), 0)
    left.paste(255, (0, 0, 20, 40))
    left.save(tmp_path / "plain.png")
    turned = left.transpose(Image.Transpose.ROTATE_90)
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by 90° clockwise
    turned.save(tmp_path / "turned.png", exif=exif)
    names = ["clear.png", "white.png", "plain.png", "turned.png"]
    X = from_images([tmp_path / name for name in names], names).X
    np.testing.assert_array_equal(X[0], X[1])
    np.testing.assert_allclose(X[2], X[3], atol=1e-9)


@pytest.mark.parametrize(
    ("name", "highest"), [("grey.png", 65535), ("grey.tif", 65535), ("camera.tif", 4095), ("parts.tif", 1.0)]
)
def test_images_of_more_than_8_bits_keep_their_greys(tmp_path: Path, name: str, highest: float) -> None:
    kind = np.float32 if highest == 1 else np.uint16
    greys = np.linspace(0, highest, 64 * 64).reshape(64, 64).astype(kind)
    Image.fromarray(greys).save(tmp_path / name)
    Image.fromarray(np.linspace(0, 255, 64 * 64).reshape(64, 64).astype(np.uint8)).save(tmp_path / "usual.png")
    found = from_images([tmp_path / name, tmp_path / "usual.png"], ["many", "8"]).X
    np.testing.assert_allclose(found[0], found[1], atol=0.01)
    with open_image(tmp_path / name) as image:
        shown = np.asarray(upright(image))
    assert shown.dtype == np.uint8
    assert (shown.min(), shown.max()) == (0, 255)
    if name == "grey.tif":
        thumbnail = make_thumbnails([tmp_path / name])
        with Image.open(io.BytesIO(thumbnail.sheets[0])) as sheet:
            assert len(np.unique(np.asarray(sheet.convert("L")))) > 100
        made = scale(tmp_path / name, Box(40, 40))
        assert made is not None
        with Image.open(io.BytesIO(made)) as small:
            assert len(np.unique(np.asarray(small.convert("L")))) > 100


def test_damaged_images_are_left_out_and_named(
    photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = from_images(*(lambda source: (source.paths, source.names))(read_source(photos)))
    data = (photos / "b.png").read_bytes()
    (photos / "b.png").write_bytes(data[: len(data) // 2])
    (photos / "A.JPG").write_text("not an image at all")
    source = read_source(photos)
    with pytest.warns(UserWarning, match=r"left out, 2 of \d images can't be read: .*A\.JPG .*b\.png ") as warned:
        items = from_images(source.paths, source.names)
    assert "\n" not in str(warned[0].message)
    kept = [name for name in source.names if name not in ("A.JPG", "b.png")]
    assert items.names == tuple(kept)
    np.testing.assert_array_equal(items.X, whole.X[[source.names.index(name) for name in kept]])
    assert main(["features", str(photos), "--out", str(tmp_path / "f.csv")]) == 0
    assert "b.png" in capsys.readouterr().err
    assert main(["features", str(photos), "--out", str(tmp_path / "f.npy")]) == 2
    assert "no item may be left out" in capsys.readouterr().err
    with pytest.raises(ValueError, match="1 of 1 images can't be read"):
        from_images([photos / "b.png"], ["b.png"])


def test_pictures_that_nobody_reads_are_counted(tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    (folder / "drawing.svg").write_text("<svg/>")
    with pytest.raises(ValueError, match=r"no images; .*\(1 \.svg file is not read; save it as JPEG or PNG\)"):
        read_source(folder)
    paint(folder / "a.png", "red")
    for name in ("b.HEIC", "c.heic"):
        (folder / name).write_text("x")
    with pytest.warns(UserWarning, match=r"^2 \.heic files and 1 \.svg file are not read; save them as JPEG or PNG$"):
        assert read_source(folder).names == ("a.png",)


def test_postscript_is_not_run_and_vast_images_are_not_decoded(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from PIL import EpsImagePlugin, Image

    program = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n(/etc/passwd) (r) file\n%%EOF\n"
    (photos / "b.png").write_bytes(program)
    Image.new("1", (9000, 9000)).save(photos / "vast.png")
    run: list[object] = []
    monkeypatch.setattr(EpsImagePlugin, "Ghostscript", lambda *given, **_: run.append(given))
    source = read_source(photos)
    with pytest.warns(
        UserWarning, match=r"b\.png \(no image in any of the formats PNG.*vast\.png \(9000 × 9000 pixels"
    ):
        items = from_images(source.paths, source.names)
    assert run == []
    assert not {"b.png", "vast.png"} & set(items.names or ())


def test_without_pillow_the_error_says_what_to_install(photos: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(ImportError, match=r'pip install "oddkernel\[images\]"'):
        from_images([photos / "b.png"], ["b.png"])


def test_texts() -> None:
    items = from_texts(TEXTS, NAMES)
    assert items.names == tuple(NAMES)
    assert items.X.shape == (4, 4)
    distance = np.linalg.norm(items.X[:, None] - items.X, axis=2)
    assert distance[0, 1] < distance[0, 2]
    assert distance[2, 3] < distance[1, 3]
    np.testing.assert_array_equal(items.X, from_texts(TEXTS, NAMES).X)
    assert from_texts(TEXTS, NAMES, n_features=2).X.shape == (4, 2)


@pytest.mark.parametrize(
    ("texts", "names", "sentence"),
    [
        (["a"], ["a"], "1 texts; expected at least 2"),
        (["a", " "], ["a", "b"], "row 1: an empty text"),
        (["!!", "?"], ["a", "b"], "the texts hold no words"),
        (["a", "b"], ["a"], "1 names for 2 texts"),
        (["a", "b"], ["a", "a"], "a"),
    ],
)
def test_texts_that_are_refused(texts: list[str], names: list[str], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        from_texts(texts, names)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_tables(tmp_path: Path, suffix: str) -> None:
    table = tmp_path / f"fruit{suffix}"
    tables.write(table, {"item": NAMES, "text": TEXTS, "code": ["w", "x", "y", "z"]})
    source = read_source(table)
    assert (source.kind, source.names, source.texts) == ("text", tuple(NAMES), tuple(TEXTS))
    assert read_source(table, names="code").names == ("w", "x", "y", "z")
    tables.write(table, {"text": TEXTS})
    assert read_source(table).names == tuple(TEXTS)
    paint(tmp_path / "b.png", "red")
    tables.write(table, {"name": ["bee"], "path": ["b.png"]})
    source = read_source(table)
    assert (source.kind, source.names, source.paths) == ("image", ("bee",), (tmp_path / "b.png",))


def test_heads_in_capital_letters(tmp_path: Path) -> None:
    table = tmp_path / "dishes.csv"
    for head in ("Item,Text", "ITEM,text", "item, Text"):
        table.write_text(f"{head}\nramen,hot noodle broth\npho,noodle broth with herbs\nsorbet,frozen juice\n")
        source = read_source(table)
        assert (source.kind, source.names) == ("text", ("ramen", "pho", "sorbet"))
        shown = judge_items.read(table)[0]
        assert (shown.name, shown.medium, shown.text) == ("ramen", "text", "hot noodle broth")
    assert main(["features", str(table), "--with", "tfidf", "--out", str(tmp_path / "features.csv")]) == 0
    assert tables.read(tmp_path / "features.csv").names == ("ramen", "pho", "sorbet")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("item,words\na,b\n", "columns item, words; expected one called text or one called path"),
        ("text,path\na,b\n", "not both"),
        ("item,name,text\na,b,c\n", "both item and name are there"),
        ("item,text\na,b\nc\n", "line 3: 1 fields; expected 2"),
        ("item,text\na,b\nc,\n", "row 1: no text"),
        ("item,text\na,b\na,c\n", "a"),
        ("", "expected one called text"),
    ],
)
def test_tables_that_are_refused(tmp_path: Path, content: str, sentence: str) -> None:
    table = tmp_path / "table.csv"
    table.write_text(content)
    with pytest.raises(ValueError, match=sentence) as error:
        read_source(table)
    assert str(table) in str(error.value)


def test_sources_that_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no images; expected files that end with"):
        read_source(tmp_path)
    with pytest.raises(ValueError, match="expected a folder of images, or a table"):
        read_source(tmp_path / "table.doc")
    (tmp_path / "a.csv").write_text("item,text\na,b\n")
    with pytest.raises(ValueError, match="no column called code; there are item, text"):
        read_source(tmp_path / "a.csv", names="code")
    (tmp_path / "a.parquet").write_text("not Parquet")
    with pytest.raises(ValueError, match="not a readable Parquet file"):
        read_source(tmp_path / "a.parquet")


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".npz", ".npy"])
def test_the_command_writes_what_the_others_read(
    photos: Path, tmp_path: Path, suffix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / f"photos{suffix}"
    assert main(["features", str(photos), "--out", str(out), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["kind"], facts["n_items"], facts["n_features"]) == ("image", 3, 560)
    items = tables.read(out)
    assert items.X.shape == (3, 560)
    if suffix == ".npy":
        assert items.names is None
        return
    answers = tmp_path / "answers.csv"
    answers.write_text("a,b,c,answer\nsub/c.gif,b.png,A.JPG,c\n")
    assert items.join(formats.read(answers)).shown.tolist() == [[2, 1, 0]]


def test_the_command_on_texts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table, out = tmp_path / "fruit.csv", tmp_path / "features.csv"
    tables.write(table, {"item": NAMES, "text": TEXTS})
    assert main(["features", str(table), "--out", str(out), "--dimensions", "3"]) == 0
    assert capsys.readouterr().out.startswith("4 texts, 3 features each: ")
    assert tables.read(out).names == tuple(NAMES)


def test_the_command_refuses_before_the_work(photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for out in ("features.txt", "absent/features.csv"):
        assert main(["features", str(photos), "--out", str(tmp_path / out)]) == 2
        assert "expected a name that ends with" in (told := capsys.readouterr().err) or "doesn't exist" in told
    for file in filter(Path.is_file, photos.rglob("*")):
        file.write_bytes(b"")
    assert main(["features", str(photos), "--out", str(tmp_path / "features.csv")]) == 2
    assert "b.png" in capsys.readouterr().err
    assert not (tmp_path / "features.csv").exists()


def test_cars() -> None:
    folder = Path(os.environ.get("ODDKERNEL_DATA", "absent"), "cars60_images")
    if not folder.exists():
        pytest.skip("needs cars60_images in the folder that ODDKERNEL_DATA names")
    source = read_source(folder)
    assert len(source.names) == 60
    X = from_images(source.paths[:4], source.names[:4]).X
    assert np.isfinite(X).all()
    assert (X.std(axis=0) > 0).mean() > 0.99
