"""A study's folder is enough for every command."""

from __future__ import annotations

import csv
import json
import os
import shutil
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from judge_studies import make_folder
from PIL import Image

from oddkernel import formats, models
from oddkernel.cli import main
from oddkernel.items import tables
from oddkernel.judge.store import Database
from oddkernel.judge.study import Study
from oddkernel.learning.sklr import SKLR

N = 24
COLOURS = [(250 - 4 * i, 20, 4 * i) if i % 2 else (20, 250 - 4 * i, 4 * i) for i in range(N)]


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of pictures about which simulated people have answered."""
    folder = tmp_path_factory.mktemp("studies") / "photos"
    folder.mkdir()
    for number, colour in enumerate(COLOURS):
        Image.new("RGB", (24, 24), colour).save(folder / f"{number:02}.png")
    (folder / "study.toml").write_text("questions = 20\n")
    assert main(["judge", str(folder), "--simulate", "6"]) == 0
    return folder


@pytest.fixture
def photos(answered: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it, in the folder to work in."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(answered, "photos")
    return Path("photos")


def facts(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*words, "--json"]) == 0, capsys.readouterr().err
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


pytestmark = pytest.mark.slow  # people answer through a server


def test_a_report_of_a_folder(
    photos: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["report", "photos", "--map", "pca"]) == 0
    told = capsys.readouterr().out
    assert "24 images, 560 features each by gist (kept from before, in photos/.oddkernel/features.npz)." in told
    assert "earned from 108 answers of 6 people; 12 more are held out." in told  # whether something was learned varies
    assert "of 12 answers it has not seen" in told
    assert "120 of these 120 answers are of simulated people." in told
    page = (photos / "report.html").read_text(encoding="utf-8")
    if os.name == "posix":  # people's answers are for the owner's eyes
        assert stat.S_IMODE((photos / "report.html").stat().st_mode) == 0o600
        assert stat.S_IMODE((photos / ".oddkernel").stat().st_mode) == 0o700
    assert "23.png" in page
    assert "(120 of 120 answers simulated)" in page

    def learn(*_: object) -> None:
        raise AssertionError("learned twice")

    monkeypatch.setattr(SKLR, "fit", learn)
    assert main(["report", "photos/", "--map", "pca"]) == 0
    how = "Learned before" if models.load(photos / ".oddkernel" / "model.oddkernel").penalty_ else "Nothing was learned"
    assert f"{how} from 108 answers" in capsys.readouterr().out


def test_every_command_takes_the_folder(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = facts(capsys, "fit", "photos", "--out", "m.oddkernel")
    assert (told["n_answers"], told["encoder"], told["joined_by"]) == (108, "gist", "name")
    model = models.load("m.oddkernel")
    X = pd.DataFrame(tables.read("photos/.oddkernel/features.npz").X, columns=model.feature_names_in_)
    assert facts(capsys, "cluster", "photos", "-k", "2")["sizes"].keys() == {"2"}
    assert facts(capsys, "cluster", "photos")["n_items"] == N
    assert facts(capsys, "transform", "photos")["out"] == "photos/coordinates.csv"
    np.testing.assert_allclose(tables.read("photos/coordinates.csv").X, model.transform(X), atol=1e-12)
    with Path("photos/groups.csv").open(newline="") as file:
        assert [row["item"] for row in csv.DictReader(file)] == [f"{i:02}.png" for i in range(N)]
    (found,) = facts(capsys, "query", "photos", "03.png", "-k", "4")["found"]
    distance = model.distance(X[3:4], X)[0]
    distance[3] = np.inf
    assert found["items"] == [f"{row:02}.png" for row in np.argsort(distance, kind="stable")[:4]]
    np.testing.assert_allclose(found["distance"], np.sort(distance)[:4], atol=1e-5)
    Image.new("RGB", (24, 24), COLOURS[7]).save("new.png")
    (found,) = facts(capsys, "query", "photos", "new.png", "-k", "1")["found"]
    assert found["items"] == ["07.png"]
    assert main(["query", "photos", "3.png"]) == 2
    assert "no item is called '3.png'; did you mean" in capsys.readouterr().err
    pytest.importorskip("faiss")
    assert facts(capsys, "index", "photos")["items_by"] == "name"
    (found,) = facts(capsys, "query", "photos/items.index", "03.png", "-k", "4")["found"]
    assert "03.png" not in found["items"]


def test_settings_of_the_last_fit_stay(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert facts(capsys, "fit", "photos", "--loss", "hinge", "--penalty", "3")["loss"] == "hinge"
    facts(capsys, "transform", "photos")
    assert models.load("photos/.oddkernel/model.oddkernel").loss == "hinge"
    facts(capsys, "transform", "photos", "--with", "none")  # other features: learned anew, with these settings
    model = models.load("photos/.oddkernel/model.oddkernel")
    assert (model.loss, model.penalty) == ("hinge", 3.0)
    assert facts(capsys, "fit", "photos", "--with", "none")["loss"] != "hinge"


def test_without_features_answers_alone_are_learned_from(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "photos", "--with", "none"]) == 0
    assert "24 items without features: only the answers tell them apart." in capsys.readouterr().out
    model = models.load("photos/.oddkernel/model.oddkernel")
    assert (model.kernel, model.rank) == ("identity", None)
    assert Study.open(photos).features is None
    assert facts(capsys, "fit", "photos", "--with", "gist")["n_features"] == 560
    assert models.load("photos/.oddkernel/model.oddkernel").kernel == "auto"


def test_items_that_are_gone_or_unreadable_are_counted(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (photos / "00.png").unlink()
    (photos / "01.png").write_bytes(b"not a picture")
    assert main(["fit", "photos"]) == 0
    told = capsys.readouterr()
    assert "23 images can't be read: photos/01.png" in told.err
    assert "1 image without features is left out." in told.out
    assert "answers are about items that are gone or have no features: left out." in told.out
    features = Study.open(photos).features
    assert features is not None
    assert features.shape == (23, 560)
    np.testing.assert_allclose(features[0], features[1:].mean(axis=0))


def test_answers_may_come_from_a_file(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["judge", "photos", "--export", "answers.csv"]) == 0
    shutil.rmtree(photos / ".oddkernel")
    for file in ("study.toml", "study.key", "answers.sqlite3"):
        (photos / file).unlink()
    assert main(["report", "photos"]) == 2
    assert "photos: nobody was asked about these items; oddkernel judge photos asks people" in capsys.readouterr().err
    told = facts(capsys, "fit", "photos", "answers.csv", "--out", "m.oddkernel")
    assert (told["n_encoded"], told["n_answers"]) == (N, 108)
    told = facts(capsys, "report", "photos", "answers.csv", "--map", "pca", "--out", "page.html")
    assert told["n_answers"] == 108
    assert facts(capsys, "cluster", "photos", "--model", "m.oddkernel", "-k", "2", "--out", "g.csv")["n_items"] == N


def test_a_study_without_answers_says_how_to_get_some(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Study.open(make_folder(tmp_path / "photos"))
    assert main(["report", "photos"]) == 2
    assert "photos: no answers yet; oddkernel judge photos asks people" in capsys.readouterr().err
    assert not Path("photos/report.html").exists()


def test_a_table_of_texts_is_a_study_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    kinds = ["apple tree", "fast car"]
    lines = [f"{i},{kinds[i % 2]} number {i} of them" for i in range(8)]
    Path("things.csv").write_text("\n".join(["item,text", *lines]))
    assert main(["judge", "things.csv", "--simulate", "2", "--questions", "20"]) == 0
    assert main(["report", "things.csv", "--map", "pca"]) == 0
    assert "8 texts, 8 features each by tfidf" in capsys.readouterr().out
    assert "apple tree number 4" in Path("things-study/report.html").read_text(encoding="utf-8")


def test_drop_leaves_answers_out(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = (photos / "study.toml").read_text()
    (photos / "study.toml").write_text(f"{settings}\ntoo_fast = 60\n")
    assert main(["fit", "photos", "--drop", "incomplete"]) == 0  # everybody has finished
    assert "earned from 108 answers of 6 people; 12 more are held out." in capsys.readouterr().out
    assert main(["fit", "photos", "--drop", "too_fast"]) == 2
    assert "no answers to learn from" in capsys.readouterr().err


def test_what_a_study_names_is_used(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"{i:02}.png" for i in range(N)]
    tables.write("photos/mine.csv", {"item": names, "a": np.arange(N), "b": np.arange(N) % 2})
    settings = (photos / "study.toml").read_text()
    (photos / "study.toml").write_text(f'{settings}\nfeatures = "mine.csv"\n')
    told = facts(capsys, "fit", "photos")
    assert told["n_features"] == 2
    told = facts(capsys, "fit", "photos", "--with", "gist")
    assert told["n_features"] == 560


def test_no_answer_is_touched(photos: Path) -> None:
    def count() -> int:
        database = Database(photos.resolve() / "answers.sqlite3", Study.open(photos).settings.id)
        try:
            return database.read(lambda records: records.n_answers())
        finally:
            database.close()

    before = count()
    assert main(["report", "photos", "--map", "pca"]) == 0
    assert count() == before == 120
    assert main(["judge", "photos", "--export", "a.csv"]) == 0
    assert len(formats.read("a.csv")) == 108


def test_what_only_reads_needs_no_folder_to_write_to(
    photos: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    can: Any = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: (mode != os.W_OK or photos.name not in str(path)) and can(path, mode)
    )
    for part in (photos / ".oddkernel", photos):
        part.chmod(0o500)
    before = {file: file.read_bytes() for file in photos.glob("*") if file.is_file()}
    try:
        assert facts(capsys, "query", "photos", "00.png")["n_items"] == N
        assert facts(capsys, "cluster", "photos", "-k", "2", "--out", "g.csv")["n_items"] == N
        assert facts(capsys, "judge", "photos", "--export", "a.csv")["n_answers"] == 108
        assert facts(capsys, "judge", "photos", "--backup", "b.sqlite3")["n_answers"] == 120
        assert facts(capsys, "report", "photos", "--map", "pca", "--out", "r.html")["n_answers"] == 108
        assert facts(capsys, "dimensions", "photos", "-n", "2", "--out", "l.csv")["model"] is None
        for words, sentence in (
            (["report", "photos"], "photos: the folder can't be written to; expected --out report.html"),
            (["cluster", "photos"], "expected --out groups.csv"),
            (["fit", "photos"], "expected --out model.oddkernel"),
            (["judge", "photos"], "answers would be stored there; copy it to one that can"),
            (["judge", "photos", "--simulate", "2", "--with", "gist"], "answers would be stored there"),
            (["judge", "photos", "--withdraw", "ann"], "answers would be stored there"),
        ):
            assert main(words) == 2
            assert sentence in capsys.readouterr().err
        assert {file: file.read_bytes() for file in photos.glob("*") if file.is_file()} == before
    finally:
        photos.chmod(0o700)
        (photos / ".oddkernel").chmod(0o700)


def test_an_unlearned_model_is_not_called_learned(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fit", "photos", "--penalty", "0"]) == 0
    for words in (["query", "photos", "00.png"], ["cluster", "photos", "-k", "1"], ["dimensions", "photos", "-n", "2"]):
        capsys.readouterr()
        assert main(words) == 0
        told = capsys.readouterr().out
        assert "Nothing was learned from 108 answers of 6 people; 12 more are held out." in told
        assert "Learned" not in told
        assert "learned distance" not in told
        assert "found again" not in told
    assert "Nothing was learned from the answers: these are dimensions of the features alone." in told
    commands = [
        "query photos 00.png",
        "cluster photos -k 1",
        "transform photos",
        "report photos --map pca",
        "fit photos",
    ]
    for command in commands:
        found = facts(capsys, *command.split(), *(["--penalty", "0"] if command == "fit photos" else []))
        assert (found["learned"], found["n_answers"], found["n_items"]) == (False, 108, N)
        assert (found["n_people"], found["n_held_out"], found["n_simulated"]) == (6, 12, 120)
        assert (found["n_gone"], found["n_dropped"], found["encoder"]) == (0, 0, "gist")
        if "penalty" in found:
            assert (found["penalty"], found["rounds"]) == (0, 1)
    assert "penalty" in found


def test_small_things(photos: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cluster", "photos", "-k", "1", "--out", "g.csv"]) == 0
    assert "1 group of 24 items." in capsys.readouterr().out
    assert main(["query", "photos", "04"]) == 2
    assert "no item is called '04'; did you mean '04.png'?" in capsys.readouterr().err
    assert main(["report", "photos/04.png"]) == 2
    assert "photos/04.png is one image; expected a folder of images, such as photos" in capsys.readouterr().err
    Path("one.csv").write_text("a,b,c,answer\n00.png,01.png,02.png,a\n")
    assert main(["report", "photos", "one.csv", "--map", "pca", "--out", "r.html"]) == 0
    assert "1 answer." in capsys.readouterr().out
