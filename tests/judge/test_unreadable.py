"""Nobody is asked about files that can't be shown, or that features leave out."""

from __future__ import annotations

import io
import os
from pathlib import Path

import numpy as np
import pytest
from judge_studies import make_folder, png, running
from PIL import Image

from oddkernel.cli import main
from oddkernel.items.feature_cache import FOLDER, keep_features
from oddkernel.items.image_files import IMAGES, UNREAD
from oddkernel.judge import unreadable as unreadable_module
from oddkernel.judge.item_features import source_of
from oddkernel.judge.items import TYPES
from oddkernel.judge.study import Study
from oddkernel.judge.unreadable import FILE, unreadable

BAD = {"broken.jpg", "dead.jpg", "empty.mp3", "empty.png", "fake.png"}


@pytest.fixture
def damaged(tmp_path: Path) -> Path:
    folder = make_folder(tmp_path / "birds", 8)
    pixels = np.random.default_rng(0).integers(0, 256, (90, 90, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / "whole.jpg")
    (folder / "broken.jpg").write_bytes((folder / "whole.jpg").read_bytes()[:3000])
    (folder / "empty.png").touch()
    (folder / "empty.mp3").touch()
    (folder / "fake.png").write_text("x")
    (folder / "dead.jpg").symlink_to("nowhere")
    return folder


def asked_about(folder: Path) -> set[str]:
    database = Study.open(folder).connect()
    found = {name for answer in database.read(lambda records: records.answers()) for name in answer.items}
    database.close()
    return found


def test_files_that_cannot_be_shown_are_found_and_read_once(damaged: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study.open(damaged)
    assert set(study.names) >= BAD
    problems = unreadable(study.items, study.home)
    assert problems.keys() == BAD
    assert problems["empty.mp3"] == "the file is empty"
    read: list[Path] = []
    monkeypatch.setattr(unreadable_module, "problem_with", lambda path: read.append(path) or "")
    assert unreadable(study.items, study.home) == problems
    assert read == []
    os.utime(damaged / "picture 3.png", (1, 1))
    (damaged / "fake.png").write_bytes(png())  # mended
    assert unreadable(study.items, study.home).keys() == BAD - {"fake.png"}
    assert {path.name for path in read} == {"picture 3.png", "fake.png"}
    (damaged / FOLDER / FILE).write_text("[damaged")
    assert unreadable(study.items, study.home).keys() >= {"dead.jpg", "empty.png", "empty.mp3"}


def test_what_features_leave_out_is_left_out_here(damaged: Path) -> None:
    (damaged / "empty.mp3").unlink()
    items = Study.open(damaged).items
    source = source_of(items)
    assert source is not None
    with pytest.warns(UserWarning, match="left out, 4 of 13 images"):
        kept = keep_features(source, damaged, "gist")
    assert kept.left_out.keys() == unreadable(items, damaged).keys() == BAD - {"empty.mp3"}


@pytest.mark.slow  # people answer through a server
def test_nobody_is_asked_about_them(damaged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (damaged / "empty.mp3").unlink()
    asking = ["judge", str(damaged), "--simulate", "2", "--questions", "30"]
    assert main(asking) == 0
    (line,) = (line for line in capsys.readouterr().err.splitlines() if "warning" in line)
    assert "nobody is asked about them: 4 of 13 items can't be read: " in line
    assert all(str(damaged / name) in line for name in BAD - {"empty.mp3"})
    asked = asked_about(damaged)
    assert len(asked) == 9
    assert not asked & BAD
    (damaged / "whole.jpg").write_text("damaged later")
    assert main([*asking[:-1], "10"]) == 0
    assert "5 of 13 items" in capsys.readouterr().err
    out = damaged.parent / "answers.csv"
    assert main(["judge", str(damaged), "--export", str(out)]) == 0
    database = Study.open(damaged).connect()
    n_answers = database.read(lambda records: records.n_answers())
    database.close()
    beside = out.with_name("answers.holdout.csv")
    rows = sum(len(file.read_text().splitlines()) - 1 for file in (out, beside) if file.exists())
    assert rows == n_answers == 80
    assert "whole.jpg" in out.read_text()


def test_a_study_that_needs_them_says_so(damaged: Path) -> None:
    study = Study.open(damaged)
    with pytest.raises(ValueError, match="2 items that can be shown; expected at least 3"):
        study.without(study.names[2:])
    catch = '[[catch]]\nitems = ["fake.png", "picture 1.png", "picture 2.png"]\nodd = "fake.png"\n'
    make_folder(damaged, 0, catch)
    with pytest.raises(ValueError, match=r"\[\[catch\]\] number 1: 'fake\.png' can't be shown"):
        Study.open(damaged).without({"fake.png"})
    make_folder(damaged, 0, 'form = "grid"\ngrid_size = 8\n')
    with pytest.raises(ValueError, match="expected grid_size to be at most 7"):
        Study.open(damaged).without({f"picture {i}.png" for i in range(6)})


def test_both_lists_of_endings_are_one() -> None:
    assert set(IMAGES) == {ending for ending, type in TYPES.items() if type.startswith("image/")} - {".svg"}
    assert not set(IMAGES) & set(UNREAD)


def test_pictures_that_nobody_reads_are_counted(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", 4)
    for name in ("a.HEIC", "b.heic", "c.cr2", "notes.txt"):
        (folder / name).write_text("x")
    with pytest.warns(UserWarning, match=r"^1 \.cr2 file and 2 \.heic files are not read; save them as JPEG or PNG$"):
        assert len(Study.open(folder).items) == 4


def test_tiff_is_sent_as_png(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", 3)
    pixels = np.random.default_rng(0).integers(0, 256, (60, 90, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(folder / "scan.TIF")
    Image.fromarray(pixels).convert("CMYK").save(folder / "print.tiff")
    with running(folder) as run:
        url = {name: f"/media/{id}" for id, name in run.judge.media.items()}
        client = run.client()
        for query in ("", "?w=640&h=640"):
            sent = client.get(url["scan.TIF"] + query)
            assert sent.headers["content-type"] == "image/png"
            image = Image.open(io.BytesIO(sent.content))
            assert image.format == "PNG"
            np.testing.assert_array_equal(np.asarray(image), pixels)
        assert Image.open(io.BytesIO(client.get(url["print.tiff"]).content)).size == (90, 60)
        (folder / "scan.TIF").write_text("damaged")
        assert client.get(url["scan.TIF"]).status_code == 404
