from __future__ import annotations

import json
import re
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist
from sklearn.datasets import load_iris

from oddkernel import SKLR, Comparisons, formats, models
from oddkernel.cli import main
from oddkernel.report import Report, before_after, draw_maps, flat_map
from oddkernel.report import thumbnails as thumbs
from oddkernel.report.about import read_about
from oddkernel.report.held_out import from_answers, from_folds, from_tuning
from oddkernel.report.neighbours import find_neighbours, nearest
from oddkernel.report.page import page
from oddkernel.report.resolutions import find_resolutions, flows
from oddkernel.report.verdicts import judge

FLAT = np.random.default_rng(0).normal(size=(30, 2))
GROUPS = np.arange(30) % 10
X, Y = load_iris(return_X_y=True)
SAID = Comparisons.from_labels(Y, 80, undecided=8, noise=0.1, random_state=0)


@pytest.fixture(scope="module")
def model() -> SKLR:
    return SKLR("linear", rank=None).fit(X, SAID)


def small(model: SKLR, **options: Any) -> Report:
    return Report(model, X, **{"clusters": [2, 3, 5], "map": "pca", **options})


def data_of(html: str) -> dict[str, Any]:
    block = re.search(r'<script id="data" type="application/json">(.*?)</script>', html, re.DOTALL)
    assert block is not None
    data: dict[str, Any] = json.loads(block[1])
    return data


# Maps


def test_a_flat_arrangement_is_found_again() -> None:
    turned = FLAT @ np.array([[0.6, 0.8, 0.0], [0.0, 0.0, 1.0]]) + 5
    np.testing.assert_allclose(pdist(flat_map(turned)), pdist(FLAT), rtol=1e-3)


def test_a_map_lowers_the_stress() -> None:
    points = np.random.default_rng(1).normal(size=(40, 8))
    stress = [np.square(pdist(points) - pdist(flat_map(points, n_iter=n))).sum() for n in (0, 5, 50)]
    assert stress[0] > stress[1] > stress[2]


def test_maps_of_little_are_finite() -> None:
    for points in (np.zeros((1, 3)), np.zeros((4, 3)), np.arange(4.0)[:, None], 1e-30 * FLAT):
        flat = flat_map(points)
        assert flat.shape == (len(points), 2)
        assert np.isfinite(flat).all()


@pytest.mark.parametrize("method", ["tsne", "mds", "pca"])
def test_maps_fill_the_square_and_are_the_same_each_time(method: str) -> None:
    points = np.random.default_rng(1).normal(size=(40, 8))
    maps, again = (draw_maps(points, 3 * points, method) for _ in range(2))
    for flat in (maps.before, maps.after):
        assert flat.shape == (40, 2)
        assert flat.min() >= 0
        assert flat.max() <= 1
        assert np.ptp(flat, axis=0).max() == pytest.approx(1)
    assert np.array_equal(maps.after, again.after)


