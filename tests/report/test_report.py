from __future__ import annotations

import base64
import json
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from properties import examples
from sklearn.base import clone
from sklearn.datasets import load_iris

from oddkernel import SKLR, Comparisons, formats, models
from oddkernel.cli import main
from oddkernel.kernels import Identity, Linear
from oddkernel.report import Report, before_after
from oddkernel.report import thumbnails as thumbs
from oddkernel.report.diagnosis import diagnose
from oddkernel.report.held_out import HeldOut, from_answers, from_folds, from_tuning
from oddkernel.report.item_details import read_about
from oddkernel.report.opening import headline
from oddkernel.report.page import page
from oddkernel.report.verdicts import judge

FLAT = np.random.default_rng(0).normal(size=(30, 2))
GROUPS = np.arange(30) % 10
X, Y = load_iris(return_X_y=True)
SAID = Comparisons.from_labels(Y, 80, undecided=8, noise=0.1, random_state=0)
# With settings that were given, and with those that the learner chooses.
MODELS = {False: SKLR("linear", rank=None, penalty=10.0).fit(X, SAID), True: SKLR().fit(X, SAID[:30])}


@pytest.fixture(scope="module")
def model() -> SKLR:
    return SKLR("linear", rank=None, penalty=10.0).fit(X, SAID)


def small(model: SKLR, **options: Any) -> Report:
    return Report(model, X, **{"clusters": [2, 3, 5], "map": "pca", **options})


def data_of(html: str) -> dict[str, Any]:
    block = re.search(r'<script id="data" type="application/json">(.*?)</script>', html, re.DOTALL)
    assert block is not None
    data: dict[str, Any] = json.loads(block[1])
    return data


@pytest.mark.parametrize("learner", [SKLR("linear", rank=None, penalty=1.0), SKLR(rank=1, penalty=1.0)])
@pytest.mark.parametrize("map", ["tsne", "mds", "pca"])
def test_a_model_of_one_dimension(learner: SKLR, map: str, tmp_path: Path) -> None:
    features = X if learner.rank == 1 else X @ [[0.3], [0.1], [0.7], [0.9]] + 1e-3 * np.arange(len(X))[:, None]
    fitted = clone(learner).fit(features, SAID)
    assert fitted.transform(features).shape == (len(X), 1)
    written = Report(fitted, features, clusters=[2, 3], map=map).save(tmp_path / "r.html")
    assert len(data_of(written.read_text())["maps"]) > 0


# Answers


def test_verdicts_agree_with_the_model(model: SKLR) -> None:
    verdicts = small(model).verdicts
    agreement = verdicts.agreement()
    assert agreement is not None
    assert agreement[1] == pytest.approx(model.score(X, SAID))
    chances = model.odd_one_proba(X, SAID.shown)
    np.testing.assert_allclose(verdicts.probability, chances[np.arange(len(SAID)), SAID.odd])
    decided = ~SAID.undecided
    assert np.array_equal(verdicts.pick[decided], model.odd_one(X, SAID.shown[decided]))
    assert set(verdicts.agreeing()) | set(verdicts.disagreeing()) == set(np.flatnonzero(decided))
    influential = verdicts.influential()
    assert verdicts.influence is not None
    assert (np.diff(verdicts.influence[influential]) <= 0).all()
    assert set(verdicts.undecided()) == set(np.flatnonzero(SAID.undecided))


def test_every_kind_of_answer_gets_its_verdict() -> None:
    points = np.array([[0.0], [1.0], [3.0], [3.0]])
    said = (
        Comparisons.closer([0, 0], [1, 2], [2, 1])
        + Comparisons.must_link([[0, 1]])
        + Comparisons.cannot_link([[0, 2]])
        + Comparisons.odd_one_out([[0, 2, 3], [0, 2, 3]], [0, 1])
    )
    verdicts = judge(said, points, points, 1.0, 0.0, None)
    np.testing.assert_array_equal(verdicts.after, [1, 0, np.nan, np.nan, 1, 0])
    assert verdicts.pick.tolist() == [2, 1, -1, -1, 0, 0]
    assert verdicts.spread_after[4] == np.inf
    assert [group.tolist() for group in verdicts.conflicts] == [[0, 1], [4, 5]]
    assert len(verdicts.influential()) == 0


