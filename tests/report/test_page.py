"""The report in a real browser: Chromium, from a file, with the network watched."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from oddkernel import SKLR, Comparisons
from oddkernel.dimensions import Dimensions
from oddkernel.report import Report
from oddkernel.support.formulas import guard, unguard

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright: pip install playwright")
expect = playwright.expect

HOSTILE = "</script><img src=x onerror=window.hacked=1><b>bold</b> & \u2028 '\""


def example() -> Report:
    """Sixty items in three kinds, with names that would be markup, texts and pictures; every kind of answer."""
    rng = np.random.default_rng(0)
    kinds = np.arange(60) % 3
    X = rng.normal(size=(60, 6)) + np.eye(6)[kinds] * 2
    names = [f"{['swan', 'duck', 'frog'][kind]} {row}" for row, kind in enumerate(kinds)]
    names[7] = HOSTILE
    said = (
        Comparisons.from_labels(kinds, 60, undecided=6, noise=0.2, random_state=0, rater="ann", items=names)
        + Comparisons.odd_one_out([[0, 3, 7], [0, 3, 7]], [2, 0], rater=HOSTILE, items=names)
        + Comparisons.closer([0], [3], [7], items=names)
        + Comparisons.most_central([3], [[0, 7]], items=names)
        + Comparisons.must_link([[0, 3]], items=names)
        + Comparisons.cannot_link([[0, 7]], items=names)
    )
    model = SKLR("linear", rank=None, penalty=10.0).fit(X, said)
    texts = [f"a text about {name}" for name in names]
    images = rng.integers(0, 255, size=(60, 48, 40, 3), dtype=np.uint8)
    classes = [HOSTILE if kind == 2 else f"kind {kind}" for kind in kinds]
    words = {"title": HOSTILE, "question": HOSTILE}
    found = Dimensions(4, shrinkage=100.0, sparsity=1.0, random_state=0, verbose=0).fit(X, model=model)
    found.rename({2: HOSTILE[:60]})
    options = {"clusters": [2, 3, 5], "map": "pca", "dimensions": found, **words}
    return Report(model, X, texts=texts, images=images, classes=classes, **options)


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return example().save(tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture
def page(browser: Any, file: Path) -> Iterator[Any]:
    yield from opened(browser, file)


def opened(browser: Any, file: Path, **options: Any) -> Iterator[Any]:
    """The page, which in the end must have asked nothing of the network and have complained of nothing."""
    context = browser.new_context(viewport={"width": 1200, "height": 900}, reduced_motion="reduce", **options)
    shown = context.new_page()
    complaints: list[str] = []
    shown.on("console", lambda message: complaints.append(message.text))
    shown.on("pageerror", lambda error: complaints.append(str(error)))
    requests: list[str] = []
    shown.on("request", lambda request: requests.append(request.url))
    shown.goto(file.as_uri())
    shown.wait_for_selector("body[data-ready]")
    yield shown
    assert complaints == []
    assert [url for url in requests if not url.startswith(("blob:", "data:"))] == [file.as_uri()]
    assert shown.evaluate("window.hacked") is None
    context.close()


def painted(page: Any) -> None:
    """Wait for what was changed to be laid out and drawn, which the page does in the next frames."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")


def dot(page: Any, row: int, when: str = "after") -> tuple[float, float]:
    """Where an item's dot is on the screen."""
    page.locator(f"#map-{when}").scroll_into_view_if_needed()
    place = page.evaluate(
        """([row, when]) => {
          const points = decode(data.maps[when]);
          const frame = document.querySelector(`#map-${when} canvas`).getBoundingClientRect();
          const scale = Math.min(frame.width, frame.height) - 2 * EDGE;
          return [frame.left + frame.width / 2 + (points[2 * row] / 65535 - 0.5) * scale,
                  frame.top + frame.height / 2 - (points[2 * row + 1] / 65535 - 0.5) * scale];
        }""",
        [row, when],
    )
    return place[0], place[1]


def test_names_are_text_and_never_markup(page: Any) -> None:
    assert page.title() == HOSTILE
    assert page.locator("#title").text_content() == HOSTILE
    assert page.locator("#question").text_content() == f"People were asked{HOSTILE}"
    assert page.locator("b").count() == 0
    assert page.locator("img").count() == 0
    page.fill("#pick", "onerror")
    page.keyboard.press("Enter")
    assert page.locator("#neighbour-view .chosen h3").text_content() == HOSTILE


