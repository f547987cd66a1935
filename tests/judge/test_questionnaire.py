"""Questions about the person: settings, storing once, screening out, exporting apart and joined."""

from __future__ import annotations

import csv
import uuid
from pathlib import Path
from typing import Any

import pytest
from judge_studies import Person, make_folder, running

from oddkernel.cli import main
from oddkernel.judge.settings import Settings

SETTINGS = """
questions = 2
practice = 0
holdout_share = 0
repeat_share = 0
completion_code = "C1"

[[about]]
name = "colours"
ask = "Can you tell red from green?"
kind = "choice"
choices = ["yes", "no"]
screen_out = ["no"]

[[about]]
name = "age"
ask = "How old are you?"
kind = "number"
least = 18
most = 120
at = "end"

[[about]]
name = "remarks"
ask = "What did you notice?"
kind = "text"
optional = true
at = "end"
"""


def tell(person: Person, name: str, value: Any, client_id: str | None = None, status: int = 200) -> dict[str, Any]:
    sent = client_id or str(uuid.uuid4())
    body = {"client_id": sent, "name": name, "value": value, "answered_at": "2026-05-04T12:00:00+02:00"}
    return person.post("/api/about", body, status)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ('name = "age"', "expected name, ask and kind"),
        ('name = "state"\nask = "?"\nkind = "text"', "name = 'state'"),
        ('name = "a b"\nask = "?"\nkind = "text"', "name = 'a b'"),
        ('name = "age"\nask = ""\nkind = "text"', "expected a question"),
        ('name = "age"\nask = "?"\nkind = "date"', "expected choice, number, text"),
        ('name = "age"\nask = "?"\nkind = "choice"', "2 to 200 different texts"),
        ('name = "age"\nask = "?"\nkind = "choice"\nchoices = ["a", "a"]', "2 to 200 different texts"),
        ('name = "age"\nask = "?"\nkind = "text"\nleast = 1', 'least needs kind = "number"'),
        ('name = "age"\nask = "?"\nkind = "number"\nleast = "1"', "least = '1'; expected a number"),
        ('name = "age"\nask = "?"\nkind = "text"\nat = "noon"', "expected start or end"),
        ('name = "a"\nask = "?"\nkind = "choice"\nchoices = ["a", "b"]\nscreen_out = ["c"]', "some of the choices"),
        ('name = "a"\nask = "?"\nkind = "text"\nwhen = 1', "'when' is unknown"),
        ('name = "a"\nask = "?"\nkind = "text"\n[[about]]\nname = "a"\nask = "?"\nkind = "text"', "stands twice"),
    ],
)
def test_wrong_settings_are_named(table: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("?", r"\?")):
        Settings.read(f"[[about]]\n{table}")


@pytest.mark.slow
def test_replies_arrive_once_and_the_code_comes_after_the_last(tmp_path: Path) -> None:
    with running(make_folder(tmp_path / "birds", 6, SETTINGS)) as run:
        ann = run.person(participant="ann")
        asked = ann.told["study"]["about"]
        assert [question["name"] for question in asked] == ["colours", "age", "remarks"]
        assert "screen_out" not in asked[0]
        sent = str(uuid.uuid4())
        for _ in range(3):
            assert tell(ann, "colours", "yes", sent)["state"] == "new"
        tell(ann, "colours", "no", sent, status=409)
        tell(ann, "colours", "no", status=409)
        tell(ann, "age", "x" * 4001, status=422)
        ann.answer_all()
        told = ann.post("/api/sitting", {})
        assert told["sitting"]["state"] == "done"
        assert "completion_code" not in told
        assert [question["name"] for question in told["study"]["about"]] == ["age", "remarks"]
        tell(ann, "age", 33)
        tell(ann, "remarks", None)
        assert ann.post("/api/sitting", {})["completion_code"] == "C1"
        (said,) = run.database.read(lambda records: records.replies()).values()
        assert said == {"age": 33, "colours": "yes", "remarks": None}
        bob = run.person(participant="bob")
        tell(bob, "remarks", "\0 and 猫")
        experimenter = run.experimenter()
        experimenter.post("/experimenter/api/withdraw", json={"participant": "ann"})
        assert run.database.read(lambda records: records.replies()).keys() == {
            sitting.id for sitting in run.database.read(lambda records: records.sittings())
        }


