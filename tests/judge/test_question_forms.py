"""Forms of questions: which of two is more like the one above, which of three is the most central."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("fastapi", reason="the judge needs oddkernel[judge]")

from judge_studies import let_time_pass, make_folder, running

from oddkernel import formats
from oddkernel.comparisons import Kind
from oddkernel.judge.live_map import learn
from oddkernel.judge.question_forms import ANSWERS, shuffled
from oddkernel.judge.settings import Settings
from oddkernel.judge.simulate import Crowd, by_chance, by_features
from oddkernel.judge.words import languages, texts

PLAIN = "practice = 3\ncatch_share = 0\nrepeat_share = 0\nholdout_share = 0\n"


def test_an_anchor_study(tmp_path: Path) -> None:
    with running(make_folder(tmp_path / "birds", settings=f'form = "anchor"\nquestions = 4\n{PLAIN}')) as run:
        ann = run.person(participant="ann")
        assert ann.told["study"]["questions"] == {"anchor": texts("en")["study_question_anchor"]}
        assert ann.told["study"]["instructions"] == texts("en")["study_instructions_anchor"]
        assert [each["form"] for each in ann.told["study"]["practice"]] == ["anchor"] * 3
        asked = ann.questions(4)
        assert [item["label"] for item in asked[0]["items"]] == ["The item above", "Item 1", "Item 2"]
        refused = ann.say(asked[0]["id"], 0, status=404)
        assert refused["error"] == texts("en")["reason_answer"]
        for question, answer in zip(asked, (1, 2, -1, 1), strict=True):
            ann.say(question["id"], answer)
        assert not ann.questions()
        let_time_pass(run.database)
        found = run.experimenter().get("/experimenter/api/export?format=csv&holdout=keep")
        (tmp_path / "said.csv").write_bytes(found.content)
        said = formats.read(tmp_path / "said.csv", items=run.study.names)
        assert said.kind.tolist() == [Kind.CLOSER, Kind.CLOSER, Kind.EQUALLY_CLOSE, Kind.CLOSER]
        media = {id: name for name, id in run.judge.media_id.items()}
        for question, row, answer in zip(asked, said.shown.tolist(), (1, 2, -1, 1), strict=True):
            names = [media[item["url"].partition("?")[0].rpartition("/")[2]] for item in question["items"]]
            order = [0, 2, 1] if answer == 2 else [0, 1, 2]
            assert [run.study.names[item] for item in row] == [names[place] for place in order]
        assert run.judge.asking._said.comparisons().kind.tolist() == said.kind.tolist()
        summary = run.experimenter().get("/experimenter/api/summary").json()
        assert summary["by_form"] == {"anchor": 4}
        assert summary["persons"][0]["cant_tell"] == 1
        assert summary["persons"][0]["median_seconds"] == 1.5


def test_a_central_study_has_no_cant_tell(tmp_path: Path) -> None:
    with running(make_folder(tmp_path / "birds", settings=f'form = "central"\nquestions = 3\n{PLAIN}')) as run:
        ann = run.person(participant="ann")
        asked = ann.questions(3)
        ann.say(asked[0]["id"], -1, status=404)
        for question, answer in zip(asked, (0, 1, 2), strict=True):
            ann.say(question["id"], answer)
        said = run.judge.asking._said.comparisons()
        assert said.kind.tolist() == [Kind.MOST_CENTRAL] * 3
        stored = run.database.read(lambda records: records.answers())
        assert [run.study.names[item] for item in said.shown[:, 0]] == [each.items[each.odd] for each in stored]


def test_undo_repeats_catches_and_a_restart_in_every_form(tmp_path: Path) -> None:
    settings = (
        'form = ["anchor", "central"]\nquestions = 40\npractice = 0\ncatch_share = 0.2\nrepeat_share = 0.2\n'
        "holdout_share = 0.1\n"
        '[[catch]]\nitems = ["picture 0.png", "picture 1.png", "picture 2.png"]\ncloser = "picture 2.png"\n'
        '[[catch]]\nitems = ["picture 3.png", "picture 4.png", "picture 5.png"]\ncentral = "picture 4.png"\n'
    )
    folder = make_folder(tmp_path / "birds", settings=settings)
    names = sorted(path.name for path in folder.glob("*.png"))
    with running(folder) as run:
        ann = run.person(participant="ann")
        first = ann.questions(1)[0]
        ann.say(first["id"], 1, client_id="8f14e45f-ceea-467f-a0e6-c7a4f0a1b2c3")
        undone = ann.post(
            "/api/undo",
            {"client_id": "9f14e45f-ceea-467f-a0e6-c7a4f0a1b2c3", "of": "8f14e45f-ceea-467f-a0e6-c7a4f0a1b2c3"},
        )
        assert undone["question"] == first
        assert not len(run.judge.asking._said.comparisons())
        assert ann.answer_all(odd=1) == 40
        answers = run.database.read(lambda records: records.answers())
        by_id = {answer.question: answer for answer in answers}
        kinds = Counter(answer.kind for answer in answers)
        assert (kinds["catch"], kinds["repeat"], kinds["holdout"]) == (8, 8, 4)
        forms = Counter(answer.form for answer in answers if answer.kind in ("random", "holdout"))
        assert min(forms["anchor"], forms["central"]) >= 6
        for answer in answers:
            if answer.repeats is not None:
                earlier = by_id[answer.repeats]
                assert (answer.form, set(answer.items)) == (earlier.form, set(earlier.items))
                assert answer.form != "anchor" or answer.items[0] == earlier.items[0]
            if answer.kind == "catch":
                known = {"anchor": (names[2], names[0]), "central": (names[4], None)}[answer.form]
                assert answer.expected is not None
                assert answer.items[answer.expected] == known[0]
                assert known[1] in (None, answer.items[0])
        before = run.judge.asking._said.comparisons()
        let_time_pass(run.database)
        found = run.experimenter().get("/experimenter/api/export?format=jsonl&holdout=keep")
        (tmp_path / "said.jsonl").write_bytes(found.content)
        details = formats.details(tmp_path / "said.jsonl")
        said = formats.read(tmp_path / "said.jsonl").to_dict()
        for row, (kind, expected) in enumerate(zip(said["kind"], details["expected"], strict=True)):
            if expected is not None:
                assert said[expected][row] == (names[4] if kind == "most_central" else names[2])
    with running(folder) as again:
        assert again.judge.asking._said.comparisons() == before


def test_simulated_people_answer_every_form(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", settings=f'form = ["odd", "anchor", "central"]\nquestions = 12\n{PLAIN}')
    X = np.random.default_rng(0).normal(size=(8, 2))
    with running(folder) as run:
        told = Crowd(run.server.url, run.study, run.judge.keys, by_features(X)).answer(3, 12)
        assert not told.problems
        Crowd(run.server.url, run.study, run.judge.keys, by_chance).answer(1, 12, prefix="guesser")
        answers = run.database.read(lambda records: records.answers())
        assert Counter(answer.form for answer in answers) == dict.fromkeys(ANSWERS, 16)
        for answer in answers:
            if not answer.participant.startswith("guesser") and answer.form == "anchor":
                anchor, one, other = X[[run.study.index_of[name] for name in answer.items]]
                assert answer.odd == 1 + int(np.linalg.norm(one - anchor) > np.linalg.norm(other - anchor))
        said = run.judge.asking._said.comparisons()
        made = learn(said.with_names(run.study.names), said[:10].with_names(run.study.names), X)
        assert made["answers_used"] == 48


def test_an_anchor_stays_the_first() -> None:
    rng = np.random.default_rng(0)
    assert {shuffled("anchor", (4, 5, 6), rng) for _ in range(40)} == {(4, 5, 6), (4, 6, 5)}
    assert len({shuffled("central", (4, 5, 6), rng) for _ in range(80)}) == 6


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('form = "best"', "form = .best.; expected odd or anchor or central or grid"),
        ("form = []", "form = "),
        ('form = ["odd", "odd"]', "form = "),
        ("form = 3", "form = "),
        (
            'form = "anchor"\n[[catch]]\nitems = ["a", "b", "c"]\nodd = "a"',
            "number 1 is of the form odd; expected anchor",
        ),
        ('form = "anchor"\n[[catch]]\nitems = ["a", "b", "c"]\ncloser = "a"', "closer is the anchor"),
        (
            'form = "anchor"\n[[catch]]\nitems = ["a", "b", "c"]\ncloser = "d"',
            "items, the names of three items, and closer",
        ),
        ('form = ["odd", "central"]\n[list]\nfile = "q.csv"', 'expected form = "odd" for a list'),
    ],
)
def test_settings_that_make_no_sense_are_refused(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        Settings.read(text)


@pytest.mark.parametrize("language", languages())
def test_texts_follow_form_and_language(language: str) -> None:
    settings = Settings.read(f'language = "{language}"\nform = ["central", "odd"]')
    words = texts(language)
    assert settings.title == words["study_title_central"]
    assert settings.instructions == f"{words['study_instructions_central']}\n\n{words['study_instructions']}"
    assert settings.questions_by_form == {"central": words["study_question_central"], "odd": words["study_question"]}
    own = Settings.read('form = ["anchor", "odd"]\nquestion = "Which sounds alike?"\n[words]\nstudy_question = "Odd?"')
    assert own.questions_by_form == {"anchor": "Which sounds alike?", "odd": "Odd?"}
