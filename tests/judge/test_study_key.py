"""Which study this is: studies in a shared database, copies of folders, and studies of an earlier version."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from judge_databases import address, cluster  # noqa: F401
from judge_studies import Person, make_folder, running

from oddkernel.cli import main
from oddkernel.judge import study_key
from oddkernel.judge.signing import Keys
from oddkernel.judge.study import Study

from .test_store import make_first_schema


def test_two_folders_of_one_name_share_nothing_in_a_shared_database(tmp_path: Path, address: str) -> None:  # noqa: F811
    folders = [make_folder(tmp_path / place, settings="") for place in ("mine", "yours")]
    for number, folder in enumerate(folders):
        folder.rename(tmp_path / str(number))
        (tmp_path / f"{folder.name} home").mkdir()
        folders[number] = (tmp_path / str(number)).rename(tmp_path / f"{folder.name} home" / "cars")
    tokens = set()
    for number, folder in enumerate(folders):
        with running(folder, address) as run:
            tokens.add(run.judge.keys.token)
            assert run.experimenter().get("/experimenter/api/summary").json()["answers"] == 0
            ann = run.person(participant="ann")
            for question in ann.questions()[: number + 1]:
                ann.say(question["id"], 0)
    assert len(tokens) == 2
    for number, folder in enumerate(folders):
        opened = Study.open(folder).connect(address)
        assert len(opened.read(lambda records: records.answers())) == number + 1
        opened.close()


def test_a_copy_with_other_items_is_refused(tmp_path: Path, address: str) -> None:  # noqa: F811
    folder = make_folder(tmp_path / "cars")
    with running(folder, address) as run:
        run.person().answer_all()
    copy = tmp_path / "copy"
    copy.mkdir()
    for name in ("study.toml", "study.key"):
        shutil.copy(folder / name, copy / name)
    for number in range(5):
        shutil.copy(folder / f"picture {number}.png", copy / f"another {number}.png")
    with pytest.raises(ValueError, match="asked about 8 items in this study, and only 0 of them are here"):
        Study.open(copy).connect(address)
    (folder / "picture 0.png").unlink()  # some may go, and others come
    shutil.copy(copy / "another 1.png", folder / "another 1.png")
    opened = Study.open(folder).connect(address)
    assert opened.read(lambda records: records.n_answers()) == 60
    opened.close()


def test_settings_that_lost_their_id_stay_the_same_study(tmp_path: Path, address: str) -> None:  # noqa: F811
    folder = make_folder(tmp_path / "cars", settings="questions = 3\n")
    with running(folder, address) as run:
        token = run.judge.keys.token
        run.person().answer_all()
    (folder / "study.toml").write_text("questions = 4\n")
    with running(folder, address) as run:
        assert run.judge.keys.token == token
        assert run.server.n_answers() == 3
    assert (folder / "study.toml").read_text().endswith("questions = 4\n")


def test_a_study_that_lost_its_key_keeps_its_answers(tmp_path: Path, address: str) -> None:  # noqa: F811
    folder = make_folder(tmp_path / "cars", settings="questions = 3\n")
    key = "7a2f0c1e-6f6b-4a9e-9d43-0f1f3f2b8f11"
    with running(folder, address) as run:
        token = run.judge.keys.token
        ann = run.person(participant="ann", key=key)
        ann.say(ann.questions()[0]["id"], 0)
    (folder / "study.key").unlink()
    with running(folder, address) as run:
        assert run.judge.keys.token != token
        assert run.person(participant="ann", key=key).told["sitting"]["answered"] == 1


def test_what_the_database_holds_does_not_open_the_study(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_folder(tmp_path / "cars")
    assert main(["judge", str(folder), "--invite", "1"]) == 0
    code = capsys.readouterr().out.partition("invitation=")[2].split()[0]
    with running(folder) as run:
        run.person(invitation=code)
        key = "7a2f0c1e-6f6b-4a9e-9d43-0f1f3f2b8f11"
        run.person(participant="ann", key=key)
        secret = (study_key.read(folder) or study_key.Identity("", "")).secret
        files = b"".join(path.read_bytes() for path in folder.glob("answers.sqlite3*"))
        for hidden in (secret, run.judge.keys.token, key, code):
            assert len(hidden) >= 16
            assert hidden.encode() not in files
    if os.name == "posix":
        assert (folder / "study.key").stat().st_mode & 0o777 == 0o600


def make_earlier(folder: Path, name: str) -> None:
    """A study as the first version left it: a database with its secret, and settings without an id."""
    make_folder(folder, settings=f"name = {json.dumps(name)}\nquestions = 1\n")
    make_first_schema(folder / "answers.sqlite3")
    connection = sqlite3.connect(folder / "answers.sqlite3")
    with connection:
        connection.execute("UPDATE question SET a = 'picture 0.png', b = 'picture 1.png', c = 'picture 2.png'")
    connection.close()


@pytest.mark.parametrize("name", ["study", "renamed meanwhile"])
def test_a_study_of_an_earlier_version_goes_on_with_its_answers_token_and_cookies(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "cars"
    make_earlier(folder, name)
    old = Keys("an older secret")
    for _ in range(2):
        with running(folder) as run:
            assert run.judge.keys.token == old.token
            assert [answer.participant for answer in run.database.read(lambda records: records.answers())] == ["ann"]
            client = run.client()
            client.cookies.set("oddkernel_sitting", old.sign("s"))
            assert Person(client).told["sitting"]["state"] == "done"
            assert b"an older secret" not in b"".join(path.read_bytes() for path in folder.glob("answers.sqlite3*"))


def test_a_move_that_was_interrupted_is_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "cars"
    make_earlier(folder, "study")

    def fail(*_: object, **__: object) -> None:
        raise OSError("killed")

    monkeypatch.setattr(study_key, "replace", fail)
    with pytest.raises(OSError, match="killed"):
        Study.open(folder).connect()
    monkeypatch.undo()
    opened = Study.open(folder).connect()
    assert opened.read(lambda records: records.n_answers()) == 1
    opened.close()
    assert Study.open(folder).keys.token == Keys("an older secret").token


def test_servers_that_start_at_once_agree_on_who_they_are(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "cars")
    with ThreadPoolExecutor(8) as threads:
        ids = {study.settings.id for study in threads.map(lambda _: Study.open(folder), range(8))}
    assert len(ids) == 1
    assert ids == {Study.open(folder).settings.id}


def test_a_key_that_cannot_be_read_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_folder(tmp_path / "cars")
    (folder / "study.key").write_text("secret")
    assert main(["judge", str(folder), "--export", str(tmp_path / "a.csv")]) == 2
    assert "study.key: can't be read; expected the lines id and secret" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["which?x=1", "ten%20cars"])
def test_answers_are_kept_in_the_folder_whatever_it_is_called(name: str, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / name)
    with running(folder) as run:
        run.person().answer_all()
    assert [path.name for path in tmp_path.iterdir()] == [name]
    assert (folder / "answers.sqlite3").stat().st_size > 10_000