def test_held_out_answers_are_predicted(model: SKLR) -> None:
    unseen = Comparisons.from_labels(Y, 200, random_state=1)
    report = small(model, held_out=unseen)
    assert report.held_out is not None
    assert report.held_out.after == pytest.approx(model.score(X, unseen))
    assert report.held_out.interval[0] <= report.held_out.gain <= report.held_out.interval[1]
    with pytest.raises(ValueError, match="expected some to predict"):
        from_answers(SAID[SAID.undecided], X, X)


def test_answers_are_held_out_in_turn() -> None:
    links = Comparisons.must_link([[0, 1], [60, 61]]) + Comparisons.cannot_link([[0, 60]])
    found = from_folds(SKLR("linear", rank=None, penalty=10.0).fit(X, SAID + links))
    assert found is not None
    assert found.n_answers == 80
    assert 0.5 < found.after <= 1
    assert from_folds(SKLR("linear", rank=None, penalty=10.0).fit(X, SAID[:20])) is None


@pytest.mark.slow
def test_what_tuning_found_is_used() -> None:
    said = Comparisons.from_labels(Y, 150, random_state=0)
    noisy = np.column_stack([X, 3 * np.random.default_rng(0).normal(size=(150, 4))])
    model = SKLR("linear", rank=None, loss="softmax", penalty="auto", random_state=0).fit(noisy, said)
    found = from_tuning(model)
    assert found is not None
    assert model.tuning_ is not None
    assert found.gain == pytest.approx(model.tuning_.gain)


# Words


def titles(report: Report) -> str:
    return " | ".join(note.title for note in report.notes)


def guesses(n_items: int, n_answers: int) -> Comparisons:
    """Answers by people who choose at random."""
    rng = np.random.default_rng(0)
    shown = [rng.choice(n_items, 3, replace=False) for _ in range(n_answers)]
    return Comparisons.odd_one_out(shown, rng.integers(0, 3, n_answers))


def test_notes_say_what_to_try(model: SKLR) -> None:
    said = Comparisons.from_labels(Y, 200, random_state=3)
    assert "Learning helps" in titles(small(SKLR("linear", rank=None, penalty=10.0).fit(X, said), held_out=said))
    assert "no answers" in titles(small(SKLR("linear", rank=None, penalty=10.0).fit(X)))
    assert "not known" in titles(small(SKLR("linear", rank=None, penalty=10.0).fit(X, said[:10])))
    assert "contradict" in titles(
        small(
            SKLR("linear", rank=None, penalty=10.0).fit(X, said + said[:1].__class__.odd_one_out(said.shown[:1], [-1]))
        )
    )
    noise = np.random.default_rng(0).normal(size=(150, 20))
    learned = SKLR("linear", rank=None, penalty=1e4).fit(noise, guesses(150, 120))
    told = titles(Report(learned, noise, clusters=[2], map="pca"))
    assert "memorised" in told
    assert "features alone say little" in told
    assert all(note.tone in ("good", "plain", "look") for note in small(model).notes)


@pytest.mark.slow
def test_a_model_that_learned_nothing_says_so_first() -> None:
    noise = np.random.default_rng(0).normal(size=(60, 4))
    said = guesses(60, 300)
    with pytest.warns(UserWarning, match="support a change"):  # the learner says so, too
        kept = SKLR().fit(noise, said)
    left_alone = Report(kept, noise, clusters=[2], map="pca")
    assert left_alone.model.penalty_ == 0
    assert left_alone.opening.headline == "Nothing was learned: the answers don't support a change yet"
    assert "Learned" not in [level.name for level in left_alone.opening.levels]
    assert data_of(left_alone.html())["answers"]["learned"] is False
    forced = Report(SKLR("linear", penalty=1e4).fit(noise, said), noise, clusters=[2], map="pca")
    assert forced.held_out is not None
    start = "Nothing useful was learned" if forced.held_out.after <= 1 / 3 else "Not clearly better than guessing"
    assert forced.opening.headline.startswith(start)
    for report in (left_alone, forced):
        assert all(note.tone != "good" or "solver" in note.title for note in report.notes)


SHARES = st.floats(0, 1)


