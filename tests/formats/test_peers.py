from __future__ import annotations

import csv
import io
import json
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from comparison_strategies import comparisons
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from properties import examples

from oddkernel import formats
from oddkernel.cli import main
from oddkernel.comparisons import Comparisons, Kind

TRIPLETS = ["cblearn-list-order", "cblearn-list-count", "cblearn-list-boolean", "metric-learn-triplets"]
TRIPLETS += ["metric-learn-quadruplets", "psiz", "salmon", "triplettools"]
PEERS = [name for name, format in formats.FORMATS.items() if not (format.own or format.table)]
ODD_ONES = ["spose", "jspsych", "meadows"]
BY_NAME = ["triplettools", "jspsych", "meadows"]
reuse_folder = examples(30, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])


def arrays(**named: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **named)
    return file.getvalue()


def array(values: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, values)
    return file.getvalue()


SALMON = """\
head,left,right,winner,sampler,score,puid,response_time,network_latency,loser,time_received
4,0,3,3,random,-9999,ann,1.23,0.04,0,1600000000.5
0,1,2,1,ARR,0.2,,0.98,0.05,2,1600000003.5
"""
SALMON_NAMED = """\
head,left,right,winner,puid,loser,head_filename,winner_filename,loser_filename
2,0,1,1,ann,0,cat.png,bee.png,ant.png
0,1,2,1,bob,2,ant.png,bee.png,cat.png
"""
TRIPLETTOOLS = """\
head,winner,loser,worker_id,rt,Center,Left,Right,Answer,sampleAlg,sampleSet
0,2,1,w1,1543,ant,bee,cat,cat,random,train
1,0,2,w1,987,bee,ant,cat,ant,validation,test
0,0,2,w2,450,ant,ant,cat,ant,check,NA
"""
TRIPLETTOOLS_LEGACY = """\
Participant.ID,Timestamp,Center,Left,Right,Answer,Response.Time..s.,Alg.Label
1099,2001-01-01 00:00:00.000001,i0464,i0532,i0546,i0532,7955,Train
"""
TRIALS = [
    {"trial_type": "instructions", "trial_index": 0, "rt": 900, "subject": "s1"},
    {
        "trial_type": "html-button-response",
        "trial_index": 1,
        "rt": 1200,
        "response": 2,
        "choices": ["img/ant.png", "img/bee.png", "img/oak.png"],
        "task": "odd-one-out",
        "subject": "s1",
    },
    {
        "trial_type": "html-button-response",
        "trial_index": 2,
        "rt": None,
        "response": None,
        "choices": ["img/ant.png", "img/bee.png", "img/fir.png"],
        "task": "odd-one-out",
        "subject": "s1",
    },
    {"trial_type": "html-button-response", "response": 0, "choices": ["Yes", "No", "Maybe"], "task": "survey"},
]
JSPSYCH_CSV = """\
"rt","stimulus","response","trial_type","trial_index","choices"
"1200","<p>Which is the odd one?</p>","0","html-button-response","0","[""oak"",""ant"",""bee""]"
"900","<p>Which is the odd one?</p>","2","html-button-response","1","[""ant"",""bee"",""fir""]"
"""
MEADOWS = """\
task,participation,trial,time_trial_start,time_trial_response,label,stim1_id,stim1_name,stim2_id,stim2_name,stim3_id,stim3_name
odd,calm-heron,0,2024-02-17T22:42:01.043Z,2024-02-17T22:42:07.983Z,b9b4,13dd,ant,7612,bee,b9b4,oak
odd,calm-heron,1,2024-02-17T22:42:08.486Z,2024-02-17T22:42:10.472Z,13dd,13dd,ant,13dd,ant,b9b4,oak
odd,calm-heron,2,2024-02-17T22:42:11.991Z,2024-02-17T22:42:14.919Z,7612,7612,bee,b9b4,oak,aa00,fir
rate,calm-heron,0,2024-02-17T22:43:11.991Z,2024-02-17T22:43:14.919Z,nice,7612,bee,,,,
"""
CENTRAL = """\
survey_round,chosen_center,triplet_object_1,triplet_object_2,triplet_object_3,response_time
1,3,3,1,2,11.108
2,1,4,1,3,6.8920
"""
ANIMALS = ["ant", "bee", "cat"]
PLANTS = ["ant", "bee", "fir", "oak"]
TWO_CLOSER = Comparisons.closer([0, 2], [1, 3], [2, 1])