def test_many_items_are_placed_by_open_tsne(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("openTSNE", reason="needs openTSNE: pip install openTSNE")
    from oddkernel.report import maps

    monkeypatch.setattr(maps, "MANY", 20)
    assert draw_maps(FLAT, FLAT).after.shape == (30, 2)


def test_the_second_map_is_turned_towards_the_first() -> None:
    maps = draw_maps(FLAT, FLAT @ [[0, -1], [1, 0]], "pca")
    np.testing.assert_allclose(maps.before, maps.after, atol=1e-9)


def test_umap_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    class UMAP:
        def __init__(self, **_: Any) -> None: ...

        def fit_transform(self, points: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
            return points[:, :2]

    monkeypatch.setitem(sys.modules, "umap", types.SimpleNamespace(UMAP=UMAP))
    assert draw_maps(FLAT, FLAT, "umap").method == "UMAP"
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ImportError, match="pip install umap-learn"):
        draw_maps(FLAT, FLAT, "umap")


# Clusters


def test_clusters_keep_their_numbers_and_flows_add_up() -> None:
    found = find_resolutions(X, [2, 3, 6])
    for coarse, fine in zip(found.levels, found.levels[1:], strict=False):
        counts = flows(coarse.labels, fine.labels)
        assert counts.sum(axis=1).tolist() == np.bincount(coarse.labels).tolist()
        assert counts.sum(axis=0).tolist() == np.bincount(fine.labels).tolist()
        # Giving numbers otherwise would not leave more items with the number they had.
        assert np.trace(counts) >= max(np.trace(counts[:, np.roll(range(fine.k), s)]) for s in range(fine.k))
    for level in found.levels:
        assert sorted(level.order) == list(range(level.k))
        for cluster in range(level.k):
            members = np.flatnonzero(level.labels == cluster)
            assert set(level.typical[cluster]) <= set(members)
            assert set(level.odd[cluster]) <= set(members) - set(level.typical[cluster])


def test_the_suggestion_finds_plain_clusters_and_says_why() -> None:
    rng = np.random.default_rng(0)
    points = np.repeat(10 * rng.normal(size=(6, 9)), 25, axis=0) + 0.1 * rng.normal(size=(150, 9))
    suggestion = find_resolutions(points).suggestion
    assert suggestion.k == 6
    assert "eigenvalues also point to 6" in suggestion.reason
    assert "continuum" in find_resolutions(rng.normal(size=(200, 30)), [7, 8]).suggestion.reason


def test_copies_are_no_clusters() -> None:
    points = np.repeat([[0.0, 1.0], [2.0, 2.0], [5.0, 0.0]], 20, axis=0)
    assert [level.k for level in find_resolutions(points).levels] == [2, 3]
    with pytest.raises(ValueError, match="copies of one another"):
        find_resolutions(np.ones((5, 2)))


@pytest.mark.parametrize("counts", [[], [1], [151], [2.5]])
def test_impossible_numbers_of_clusters_are_refused(counts: list[Any], model: SKLR) -> None:
    with pytest.raises(ValueError, match="whole numbers from 2 to 150"):
        _ = small(model, clusters=counts).resolutions


# Neighbours


@settings(deadline=None, max_examples=30)
@given(n=st.integers(2, 40), count=st.integers(1, 45), seed=st.integers(0, 99))
def test_neighbours_are_the_nearest(n: int, count: int, seed: int) -> None:
    points = np.random.default_rng(seed).integers(0, 4, size=(n, 3)).astype(float)  # with ties and copies
    found = nearest(points, count)
    distance = cdist(points, points)
    np.fill_diagonal(distance, np.inf)
    assert found.shape == (n, min(count, n - 1))
    for row in range(n):
        assert row not in found[row]
        assert len(set(found[row])) == found.shape[1]
        np.testing.assert_allclose(distance[row, found[row]], np.sort(distance[row])[: found.shape[1]])


def test_kept_neighbours_are_counted() -> None:
    assert (find_neighbours(FLAT, FLAT, 5).kept == 5).all()


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
    found = from_folds(SKLR("linear", rank=None).fit(X, SAID + links), X)
    assert found is not None
    assert found.n_answers == 80
    assert 0.5 < found.after <= 1
    assert from_folds(SKLR("linear", rank=None).fit(X, SAID[:20]), X) is None


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


def test_notes_say_what_to_try(model: SKLR) -> None:
    said = Comparisons.from_labels(Y, 200, random_state=3)
    assert "Learning helps" in titles(small(SKLR("linear", rank=None).fit(X, said), held_out=said))
    assert "no answers" in titles(small(SKLR("linear", rank=None).fit(X)))
    assert "not known" in titles(small(SKLR("linear", rank=None).fit(X, said[:10])))
    assert "contradict" in titles(
        small(SKLR("linear", rank=None).fit(X, said + said[:1].__class__.odd_one_out(said.shown[:1], [-1])))
    )
    noise = np.random.default_rng(0).normal(size=(150, 20))
    guessed = Comparisons.odd_one_out(
        [np.random.default_rng(s).choice(150, 3, replace=False) for s in range(120)],
        np.random.default_rng(0).integers(0, 3, 120),
    )
    told = titles(Report(SKLR("linear", rank=None, penalty=1e4).fit(noise, guessed), noise, clusters=[2], map="pca"))
    assert "by heart" in told
    assert "features alone say little" in told
    assert all(note.tone in ("good", "plain", "look") for note in small(model).notes)


# Thumbnails


def test_photographs_become_sheets(tmp_path: Path) -> None:
    from PIL import Image

    rng = np.random.default_rng(0)
    for number in range(5):
        pixels = rng.integers(0, 255, size=(300, 200 + number, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(tmp_path / f"car {number}.jpg")
    paths = thumbs.images_in(tmp_path, [f"car {number}" for number in (3, 1)])
    assert [path.name for path in paths] == ["car 3.jpg", "car 1.jpg"]
    small = thumbs.make_thumbnails([*paths, rng.random((40, 60)), Image.new("L", (50, 50))])
    assert (small.side, small.columns, small.exact, len(small.sheets)) == (thumbs.LARGEST, 2, False, 1)
    with pytest.raises(ValueError, match="no image for 1 of 1 items, the first being 'bus'"):
        thumbs.images_in(tmp_path, ["bus"])
    (tmp_path / "broken.png").write_bytes(b"no picture")
    with pytest.raises(ValueError, match=r"image 0, .*broken.png: can't be read"):
        thumbs.make_thumbnails([tmp_path / "broken.png"])
    with pytest.raises(ValueError, match="image 1 is float64 of shape"):
        thumbs.make_thumbnails([rng.random((4, 4)), rng.random((4, 4, 2))])


def test_small_images_are_kept_pixel_by_pixel() -> None:
    import io

    from PIL import Image

    images = np.random.default_rng(0).integers(0, 255, size=(7, 8, 8), dtype=np.uint8)
    sheets = thumbs.make_thumbnails(images)
    sheet = np.asarray(Image.open(io.BytesIO(sheets.sheets[0])).convert("L"))
    assert np.array_equal(sheet[8:16, :8], images[3])


def test_many_thumbnails_take_several_sheets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thumbs, "SHEET", 16)
    assert len(thumbs.make_thumbnails(np.zeros((9, 8, 8))).sheets) == 3


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


def test_a_page_holds_what_was_computed(model: SKLR) -> None:
    data = data_of(small(model, classes=Y).html())
    assert data["n"] == 150
    assert data["classes"]["names"] == ["0", "1", "2"]
    assert [level["k"] for level in data["clusters"]["levels"]] == [2, 3, 5]
    assert data["answers"]["total"] == 88
    assert data["answers"]["counts"]["undecided"] == 8
    assert data["fit"]["settings"]["kernel"] == "linear"


def test_a_kernel_that_learned_nothing_has_a_page_too() -> None:
    assert data_of(small(SKLR("linear", rank=None).fit(X)).html())["answers"]["total"] == 0
    hard = SKLR("linear", rank=None, penalty=np.inf).fit(X, Comparisons.odd_one_out([[0, 1, 100]], [2]))
    assert data_of(small(hard).html())["fit"]["settings"]["penalty"] == "inf"
    left_alone = SKLR("linear", rank=None, penalty=0).fit(X, SAID)
    assert data_of(small(left_alone).html())["answers"]["counts"]["influential"] == 0


def test_two_items_are_enough() -> None:
    two = np.array([[0.0], [1.0]])
    data = data_of(Report(SKLR("linear", rank=None).fit(two, Comparisons.must_link([[0, 1]])), two).html())
    assert (data["n"], data["neighbours"]["count"], data["answers"]["links"]) == (2, 1, 1)


def test_a_notebook_shows_it_in_a_frame(model: SKLR) -> None:
    frame = small(model)._repr_html_()
    assert frame.startswith("<iframe ")
    assert frame.count("<") == 2


def test_pages_are_the_same_each_time(model: SKLR) -> None:
    assert small(model).html() == small(model).html()


def test_precomputed_kernels_have_reports() -> None:
    K = X @ X.T
    report = Report(SKLR("precomputed").fit(K, SAID), K, clusters=[2, 3], map="mds")
    assert data_of(report.html())["n"] == 150


def test_answers_must_belong_to_the_items(model: SKLR) -> None:
    with pytest.raises(ValueError, match="not the items that the model learned from"):
        Report(model, X[::-1])
    with pytest.raises(ValueError, match="not the items that the model learned from"):
        Report(model, X[:20])
    assert Report(model, X[:20], answers=Comparisons.empty()).answers == Comparisons.empty()
    names = [f"flower {row}" for row in range(150)]
    named = SKLR("linear", rank=None).fit(X, Comparisons.from_labels(Y, 40, random_state=0, items=names))
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


# Pictures


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
    command = "report m.oddkernel --items items.csv --about about.csv --images photos --held-out held_out.csv -k 2 -k 3"
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
    assert main(["report", "m.oddkernel", "--items", "items.csv", "-k", "2", "--map", "pca", "--out", "page.html"]) == 0
    assert "open it in a browser" in capsys.readouterr().out
    for options, sentence in [
        ("--out page.pdf", "ends with .html"),
        ("--out no/page.html", "the folder doesn't exist"),
        ("--out p.html --map globe", "expected one of"),
        ("--out p.html --images .", "no image for 150 of 150 items"),
        ("--out p.html --about items.csv", "expected one called text or class"),
    ]:
        assert main(f"report m.oddkernel --items items.csv {options}".split()) == 2
        assert sentence in capsys.readouterr().err
    assert not Path("p.html").exists()


@pytest.mark.parametrize(
    ("text", "names", "sentence"),
    [
        ("item,class\na,1\n", ["a", "b"], "nothing about 1 of 2 items, the first being 'b'"),
        ("class\n1\n", ["a", "b"], "add a column called item"),
        ("item,class\na,1\n", None, "it names items but the features don't"),
        ("class\n1\n", None, "1 lines for 2 items"),
        ("class,text\n1\n", None, "line 2: expected 2 fields"),
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