@examples(60)
@given(before=SHARES, after=SHARES, width=st.floats(0, 0.3), n=st.integers(1, 5000), automatic=st.booleans())
def test_words_follow_from_the_numbers(before: float, after: float, width: float, n: int, automatic: bool) -> None:
    gain = after - before
    found = HeldOut(before, after, (gain - width, gain + width), n, 1 / 3, "set aside")
    model = MODELS[automatic]
    first, *_ = diagnose(model, small(model).verdicts, found, 150)
    for words in (headline(model, found), first.title):
        if "helps" in words and "not certain" not in words:
            assert gain > width
        if "harm" in words or "harder" in words:
            assert -gain > width
        if "guessing" in words.split(":")[0]:
            assert after < 1 / 3 + 1.96 * (2 / 9 / n) ** 0.5 + 1e-9
        if "Nothing" in words:
            assert after <= 1 / 3
    advice = " ".join(note.advice for note in diagnose(model, small(model).verdicts, found, 150))
    if automatic:
        assert "auto" not in advice


def test_people_who_look_careless_are_named() -> None:
    said = Comparisons.empty()
    for name, seed in (("ann", 1), ("bob", 2), ("cat", 3)):
        part = Comparisons.from_labels(Y, 60, random_state=seed)
        odd = np.zeros(60, int) if name == "cat" else part.odd
        said += Comparisons.odd_one_out(part.shown, odd, rater=name)
    model = SKLR("linear", rank=None, penalty=10.0)
    (note,) = (note for note in small(model.fit(X, said)).notes if "careless" in note.title)
    assert note.title == "1 person may have answered carelessly"
    assert note.meaning.startswith("cat names place 0 in 100% of answers")
    assert "ann" not in note.meaning
    # The odd one always comes last in some files, whoever answered.
    shown = np.take_along_axis(said.shown, np.argsort(np.arange(3) == said.odd[:, None], axis=1, kind="stable"), axis=1)
    for others in (said[said.rater != "cat"], SAID, Comparisons.odd_one_out(shown, [2] * len(said), rater=said.rater)):
        assert not [note for note in small(model.fit(X, others)).notes if "careless" in note.title]


def test_what_was_used_is_not_recommended() -> None:
    bad = HeldOut(0.4, 0.35, (-0.1, -0.01), 100_000, 1 / 3, "set aside")
    verdicts = small(MODELS[True]).verdicts
    for model in (MODELS[True], SKLR(Linear() + Identity(), penalty="auto").fit(X, SAID[:30])):
        advice = " ".join(note.advice for note in diagnose(model, verdicts, bad, 150))
        assert 'penalty="auto"' not in advice
        assert "solver" not in advice
    assert "identity" not in advice
    given_one = SKLR(Linear(), penalty=1.0).fit(X, SAID)
    advice = " ".join(note.advice for note in diagnose(given_one, verdicts, bad, 150))
    assert 'penalty="auto"' in advice
    assert "identity" in advice


def test_counts_add_up_and_say_what_was_left_out() -> None:
    links = Comparisons.must_link([[0, 1], [60, 61]]) + Comparisons.cannot_link([[0, 60]])
    said = SAID + links
    unseen = Comparisons.from_labels(Y, 20, undecided=1, random_state=4) + links[:1]
    report = small(SKLR("linear", rank=None, penalty=10.0).fit(X, said), held_out=unseen)
    count, detail = report.opening.answers
    assert count == "91 answers"
    assert detail.startswith("80 name an item, 8 say “can't tell” and 3 link two items or keep them apart; 22 other")
    assert report.held_out is not None
    assert (report.held_out.n_answers, report.held_out.n_undecided, report.held_out.n_links) == (20, 1, 1)
    only = small(SKLR("linear", penalty=1.0).fit(X, SAID[SAID.undecided])).opening
    assert only.answers == ("8 answers", "all say “can't tell”")
    assert only.headline == "Learned from 8 answers; how well it predicts others is not known"
    assert only.lead.startswith("None of the answers names")


def test_one_is_singular() -> None:
    one = Comparisons.odd_one_out([[0, 1, 100]], [2], rater="ann")
    report = small(SKLR("linear", rank=None, penalty=1.0).fit(X, one))
    opening = report.opening
    assert (opening.people, opening.answers) == (("1 person", "1 answer"), ("1 answer", "1 names an item"))
    assert opening.headline.startswith("Learned from 1 answer;")
    words = " ".join(f"{note.title} {note.meaning} {note.advice}" for note in report.notes)
    assert not re.search(r"\b1 (answers|items|questions|passes|dimensions|people)\b", words)


