"""The pages of the judge, in a real browser."""

from __future__ import annotations

import json
import math
import re
import struct
import wave
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the judge needs oddkernel[judge]")
pytest.importorskip("playwright", reason="tests in a browser need playwright")

from axe_playwright_python.sync_playwright import Axe
from judge_browser import Participant, find_chromium, launch, serving
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from oddkernel.judge.server import Server
from oddkernel.judge.store.records import Answer

pytestmark = pytest.mark.skipif(
    find_chromium() is None, reason="tests in a browser need Chromium (Debian's package chromium)"
)

STATIC = Path(__file__).parents[1] / "src" / "oddkernel" / "judge" / "static"
CODE = "THANKS-7"
PHONE: dict[str, Any] = {
    "viewport": {"width": 360, "height": 640},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
NETWORK = "net::ERR_INTERNET_DISCONNECTED"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Eight drawings, asked about in twelve questions."""
    folder = tmp_path / "shapes"
    folder.mkdir()
    for number in range(8):
        shape = f'<rect x="20" y="20" width="60" height="60" rx="{4 * number}" fill="hsl({45 * number} 60% 50%)"/>'
        drawing = f'<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100">{shape}</svg>'
        (folder / f"shape {number}.svg").write_text(drawing)
    settings(folder, questions=12, practice=0, completion_code=CODE)
    return folder


def settings(folder: Path, more: str = "", **values: object) -> None:
    values = {"catch_share": 0, "repeat_share": 0, "holdout_share": 0} | values
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    (folder / "study.toml").write_text("\n".join(lines) + "\n" + more)


Serve = Callable[[Path], Server]


@pytest.fixture
def serve() -> Iterator[Serve]:
    with ExitStack() as servers:
        yield lambda study: servers.enter_context(serving(study))


@pytest.fixture
def served(study: Path, serve: Serve) -> Server:
    return serve(study)


def stored(server: Server) -> list[Answer]:
    """The answers that count, in the order of the questions."""
    answers = server.app.state.judge.database.read(lambda records: records.answers())
    return sorted(answers, key=lambda answer: answer.place)


def until(page: Page, is_so: Callable[[], bool]) -> None:
    """Wait for something that no element of the page shows."""
    for _ in range(300):
        if is_so():
            return
        page.wait_for_timeout(50)
    raise AssertionError("waited in vain")


def eventually_stored(page: Page, server: Server, number: int) -> list[Answer]:
    until(page, lambda: len(stored(server)) >= number)
    assert len(stored(server)) == number
    return stored(server)


def handed_out(server: Server) -> set[str]:
    """Media ids of the items in questions that wait for an answer."""
    judge = server.app.state.judge
    return {judge.media_id[name] for items in judge.database.read(lambda r: r.open_questions()) for name in items}


def fetched(page: Page) -> set[str]:
    """Media ids of the items that the page has loaded."""
    urls = page.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)")
    return {url.rpartition("/media/")[2] for url in urls}


class Watch:
    """Everything that a page should not do."""

    def __init__(self, context: BrowserContext, url: str) -> None:
        self.problems: list[str] = []
        self.expected: list[str] = []
        context.on("console", lambda message: message.type in ("error", "warning") and self.note(message.text))
        context.on("weberror", lambda error: self.note(str(error.error)))
        context.on("request", lambda request: request.url.startswith(url) or self.note(f"request to {request.url}"))
        context.on("dialog", lambda dialog: self.note(f"dialog {dialog.message}"))

    def note(self, problem: str) -> None:
        if not any(text in problem for text in self.expected):
            self.problems.append(problem)


Visit = Callable[..., Page]


@pytest.fixture
def watches() -> Iterator[list[Watch]]:
    watches: list[Watch] = []
    yield watches
    assert [problem for watch in watches for problem in watch.problems] == []


@pytest.fixture
def visit(browser: Browser, serve: Serve, watches: list[Watch]) -> Iterator[Visit]:
    """Opens a page in a browser of its own; fails if it complains or talks to anybody else."""
    contexts: list[BrowserContext] = []

    def visit(server: Server, path: str = "", expected: tuple[str, ...] = (), **options: Any) -> Page:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}} | options)
        context.set_default_timeout(15_000)
        contexts.append(context)
        watches.append(Watch(context, server.url))
        watches[-1].expected.extend(expected)
        page = context.new_page()
        page.goto(server.url + path)
        return page

    yield visit
    for context in contexts:
        context.close()


def assert_accessible(page: Page) -> None:
    """No violation of WCAG 2.2 A and AA, in light and in dark."""
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        results = Axe().run(page, options={"runOnly": {"type": "tag", "values": tags}})
        assert results.violations_count == 0, f"{scheme}: {results.generate_report()}"


def test_sitting_by_mouse(study: Path, serve: Serve, visit: Visit) -> None:
    settings(study, questions=5, practice=2, completion_code=CODE, consent="We keep your answers.\n\nYou may stop.")
    server = serve(study)
    page = visit(server)
    person = Participant(page)
    person.heading("Before you begin")
    person.button("I agree and take part").click()
    person.heading("How it works")
    person.button("Begin with a short practice").click()
    for number in range(2):
        person.open_question(f"practice-{number}")
        page.locator(".pick").nth(number).click()
    person.heading("The practice is over")
    person.button("Begin").click()
    id, seen = "", []
    for choice in (0, 1, 2, -1, 1):
        id = person.question_after(id)
        expect(page.get_by_text(f"Question {len(seen) + 1} of 5", exact=True)).to_be_visible()
        seen.append((id, person.shown(), choice))
        (person.button("Can't tell") if choice < 0 else page.locator(".pick").nth(choice)).click()
    person.heading("Thank you!")
    expect(page.get_by_role("status", name="Your completion code")).to_have_text(CODE)
    media_id = server.app.state.judge.media_id
    assert [
        (answer.question, [media_id[name] for name in answer.items], answer.odd) for answer in stored(server)
    ] == seen
    assert all(200 <= answer.response_ms < 15_000 for answer in stored(server))


def test_sitting_by_keyboard_alone(study: Path, serve: Serve, visit: Visit) -> None:
    settings(study, questions=6, consent="We keep your answers.", practice=1)
    server = serve(study)
    page = visit(server)
    person = Participant(page)
    person.heading("Before you begin")
    for heading in ("How it works", "Practice"):
        page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        if heading == "How it works":
            person.heading(heading)
    person.open_question("practice-0")
    page.keyboard.press("3")
    person.heading("The practice is over")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    id = person.question_after()
    for key in ("1", "2", "3", "0", " "):
        expect(page.locator("h1")).to_be_focused()
        id = person.press(key, id)
    for _ in range(3):
        page.keyboard.press("Tab")  # to the third item
    expect(page.locator(".pick").nth(2)).to_be_focused()
    page.keyboard.press("Enter")
    person.heading("Thank you!")
    expect(page.locator("h1")).to_be_focused()
    assert [answer.odd for answer in stored(server)] == [0, 1, 2, -1, -1, 2]


@pytest.mark.parametrize("upright", [True, False])
def test_sitting_on_a_phone(study: Path, serve: Serve, visit: Visit, upright: bool) -> None:
    settings(study, questions=3, practice=0)
    size = PHONE["viewport"] if upright else {"width": 640, "height": 340}
    server = serve(study)
    page = visit(server, **PHONE | {"viewport": size})
    person = Participant(page)
    person.button("Begin").tap()
    id = ""
    for _ in range(3):
        id = person.question_after(id)
        controls = [*page.locator(".pick").all(), person.button("Can't tell"), person.button("Undo")]
        boxes = [box for control in controls if (box := control.bounding_box())]
        assert len(boxes) == 5
        assert min(min(box["width"], box["height"]) for box in boxes) >= 44
        assert max(box["y"] + box["height"] for box in boxes) <= size["height"]
        assert max(box["x"] + box["width"] for box in boxes) <= size["width"]
        for image in page.locator(".items img").all():
            assert (image.bounding_box() or {})["height"] > 60
        page.locator(".pick").nth(1).tap()
    person.heading("Thank you!")
    assert [answer.odd for answer in stored(server)] == [1, 1, 1]


def test_undo_takes_back_one_answer_after_the_other(served: Server, visit: Visit) -> None:
    page = visit(served)
    person = Participant(page)
    first = person.begin()
    expect(person.button("Undo")).to_be_disabled()
    second = person.press("1", first)
    third = person.press("2", second)
    shown = person.shown()
    page.keyboard.press("u")
    person.open_question(second)
    expect(page.get_by_role("status")).to_have_text("Your last answer was taken back.")
    page.keyboard.press("Backspace")
    person.open_question(first)
    expect(page.get_by_text("Question 1 of 12", exact=True)).to_be_visible()
    assert person.press("3", first) == second
    assert person.press("3", second) == third
    assert person.shown() == shown
    answers = eventually_stored(page, served, 2)
    assert [(answer.question, answer.odd) for answer in answers] == [(first, 2), (second, 2)]
    page.reload()
    assert person.question_after() == third
    person.button("Undo").click()
    person.open_question(second)
    eventually_stored(page, served, 1)


def test_network_lost_for_ten_answers(served: Server, visit: Visit) -> None:
    page = visit(served, expected=(NETWORK,))
    person = Participant(page)
    id = person.begin()
    until(page, lambda: fetched(page) >= handed_out(served))
    page.context.set_offline(True)
    given = []
    for number in range(10):
        given.append((id, number % 3))
        id = person.press(str(number % 3 + 1), id)
    expect(page.get_by_role("status")).to_contain_text("No connection.")
    assert stored(served) == []
    page.context.set_offline(False)
    answers = eventually_stored(page, served, 10)
    assert [(answer.question, answer.odd) for answer in answers] == given
    expect(page.get_by_role("status")).to_have_text("All answers are sent.")
    id = person.press("1", id)
    person.press_last("1")
    person.heading("Thank you!")
    assert len(stored(served)) == 12


def test_answers_the_server_cannot_store_survive_a_reload(served: Server, visit: Visit) -> None:
    page = visit(served, expected=("503",))
    person = Participant(page)
    first = person.begin()
    page.route("**/api/answers", lambda route: route.fulfill(status=503, json={"error": "The disk is full."}))
    second = person.press("1", first)
    expect(page.get_by_role("status")).to_contain_text("The server can't store answers just now.")
    third = person.press("2", second)
    page.reload()
    assert person.question_after() == third
    expect(page.get_by_text("Question 3 of 12", exact=True)).to_be_visible()
    assert stored(served) == []
    page.unroute("**/api/answers")
    answers = eventually_stored(page, served, 2)
    assert [(answer.question, answer.odd) for answer in answers] == [(first, 0), (second, 1)]


def test_reply_that_got_lost_stores_once(served: Server, visit: Visit) -> None:
    page = visit(served, expected=("net::ERR_",))
    person = Participant(page)
    first = person.begin()
    lost = []

    def lose_reply(route: Any) -> None:
        if len(lost) < 2:
            lost.append(route.fetch().status)
            route.abort()
        else:
            route.continue_()

    page.route("**/api/answers", lose_reply)
    second = person.press("1", first)
    person.press("2", second)
    until(page, lambda: page.evaluate("Object.keys(localStorage).every(key => !key.includes('outbox'))"))
    assert lost == [200, 200]
    assert [answer.odd for answer in stored(served)] == [0, 1]


def test_reload_continues(served: Server, visit: Visit) -> None:
    page = visit(served)
    person = Participant(page)
    id = person.begin()
    for key in ("1", "2", "3"):
        id = person.press(key, id)
    shown = person.shown()
    eventually_stored(page, served, 3)
    page.reload()
    assert person.question_after() == id
    assert person.shown() == shown
    expect(page.get_by_text("Question 4 of 12", exact=True)).to_be_visible()


def test_answers_kept_for_one_person_are_not_sent_as_another(served: Server, visit: Visit) -> None:
    page = visit(served, "?participant=ann", expected=("503",))
    person = Participant(page)
    first = person.begin()
    page.route("**/api/answers", lambda route: route.fulfill(status=503, json={"error": "The disk is full."}))
    person.press("1", first)
    page.goto(served.url + "?participant=ben")
    page.unroute("**/api/answers")
    id = person.begin()
    person.press("3", id)
    answers = eventually_stored(page, served, 1)
    assert [(answer.participant, answer.odd) for answer in answers] == [("ben", 2)]


def test_slips_of_the_hand_are_no_answers(served: Server, visit: Visit) -> None:
    page = visit(served)
    person = Participant(page)
    id = person.begin()
    page.locator(".pick").nth(0).dblclick()
    id = person.question_after(id)
    page.keyboard.down("2")
    for _ in range(20):
        page.keyboard.down("2")  # the browser repeats a key that is held
        page.wait_for_timeout(30)
    page.keyboard.up("2")
    id = person.question_after(id)
    page.keyboard.press("Control+1")
    page.keyboard.press("x")
    answers = eventually_stored(page, served, 2)
    page.wait_for_timeout(300)
    assert [answer.odd for answer in answers] == [0, 1]
    assert person.question_after() == id


def test_nothing_is_answered_before_all_items_are_shown(study: Path, serve: Serve, visit: Visit) -> None:
    server = serve(study)
    page = visit(server)
    held: list[Any] = []
    holding = True
    page.route("**/media/*", lambda route: held.append(route) if holding else route.continue_())
    page.get_by_role("button", name="Begin").click()
    page.get_by_text("Loading …").wait_for()
    page.keyboard.press("1")
    holding = False
    for route in held:
        route.continue_()
    Participant(page).question_after()
    assert stored(server) == []


def test_keys_can_be_turned_off(served: Server, visit: Visit) -> None:
    page = visit(served)
    person = Participant(page)
    id = person.begin()
    page.get_by_text("Keys", exact=True).click()
    assert_accessible(page)
    page.get_by_label("Use these keys").uncheck()
    page.get_by_text("Keys", exact=True).click()
    page.locator("h1").focus()
    page.keyboard.press("1")
    page.wait_for_timeout(300)
    assert person.question_after() == id
    page.reload()
    person.button("Begin").click()
    page.get_by_text("Keys", exact=True).click()
    expect(page.get_by_label("Use these keys")).not_to_be_checked()


def test_time_counts_while_the_items_can_be_seen(served: Server, visit: Visit) -> None:
    page = visit(served)
    seconds = page.evaluate(
        """async () => {
            const { Stopwatch } = await import("/static/stopwatch.js");
            let hidden = false;
            Object.defineProperty(document, "hidden", { get: () => hidden });
            const setHidden = (value) => { hidden = value; document.dispatchEvent(new Event("visibilitychange")); };
            let now = 1000;
            performance.now = () => now;
            const watch = new Stopwatch();
            watch.start(1000);
            now = 1400; setHidden(true);
            now = 9000; setHidden(false);
            return watch.read(9100);
        }"""
    )
    assert seconds == 500


def test_study_that_pauses_and_goes_on(served: Server, visit: Visit) -> None:
    page = visit(served)
    page.clock.install()
    page.reload()
    person = Participant(page)
    page.clock.run_for(1000)
    person.button("Begin").click()
    page.clock.run_for(1000)
    id = person.question_after()
    database = served.app.state.judge.database
    database.write(lambda records: records.pause(True)).result()
    page.keyboard.press("1")
    person.heading("The study is paused")
    assert len(stored(served)) == 1
    assert_accessible(page)
    database.write(lambda records: records.pause(False)).result()
    page.clock.run_for(20_000)
    page.locator(".items").wait_for()
    page.clock.run_for(1000)
    assert person.question_after() != id


def test_person_who_was_deleted_may_begin_anew(served: Server, visit: Visit) -> None:
    page = visit(served, expected=("401",))
    person = Participant(page)
    id = person.begin()
    id = person.press("1", id)
    (participant,) = {answer.participant for answer in eventually_stored(page, served, 1)}
    served.app.state.judge.database.write(lambda records: records.withdraw(participant)).result()
    page.keyboard.press("1")
    person.heading("This sitting can't be found")
    assert_accessible(page)
    person.button("Begin anew").click()
    person.begin()
    assert stored(served) == []


def test_item_that_cannot_be_loaded_is_set_aside(study: Path, serve: Serve, visit: Visit) -> None:
    (study / "shape 7.svg").write_text("no drawing")
    settings(study, questions=10, practice=0)
    server = serve(study)
    page = visit(server)
    page.clock.install()
    page.reload()
    person = Participant(page)
    broken = server.app.state.judge.media_id["shape 7.svg"]
    page.get_by_role("button", name="Begin").click()
    id, finished = "", page.get_by_role("heading", name="Some items can't be shown")
    for _ in range(12):
        page.clock.run_for(5000)
        page.locator(".items[data-open]").or_(finished).wait_for()
        if finished.is_visible():
            break
        id = person.question_after()
        assert broken not in person.shown()
        page.keyboard.press("1")
        page.locator(f'.items[data-open="{id}"]').wait_for(state="detached")
    expect(finished).to_be_visible()


def test_every_state_is_accessible(study: Path, serve: Serve, visit: Visit) -> None:
    settings(study, questions=1, practice=1, consent="We keep your answers.", completion_code=CODE)
    server = serve(study)
    page = visit(server)
    person = Participant(page)
    person.heading("Before you begin")
    assert_accessible(page)
    person.button("I don't want to take part").click()
    person.heading("You are not taking part")
    assert_accessible(page)
    person.button("Back").click()
    person.button("I agree and take part").click()
    person.heading("How it works")
    assert_accessible(page)
    person.button("Begin with a short practice").click()
    person.open_question("practice-0")
    assert_accessible(page)
    page.keyboard.press("1")
    person.heading("The practice is over")
    assert_accessible(page)
    person.button("Begin").click()
    person.question_after()
    page.set_viewport_size({"width": 320, "height": 568})
    assert_accessible(page)
    page.keyboard.press("1")
    person.heading("Thank you!")
    assert_accessible(page)


HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "<script>alert(2)</script>",
    "&lt;b&gt; \u202e {place} ${1+1}",
    "'; DROP TABLE answers; --",
    '"><svg/onload=alert(3)>',
)


def test_hostile_texts_are_texts(tmp_path: Path, serve: Serve, visit: Visit) -> None:
    table = tmp_path / "texts.csv"
    table.write_text("text\n" + "".join('"' + text.replace('"', '""') + '"\n' for text in HOSTILE), encoding="utf-8")
    home = tmp_path / "texts-study"
    home.mkdir()
    title, button = "<i>Title</i>", "<u>Can't tell</u>"
    words = f"[words]\ncant_tell = {json.dumps(button)}\n"
    settings(
        home, words, title=title, question=title, consent=HOSTILE[0], instructions=HOSTILE[1], questions=6, practice=0
    )
    server = serve(table)
    page = visit(server, "?participant=" + "%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E")
    person = Participant(page)
    expect(page.get_by_text(HOSTILE[0])).to_be_visible()
    person.button("I agree and take part").click()
    expect(page.get_by_text(HOSTILE[1])).to_be_visible()
    id = person.begin()
    assert_accessible(page)
    for _ in range(5):
        texts = page.locator(".item .text").all_text_contents()
        assert set(texts) <= set(HOSTILE)
        assert len(texts) == 3
        id = person.press("1", id)
    expect(person.button(button)).to_be_visible()
    assert page.locator("main i, main u, main b, main script, main img, main svg").count() == 0
    page.goto(server.experimenter_url)
    expect(page.get_by_role("rowheader", name="<img src=x onerror=alert(1)>")).to_be_visible()
    assert page.locator("table img, table script").count() == 0


def test_words_of_another_language(study: Path, serve: Serve, visit: Visit) -> None:
    words = '[words]\ncant_tell = "لا أدري"\nposition = "{position}/{total}"\nbegin = "ابدأ"\n'
    settings(study, words, questions=3, practice=0, language="ar", question="أيها مختلف؟")
    server = serve(study)
    page = visit(server)
    person = Participant(page)
    person.button("ابدأ").click()
    id = person.question_after()
    assert page.evaluate("[document.documentElement.lang, document.documentElement.dir]") == ["ar", "rtl"]
    expect(page.get_by_text("1/3", exact=True)).to_be_visible()
    person.press("0", id)
    first, third = (page.locator(".pick").nth(place).bounding_box() for place in (0, 2))
    assert first is not None
    assert third is not None
    assert first["x"] > third["x"]


def test_sounds_are_played_one_at_a_time(tmp_path: Path, serve: Serve, visit: Visit) -> None:
    folder = tmp_path / "sounds"
    folder.mkdir()
    for number in range(3):
        with wave.open(str(folder / f"tone {number}.wav"), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", ""))
            wave_ = (int(8000 * math.sin(0.2 * (number + 1) * step)) for step in range(16_000))
            file.writeframes(b"".join(struct.pack("<h", value) for value in wave_))
    settings(folder, questions=1, practice=0)
    server = serve(folder)
    page = visit(server)
    person = Participant(page)
    person.begin()
    assert_accessible(page)
    for place in (0, 1):
        page.locator("audio").nth(place).evaluate("sound => sound.play()")
    paused = "sounds => sounds.map(sound => sound.paused)"
    assert page.locator("audio").evaluate_all(paused) == [True, False, True]
    person.button("Pick 2").click()
    person.heading("Thank you!")
    assert [answer.odd for answer in stored(server)] == [1]


def test_study_by_invitation(study: Path, serve: Serve, visit: Visit) -> None:
    settings(study, entry="invitation")
    server = serve(study)
    page = visit(server, expected=("403",))
    Participant(page).heading("You can't take part with this link")
    assert_accessible(page)


def test_experimenter_watches_pauses_deletes_and_downloads(study: Path, serve: Serve, visit: Visit) -> None:
    settings(study, questions=10, practice=0, title="Eight shapes")
    server = serve(study)
    page = visit(server, server.experimenter_url.removeprefix(server.url))
    assert "token" not in page.url
    expect(page.get_by_role("heading", name="Eight shapes")).to_be_visible()
    expect(page.get_by_text("Nobody yet.")).to_be_visible()
    assert_accessible(page)
    person = Participant(visit(server, "?participant=ann"))
    id = person.begin()
    for number in range(10):
        if number < 9:
            id = person.press(str(number % 4), id)
        else:
            person.press_last("1")
    row = page.get_by_role("row").filter(has=page.get_by_role("rowheader", name="ann"))
    expect(row).to_contain_text("10 of 10")
    expect(row).to_contain_text("finished")
    expect(page.locator("#tiles")).to_contain_text("30%")  # three times 0: can't tell
    assert_accessible(page)

    page.get_by_role("button", name="Pause").click()
    expect(page.get_by_text("Paused", exact=True)).to_be_visible()
    Participant(visit(server, "?participant=ben")).heading("The study is paused")
    page.get_by_role("button", name="Resume").click()
    expect(page.get_by_text("Collecting answers")).to_be_visible()

    page.get_by_label("Format").select_option("jsonl")
    page.get_by_label("Participants").select_option("no")
    with page.expect_download() as download:
        page.get_by_role("button", name="Download").click()
    lines = download.value.path().read_text().splitlines()
    assert len([line for line in lines if "shape" in line]) >= 10
    assert "ann" not in "".join(lines)

    page.get_by_role("button", name="Answers").click()
    expect(page.get_by_role("columnheader", name="Answers")).to_have_attribute("aria-sort", "ascending")
    page.get_by_role("button", name="Delete ann").click()
    expect(page.get_by_role("button", name="Keep them")).to_be_focused()
    assert_accessible(page)
    page.keyboard.press("Escape")
    expect(row).to_be_visible()
    page.get_by_role("button", name="Delete ann").click()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.get_by_role("status")).to_have_text("ann is deleted.")
    expect(row).not_to_be_visible()
    assert stored(server) == []


def test_experimenter_needs_the_token(served: Server, visit: Visit) -> None:
    page = visit(served, "experimenter", expected=("401", "404"))  # 404: the icon of no page
    assert "token" in page.content()
    assert page.locator("table").count() == 0


def test_map_appears_and_lists_its_groups(served: Server, visit: Visit) -> None:
    placed = [
        {"name": f"shape {n}.svg", "kind": "text", "text": HOSTILE[n % 5], "x": n, "y": n % 3, "cluster": n % 2}
        for n in range(8)
    ]
    reply = {"computing": False, "problem": None, "answers_needed": 0, "computed_at": "2026-01-01T12:00:00+00:00"}
    reply |= {"answers_used": 30, "holdout": {"answers": 5, "agrees": 0.6}, "items": placed}
    page = visit(served, served.experimenter_url.removeprefix(served.url))
    page.route("**/api/map", lambda route: route.fulfill(json=reply))
    page.reload()
    expect(page.locator("#map-about")).to_contain_text("from 30 answers")
    assert page.locator("#map .dot").count() == 8
    page.get_by_text("The groups as lists").click()
    expect(page.get_by_role("heading", name="Group 2")).to_be_visible()
    assert page.locator("#map script, #groups script, #groups img, #groups svg").count() == 0
    assert_accessible(page)


def test_every_word_is_used_and_every_used_word_is_there() -> None:
    words = json.loads((STATIC / "words.en.json").read_text(encoding="utf-8"))
    code = "".join(file.read_text(encoding="utf-8") for file in STATIC.glob("*.js"))
    assert [key for key in words if f'"{key}"' not in code and not re.match(r"(offline|busy)_waiting", key)] == []
    used = set(re.findall(r'words\.say\(\s*"(\w+)"', code))
    assert used - set(words) == set()


def test_pages_hold_no_inline_code() -> None:
    for page in STATIC.glob("*.html"):
        text = page.read_text(encoding="utf-8")
        assert (
            re.findall(r"<style|style=|\son\w+=|<script(?![^>]*\bsrc=)|https?:|//", text.replace("<!doctype", "")) == []
        )
    code = "".join(file.read_text(encoding="utf-8") for file in STATIC.glob("*.js"))
    assert re.findall(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", code) == []