def test_the_policy_forbids_the_network(browser: Any, file: Path) -> None:
    page = browser.new_page()  # not the fixture's: a breach is told to the console
    page.goto(file.as_uri())
    blocked = page.evaluate(
        """async () => {
          const breaches = [];
          document.addEventListener("securitypolicyviolation", (event) => breaches.push(event.violatedDirective));
          document.head.append(Object.assign(document.createElement("style"), { textContent: "b { color: red }" }));
          document.head.append(Object.assign(document.createElement("script"), { textContent: "window.hacked = 1" }));
          new Image().src = "https://example.invalid/x.png";
          await fetch("https://example.invalid/").catch(() => {});
          await new Promise((resolve) => setTimeout(resolve, 100));
          return breaches.sort();
        }"""
    )
    assert blocked == ["connect-src", "img-src", "script-src-elem", "style-src-elem"]
    assert page.evaluate("window.hacked") is None
    page.close()


def test_hovering_shows_the_item_in_both_maps(page: Any) -> None:
    # The item farthest from all others on the map: no other dot is in the way.
    row = page.evaluate(
        "drawingOrder.reduce((a, b) => (decode(data.maps.after)[2 * b] > decode(data.maps.after)[2 * a] ? b : a))"
    )
    page.mouse.move(*dot(page, row))
    expect(page.locator("#tip")).to_be_visible()
    assert page.locator("#tip strong").text_content() == page.evaluate(f"nameOf({row})")
    assert page.locator("#tip .thumb").count() == 1
    assert "a text about" in page.locator("#tip .excerpt").text_content()
    assert page.evaluate("state.hovered") == row
    page.mouse.move(2, 2)
    expect(page.locator("#tip")).to_be_hidden()


def test_pressing_a_dot_selects_its_item(page: Any) -> None:
    page.mouse.click(*dot(page, 5, "before"))
    chosen = page.evaluate("state.selected")
    assert chosen is not None
    assert page.evaluate(f"nameOf({chosen})") in page.locator("#map-status").text_content()
    expect(page.locator("#neighbour-view ol")).to_have_count(2)
    near = page.evaluate(f"[...near.of('after', {chosen})].map(nameOf)")
    assert page.locator("#neighbour-view .two > div:nth-child(2) .caption").all_text_contents() == near
    page.click("#reset")
    assert page.evaluate("state.selected") is None


def test_search_finds_by_name_and_by_text(page: Any) -> None:
    page.fill("#search", "DUCK")
    expect(page.locator("#found li")).to_have_count(9)
    assert (
        "and 11 more" in page.locator("#found").text_content() or "and 12 more" in page.locator("#found").text_content()
    )
    assert page.evaluate("state.matches.size") in (19, 20)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.evaluate("nameOf(state.selected)").startswith("duck")
    page.fill("#search", "no such thing")
    assert "No item has this" in page.locator("#found").text_content()
    page.fill("#search", "")
    assert page.evaluate("state.matches") is None


def test_the_slider_changes_the_clusters_everywhere(page: Any) -> None:
    page.select_option("#colour", "cluster")
    for place, k in enumerate((2, 3, 5)):
        page.fill("#k", str(place))
        assert page.locator("#k-value").text_content() == str(k)
        expect(page.locator("#cluster-cards > article")).to_have_count(k)
        expect(page.locator("#legend button")).to_have_count(k)
    page.focus("#k")
    page.keyboard.press("ArrowLeft")
    assert page.locator("#k-value").text_content() == "3"
    page.locator("#alluvial .node").first.click()
    assert page.locator("#k-value").text_content() == "2"
    page.locator("#suggestion button").click()
    assert page.locator("#k-value").text_content() in page.locator("#suggestion strong").text_content()


def test_the_legend_shows_one_group_alone(page: Any) -> None:
    page.locator("#legend button").nth(1).click()
    assert page.locator("#legend button").nth(1).get_attribute("aria-pressed") == "true"
    assert "20 of 60 items shown" in page.locator("#map-status").text_content()
    page.locator("#legend button").nth(1).click()
    assert page.locator("#map-status").text_content() == "60 items."


