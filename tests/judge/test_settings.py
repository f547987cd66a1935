from __future__ import annotations

import re
import tomllib
from dataclasses import fields
from pathlib import Path

import pytest
from judge_studies import make_folder

from oddkernel.judge.settings import Settings
from oddkernel.judge.study import Study


def test_the_first_start_writes_settings_that_say_what_the_defaults_are(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds")
    study = Study.open(folder)
    text = (folder / "study.toml").read_text()
    assert study.settings == Settings(name="birds", id=study.settings.id) == Settings.read(text)
    given = tomllib.loads(text)
    assert set(given) == {field.name for field in fields(Settings)} - {"words", "catch", "list", "about", "panel"}
    lines = text.splitlines()
    for name in given:
        place = next(i for i, line in enumerate(lines) if line.startswith(f"{name} ="))
        assert lines[place - 1].startswith("# "), f"{name} has no comment"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_settings_as_windows_saves_them(encoding: str, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds")
    Study.open(folder)
    (folder / "study.toml").write_bytes('title = "Vögel"\r\nquestions = 7\r\n'.encode(encoding))
    for _ in range(2):  # the first adds the study's id
        settings = Study.open(folder).settings
        assert (settings.title, settings.questions) == ("Vögel", 7)


def test_settings_that_are_not_utf_8_are_refused_with_the_remedy(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds")
    (folder / "study.toml").write_bytes('questions = 7\ntitle = "Vögel"\n'.encode("cp1252"))
    with pytest.raises(ValueError, match=r"study\.toml: line 2: byte 0xf6 is not UTF-8") as caught:
        Study.open(folder)
    assert 'title = "Vögel"\', the file is in Windows-1252: save it as UTF-8' in str(caught.value)


def test_the_examples_in_the_settings_are_valid_once_uncommented(tmp_path: Path) -> None:
    lines = Settings().text().partition("# [words]")
    entries = [line for line in lines[2].splitlines() if re.match(r"# (\[|\w+ = )", line)]
    settings = Settings.read("\n".join(["[words]", *(line.removeprefix("# ") for line in entries)]))
    assert settings.words
    assert settings.catch[0].answer == "hammer.jpg"
    assert settings.list is not None
    assert settings.about[0].name == "age"
    assert settings.panel is not None


def test_settings_that_were_edited_stay(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", settings='questions = 7\n[words]\ncant_tell = "weiß nicht"\n')
    for _ in range(2):
        settings = Study.open(folder).settings
        assert (settings.questions, settings.words) == (7, {"cant_tell": "weiß nicht"})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("question_count = 3", "'question_count' is unknown; expected name, title, question, "),
        ("questions = 0", "questions = 0; expected a whole number from 1 to 5000"),
        ("questions = true", "questions = True; expected"),
        ("catch_share = 1.5", "catch_share = 1.5; expected"),
        ("catch_share = 0.5\nrepeat_share = 0.5\nholdout_share = 0.1", "add up to more than 1"),
        ('policy = "clever"', "expected random or least_answered"),
        ('entry = "closed"', "expected open or invitation"),
        ('title = "two\\nlines"', "expected a line of text"),
        ("words = 3", "expected lines such as"),
        ("[words]\na = 3", "expected lines such as"),
        ('[[catch]]\nitems = ["a", "b"]\nodd = "a"', "[[catch]] number 1"),
        ('[[catch]]\nitems = ["a", "b", "c"]\nodd = "d"', "[[catch]] number 1"),
        ('[[catch]]\nitems = ["picture 1.png", "picture 2.png", "c"]\nodd = "c"', "no item is called 'c'"),
        ("title = ", "not TOML"),
    ],
)
def test_settings_that_cannot_be_meant_are_named(text: str, sentence: str, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", settings=text)
    with pytest.raises(ValueError, match=r"study\.toml: ") as caught:
        Study.open(folder)
    assert sentence in str(caught.value)
