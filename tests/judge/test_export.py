from __future__ import annotations

import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from judge_studies import Running, let_time_pass, make_folder, running

from oddkernel import SKLR, Comparisons, formats, raters
from oddkernel.cli import main
from oddkernel.judge.export import Export, Filter, export
from oddkernel.judge.live_map import LiveMap, learn
from oddkernel.judge.store import Answer

pytestmark = pytest.mark.slow  # starts servers

NAMES = ("ant", "bee", "cat", "dog")


def answer(who: str = "ann", **changes: Any) -> Answer:
    basis = Answer(
        sitting=f"sitting of {who}",
        participant=who,
        complete=True,
        question="q",
        place=0,
        kind="random",
        items=("dog", "ant", "cat"),
        expected=None,
        repeats=None,
        client_id="id",
        odd=0,
        response_ms=1000,
        answered_at="2026-05-04T10:00:00+00:00",
        stored_at="2026-05-04T10:00:01+00:00",
        handed_at="2026-05-04T09:00:00+00:00",
    )
    return basis._replace(**changes)


def test_items_stay_in_the_order_shown() -> None:
    said, details = export([answer(odd=2), answer("bob", odd=-1, place=7)], NAMES, "birds")
    assert said == Comparisons.odd_one_out([["dog", "ant", "cat"]] * 2, [2, -1], rater=["ann", "bob"], items=NAMES)
    assert details["place"] == [0, 7]
    assert details["study"] == ["birds", "birds"]
    assert details["response_ms"] == [1000, 1000]


def test_names_that_are_gone_come_last() -> None:
    said, _ = export([answer(items=("dog", "zebra", "yak"))], NAMES, "birds")
    assert said.items == (*NAMES, "yak", "zebra")


def test_filters() -> None:
    answers = [
        answer("ann"),
        answer("ann", kind="holdout", odd=1),
        answer("ann", kind="catch", expected=0),
        answer("bob", response_ms=100),
        answer("bob", kind="catch", expected=1),
        answer("cem", complete=False),
    ]

    def people(**chosen: Any) -> list[str]:
        said = export(answers, NAMES, "birds", Filter(**chosen)).said
        return [] if said.rater is None else said.rater.tolist()

    assert people() == ["ann", "ann", "bob", "bob", "cem"]
    assert people(holdout="only") == ["ann"]
    assert people(holdout="keep") == ["ann", "ann", "ann", "bob", "bob", "cem"]
    assert people(failed_catches=True) == ["ann", "ann", "cem"]
    assert people(too_fast=0.3) == ["ann", "ann", "bob", "cem"]
    assert people(incomplete=True) == ["ann", "ann", "bob", "bob"]


def test_without_names_nothing_tells_who_it_was() -> None:
    answers = [answer(who) for who in ("ann", "bob", "ann", "cem")]
    said, details = export(answers, NAMES, "birds", Filter(participants=False))
    assert said.rater is not None
    assert sorted(said.rater.tolist()) in (
        ["person 1", "person 1", "person 2", "person 3"],
        ["person 1", "person 2", "person 2", "person 3"],
        ["person 1", "person 2", "person 3", "person 3"],
    )
    assert not {"answered_at", "answer_id"} & details.keys()
    for format in formats.OWN:
        written = formats.dump(said, format, details=details)
        assert not any(secret in written for secret in (b"ann", b"bob", b"cem", b"sitting"))


def test_simulated_people_are_marked_with_names_and_without() -> None:
    answers = [answer("ann"), answer("bob", simulated=1)]
    said, details = export(answers, NAMES, "birds")
    assert details["simulated"] == [None, 1]
    said, details = export(answers, NAMES, "birds", Filter(participants=False))
    assert said.rater is not None
    assert sorted(name.startswith("simulated person ") for name in said.rater) == [False, True]
    assert "simulated" not in export(answers[:1], NAMES, "birds").details


def test_numbers_are_the_same_in_every_part_of_an_export() -> None:
    answers = [answer(who, kind=kind) for who in ("ann", "bob", "cem") for kind in ("random", "holdout")][:-1]
    learned, held_out = (
        export(answers, NAMES, "birds", Filter(holdout=which, participants=False)).said.rater
        for which in ("drop", "only")
    )
    assert learned is not None
    assert held_out is not None
    assert set(held_out) < set(learned) == {"person 1", "person 2", "person 3"}


