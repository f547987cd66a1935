"""Lists of questions: everybody gets the stated ones in the stated order, and the export says which was which."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from judge_studies import make_folder, running

from oddkernel import formats
from oddkernel.cli import main
from oddkernel.judge.next_questions import plan
from oddkernel.judge.question_list import ListSettings, arranged, read
from oddkernel.judge.study import Study

NAMES = [f"picture {i}.png" for i in range(8)]
ROWS = [(0, 1, 2, 2, "warm-up", ""), (3, 4, 5, 1, "warm-up", 5), (5, 6, 7, 3, "main", ""), (2, 1, 0, 4, "main", 0)]


def write_list(folder: Path, rows: list[tuple[object, ...]] = ROWS) -> Path:
    named = [[*(NAMES[i] if isinstance(i, int) else i for i in row[:3]), row[3], row[4]] for row in rows]
    odd = [NAMES[row[5]] if isinstance(row[5], int) else row[5] for row in rows]
    lines = [",".join(map(str, [*row, known])) for row, known in zip(named, odd, strict=True)]
    file = folder / "questions.csv"
    file.write_text("\n".join(["a,b,c,order,block,odd", *lines]))
    return file


def settings(more: str = "") -> str:
    shares = "holdout_share = 0\nrepeat_share = 0"
    return f'questions = 6\npractice = 0\n{shares}\n[list]\nfile = "questions.csv"\n{more}'


def test_the_order_and_what_a_line_says(tmp_path: Path) -> None:
    listed = read(write_list(tmp_path), NAMES)
    assert [(row.line, row.block) for row in listed] == [(3, "warm-up"), (2, "warm-up"), (4, "main"), (5, "main")]
    assert listed[0].items == ("picture 3.png", "picture 4.png", "picture 5.png")
    assert [row.odd for row in listed] == ["picture 5.png", None, None, "picture 0.png"]
    assert len({row.key for row in listed}) == 4


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "a,b,c\npicture 0.png,picture 1.png,pictrue 2.png\n",
            r"line 2: no item is called 'pictrue 2\.png'; did you mean",
        ),
        ("a,b,c\npicture 0.png,picture 1.png,picture 1.png\n", "line 2: .*three different items"),
        ("a,b,c,odd\n{}\n{}\n", r"line 3: odd is 'picture 7\.png'; expected one of"),
        ("a,b,c,order\n{}\n", "line 2: order is 'soon'; expected a number"),
        ("a,b,c,rank\n{}\n", "column 'rank' is unknown; expected a, b, c, order, block, odd"),
        ("a,b\nx,y\n", "expected the columns a, b and c"),
        ("a,b,c\n", "the list is empty"),
        ("a,b,c\nx,y\n", "line 2: 2 fields; expected 3"),
    ],
)
def test_errors_name_file_line_and_item(tmp_path: Path, text: str, message: str) -> None:
    three = ",".join(NAMES[:3])
    ends = {"odd": [f"{three},", f"{three},picture 7.png"], "order": [f"{three},soon"], "rank": [f"{three},1"]}
    file = tmp_path / "questions.csv"
    file.write_text(text.format(*ends.get(text.partition("\n")[0].split(",")[-1], [])))
    with pytest.raises(ValueError, match=rf"questions\.csv: {message}"):
        read(file, NAMES)


def test_drawn_and_shuffled_lists_keep_their_blocks_in_order(tmp_path: Path) -> None:
    listed = read(write_list(tmp_path), NAMES)
    seen = set()
    for seed in range(30):
        rng = np.random.default_rng(seed)
        rows = arranged(ListSettings("questions.csv", draw=3, shuffle=True), listed, rng)
        assert len({row.key for row in rows}) == 3
        assert [row.block for row in rows] in (["warm-up"] * 2 + ["main"], ["warm-up"] + ["main"] * 2)
        seen.add(tuple(row.line for row in rows))
    assert len(seen) > 6


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ("draw = 9", "4 questions, of which each person gets 9"),
        ('then = "more"', "expected policy or nothing"),
        ("shuffle = 1", "expected true or false"),
        ("size = 1", "unknown"),
    ],
)
def test_wrong_settings_are_named(tmp_path: Path, more: str, message: str) -> None:
    folder = make_folder(tmp_path / "birds", 8, settings(more))
    write_list(folder)
    with pytest.raises(ValueError, match=message):
        Study.open(folder)


def test_a_missing_list_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"questions\.csv: no such file"):
        Study.open(make_folder(tmp_path / "birds", 8, settings()))


def test_the_policy_follows(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", 8, settings('then = "policy"'))
    write_list(folder)
    kinds = plan(Study.open(folder), np.random.default_rng(0))
    assert [kind.partition(":")[0] for kind in kinds] == ["listed"] * 4 + ["chosen"] * 2


@pytest.mark.slow
def test_everybody_gets_the_list_in_order_and_the_export_says_which(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", 8, settings())
    write_list(folder)
    with running(folder) as run:
        for who in ("ann", "bob"):
            person = run.person(participant=who)
            assert person.told["sitting"]["total"] == 4
            person.say(person.questions(1)[0]["id"], 2)
            person.client.get("/api/questions?count=14")
            assert person.answer_all(1) == 3
        summary = run.experimenter().get("/experimenter/api/summary").json()
        assert (summary["questions_per_person"], summary["by_kind"]) == (4, {"listed": 8})
        assert [row["catches"] for row in summary["persons"]] == [{"asked": 2, "right": 1}] * 2
    assert main(["judge", str(folder), "--export", str(tmp_path / "said.csv"), "--join"]) == 0
    said, details = formats.read(tmp_path / "said.csv"), formats.details(tmp_path / "said.csv")
    assert details["list_line"] == [3, 2, 4, 5] * 2
    assert details["list_block"] == ["warm-up", "warm-up", "main", "main"] * 2
    assert details["expected"] == ["c", None, None, "c"] * 2
    assert details["asked_as"] == ["listed"] * 8
    assert said.items is not None
    assert [said.items[i] for i in said.shown[0]] == ["picture 3.png", "picture 4.png", "picture 5.png"]
    assert said.shown[:4].tolist() == said.shown[4:].tolist()
    assert "person_state" in (tmp_path / "said.joined.csv").read_text().partition("\n")[0]


@pytest.mark.slow
def test_a_line_that_was_taken_out_is_replaced(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", 8, settings())
    write_list(folder)
    with running(folder) as run:
        ann = run.person(participant="ann", key="6f2b2f6e-1f5e-4bb5-8a3f-0123456789ab")
        ann.say(ann.questions(1)[0]["id"], 2)
    write_list(folder, ROWS[:2])
    with running(folder) as run:
        ann = run.person(participant="ann", key="6f2b2f6e-1f5e-4bb5-8a3f-0123456789ab")
        assert ann.answer_all() == 3
        answers = run.database.read(lambda records: records.answers())
        assert [answer.kind for answer in answers] == ["listed", "listed", "random", "random"]


def test_questions_offline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(10, 3)), rng.normal(size=(10, 3)) + 9])
    table = tmp_path / "animals.csv"
    lines = [f"animal {i}," + ",".join(map(str, row)) for i, row in enumerate(X)]
    table.write_text("\n".join(["item,x,y,z", *lines]))
    names = [f"animal {i}" for i in range(20)]
    out = tmp_path / "list.csv"
    for policy in ("random", "prototypes"):
        assert main(["questions", str(table), "--n", "60", "--policy", policy, "--out", str(out)]) == 0
        listed = read(out, names)
        assert len({frozenset(row.items) for row in listed}) == 60
    assert "60 questions by prototypes, after 0 answers" in capsys.readouterr().out
    out = tmp_path / "questions.json"
    assert main(["questions", str(table), "--n", "5", "--to", "jspsych", "--out", str(out)]) == 0
    variables = json.loads(out.read_text())
    assert len(variables) == 5
    assert set(variables[0]["choices"]) < set(names)
    trials = [{**each, "task": each["data"]["task"], "response": 1} for each in variables]
    trials = [{key: trial[key] for key in ("choices", "task", "response")} for trial in trials]
    (tmp_path / "data.json").write_text(json.dumps(trials))
    said = formats.read(tmp_path / "data.json", format="jspsych")  # what jsPsych would write
    assert len(said) == 5
    for wrong, message in (
        (["--policy", "prototype", "--n", "5"], "did you mean 'prototypes'"),
        (["--n", "0"], "expected a number from 1"),
        (["--n", "5", "--to", "list"], "ends with .csv"),
    ):
        assert main(["questions", str(table), "--out", str(out), *wrong]) == 2
        assert message in capsys.readouterr().err