def test_a_frame_shows_the_same_items_in_both_maps(page: Any) -> None:
    page.locator("#map-before").scroll_into_view_if_needed()
    box = page.locator("#map-before canvas").first.bounding_box()
    page.keyboard.down("Shift")
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    page.keyboard.up("Shift")
    assert 0 < page.evaluate("state.matches.size") < 60
    assert page.evaluate("state.selected") is None
    page.click("#reset")
    assert page.evaluate("state.matches") is None


def test_a_button_draws_a_frame_without_the_shift_key(page: Any) -> None:
    page.click("#frame")
    assert page.locator("#frame").get_attribute("aria-pressed") == "true"
    page.locator("#map-before").scroll_into_view_if_needed()
    box = page.locator("#map-before canvas").first.bounding_box()
    page.mouse.move(box["x"] + 5, box["y"] + 5)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2, steps=4)
    page.mouse.up()
    chosen = page.evaluate("state.matches.size")
    assert 0 < chosen < 60
    assert page.locator("#frame").get_attribute("aria-pressed") == "false"
    assert page.locator("#save-names").text_content() == f"Save the shown {chosen} names (CSV)"


# What people said, item by item


def test_answers_about_an_item_the_contradicted_first(page: Any) -> None:
    page.fill("#pick", "swan 0")
    page.keyboard.press("Enter")
    row = page.evaluate("state.selected")
    about = page.evaluate(f"answersAbout([{row}]).places.map(answerAt)")
    assert len(about) >= 5
    assert all(row in answer["shown"] for answer in about)
    against = [answer["after"] is not None and answer["after"] < 0.5 for answer in about]
    assert any(against)
    assert against == sorted(against, reverse=True)
    words = page.locator("#said-words").text_content()
    assert words.startswith(f"{len(about)} answers: the learned distances contradict {sum(against)}")
    assert "1 link," in words or "links" in words
    assert page.locator("#said-list article").count() == min(len(about), 12)


def test_answers_about_two_items(page: Any) -> None:
    page.fill("#pick", "swan 0")
    page.keyboard.press("Enter")
    page.fill("#pick-second", "swan 3")
    page.keyboard.press("Enter")
    about = page.evaluate("answersAbout([state.selected, state.second]).places.map(answerAt)")
    assert {"must_link", "most_central", "closer", "odd_one_out"} <= {answer["kind"] for answer in about}
    assert page.locator("#said-title").text_content() == "What people said about swan 0 and swan 3"
    assert page.locator("#said-list article").count() == len(about)
    page.click("#second")
    page.mouse.click(*dot(page, 20))
    assert page.evaluate("nameOf(state.selected)") == "swan 0"
    assert page.evaluate("nameOf(state.second)") != "swan 3"
    page.click("#clear")
    expect(page.locator("#said")).to_be_hidden()


def test_a_second_item_by_keys_alone(page: Any) -> None:
    page.focus("#map-after canvas")
    for key in ("ArrowRight", "Enter", "ArrowLeft", "Shift+Enter"):
        page.keyboard.press(key)
    assert page.evaluate("state.second !== null && state.second !== state.selected")


# Files


def saved(page: Any, press: str) -> tuple[str, bytes]:
    """The name and the content of the file that a button makes."""
    with page.expect_download() as waiting:
        page.click(press)
    return waiting.value.suggested_filename, Path(waiting.value.path()).read_bytes()