def test_people_and_the_noise_ceiling() -> None:
    shown = [[0, 1, 100], [50, 51, 2], [0, 60, 61]]
    said = Comparisons.odd_one_out(shown * 2, [2, 2, 0, 2, 2, 1], rater=["ann"] * 3 + ["bob"] * 3)
    opening = small(SKLR("linear", rank=None, penalty=1.0).fit(X, said), question="Which one?").opening
    assert opening.question == "Which one?"
    assert opening.people == ("2 people", "3 answers each")
    people = opening.levels[-1]
    assert people.share == pytest.approx(2 / 3)
    assert "3 questions" in people.detail
    alone = small(SKLR("linear", rank=None, penalty=1.0).fit(X, said[:3])).opening
    assert alone.levels[-1].share is None
    assert "no two people" in alone.levels[-1].detail


@pytest.mark.slow
def test_only_some_of_many_answers_are_held_out() -> None:
    said = Comparisons.from_labels(Y, 150, random_state=0)
    noisy = np.column_stack([X, 3 * np.random.default_rng(0).normal(size=(150, 4))])
    tuned = SKLR("linear", rank=None, loss="softmax", penalty="auto", random_state=0).fit(noisy, said)
    assert tuned.tuning_ is not None
    trials = tuple(replace(trial, n_answers=16) for trial in tuned.tuning_.trials)
    tuned.fit_ = replace(tuned.fit_, tuning=replace(tuned.tuning_, trials=trials))
    found = from_tuning(tuned)
    assert found is not None
    assert found.n_answers == 16
    assert "a random part" in found.how


def test_answers_beyond_what_a_page_holds(model: SKLR, monkeypatch: pytest.MonkeyPatch) -> None:
    from oddkernel.report import page as written

    monkeypatch.setattr(written, "HELD", 10)
    monkeypatch.setattr(written, "SHOWN", 4)
    report = small(model)
    answers = data_of(report.html())["answers"]
    assert answers["total"] == 88
    assert 10 <= answers["held"] < 40
    rows = np.frombuffer(base64.b64decode(answers["columns"]["row"]["bytes"]), np.uint8)
    assert set(report.verdicts.surprising()[:10]) <= set(rows)
    assert rows[answers["lists"]["undecided"]].tolist() == report.verdicts.undecided()[:4].tolist()


# The page


HOSTILE = ["</script><script>window.hacked=1</script>", "<img src=x onerror=window.hacked=1>", "& \u2028 ' \" ${1} $x"]


def test_data_is_never_markup(model: SKLR) -> None:
    names = [f"{HOSTILE[row % 3]}{row}" for row in range(len(X))]
    html = page(small(model, names=names, texts=names, classes=[HOSTILE[y] for y in Y], title=HOSTILE[0]))
    assert "<img" not in html
    assert "\u2028" not in html
    assert html.count("<script") == html.count("</script>") == 2
    assert "http://" not in html.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in html
    data = data_of(html)
    assert data["names"] == names
    assert data["title"] == HOSTILE[0]


def test_texts_that_no_file_can_hold_are_replaced(model: SKLR, tmp_path: Path) -> None:
    broken = ["half \ud83e"] * len(X)
    file = small(model, texts=broken, classes=broken, title=broken[0]).save(tmp_path / "page.html")
    assert data_of(file.read_text(encoding="utf-8"))["texts"][0] == "half ?"


def test_a_page_holds_what_was_computed(model: SKLR) -> None:
    data = data_of(small(model, classes=Y).html())
    assert data["n"] == 150
    assert data["classes"]["names"] == ["0", "1", "2"]
    assert [level["k"] for level in data["clusters"]["levels"]] == [2, 3, 5]
    assert data["answers"]["total"] == 88
    assert data["answers"]["counts"]["undecided"] == 8
    assert data["fit"]["settings"]["kernel"] == "linear"


