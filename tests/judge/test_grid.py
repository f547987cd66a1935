"""The form grid: which of those around are most like the one in the middle."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the judge needs oddkernel[judge]")

from judge_databases import KINDS, cluster  # noqa: F401
from judge_studies import let_time_pass, make_folder, running

from oddkernel import formats
from oddkernel.comparisons import Kind
from oddkernel.judge.answer_cache import AnswerCache
from oddkernel.judge.export import Filter, export
from oddkernel.judge.participant import KEYS
from oddkernel.judge.question_forms import MOST_AROUND, comparisons, filled, fits
from oddkernel.judge.settings import Settings
from oddkernel.judge.simulate import Crowd, by_chance, by_features
from oddkernel.judge.study import Study
from oddkernel.judge.words import texts

PLAIN = "practice = 3\ncatch_share = 0\nrepeat_share = 0\nholdout_share = 0\n"
STATIC = Path(__file__).parents[2] / "src" / "oddkernel" / "judge" / "static" / "participant"


def test_a_grid_study(tmp_path: Path) -> None:
    with running(make_folder(tmp_path / "birds", 12, f'form = "grid"\nquestions = 3\n{PLAIN}')) as run:
        ann = run.person(participant="ann")
        study = ann.told["study"]
        assert study["questions"] == {"grid": "What is most like the one in the middle? Pick 2."}
        assert "2 each time" in study["instructions"]
        assert [(each["form"], each["picks"], len(each["items"])) for each in study["practice"]] == [("grid", 2, 9)] * 3
        asked = ann.questions(3)
        labels = [item["label"] for item in asked[0]["items"]]
        assert labels == ["The item in the middle", *(f"Item {place}" for place in range(1, 9))]
        assert all(len({item["url"] for item in question["items"]}) == 9 for question in asked)
        for wrong in (1, -1, [1], [1, 1], [1, 9], [1, 2, 3]):
            assert ann.say(asked[0]["id"], wrong, status=404)["error"] == texts("en")["reason_answer"]
        for impossible in ([], [0, 1], [1, 21], ["1", "2"], list(range(1, 22)), [1.5, 2], None):
            ann.say(asked[0]["id"], impossible, status=422)
        sent = "8f14e45f-ceea-467f-a0e6-c7a4f0a1b2c3"
        ann.say(asked[0]["id"], [5, 2], client_id=sent)
        ann.say(asked[0]["id"], [2, 5], client_id=sent)  # sent again: stored once
        assert "client_id" in ann.say(asked[0]["id"], [2, 6], client_id=sent, status=409)["error"]
        assert ann.say(asked[0]["id"], [2, 6], status=409)
        undone = ann.post("/api/undo", {"client_id": "9f14e45f-ceea-467f-a0e6-c7a4f0a1b2c3", "of": sent})
        assert undone["question"] == asked[0]
        assert not len(run.judge.asking._said.comparisons())
        for question, picked in zip(asked, ([8, 1], [3, 4], [7, 6]), strict=True):
            ann.say(question["id"], picked)
        assert not ann.questions()
        stored = run.database.read(lambda records: records.answers())
        assert [answer.odd for answer in stored] == [(1, 8), (3, 4), (6, 7)]
        with closing(sqlite3.connect(run.study.database)) as connection:
            rows = connection.execute("SELECT odd, picked FROM answer WHERE undo_id IS NULL ORDER BY picked").fetchall()
        assert rows == [(None, "[1, 8]"), (None, "[3, 4]"), (None, "[6, 7]")]
        said = run.judge.asking._said.comparisons()
        assert (len(said), said.n_answers) == (3 * 2 * 6, 3)
        summary = run.experimenter().get("/experimenter/api/summary").json()
        assert (summary["answers"], summary["by_form"], summary["cant_tell"]) == (3, {"grid": 3}, 0)
        assert (summary["persons"][0]["answered"], summary["persons"][0]["median_seconds"]) == (3, 1.5)


@pytest.mark.parametrize("format", ["csv", "jsonl", "parquet"])
def test_an_answer_is_exported_as_rows_that_stay_together(tmp_path: Path, format: str) -> None:
    folder = make_folder(tmp_path / "birds", 6, f'form = ["grid", "odd"]\ngrid_size = 4\nquestions = 6\n{PLAIN}')
    with running(folder) as run:
        ann = run.person(participant="ann")
        for question in ann.questions(6):
            ann.say(question["id"], [1, 3] if question["form"] == "grid" else 2)
        answers = run.database.read(lambda records: records.answers())
        let_time_pass(run.database)
        for participants in ("yes", "no"):
            query = f"format={format}&holdout=keep&participants={participants}"
            found = run.experimenter().get(f"/experimenter/api/export?{query}")
            file = tmp_path / f"said.{format}"
            file.write_bytes(found.content)
            said, details = formats.read(file, items=run.study.names), formats.details(file)
            assert (len(said), said.n_answers) == (3 + 3 * 4, 6)
            assert said.weight[said.kind == Kind.CLOSER].tolist() == [0.5] * 12
            places = details["place"]
            assert [sum(place == each.place for place in places) for each in answers] == [
                4 if each.form == "grid" else 1 for each in answers
            ]
            for answer in answers:
                rows = said[[row for row, place in enumerate(places) if place == answer.place]]
                if answer.form == "grid":
                    near, far = ({answer.items[place] for place in places} for places in ((1, 3), (2, 4)))
                    names = [[run.study.names[item] for item in row] for row in rows.shown.tolist()]
                    assert {row[0] for row in names} == {answer.items[0]}
                    assert {(row[1], row[2]) for row in names} == {(a, b) for a in near for b in far}
        assert run.judge.asking._said.comparisons().n_answers == 6
    with running(folder) as again:  # read anew from the database
        assert again.judge.asking._said.comparisons().n_answers == 6


CATCH = (
    '[[catch]]\nitems = ["picture 0.png", "picture 1.png", "picture 2.png", "picture 3.png", "picture 4.png"]\n'
    'picked = ["picture 3.png", "picture 1.png"]\n'
)


def test_catches_repeats_holdout_and_a_restart(tmp_path: Path) -> None:
    settings = (
        'form = "grid"\ngrid_size = 4\nquestions = 40\npractice = 0\ncatch_share = 0.2\nrepeat_share = 0.2\n'
        f"holdout_share = 0.1\n{CATCH}"
    )
    folder = make_folder(tmp_path / "birds", 9, settings)
    with running(folder) as run:
        ann = run.person(participant="ann")
        assert ann.answer_all(odd=[1, 2]) == 40
        answers = run.database.read(lambda records: records.answers())
        by_id = {answer.question: answer for answer in answers}
        kinds = Counter(answer.kind for answer in answers)
        assert (kinds["catch"], kinds["repeat"], kinds["holdout"]) == (8, 8, 4)
        passed = alike = 0
        for answer in answers:
            assert len(set(answer.items)) == 5
            if answer.repeats is not None:
                earlier = by_id[answer.repeats]
                assert (answer.items[0], set(answer.items)) == (earlier.items[0], set(earlier.items))
                alike += {answer.items[1], answer.items[2]} == {earlier.items[1], earlier.items[2]}
            if answer.kind == "catch":
                assert isinstance(answer.expected, tuple)
                assert answer.items[0] == "picture 0.png"
                assert {answer.items[place] for place in answer.expected} == {"picture 1.png", "picture 3.png"}
                passed += answer.odd == answer.expected
        summary = run.experimenter().get("/experimenter/api/summary").json()
        assert summary["catches"] == {"asked": 8, "right": passed}
        assert summary["repeats"] == {"asked": 8, "right": alike}
        found = export(answers, run.study.names, "birds", Filter(holdout="only"))
        assert (len(found.said), found.said.n_answers) == (16, 4)
        found = export([answer for answer in answers if answer.kind == "catch"], run.study.names, "birds")
        shown = [[found.said.items[item] for item in row] for row in found.said.shown.tolist()]  # type: ignore[index]
        right = {"picture 1.png", "picture 3.png"}
        for row, expected in zip(shown, found.details["expected"], strict=True):
            known = [letter for letter, name in zip("abc", row, strict=True) if name in right]
            assert expected == (known[0] if len(known) == 1 else None)
        before = run.judge.asking._said.comparisons()
        asked_before = run.judge.asking.history.asked
    with running(folder) as again:
        assert again.judge.asking._said.comparisons() == before
        assert again.judge.asking.history.asked == asked_before
        assert not again.judge.asking.history.open


@pytest.mark.parametrize("kind", KINDS)
def test_simulated_people_answer_grids(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    address = None if kind == "sqlite" else request.getfixturevalue("cluster")
    folder = make_folder(tmp_path / "birds", 12, f'form = ["grid", "odd"]\ngrid_picks = 3\nquestions = 12\n{PLAIN}')
    X = np.random.default_rng(0).normal(size=(12, 2))
    with running(folder, address) as run:
        told = Crowd(run.server.url, run.study, run.judge.keys, by_features(X)).answer(3, 12)
        assert not told.problems
        Crowd(run.server.url, run.study, run.judge.keys, by_chance).answer(1, 12, prefix="guesser")
        answers = run.database.read(lambda records: records.answers())
        assert Counter(answer.form for answer in answers) == {"grid": 24, "odd": 24}
        for answer in answers:
            if not answer.participant.startswith("guesser"):
                items = tuple(run.study.index_of[name] for name in answer.items)
                assert told.stored[answer.client_id] == (answer.participant, items, answer.odd)
                if answer.form == "grid":
                    middle, *around = X[list(items)]
                    nearest = np.argsort(np.linalg.norm(around - middle, axis=1))[:3]
                    assert answer.odd == tuple(sorted(1 + nearest))


def test_policies_learn_from_grids(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", 20, f'form = "grid"\npolicy = "uncertain"\nquestions = 15\n{PLAIN}')
    X = np.random.default_rng(1).normal(size=(20, 3))
    names = sorted(path.name for path in folder.glob("*.png"))
    features = tmp_path / "features.csv"
    rows = [",".join([name, *map(str, row)]) for name, row in zip(names, X.tolist(), strict=True)]
    features.write_text("item,u,v,w\n" + "\n".join(rows))
    with running(folder, features=features) as run:
        told = Crowd(run.server.url, run.study, run.judge.keys, by_features(X)).answer(2, 15)
        assert not told.problems
        kinds = {answer.kind for answer in run.database.read(lambda records: records.answers())}
        assert kinds <= {"adaptive", "random"}
        assert run.judge.asking.history.said().n_answers == 30


def test_an_answer_among_others_can_be_forgotten() -> None:
    said = AnswerCache()
    asked: list[tuple[str, tuple[int, ...], Any]] = [
        ("odd", (0, 1, 2), 1),
        ("grid", (3, 4, 5, 6), (1, 2)),
        ("odd", (4, 5, 6), -1),
        ("grid", (0, 4, 5, 6), (3,)),
        ("anchor", (1, 2, 3), 2),
    ]
    for number, (form, items, answer) in enumerate(asked):
        said.add(str(number), items, answer, form)
    for gone in (1, 3, 0):
        said.remove(str(gone))
        asked[gone] = ("gone", (), 0)
        left = [each for each in asked if each[0] != "gone"]
        assert said.comparisons() == comparisons(left)
    said.add("new", (3, 4, 5, 6), (3,), "grid")
    assert said.comparisons() == comparisons([asked[2], asked[4], ("grid", (3, 4, 5, 6), (3,))])


def test_a_grid_is_filled_at_random_around_the_items_that_were_chosen() -> None:
    rng = np.random.default_rng(0)
    drawn = [filled((7, 1, 4), 8, 12, rng) for _ in range(500)]
    assert {grid[0] for grid in drawn} == {7}
    assert all(len(set(grid)) == 9 and {1, 4} <= set(grid) for grid in drawn)
    times = Counter(item for grid in drawn for item in grid[1:])
    others = [times[item] for item in range(12) if item not in (7, 1, 4)]
    assert min(others) > 500 * 6 / 9 - 60
    assert len({grid.index(1) for grid in drawn}) == 8
    assert filled((0, 1, 2), 2, 3, rng)[0] == 0


def test_what_answers_a_grid() -> None:
    assert fits(tuple(range(1, 20)), "grid", 21, 19)
    assert not fits(1, "grid", 3, 1)
    assert not fits((1,), "odd", 3, 1)
    assert len(KEYS) == MOST_AROUND
    assert f'const KEYS = "{KEYS}"' in (STATIC / "question.js").read_text(encoding="utf-8")
    assert not {"U", "0"} & set(KEYS)  # these keys do something else


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("grid_size = 21", "grid_size = 21; expected a whole number from 2 to 20"),
        ("grid_size = 4\ngrid_picks = 4", "grid_picks = 4 of grid_size = 4; expected fewer"),
        ("grid_picks = 0", "grid_picks = 0"),
        ('form = "grid"\n[[catch]]\nitems = ["a", "b", "c"]\nodd = "a"', "number 1 is of the form odd; expected grid"),
        ('form = "grid"\n[[catch]]\nitems = ["a", "b", "c"]\npicked = "b"', "holds 'b'; expected a list"),
        ('form = "grid"\n[[catch]]\nitems = ["a", "b"]\npicked = ["b"]', "3 to 21 different names"),
        ('form = "grid"\n[[catch]]\nitems = ["a", "b", "b"]\npicked = ["b"]', "3 to 21 different names"),
        ('form = "grid"\n[[catch]]\nitems = ["a", "b", "c"]\npicked = ["a"]', "some of the items around the first"),
        ('form = "grid"\n[[catch]]\nitems = ["a", "b", "c"]\npicked = ["b", "c"]', "and not all"),
        ('form = ["odd", "grid"]\n[list]\nfile = "q.csv"', 'expected form = "odd" for a list'),
    ],
)
def test_settings_that_make_no_sense_are_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem.replace("[", r"\[")):
        Settings.read(text)


def test_a_study_with_too_few_items_for_its_grid_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="there are 8 items; expected grid_size to be at most 7"):
        Study.open(make_folder(tmp_path / "birds", 8, 'form = "grid"\n'))
    study = Study.open(make_folder(tmp_path / "cars", 8, 'form = "grid"\ngrid_size = 7\n'))
    assert study.settings.grid_size == 7
    assert json.dumps(study.settings.title) == '"Which are most alike?"'