def test_names_are_saved_as_csv_without_formulas(browser: Any, tmp_path: Path) -> None:
    names = [
        "=1+1",
        "'=2",
        "-5",
        'a "b", c',
        "two\nlines",
        "@x",
        "\ttab",
        "<script>",
        "\U0001f986",
        "plain",
        "+1",
        "-a",
    ]
    X = np.random.default_rng(0).normal(size=(12, 3))
    said = Comparisons.odd_one_out([[0, 1, 2]], [0], items=names)
    report = Report(SKLR("linear", rank=None, penalty=1.0).fit(X, said), X, clusters=[2, 3], map="pca", classes=names)
    for page in opened(browser, report.save(tmp_path / "names.html")):
        name, content = saved(page, "#save-names")
        assert name == "oddkernel-items.csv"
        head, *rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), newline="")))
        assert head == ["item", "class", f"cluster of {page.evaluate('data.clusters.levels[state.level].k')}"]
        assert [row[0] for row in rows] == [guard(name) for name in names]
        assert [unguard(row[0]) for row in rows] == names
        assert [row[1] for row in rows] == [row[0] for row in rows]
        head, *rows = list(csv.reader(io.StringIO(saved(page, "#save-groups")[1].decode("utf-8-sig"), newline="")))
        assert head == ["item", "class", "cluster of 2", "cluster of 3"]
        for column, k in ((2, 2), (3, 3)):
            assert [int(row[column]) - 1 for row in rows] == report.resolutions[k].labels.tolist()
        page.fill("#pick", "plain")
        page.keyboard.press("Enter")
        assert page.locator("#save-names").text_content() == "Save the chosen 1 name (CSV)"
        assert saved(page, "#save-names")[1].decode("utf-8-sig").splitlines()[1].startswith("plain,")


@pytest.mark.parametrize("pictures", [False, True])
def test_maps_are_saved_as_png_and_svg(page: Any, pictures: bool) -> None:
    from PIL import Image

    page.locator("#pictures").set_checked(pictures)
    name, content = saved(page, "#buttons-after button:has-text('PNG')")
    assert name == "oddkernel-map-after.png"
    with Image.open(io.BytesIO(content)) as image:
        assert image.width > 1000
        assert len(image.convert("RGB").resize((100, 100)).getcolors(10_000)) > 20
    name, content = saved(page, "#buttons-before button:has-text('SVG')")
    assert name == "oddkernel-map-before.svg"
    root = ElementTree.fromstring(content)
    assert len(root.findall(".//{*}circle")) >= 60
    assert bool(root.findall(".//{*}image")) == pictures
    assert HOSTILE[:12] in "".join(root.itertext())
    assert root.findall(".//{*}script") == []


def test_svg_files_hold_what_xml_permits(browser: Any, tmp_path: Path) -> None:
    names = [f"\x01 bell \x0b {row}" for row in range(12)]
    X = np.random.default_rng(0).normal(size=(12, 3))
    said = Comparisons.odd_one_out([[0, 1, 2]], [0], items=names)
    report = Report(SKLR("linear", rank=None, penalty=1.0).fit(X, said), X, clusters=[2], map="pca")
    for page in opened(browser, report.save(tmp_path / "names.html")):
        assert page.evaluate("state.pictures")
        root = ElementTree.fromstring(saved(page, "#buttons-after button:has-text('SVG')")[1])
        assert "bell" in "".join(root.itertext())


def test_a_notebook_shows_it(browser: Any) -> None:
    page = browser.new_page()
    page.set_content(f"<h1>Notebook</h1>{example()._repr_html_()}")
    frame = page.frame_locator("iframe")
    expect(frame.locator("body[data-ready]")).to_be_attached()
    frame.get_by_role("link", name="Fit").click()
    expect(frame.locator("#notes li").first).to_be_in_viewport()
    page.close()


@pytest.mark.parametrize("colour", ["class", "cluster", "judged", "kept"])
def test_colours_draw_something(page: Any, colour: str) -> None:
    page.select_option("#colour", colour)
    painted(page)
    drawn = page.evaluate(
        """() => ["before", "after"].map((when) => {
          const canvas = document.querySelector(`#map-${when} canvas`);
          const pixels = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
          return pixels.some((value) => value > 0);
        })"""
    )
    assert drawn == [True, True]


def test_zoom_by_button_wheel_and_key(page: Any) -> None:
    zoom = "() => document.querySelector('#map-after canvas').style.touchAction"
    page.get_by_role("button", name="Zoom in, after").click()
    assert page.evaluate(zoom) == "none"
    page.focus("#map-after canvas")
    page.keyboard.press("0")
    assert page.evaluate(zoom) == "pan-y"
    page.mouse.move(*dot(page, 0))
    page.mouse.wheel(0, -300)
    page.wait_for_function(f"({zoom})() === 'none'")
    page.check("#pictures")