@pytest.mark.slow
def test_a_choice_screens_out(tmp_path: Path) -> None:
    panel = '[panel]\nscreened_out = "https://panel.example/out?id={participant}"\n'
    with running(make_folder(tmp_path / "birds", 6, SETTINGS + panel)) as run:
        ann = run.person(participant="ann", link={"participant": "ann"})
        waiting = ann.questions()
        told = tell(ann, "colours", "no")
        assert (told["state"], told["leave"]["url"]) == ("screened_out", "https://panel.example/out?id=ann")
        assert ann.questions() == []
        assert ann.say(waiting[0]["id"], 1)["answered"] == 1  # what was said is stored all the same
        assert ann.post("/api/sitting", {})["sitting"]["state"] == "screened_out"


@pytest.mark.slow
def test_the_export_is_apart_joined_or_anonymous(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", 6, SETTINGS)
    with running(folder) as run:
        for who, age in (("ann", 33), ("bob", 44)):
            person = run.person(participant=who)
            tell(person, "colours", "yes")
            person.answer_all()
            tell(person, "age", age)
            tell(person, "remarks", "=cmd()" if who == "ann" else None)
            for column in ("participant", "state", "answered", "a b"):  # sent by hand: no column of the table changes
                tell(person, column, "ann was here")
        tell(run.person(participant="cem"), "colours", "no")
        run.person(participant="nobody")
        downloaded = run.experimenter().get("/experimenter/api/export?format=people.csv&participants=no").text

    def rows(name: str) -> list[dict[str, str]]:
        with (tmp_path / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    assert main(["judge", str(folder), "--export", str(tmp_path / "said.csv"), "--join"]) == 0
    people = rows("said.people.csv")
    assert [(row["participant"], row["state"], row["answered"], row["colours"], row["age"]) for row in people] == [
        ("ann", "done", "2", "yes", "33"),
        ("bob", "done", "2", "yes", "44"),
        ("cem", "screened_out", "0", "no", ""),
    ]
    assert "a b" not in people[0]
    assert not people[0]["remarks"].startswith("=")  # a spreadsheet would run it
    assert "age" not in rows("said.csv")[0]
    assert [(row["rater"], row["person_age"]) for row in rows("said.joined.csv")] == [
        ("ann", "33"), ("ann", "33"), ("bob", "44"), ("bob", "44"),
    ]  # fmt: skip
    assert main(["judge", str(folder), "--export", str(tmp_path / "who.csv"), "--anonymous", "--join"]) == 0
    people = rows("who.people.csv")
    assert downloaded == (tmp_path / "who.people.csv").read_bytes().decode()
    assert "remarks" not in people[0]
    assert sorted((row["participant"], row["colours"]) for row in people)[2] == ("person 3", "no")
    for file in tmp_path.glob("who.*"):
        assert not any(name in file.read_text() for name in ("ann", "bob", "cem", "cmd"))
    assert main(["judge", str(folder), "--export", str(tmp_path / "said.parquet"), "--join"]) == 0


@pytest.mark.slow
def test_an_anonymous_table_has_no_texts_in_the_place_of_choices_and_numbers(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", 6, SETTINGS)
    with running(folder) as run:
        person = run.person(participant="ann")
        tell(person, "colours", "call me ann")
        tell(person, "age", "as old as ann")
        person.answer_all()
    assert main(["judge", str(folder), "--export", str(tmp_path / "who.csv"), "--anonymous"]) == 0
    told = (tmp_path / "who.people.csv").read_text(encoding="utf-8")
    assert "ann" not in told
    assert "colours" in told