@pytest.mark.parametrize("format", formats.OWN)
def test_details_survive_in_every_format(format: str, tmp_path: Path) -> None:
    said, details = export([answer(), answer("bob", kind="catch", expected=2)], NAMES, "birds")
    file = tmp_path / f"answers.{format}"
    formats.write(said, file, details=details)
    assert formats.read(file) == said
    assert formats.details(file) == details
    assert "how the answers came about" in formats.examine(file).notes[0]
    formats.write(said, file)
    assert formats.details(file) == {}
    assert formats.examine(file).notes == ()


def test_details_that_cannot_be_meant_are_refused(tmp_path: Path) -> None:
    said = export([answer()], NAMES, "birds").said
    for details, sentence in (
        ({"mood": ["good"]}, "column 'mood' is unknown"),
        ({"place": [1, 2]}, "place has 2 entries; expected 1"),
        ({"place": ["first"]}, "row 0: place is 'first'; expected a whole number"),
    ):
        with pytest.raises(ValueError, match=sentence):
            formats.write(said, tmp_path / "a.csv", details=details)
    with pytest.raises(ValueError, match="expected one of csv, jsonl, parquet"):
        formats.write(said, tmp_path / "a", format="spose", details={"place": [1]})
    (tmp_path / "a.csv").write_text("a,b,c,answer,response_ms\nx,y,z,a,soon\n")
    with pytest.raises(ValueError, match=r"a\.csv: line 2: response_ms is 'soon'"):
        formats.details(tmp_path / "a.csv")