def test_the_map_works_by_keys(page: Any) -> None:
    page.focus("#map-after canvas")
    page.keyboard.press("ArrowRight")
    first = page.evaluate("state.hovered")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("state.hovered") != first
    page.keyboard.press("Enter")
    assert page.evaluate("state.selected") == page.evaluate("state.hovered")
    assert page.evaluate("nameOf(state.selected)") in page.locator("#say").text_content()
    page.keyboard.press("Escape")
    assert page.evaluate("state.selected") is None


def test_dimensions_explain_items_and_take_names(page: Any) -> None:
    expect(page.locator("#dimension-cards article")).to_have_count(4)
    loose = "[...document.querySelectorAll('#dimension-cards article')].flatMap((card) => [...card.childNodes])"
    assert not page.evaluate(f"{loose}.some((node) => node.nodeType === Node.TEXT_NODE)")  # such as a count of 0
    for field, item in (("why-first", "swan 0"), ("why-second", "swan 3"), ("why-third", "duck 1")):
        page.fill(f"#{field}", item)
        page.press(f"#{field}", "Enter")
        expect(page.locator("#why")).to_contain_text(item)
    expect(page.locator("#why h3")).to_have_text("Why duck 1 is the odd one")
    expect(page.locator("#why")).not_to_contain_text("false")
    shares = [int(text.rstrip("%")) for text in page.locator("#why dt span:last-child").all_inner_texts()]
    assert shares == sorted(shares, reverse=True)
    assert 95 <= sum(shares) <= 104
    name = page.locator("#dimension-cards input").first
    name.fill("=feathers")
    name.press("Tab")
    with page.expect_download() as download:
        page.click("#save-dimensions")
    rows = list(csv.DictReader(io.StringIO(Path(download.value.path()).read_text(encoding="utf-8-sig"))))
    assert [row["dimension"] for row in rows] == ["1", "2", "3", "4"]
    assert unguard(rows[0]["name"]) == "=feathers"
    assert unguard(rows[1]["name"]) == HOSTILE[:60].strip()


def test_neighbours_can_be_walked(page: Any) -> None:
    page.click("#changed")
    page.locator("#neighbour-view .two > div:nth-child(2) button").first.click()
    assert page.evaluate("state.selected") is not None
    page.click("#any")
    assert page.locator("#neighbour-view .chosen").count() == 1


def test_every_list_of_answers_opens(page: Any) -> None:
    tabs = page.locator("#tabs [role=tab]")
    names = [name.rstrip("0123456789") for name in tabs.all_text_contents()]
    assert names == ["Most influential", "Most surprising", "Disagrees", "Agrees", "Can't tell", "Contradictions"]
    for position in range(len(names)):
        tabs.nth(position).click()
        assert page.locator("#answer-list article").count() > 0
    assert "Contradiction 1" in page.locator("#answer-list").text_content()
    assert HOSTILE in page.locator("#answer-list").text_content()
    tabs.first.click()
    page.keyboard.press("ArrowRight")
    assert tabs.nth(1).get_attribute("aria-selected") == "true"
    assert page.locator("#answer-list article").count() == 12
    page.get_by_role("button", name="Show more").click()
    assert page.locator("#answer-list article").count() == 36


def test_canvases_and_charts_have_tables(page: Any) -> None:
    for summary in page.locator("details > summary").all():
        summary.click()
    assert page.locator("#items-table tbody tr").count() == 50
    page.get_by_role("button", name="Later").click()
    assert page.locator("#items-table tbody tr").count() == 10
    assert page.locator("#flows-table tbody tr").count() == 5
    assert page.locator("#settings tbody tr").count() > 15


WINDOWS = pytest.mark.parametrize(
    ("scheme", "size"), [(scheme, size) for size in ((1400, 900), (390, 844)) for scheme in ("light", "dark")], ids=str
)


@WINDOWS
def test_axe_finds_nothing(browser: Any, file: Path, scheme: str, size: tuple[int, int]) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright", reason="needs axe-playwright-python")
    for page in opened(browser, file, color_scheme=scheme):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.click("#changed")
        for summary in page.locator("details > summary").all():
            summary.click()
        found = axe.Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_finger_shows_and_selects(browser: Any, file: Path) -> None:
    for page in opened(browser, file, has_touch=True, is_mobile=True):
        page.set_viewport_size({"width": 390, "height": 844})
        painted(page)
        page.touchscreen.tap(*dot(page, 5))
        expect(page.locator("#tip")).to_be_visible()
        assert page.evaluate("state.selected") == page.evaluate("state.hovered")