SAMPLES: list[tuple[str, bytes | str, Comparisons, list[str]]] = [
    ("cblearn-list-order", "0 1 2\n2 3 1\n", TWO_CLOSER, ["numbered from 0 to 3 in the file, counted from 0"]),
    ("cblearn-list-order", "0,1,2\r\n\r\n2,3,1", TWO_CLOSER, []),
    ("cblearn-list-order", "0.000000000000000000e+00 1.0 2.\n2 3 1\n", TWO_CLOSER, []),
    ("cblearn-list-order", array([[0, 1, 2], [2, 3, 1]]), TWO_CLOSER, []),
    (
        "cblearn-list-count",
        arrays(triplets=[[0, 1, 2], [2, 1, 3], [1, 0, 3]], responses=[2, -1, 0]),
        Comparisons.closer([0, 2], [1, 3], [2, 1], weight=[2, 1]),
        ["response 0) left out: 1."],
    ),
    ("cblearn-list-boolean", arrays(triplets=[[0, 1, 2], [2, 1, 3]], responses=[True, False]), TWO_CLOSER, []),
    ("metric-learn-triplets", array(np.array([[0.0, 1.0, 2.0], [2.0, 3.0, 1.0]])), TWO_CLOSER, []),
    ("metric-learn-quadruplets", "0 1 0 2\n3 2 1 2\n", TWO_CLOSER, []),
    ("spose", "0 1 5\n7 2 0\n", Comparisons.odd_one_out([[0, 1, 5], [7, 2, 0]], [2, 2]), ["third number"]),
    (
        "salmon",
        SALMON,
        Comparisons.closer([4, 0], [3, 1], [0, 2], rater=["ann", ""]),
        ["left out: sampler, score, response_time, network_latency, time_received"],
    ),
    (
        "salmon",
        "\n".join(",".join(line.split(",")[:4]) for line in SALMON.splitlines()),
        Comparisons.closer([4, 0], [3, 1], [0, 2]),
        [],
    ),
    (
        "salmon",
        SALMON_NAMED,
        Comparisons.closer([2, 0], [1, 1], [0, 2], rater=["ann", "bob"], items=["ant.png", "bee.png", "cat.png"]),
        ["file names"],
    ),
    (
        "triplettools",
        TRIPLETTOOLS,
        Comparisons.closer([0, 1], [2, 0], [1, 2], rater="w1", items=ANIMALS),
        ["checks left out: 1.", "left out: head, winner, loser, rt, sampleSet"],
    ),
    (
        "triplettools",
        TRIPLETTOOLS_LEGACY,
        Comparisons.closer([0], [1], [2], rater=1099, items=["i0464", "i0532", "i0546"]),
        ["left out: Timestamp, Response.Time..s., Alg.Label"],
    ),
    (
        "jspsych",
        json.dumps(TRIALS),
        Comparisons.odd_one_out(
            [[0, 1, 2]], [2], rater="s1", items=[f"img/{name}.png" for name in ("ant", "bee", "oak")]
        ),
        ["other tasks left out: 2.", "without a response left out: 1.", "trial_type, trial_index, rt"],
    ),
    (
        "jspsych",
        JSPSYCH_CSV,
        Comparisons.odd_one_out([[3, 0, 1], [0, 1, 2]], [0, 2], items=PLANTS),
        ["left out: rt, stimulus, trial_type, trial_index"],
    ),
    (
        "meadows",
        MEADOWS,
        Comparisons.odd_one_out([[0, 1, 3], [1, 3, 2]], [2, 0], rater="calm-heron", items=PLANTS),
        ["taken for the odd one", "three different items left out: 2.", "time_trial_start, time_trial_response"],
    ),
    (
        "central",
        CENTRAL,
        Comparisons.most_central([2, 0], [[0, 1], [3, 2]], rater=[1, 2]),
        ["counted from 1", "2 most-central answers", "left out: response_time"],
    ),
    ("psiz", "1 2 3\n3 4 2\n", TWO_CLOSER, ["numbered from 1 to 4", "2 trials"]),
    (
        "psiz",
        array([[1, 2, 3, 4], [4, 1, 2, 0], [0, 0, 0, 0]]),
        Comparisons.closer([0, 0, 3], [1, 1, 0], [2, 3, 1]),
        ["2 trials"],
    ),
]


