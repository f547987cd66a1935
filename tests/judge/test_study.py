from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from judge_studies import make_folder, png

from oddkernel.judge import items as items_module
from oddkernel.judge.items import open_inside
from oddkernel.judge.study import Study

HOSTILE = ["<img src=x onerror=alert(1)>.png", "a'b\"c.png", "%2e%2e%2fetc.png", "új ‮gnp.png", "  .png", "-rf.png"]


def test_a_folder_of_media_with_folders_in_it(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "things", 2)
    (folder / "deeper").mkdir()
    for name in ("song.MP3", "deeper/film.webm", "deeper/notes.txt", ".hidden.png"):
        (folder / name).write_bytes(b"...")
    items = {item.name: (item.medium, item.media_type) for item in Study.open(folder).items}
    assert items == {
        "picture 0.png": ("image", "image/png"),
        "picture 1.png": ("image", "image/png"),
        "song.MP3": ("audio", "audio/mpeg"),
        "deeper/film.webm": ("video", "video/webm"),
    }


def test_hostile_file_names_are_names_like_others(tmp_path: Path) -> None:
    folder = tmp_path / "hostile"
    folder.mkdir()
    for name in HOSTILE:
        (folder / name).write_bytes(png())
    assert set(Study.open(folder).names) == set(HOSTILE)


def test_a_name_that_is_not_text_is_refused(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds")
    try:
        Path(str(folder), b"\xff.png".decode(errors="surrogateescape")).write_bytes(png())
    except OSError:
        pytest.skip("this file system takes no such name")
    with pytest.raises(ValueError, match="not UTF-8"):
        Study.open(folder)


def test_links_that_lead_outside_are_refused_and_others_followed(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds")
    (folder / "again.png").symlink_to(folder / "picture 0.png")
    assert "again.png" in Study.open(folder).names
    (tmp_path / "secret.png").write_bytes(png())
    (folder / "link.png").symlink_to(tmp_path / "secret.png")
    with pytest.raises(ValueError, match="copy it there"):
        Study.open(folder)
    with pytest.raises(ValueError, match="not a file inside"):
        open_inside(folder / ".." / "secret.png", folder)


def test_tables_of_texts_and_of_paths(tmp_path: Path) -> None:
    make_folder(tmp_path / "pictures", 3)
    table = tmp_path / "texts.csv"
    table.write_text('text,ignored\n"<b>one</b>, two",1\nthree,2\nfour,3\n')
    study = Study.open(table)
    assert study.names == ("<b>one</b>, two", "three", "four")
    assert study.home == tmp_path / "texts-study"
    assert (study.home / "study.toml").exists()
    pq.write_table(
        pa.table({"name": ["x", "y", "z"], "path": [f"pictures/picture {i}.png" for i in range(3)]}),
        tmp_path / "paths.parquet",
    )
    assert [(item.name, item.medium) for item in Study.open(tmp_path / "paths.parquet").items] == [
        ("x", "image"),
        ("y", "image"),
        ("z", "image"),
    ]


@pytest.mark.parametrize(
    ("table", "sentence"),
    [
        ("item,text\na,x\nb,y\n", "2 items; expected at least 3"),
        ("item,text\na,x\na,y\nb,z\n", "both are 'a'"),
        ("item,words\na,x\n", "expected one called text or one called path"),
        ("item,text,path\na,x,y\n", "expected one called text or one called path"),
        ("item,text\na,x\nb,y\nc,\n", "row 2: text is ''"),
        ("item,text\na,x,y\n", "line 2: 3 fields; expected 2"),
        ("item,path\na,../secret.png\n", "row 0"),
        ("item,path\na,/etc/passwd\n", "row 0"),
        ("item,path\na,nothing.png\n", "not a file inside"),
        ("", "expected one called text"),
    ],
)
def test_tables_that_cannot_be_meant_are_refused(table: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "secret.png").write_bytes(png())
    folder = tmp_path / "inside"
    folder.mkdir()
    file = folder / "table.csv"
    file.write_text(table)
    with pytest.raises(ValueError, match=r"table\.csv") as caught:
        Study.open(file)
    assert sentence in str(caught.value)
    assert not (folder / "table-study").exists()


def test_what_is_no_study(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no such folder or table"):
        Study.open(tmp_path / "nothing")
    with pytest.raises(ValueError, match="0 items"):
        Study.open(tmp_path)
    (tmp_path / "a.doc").write_text("?")
    with pytest.raises(ValueError, match=r"ends with \.csv, \.tsv, \.txt, \.xlsx or \.parquet"):
        items_module.read(tmp_path / "a.doc")


def test_features_are_joined_by_name(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", 3)
    features = tmp_path / "features.csv"
    features.write_text("item,x\nother,9\npicture 2.png,2\npicture 0.png,0\npicture 1.png,1\n")
    found = Study.open(folder, features).features
    assert np.array_equal(found, [[0.0], [1.0], [2.0]])
    features.write_text("item,x\npicture 2.png,2\n")
    with pytest.raises(ValueError, match=r"2 items have no features, first 'picture 0\.png'"):
        Study.open(folder, features)
    features.write_text("x,y\n1,2\n")
    with pytest.raises(ValueError, match="don't name their items"):
        Study.open(folder, features)
    (folder / "study.toml").write_text('features = "../features.csv"\n')
    features.write_text("item,x\n" + "".join(f"picture {i}.png,{i}\n" for i in range(3)))
    assert Study.open(folder).features is not None