def test_a_kernel_that_learned_nothing_has_a_page_too() -> None:
    assert data_of(small(SKLR("linear", rank=None, penalty=10.0).fit(X)).html())["answers"]["total"] == 0
    hard = SKLR("linear", rank=None, penalty=np.inf).fit(X, Comparisons.odd_one_out([[0, 1, 100]], [2]))
    assert data_of(small(hard).html())["fit"]["settings"]["penalty"] == "inf"
    left_alone = SKLR("linear", rank=None, penalty=0).fit(X, SAID)
    assert data_of(small(left_alone).html())["answers"]["counts"]["influential"] == 0


def test_two_items_are_enough() -> None:
    two = np.array([[0.0], [1.0]])
    data = data_of(
        Report(SKLR("linear", rank=None, penalty=10.0).fit(two, Comparisons.must_link([[0, 1]])), two).html()
    )
    assert (data["n"], data["neighbours"]["count"], data["answers"]["links"]) == (2, 1, 1)


def test_a_notebook_shows_it_in_a_frame(model: SKLR) -> None:
    frame = small(model)._repr_html_()
    assert frame.startswith("<iframe ")
    assert frame.count("<") == 2


def test_pages_are_the_same_each_time(model: SKLR) -> None:
    assert small(model).html() == small(model).html()


def test_precomputed_kernels_have_reports() -> None:
    K = X @ X.T
    report = Report(SKLR("precomputed", penalty=10.0).fit(K, SAID), K, clusters=[2, 3], map="mds")
    assert data_of(report.html())["n"] == 150


def test_answers_must_belong_to_the_items(model: SKLR) -> None:
    with pytest.raises(ValueError, match="not the items that the model learned from"):
        Report(model, X[::-1])
    with pytest.raises(ValueError, match="not the items that the model learned from"):
        Report(model, X[:20])
    assert Report(model, X[:20], answers=Comparisons.empty()).answers == Comparisons.empty()
    names = [f"flower {row}" for row in range(150)]
    named = SKLR("linear", rank=None, penalty=10.0).fit(X, Comparisons.from_labels(Y, 40, random_state=0, items=names))
    turned = Report(named, X[::-1], names=names[::-1], clusters=[2], map="pca")
    straight = Report(named, X, clusters=[2], map="pca")
    np.testing.assert_allclose(turned.verdicts.after, straight.verdicts.after)
    assert straight.name(3) == "flower 3"
    assert turned.verdicts.influence is not None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"names": ["a"]}, "names has 1 entries for 150 items"),
        ({"texts": ["a"]}, "texts has 1 entries"),
        ({"classes": [1, 2]}, "classes has 2 entries"),
        ({"images": np.zeros((3, 2, 2))}, "images has 3 entries"),
        ({"map": "globe"}, "map='globe'; expected one of 'tsne'"),
    ],
)
def test_what_does_not_fit_is_refused(options: dict[str, Any], sentence: str, model: SKLR) -> None:
    with pytest.raises(ValueError, match=re.escape(sentence)):
        Report(model, X, **options)
    with pytest.raises(TypeError, match="expected a fitted SKLR"):
        Report("model", X)  # type: ignore[arg-type]


@pytest.mark.parametrize("counts", [[], [1], [151], [2.5]])
def test_impossible_numbers_of_clusters_are_refused(counts: list[Any], model: SKLR) -> None:
    with pytest.raises(ValueError, match="whole numbers from 2 to 150"):
        _ = small(model, clusters=counts).resolutions


# Pictures


@pytest.mark.slow
def test_every_picture_is_a_file(model: SKLR, tmp_path: Path) -> None:
    names = [f"${row}$ \\frac{{" for row in range(150)]  # what would be a broken formula
    report = small(model, names=names, classes=[names[y] for y in Y])
    files = report.figures(tmp_path / "pictures")
    assert len(files) == 14
    for file in files:
        start = file.read_bytes()[:100]
        assert start.startswith(b"\x89PNG") if file.suffix == ".png" else b"<?xml" in start
    axis = (tmp_path / "pictures" / "spectrum.svg").read_text(encoding="utf-8")
    assert not re.search(r"<text[^>]*>[^<]*mathdefault", axis)  # its numbers, though, are formulas


def test_the_picture_before_and_after() -> None:
    assert before_after([FLAT, -FLAT], ["before", "after"], GROUPS, "kind").startswith(b"\x89PNG")


# The command