def as_bytes(content: bytes | str) -> bytes:
    return content if isinstance(content, bytes) else content.encode()


def write_quietly(said: Comparisons, file: Path, format: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        formats.write(said, file, format=format)


@pytest.mark.parametrize(("format", "content", "said", "notes"), SAMPLES)
def test_samples(tmp_path: Path, format: str, content: bytes | str, said: Comparisons, notes: list[str]) -> None:
    file = tmp_path / "file"
    file.write_bytes(as_bytes(content))
    understood = formats.examine(file, format=format)
    assert understood.said == said
    assert formats.read(file, format=format) == said
    for part in notes:
        assert part in " ".join(understood.notes)


def test_every_format_has_a_sample() -> None:
    assert {format for format, *_ in SAMPLES} == set(PEERS)
    assert set(TRIPLETS + ODD_ONES) == {format for format in PEERS if formats.FORMATS[format].write}


def real(name: str) -> Path:
    folder = os.environ.get("ODDKERNEL_DATA")
    if not folder or not Path(folder, name).exists():
        pytest.skip(f"needs {name} in the folder that ODDKERNEL_DATA names")
    return Path(folder, name)


def test_cars() -> None:
    said, notes = formats.examine(real("cars60_survey.csv"), format="central")
    assert (len(said), said.n_items, len(said.constrained)) == (7097, 60, 60)
    assert said[0].shown.tolist() == [[31, 15, 29]]  # 32 is the most central of 32, 16, 30
    assert notes[1].startswith("7097 most-central answers")


@pytest.mark.slow
def test_things(tmp_path: Path) -> None:
    judgements = np.load(real("things.npz"))["judgements"]
    file = tmp_path / "train_90.txt"
    np.savetxt(file, judgements, fmt="%d")
    said = formats.read(file, format="spose")
    assert said == Comparisons.odd_one_out(judgements, np.full(len(judgements), 2))
    formats.write(said, file, format="spose")
    assert np.array_equal(np.loadtxt(file, dtype=int), judgements)


def test_a_format_that_can_only_be_read_says_so() -> None:
    with pytest.raises(ValueError, match="central can only be read; expected one of csv, "):
        formats.dump(TWO_CLOSER, "central")


class TestWriting:
    @pytest.mark.parametrize("format", TRIPLETS + ODD_ONES)
    @given(said=comparisons())
    @reuse_folder
    def test_what_can_be_said_comes_back(self, tmp_path: Path, format: str, said: Comparisons) -> None:
        """A triplet format keeps all that answers about three items mean, an odd-one-out format the odd ones."""
        decided = said[said.odd >= 0]
        kept = len(meaning(said)) if format in TRIPLETS else len(decided)
        if (said.items is None and format in BY_NAME) or not kept:
            return
        file = tmp_path / "said"
        write_quietly(said, file, format)
        counted = None if said.items is not None and format in [*BY_NAME, "salmon"] else 1 if format == "psiz" else 0
        again = formats.read(file, format=format, count_from=counted)
        wanted = said
        if again.items is not None:
            again = again.reindex(said.items)
        if format in ODD_ONES:
            wanted = decided
            assert np.array_equal(again.canonical(), wanted.canonical())
            assert (again.kind == Kind.ODD_ONE_OUT).all()
        else:
            assert sorted(again.shown.tolist()) == sorted(meaning(said))

    @pytest.mark.parametrize("format", TRIPLETS + ODD_ONES)
    def test_losses_are_told(self, tmp_path: Path, format: str) -> None:
        said = Comparisons.odd_one_out(
            [["ant", "bee", "oak"]] * 2, [1, -1], weight=[0.5, 1], rater="ann", items=PLANTS
        ) + Comparisons.must_link([["ant", "bee"]], items=PLANTS)
        file = tmp_path / "said"
        with pytest.warns(UserWarning, match="2 of 3 rows left out.*; weights dropped") as caught:
            formats.write(said, file, format=format)
        assert caught[0].filename == __file__
        assert ("raters dropped" in str(caught[0].message)) == (format not in [*BY_NAME, "salmon"])
        assert ("names dropped" in str(caught[0].message)) == (format not in [*BY_NAME, "salmon"])
        with pytest.raises(ValueError, match="nothing of this can be said in this format"):
            formats.write(said[1:], file, format=format)

    @pytest.mark.parametrize("format", BY_NAME)
    def test_names_are_needed(self, tmp_path: Path, format: str) -> None:
        with pytest.raises(ValueError, match="goes by name, and the items have none"):
            formats.write(Comparisons.odd_one_out([[0, 1, 2]], [0]), tmp_path / "said", format=format)

    def test_whole_weights_become_counts(self, tmp_path: Path) -> None:
        said = Comparisons.closer([0, 1], [1, 2], [2, 0], weight=[3, 1])
        formats.write(said, tmp_path / "said.npz", format="cblearn-list-count")
        with np.load(tmp_path / "said.npz") as file:
            assert (file["triplets"].tolist(), file["responses"].tolist()) == ([[0, 1, 2], [1, 2, 0]], [3, 1])
        assert formats.read(tmp_path / "said.npz", format="cblearn-list-count") == said

    def test_forms_are_those_that_peers_read(self, tmp_path: Path) -> None:
        said = Comparisons.odd_one_out([["ant", "oak", "bee"]], [1], rater="ann", items=PLANTS)
        formats.write(said, tmp_path / "said.csv", format="triplettools")
        with (tmp_path / "said.csv").open(newline="") as file:
            assert list(csv.reader(file))[:2] == [
                ["Center", "Left", "Right", "Answer", "worker_id"],
                ["ant", "bee", "oak", "bee", "ann"],
            ]
        formats.write(said, tmp_path / "said.json", format="jspsych")
        trials = json.loads((tmp_path / "said.json").read_text())
        assert trials == [{"task": "odd-one-out", "choices": ["ant", "oak", "bee"], "response": 1, "subject": "ann"}]
        write_quietly(said, tmp_path / "said.txt", "psiz")
        assert (tmp_path / "said.txt").read_text() == "1 2 4\n2 1 4\n"


def meaning(said: Comparisons) -> list[list[int]]:
    """Anchor, near, far of every decided answer, written out."""
    triplets = []
    for kind, shown, odd in zip(said.kind, said.shown.tolist(), said.odd.tolist(), strict=True):
        if kind == Kind.CLOSER:
            triplets.append(shown)
        elif kind == Kind.MOST_CENTRAL:
            central, one, two = shown
            triplets += [[one, central, two], [two, central, one]]
        elif odd >= 0:
            one, two = (item for position, item in enumerate(shown) if position != odd)
            triplets += [[one, two, shown[odd]], [two, one, shown[odd]]]
    return triplets


class TestCounting:
    @pytest.mark.parametrize("format", ["spose", "cblearn-list-order", "metric-learn-triplets"])
    def test_no_item_zero_is_in_doubt(self, tmp_path: Path, format: str) -> None:
        file = tmp_path / "answers.txt"
        file.write_text("1 2 3\n4 1 2\n")
        with pytest.raises(ValueError, match=r"numbers 1 to 4 and none has 0, .*count_from=0 or count_from=1"):
            formats.read(file, format=format)
        assert formats.read(file, format=format, count_from=1).shown.tolist() == [[0, 1, 2], [3, 0, 1]]
        assert formats.read(file, format=format, count_from=0).shown.tolist() == [[1, 2, 3], [4, 1, 2]]

    def test_zero_where_one_is_first(self, tmp_path: Path) -> None:
        file = tmp_path / "cars.csv"
        file.write_text(CENTRAL.replace("2,1,4,1,3", "2,0,4,0,3"))
        with pytest.raises(ValueError, match="line 3: an item has the number 0; expected numbers from 1 up"):
            formats.read(file, format="central")
        assert formats.read(file, format="central", count_from=0).shown.max() == 4

    def test_count_from_is_checked(self, tmp_path: Path) -> None:
        (tmp_path / "named.csv").write_text(TRIPLETTOOLS)
        with pytest.raises(ValueError, match="items stand by name; expected it to be left out"):
            formats.read(tmp_path / "named.csv", format="triplettools", count_from=0)
        (tmp_path / "three.txt").write_text("0 1 2")
        with pytest.raises(ValueError, match="count_from is 2; expected 0 or 1"):
            formats.read(tmp_path / "three.txt", format="spose", count_from=2)
        (tmp_path / "ours.csv").write_text("a,b,c,answer\nant,bee,cat,a\n")
        with pytest.raises(ValueError, match="items stand by name; expected it to be left out"):
            formats.read(tmp_path / "ours.csv", count_from=0)


@pytest.mark.parametrize(
    ("format", "content", "message"),
    [
        ("spose", "0 1 2\n3 4\n", "line 2: 2 numbers; expected 3"),
        ("spose", "0 1 2\n0 1 2 1\n", "line 2: 4 numbers; expected 3"),
        ("spose", "head winner loser\n0 1 2\n", "line 1: 'head'; expected whole numbers only"),
        ("spose", "0 1 2.5\n", r"line 1: '2\.5'; expected whole numbers"),
        ("spose", "0 1 -1\n", "an item has the number -1; expected numbers from 0 up"),
        ("spose", "0 1 1\n", "line 1: .* repeats an item"),
        ("spose", "0 1 nan\n", "line 1: 'nan'"),
        ("spose", b"\xff", "not UTF-8"),
        ("spose", b"\x93NUMPY", r"not a readable \.npy"),
        ("spose", array(np.zeros((2, 3, 4))), r"shape \(2, 3, 4\); expected \(m, 3\)"),
        ("spose", array([[0, 1, 2], [0, 1, 0.5]]), "row 1: .*; expected whole numbers"),
        ("spose", array([["a", "b", "c"]]), "expected whole numbers"),
        ("psiz", array([[[1, 2, 3]]]), r"shape \(1, 1, 3\); expected \(m, k\)"),
        ("psiz", "1 2 0\n", "line 1: .*; expected a query, the chosen reference and at least one more"),
        ("psiz", "1 0 2 3\n", "zeros at the end only"),
        (
            "metric-learn-quadruplets",
            "0 1 2 3\n",
            r"line 1: .*pairs \[0, 1\] and \[2, 3\]; expected .*share exactly one",
        ),
        ("metric-learn-quadruplets", "0 1 1 0\n", "share exactly one"),
        ("metric-learn-quadruplets", "0 0 0 1\n", "share exactly one"),
        ("metric-learn-quadruplets", "0 1 2\n", "line 1: 3 numbers; expected 4"),
        ("cblearn-list-count", "0 1 2 1\n", r"not a readable \.npz file"),
        ("cblearn-list-count", arrays(triplets=[[0, 1, 2]]), r"arrays \['triplets'\]; expected triplets and responses"),
        ("cblearn-list-count", arrays(triplets=[[0, 1, 2]], responses=[True]), "as in cblearn-list-boolean"),
        ("cblearn-list-count", arrays(triplets=[[0, 1, 2]], responses=[0.5]), "row 0: .*; expected whole numbers"),
        ("cblearn-list-count", arrays(triplets=[[0, 1, 2]], responses=[1, 1]), r"shape \(2,\); expected \(1,\)"),
        ("cblearn-list-boolean", arrays(triplets=[[0, 1, 2]], responses=[1]), "as in cblearn-list-count"),
        ("salmon", "", "no columns: head, winner missing; expected at least head, winner"),
        ("salmon", "a,b,c,answer\n", "columns 'a', 'b', 'c', 'answer': head, winner missing"),
        ("salmon", "head,winner\n0,1\n", "loser missing"),
        ("salmon", "head,winner,loser,head\n", "column 'head' stands twice"),
        ("salmon", "head,winner,loser\n0,1\n", "line 2: 2 fields; expected 3"),
        ("salmon", "head,winner,loser\n0,1,2\nhead,winner,loser\n", "line 3: the column names again, .*two files"),
        ("salmon", "head,winner,loser\n0,1,x\n", "line 2: loser is 'x'; expected a whole number"),
        ("salmon", SALMON.replace("4,0,3,3", "4,0,3,1"), "line 2: winner is '1', left '0' and right '3'"),
        ("salmon", SALMON.replace("0.05,2", "0.05,5"), "line 3: loser is '5'; expected 2"),
        (
            "salmon",
            SALMON_NAMED.replace("ann,0,cat", "ann,0,dog"),
            "line 3: item 2 is called 'cat.png'; expected 'dog.png'",
        ),
        ("salmon", SALMON_NAMED.replace("cat", "ant"), "line 2: items 2 and 0 are both called 'ant.png'"),
        ("salmon", SALMON_NAMED.replace("bee.png", ""), "line 2: item 1 has no name"),
        ("triplettools", SALMON, "Center, Left, Right, Answer missing; expected at least Center"),
        ("triplettools", TRIPLETTOOLS.replace("cat,cat,random", "cat,dog,random"), "line 2: Answer is 'dog'"),
        ("triplettools", "Center,Left,Right,Answer,pid,puid\n", "columns pid and puid both say who answered"),
        ("triplettools", "Center,Left,Right,Answer\nant,bee,bee,bee\n", "one of two different items"),
        ("jspsych", "[1]", "expected a list of trials"),
        ("jspsych", '{"trials": []}', "expected a list of trials"),
        ("jspsych", "[{", "not JSON"),
        ("jspsych", '[{"choices": ["a", "b", "c"]}]', "response missing; expected at least choices, response"),
        (
            "jspsych",
            '[{"choices": ["a", "b"], "response": 0}]',
            "trial 0: choices are .*; expected a list of three names",
        ),
        ("jspsych", '[{"choices": "a,b,c", "response": 0}]', "trial 0: choices: not JSON"),
        ("jspsych", '[{"choices": ["a", "b", "c"], "response": "arrowleft"}]', "trial 0: response is 'arrowleft'"),
        ("jspsych", '[{"choices": ["a", "b", "c"], "response": 3}]', "trial 0: response is 3; expected 0, 1 or 2"),
        ("jspsych", '[{"choices": ["a", "b", "c"], "response": true}]', "trial 0: response is True"),
        ("jspsych", '[{"choices": ["a", "b", "c"], "response": 1, "task": "survey"}]', "no trial has the task"),
        ("meadows", MEADOWS.replace("label", "answer"), "label missing"),
        ("meadows", MEADOWS.replace("7.983Z,b9b4", "7.983Z,oak"), "line 2: label is 'oak'; expected the id of one"),
        ("meadows", MEADOWS.replace("odd,calm-heron,2", "match,calm-heron,2"), "tasks .* all show three items"),
        ("meadows", MEADOWS.replace("aa00,fir", "aa00,ant"), "items 13dd and aa00 are both called 'ant'"),
        ("central", CENTRAL.replace("chosen_center", "center"), "chosen_center missing"),
        ("central", CENTRAL.replace("1,3,3,1,2", "1,5,3,1,2"), r"line 2: chosen_center is 5 of \[3, 1, 2\]"),
        ("central", CENTRAL.replace("1,3,3,1,2", "1,3,3,1,1"), "expected one of three different items"),
    ],
)
def test_refusals(tmp_path: Path, format: str, content: bytes | str, message: str) -> None:
    file = tmp_path / "bad"
    file.write_bytes(as_bytes(content))
    with pytest.raises(ValueError, match=rf"bad: .*{message}"):
        formats.read(file, format=format)


@pytest.mark.parametrize("format", PEERS)
@given(data=st.data())
@reuse_folder
def test_damaged_file_is_read_or_refused(tmp_path: Path, format: str, data: st.DataObject) -> None:
    contents = [content for name, content, *_ in SAMPLES if name == format]
    whole = bytearray(as_bytes(data.draw(st.sampled_from(contents))))
    if data.draw(st.booleans()):
        del whole[data.draw(st.integers(0, len(whole))) :]
    else:
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    file = tmp_path / "damaged"
    file.write_bytes(bytes(whole))
    try:
        assert isinstance(formats.read(file, format=format), Comparisons)
    except ValueError as error:
        assert str(error).startswith(str(file))  # noqa: PT017


class TestConvert:
    @pytest.fixture(autouse=True)
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.chdir(tmp_path)
        Path("cars.csv").write_text(CENTRAL)
        Path("train_90.txt").write_text("1 2 3\n")

    def test_says_what_it_understood(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["convert", "cars.csv", "said.jsonl", "--from", "central"]) == 0
        assert capsys.readouterr().out.splitlines() == [
            "Comparisons: 2 most-central answers over 4 items by 2 raters, given by row number.",
            "Items are numbered from 1 to 4 in the file, counted from 1, and counted from 0 here.",
            "2 most-central answers: the other two are the farthest apart.",
            "Columns left out: response_time.",
            "Written: said.jsonl",
        ]
        assert main(["convert", "said.jsonl", "said.txt", "--to", "psiz", "--json"]) == 0
        told = capsys.readouterr()
        assert json.loads(told.out)["notes"] == []
        assert "warning: raters dropped" in told.err
        assert Path("said.txt").read_text() == "1 3 2\n2 3 1\n4 1 3\n3 1 4\n"

    def test_doubt_is_settled_by_the_user(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["convert", "train_90.txt", "said.csv", "--from", "spose"]) == 2
        assert "--count-from" in capsys.readouterr().err
        assert not Path("said.csv").exists()
        assert main(["convert", "train_90.txt", "said.csv", "--from", "spose", "--count-from", "1"]) == 0
        assert formats.read("said.csv").shown.tolist() == [[0, 1, 2]]

    def test_unknown_format(self, capsys: pytest.CaptureFixture[str]) -> None:
        assert main(["convert", "train_90.txt", "said.csv"]) == 2
        assert "or the format to be named: cblearn-list-order" in capsys.readouterr().err
        assert main(["convert", "cars.csv", "said.csv", "--from", "central", "--to", "central"]) == 2
        assert "format 'central'; expected one of csv" in capsys.readouterr().err

    def test_help_lists_the_formats(self, capsys: pytest.CaptureFixture[str]) -> None:
        with pytest.raises(SystemExit):
            main(["convert", "--help"])
        words = capsys.readouterr().out.replace(",", " ").replace(".", " ").split()
        assert set(formats.FORMATS) <= set(words)