def test_words_for_fingers_and_for_a_mouse(browser: Any, file: Path, page: Any) -> None:
    assert "Shift key" in page.locator("#map-words").text_content()
    assert "Hover over" in page.locator("#map-words").text_content()
    for phone in opened(browser, file, has_touch=True, is_mobile=True):
        words = phone.locator("body").inner_text()
        assert "Tap a dot" in words
        for other in ("Shift", "Hover", "Click", "click"):
            assert other not in words


def test_buttons_cover_no_dots(page: Any) -> None:
    assert page.locator(".canvas button").count() == 0


@WINDOWS
def test_the_keyboard_reaches_everything(browser: Any, file: Path, scheme: str, size: tuple[int, int]) -> None:
    for page in opened(browser, file, color_scheme=scheme):
        page.set_viewport_size({"width": size[0], "height": size[1]})
        page.click("#changed")
        for summary in page.locator("details > summary").all():
            summary.click()
        wanted = page.evaluate(
            """() => [...document.querySelectorAll("a[href], button, select, input, summary, [tabindex]")]
              .filter((e) => e.checkVisibility() && !e.disabled && e.tabIndex >= 0 && !e.closest("[hidden]"))
              .map((e, place) => (e.dataset.place = place)).length"""
        )
        page.evaluate("document.activeElement.blur(); window.scrollTo(0, 0)")
        page.locator("body").evaluate("body => { body.tabIndex = -1; body.focus(); body.removeAttribute('tabindex'); }")
        reached = []
        for _ in range(wanted):
            page.keyboard.press("Tab")
            reached.append(page.evaluate(FOCUSED))
        # In the order of the page, each in sight and with an outline that stands out.
        assert [each["place"] for each in reached] == [str(place) for place in range(wanted)]
        assert [each for each in reached if not (each["inSight"] and each["contrast"] >= 3)] == []


FOCUSED = """() => {
  const element = document.activeElement;
  const { left, right, top, bottom } = element.getBoundingClientRect();
  const bar = document.querySelector(".top"); // it stays above what scrolls
  const { outlineStyle, outlineWidth, outlineColor } = getComputedStyle(element);
  const pen = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const light = (colour) => {
    pen.fillStyle = colour;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...pen.getImageData(0, 0, 1, 1).data].map((v) => ((v / 255 + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05;
  };
  const shades = [outlineColor, getComputedStyle(document.body).backgroundColor].map(light);
  return {
    place: element.dataset.place,
    words: (element.textContent || element.id).trim().slice(0, 40),
    inSight: right > 0 && left < innerWidth && top < innerHeight
      && bottom > (bar.contains(element) || element.className === "skip" ? 0 : bar.getBoundingClientRect().bottom),
    contrast: outlineStyle === "none" || parseFloat(outlineWidth) < 2 ? 0 : Math.max(...shades) / Math.min(...shades),
  };
}"""