SETTINGS = """
name = "birds"
questions = 20
holdout_share = 0.2
catch_share = 0.1
[[catch]]
items = ["picture 0.png", "picture 1.png", "picture 2.png"]
odd = "picture 2.png"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = make_folder(tmp_path / "birds", 6, SETTINGS)
    with running(folder) as run:
        run.person(participant="ann").answer_all(odd=1)
        run.person(participant="bob").answer_all(odd=0, ms=100)
        let_time_pass(run.database)
        for format in formats.OWN:
            download(run, tmp_path, format)
    return folder


def download(run: Running, folder: Path, format: str) -> None:
    answer = run.experimenter().get(f"/experimenter/api/export?format={format}&holdout=keep")
    assert answer.status_code == 200
    assert answer.headers["content-disposition"] == f'attachment; filename="answers.{format}"'
    (folder / f"downloaded.{format}").write_bytes(answer.content)


def test_the_list_of_items_can_be_downloaded_beside_a_csv_file(tmp_path: Path) -> None:
    with running(make_folder(tmp_path / "birds", 30, 'name = "birds"\nquestions = 4\n')) as run:
        run.person(participant="ann").answer_all(odd=1)
        for format in ("csv", "jsonl", "items.csv"):
            download(run, tmp_path, format)
    said = formats.read(tmp_path / "downloaded.csv")
    assert said == formats.read(tmp_path / "downloaded.jsonl")
    assert len(said.items or ()) == 30
    assert len(pd.read_csv(tmp_path / "downloaded.csv")) == len(said)
    assert pd.read_csv(tmp_path / "downloaded.items.csv")["item"].tolist() == list(said.items or ())


def test_the_learner_takes_what_was_exported(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    whole = formats.read("downloaded.csv")
    assert len(whole) == 40
    assert whole == formats.read("downloaded.jsonl") == formats.read("downloaded.parquet")
    assert main(["judge", str(folder), "--export", "answers.parquet", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["n_answers"], facts["n_holdout"], facts["n_people"]) == (32, 8, 2)
    said, held_out = formats.read("answers.parquet"), formats.read("answers.holdout.parquet")
    assert said.items == tuple(f"picture {i}.png" for i in range(6))
    assert set(formats.details("answers.holdout.parquet")["asked_as"]) == {"holdout"}
    assert "holdout" not in formats.details("answers.parquet")["asked_as"]
    X = np.arange(6.0)[:, None]
    assert 0 <= SKLR(kernel="identity", rank=None, loss="softmax").fit(X, said).score(X, held_out) <= 1
    frame = pd.read_parquet("answers.parquet")
    assert {"asked_as", "response_ms", "rater"} <= set(frame.columns)


def test_response_times_and_catches_reach_the_report_on_raters(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "downloaded.csv"
    details = formats.details(file)
    caught = [
        np.nan if expected is None else float(answer != expected)
        for answer, expected in zip(formats.read(file).to_dict()["answer"], details["expected"], strict=True)
    ]
    found = raters.report(formats.read(file), seconds=np.array(details["response_ms"]) / 1000, caught=caught)
    assert found["bob"].too_fast == 1
    assert found["ann"].failed is not None


def test_the_command_line_filters(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "answers.csv"
    assert main(["judge", str(folder), "--export", str(file), "--drop", "too_fast", "--anonymous"]) == 0
    assert "answers were left out" in capsys.readouterr().out
    said = formats.read(file)
    assert said.rater is not None
    (person,) = set(said.rater.tolist())
    assert person in {"person 1", "person 2"}  # the same number in all files, whoever is left out
    assert f"{person},done" in (tmp_path / "answers.people.csv").read_text()
    assert "ann" not in file.read_text()
    assert main(["judge", str(folder), "--withdraw", "ann"]) == 0
    assert "ann and 20 answers are deleted." in capsys.readouterr().out
    assert main(["judge", str(folder), "--withdraw", "ann"]) == 2
    assert main(["judge", str(folder), "--export", str(tmp_path / "answers.txt")]) == 2
    assert "ends with .csv, .jsonl, .parquet" in capsys.readouterr().err


def test_simulated_people_answer_by_label_and_spoil_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_folder(tmp_path / "birds", 6, SETTINGS)
    labels = tmp_path / "labels.csv"
    labels.write_text("item,label\n" + "".join(f"picture {i}.png,{i % 2}\n" for i in range(6)))
    command = ["judge", str(folder), "--simulate", "3", "--questions", "5", "--labels", str(labels), "--noise", "0"]
    whole = labels.read_text()
    labels.write_text(whole + "picture 1.png,1,2\n")
    assert main(command) == 2
    assert "labels.csv: line 8: 3 fields; expected 2" in capsys.readouterr().err
    labels.write_text(whole)
    assert main([*command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["n_answers"] == 15
    assert main(["judge", str(folder), "--export", str(tmp_path / "a.csv")]) == 0
    said = formats.read(tmp_path / "a.csv")
    group = said.shown % 2
    for odd, groups in zip(said.odd.tolist(), group.tolist(), strict=True):
        alike = [g for i, g in enumerate(groups) if i != odd]
        assert len(set(groups)) == 1 if odd < 0 else (len(set(alike)) == 1 and groups[odd] != alike[0])
    with running(folder) as run:
        run.person(participant="ann").answer_all()
    assert main(command) == 2
    assert "answers of people, which simulated ones would spoil" in capsys.readouterr().err


def test_a_map_is_learned_elsewhere(tmp_path: Path) -> None:
    labels = np.arange(12) % 2
    names = tuple(f"item {i}" for i in range(12))
    said = Comparisons.from_labels(labels, 150, random_state=0, items=names)
    kept = Comparisons.from_labels(labels, 50, random_state=1, items=names)
    live_map = LiveMap(lambda: (Export(said, {}), Export(kept, {})), names, None)
    assert live_map.latest(5)["answers_needed"] == 5
    assert live_map.latest(150)["computing"]
    assert live_map._worker is not None
    live_map._worker.join(120)
    found = live_map.latest(150)
    assert found["problem"] is None
    assert found["answers_used"] == 150
    assert found["holdout"]["agrees"] > 0.9
    assert found["holdout"]["chance"] == pytest.approx(1 / 3)
    assert len({(cluster, label) for cluster, label in zip(found["cluster"], labels.tolist(), strict=True)}) == 2
    assert not found["computing"]


def test_a_map_costs_no_more_than_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oddkernel.judge.live_map.MOST_ITEMS", 10)
    monkeypatch.setattr("oddkernel.judge.live_map.MOST_ANSWERS", 20)
    said = Comparisons.from_labels(np.arange(30) % 3, 2000, random_state=0)
    found = learn(said, Comparisons.empty(), np.random.default_rng(0).normal(size=(30, 2)))
    assert len(found["items"]) == len(found["x"]) == 10
    assert found["answers_used"] == 20
    assert found["holdout"] == {"answers": 0, "agrees": None, "chance": None}


def test_chance_is_that_of_the_answers_form() -> None:
    X = np.random.default_rng(0).normal(size=(12, 2))
    said = Comparisons.from_labels(np.arange(12) % 2, 60, random_state=0)
    anchors = Comparisons.closer([0, 1, 2], [2, 3, 4], [1, 2, 3])
    grids = Comparisons.grid([0, 1], [[2, 3, 4, 5], [3, 4, 5, 6]], [[0, 2], [0, 2]])
    assert learn(said, anchors, X)["holdout"]["chance"] == pytest.approx(1 / 2)
    assert learn(said, grids, X)["holdout"]["chance"] == pytest.approx(1 / 2)
    assert 1 / 3 < learn(said, anchors + said, X)["holdout"]["chance"] < 1 / 2


def test_a_map_that_fails_says_so_and_no_more(tmp_path: Path) -> None:
    def broken() -> tuple[Export, Export]:
        raise RuntimeError("the database is away")

    live_map = LiveMap(broken, NAMES, None)
    live_map.latest(50)
    assert live_map._worker is not None
    live_map._worker.join(60)
    assert live_map.latest(50)["problem"] == "the database is away"


def test_the_map_is_served(tmp_path: Path) -> None:
    with running(make_folder(tmp_path / "birds", 6, SETTINGS)) as run:
        experimenter = run.experimenter()
        assert experimenter.get("/experimenter/api/map").json() == {
            "computing": False,
            "problem": None,
            "answers_needed": 10,
            "items": [],
        }
        run.person().answer_all(odd=0)
        assert experimenter.get("/experimenter/api/map").json()["computing"]
        assert run.judge.live_map._worker is not None
        run.judge.live_map._worker.join(120)
        found = experimenter.get("/experimenter/api/map").json()
    assert found["problem"] is None
    assert found["items"][0].keys() == {"name", "kind", "url", "x", "y", "cluster"}
    assert len(found["items"]) == 6


def test_the_outlook_says_when_to_stop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_folder(tmp_path / "birds", 12, "questions = 60\nholdout_share = 0.4\n")
    labels = tmp_path / "labels.csv"
    labels.write_text("item,label\n" + "".join(f"picture {i}.png,{i % 3}\n" for i in range(12)))
    assert main(["judge", str(folder), "--outlook"]) == 2
    assert "0 decided odd-one-out answers are held out" in capsys.readouterr().err
    assert main(["judge", str(folder), "--simulate", "2", "--labels", str(labels), "--noise", "0"]) == 0
    capsys.readouterr()
    picture = tmp_path / "outlook.png"
    assert main(["judge", str(folder), "--outlook", str(picture), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["n_answers"] + told["n_held_out"] <= 120
    assert told["agreement_interval"][0] <= told["agreement"] <= told["agreement_interval"][1]
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_the_command_backs_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_folder(tmp_path / "birds", settings="questions = 4\n")
    with running(folder) as run:
        run.person().answer_all()
        assert main(["judge", str(folder), "--backup", str(tmp_path / "copy.sqlite3")]) == 0
    assert capsys.readouterr().out.startswith(f"{tmp_path / 'copy.sqlite3'}: 4 answers.\nKeep ")
    (folder / "answers.sqlite3").unlink()
    (tmp_path / "copy.sqlite3").rename(folder / "answers.sqlite3")
    with running(folder) as run:
        assert run.server.n_answers() == 4


def test_the_command_says_that_a_name_lingers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = make_folder(tmp_path / "birds", settings="questions = 4\n")
    with running(folder) as run:
        run.person(participant="-ann")
        reader = sqlite3.connect(folder / "answers.sqlite3", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM sitting").fetchall()
        assert main(["judge", str(folder), "--withdraw=-ann"]) == 0
        assert "traces of the name leave it when that has ended" in capsys.readouterr().out
        reader.close()