@pytest.mark.slow
def test_the_command_writes_a_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from PIL import Image

    monkeypatch.chdir(tmp_path)
    names = [f"flower {row}" for row in range(150)]
    header = "item,a,b,c,d\n"
    Path("items.csv").write_text(
        header + "".join(f"{name},{','.join(map(str, row))}\n" for name, row in zip(names, X, strict=True))
    )
    Path("about.csv").write_text(
        "class,item,text\n" + "".join(f"kind {y},{name},says <{name}>\n" for y, name in zip(Y, names, strict=True))
    )
    said = Comparisons.from_labels(Y, 60, random_state=0, items=names)
    formats.write(said, "answers.csv")
    formats.write(Comparisons.from_labels(Y, 30, random_state=1, items=names), "held_out.csv")
    Path("photos").mkdir()
    for name in names:
        Image.new("RGB", (4, 4), "red").save(f"photos/{name}.png")
    assert main(["fit", "items.csv", "answers.csv", "--kernel", "linear", "--rank", "all", "--out", "m.oddkernel"]) == 0
    capsys.readouterr()
    command = "report items.csv --model m.oddkernel --about about.csv --images photos --held-out held_out.csv -k 2 -k 3"
    command += " --map pca --title Flowers --figures pictures --out page.html --json"
    assert main(command.split()) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["n_items"] == 150
    assert facts["held_out"]["after"] > 0.8
    assert len(facts["pictures"]) == 14
    data = data_of(Path("page.html").read_text(encoding="utf-8"))
    assert data["title"] == "Flowers"
    assert data["texts"][1] == "says <flower 1>"
    assert data["classes"]["names"] == ["kind 0", "kind 1", "kind 2"]
    assert data["thumbnails"]["side"] == 4
    assert main(["report", "items.csv", "--model", "m.oddkernel", "-k", "2", "--map", "pca", "--out", "page.html"]) == 0
    assert "open it in a browser" in capsys.readouterr().out
    for options, sentence in [
        ("--out page.pdf", "ends with .html"),
        ("--out no/page.html", "the folder no doesn't exist"),
        ("--out p.html --map globe", "expected one of"),
        ("--out p.html --images .", "no image for 150 of 150 items"),
        ("--out p.html --about items.csv", "expected one called text or class"),
    ]:
        assert main(f"report items.csv --model m.oddkernel {options}".split()) == 2
        assert sentence in capsys.readouterr().err
    assert not Path("p.html").exists()


@pytest.mark.parametrize(
    ("text", "names", "sentence"),
    [
        ("item,class\na,1\n", ["a", "b"], "nothing about 1 of 2 items, the first being 'b'"),
        ("class\n1\n", ["a", "b"], "add a column called item"),
        ("item,class\na,1\n", None, "it names items but the features don't"),
        ("class\n1\n", None, "1 lines for 2 items"),
        ("class,text\n1\n", None, "line 2: 1 fields; expected 2"),
    ],
)
def test_tables_about_items_must_match_them(text: str, names: list[str] | None, sentence: str, tmp_path: Path) -> None:
    file = tmp_path / "about.csv"
    file.write_text(text)
    with pytest.raises(ValueError, match=re.escape(sentence)):
        read_about(file, names, 2)
    file.write_text("class\n1\n2\n")
    assert read_about(file, None, 2) == {"class": ["1", "2"]}


def test_models_of_other_items_can_be_shown(model: SKLR, tmp_path: Path) -> None:
    models.save(model, tmp_path / "m.oddkernel")
    loaded = models.load(tmp_path / "m.oddkernel")
    assert small(loaded).html() == small(model).html()


@pytest.mark.skipif("ODDKERNEL_DATA" not in os.environ, reason="needs the folder that ODDKERNEL_DATA names")
def test_photographs_of_cars_as_people_see_them() -> None:
    folder = Path(os.environ["ODDKERNEL_DATA"])
    said = formats.read(folder / "cars60_survey.csv", format="central")
    nothing = np.arange(60.0)[:, None]
    model = SKLR("identity", rank=None, loss="softmax", penalty=0.05).fit(nothing, said)
    names = [str(number) for number in range(1, 61)]
    images = thumbs.images_in(folder / "cars60_images", names)
    report = Report(model, nothing, names=names, images=images, clusters=[2, 3], map="mds")
    assert report.held_out is not None
    assert report.held_out.chance == pytest.approx(1 / 3)
    assert report.held_out.after > 0.6
    assert len(report.html()) < 1e6