def test_escape_closes_what_is_open(page: Any) -> None:
    page.click("#changed")
    chosen = page.evaluate("state.selected")
    for field, found in (("search", "found"), ("pick", "picked"), ("pick-second", "picked-second")):
        for keys in ([], ["ArrowDown"]):  # in the field, and in the list
            page.fill(f"#{field}", "duck")
            expect(page.locator(f"#{found}")).to_be_visible()
            for key in keys:
                page.keyboard.press(key)
                assert page.evaluate(f"document.activeElement.closest('#{found}') !== null")
            page.keyboard.press("Escape")
            expect(page.locator(f"#{found}")).to_be_hidden()
            assert page.evaluate("document.activeElement.id") == field
    for begun in ("frame", "second"):
        page.focus(f"#{begun}")
        page.keyboard.press("Enter")
        expect(page.locator(f"#{begun}")).to_have_attribute("aria-pressed", "true")
        page.keyboard.press("Escape")
        expect(page.locator(f"#{begun}")).to_have_attribute("aria-pressed", "false")
    assert page.evaluate("state.selected") == chosen
    page.mouse.move(*dot(page, 4))  # a duck, which the search shows
    expect(page.locator("#tip")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#tip")).to_be_hidden()


def test_a_frame_by_keys_alone(page: Any) -> None:
    page.focus("#frame")
    page.keyboard.press("Enter")
    page.focus("#map-after canvas")
    corners = []
    for keys in (["ArrowRight"], ["ArrowLeft", "ArrowLeft", "ArrowDown", "ArrowDown"]):
        for key in keys:
            page.keyboard.press(key)
        corners.append(page.evaluate("state.hovered"))
        page.keyboard.press("Enter")
    assert page.evaluate("state.selected") is None
    assert 2 <= page.evaluate("state.matches.size") < 60
    assert page.evaluate("corners => corners.every((i) => state.matches.has(i))", corners)
    expect(page.locator("#frame")).to_have_attribute("aria-pressed", "false")
    page.keyboard.press("Enter")  # chooses again
    assert page.evaluate("state.selected") == corners[1]


def test_the_theme_can_be_switched(page: Any) -> None:
    background = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(background)
    page.click("#theme")
    assert page.evaluate(background) != before
    page.click("#theme")
    assert page.evaluate(background) == before


def test_a_page_of_a_kernel_that_was_left_alone(browser: Any, tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(30, 3))
    said = Comparisons.odd_one_out([[0, 1, 2], [3, 4, 5]], [0, -1])
    report = Report(SKLR("linear", rank=None, penalty=0).fit(X, said), X, clusters=[2], map="pca")
    for page in opened(browser, report.save(tmp_path / "alone.html")):
        page.fill("#pick", "row 1")
        page.keyboard.press("Enter")
        words = page.locator("body").inner_text()
        assert page.locator("h1").text_content() == "Nothing was learned: the penalty was set to 0"
        assert "the same, as nothing was learned" in words
        assert "learned distances" not in words
        assert "the distances agree with" in page.locator("#answers-words").text_content()


def test_a_tie_before_learning_is_no_agreement(browser: Any, tmp_path: Path) -> None:
    # By the identity kernel all items are equally far apart, which agrees with no answer.
    X = np.arange(12.0)[:, None]
    said = Comparisons.odd_one_out([[0, 1, 2]] * 3 + [[0, 1, 2]], [0, 0, 0, 1])
    report = Report(SKLR("identity", rank=None, penalty=1.0).fit(X, said), X, clusters=[2], map="pca")
    assert report.verdicts.after.tolist() == [1, 1, 1, 0]
    for page in opened(browser, report.save(tmp_path / "identity.html")):
        page.fill("#pick", "row 0")
        page.keyboard.press("Enter")
        cards = page.locator("#said-list article").all_text_contents()
        assert ["unlike before" in card for card in cards] == [False, True, True, True]
        assert "all are equally far" in page.locator("#neighbour-view").text_content()


def test_many_items_stay_usable(browser: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20_000, 3))
    model = SKLR("linear", rank=None, penalty=10.0).fit(X[:50], Comparisons.odd_one_out([[0, 1, 2]], [0]))
    report = Report(model, X, answers=Comparisons.empty(), clusters=[2], map="pca")
    file = report.save(tmp_path / "many.html")
    assert file.stat().st_size < 5e6
    for page in opened(browser, file):
        page.mouse.move(*dot(page, 17))
        expect(page.locator("#tip")).to_be_visible()
        page.get_by_role("button", name="Zoom in, after").click()
        page.fill("#search", "row 1999")
        assert page.evaluate("state.matches.size") == 11


@pytest.mark.slow
def test_two_thousand_pictures_stay_small() -> None:
    rng = np.random.default_rng(0)
    # Coarse noise: harder to compress than photographs are.
    coarse = rng.integers(0, 255, size=(2000, 24, 24, 3), dtype=np.uint8)
    images = coarse.repeat(5, axis=1).repeat(5, axis=2)
    X = rng.normal(size=(2000, 3))
    model = SKLR("linear", rank=None, penalty=10.0).fit(X, Comparisons.odd_one_out([[0, 1, 2]], [0]))
    assert len(Report(model, X, images=images, clusters=[2], map="pca").html()) < 20e6
