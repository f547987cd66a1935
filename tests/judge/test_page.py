"""The participant's page, in a real browser."""

from __future__ import annotations

import json
import math
import struct
import wave
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the judge needs oddkernel[judge]")
pytest.importorskip("playwright", reason="tests in a browser need the package playwright")
pytest.importorskip("axe_playwright_python", reason="tests in a browser need the package axe-playwright-python")

from judge_browser import Participant, Serve, Visit, assert_accessible, eventually_stored, stored, write_settings
from playwright.sync_api import Page, expect

from oddkernel.judge.server import Server
from oddkernel.judge.words import texts

CODE = "THANKS-7"
PHONE: dict[str, Any] = {
    "viewport": {"width": 360, "height": 640},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}


HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "<script>alert(2)</script>",
    "&lt;b&gt; \u202e {place} ${1+1}",
    "'; DROP TABLE answers; --",
    '"><svg/onload=alert(3)>',
)


def test_sitting_by_mouse(shapes: Path, serve: Serve, visit: Visit) -> None:
    write_settings(
        shapes, questions=5, practice=2, completion_code=CODE, consent="We keep your answers.\n\nYou may stop."
    )
    server = serve(shapes)
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


def test_sitting_by_keyboard_alone(shapes: Path, serve: Serve, visit: Visit) -> None:
    write_settings(shapes, questions=6, consent="We keep your answers.", practice=1)
    server = serve(shapes)
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
def test_sitting_on_a_phone(shapes: Path, serve: Serve, visit: Visit, upright: bool) -> None:
    write_settings(shapes, questions=3, practice=0)
    size = PHONE["viewport"] if upright else {"width": 640, "height": 340}
    server = serve(shapes)
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


def test_nothing_is_answered_before_all_items_are_shown(shapes: Path, serve: Serve, visit: Visit) -> None:
    server = serve(shapes)
    page = visit(server)
    begin = page.get_by_role("button", name="Begin")
    begin.wait_for()
    held: list[Any] = []
    holding = True
    page.route("**/media/*", lambda route: held.append(route) if holding else route.continue_())
    begin.click()
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
            const { Stopwatch } = await import("/static/participant/stopwatch.js");
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


def test_item_that_cannot_be_loaded_is_set_aside(shapes: Path, serve: Serve, visit: Visit) -> None:
    (shapes / "shape 7.svg").write_text("no drawing")
    write_settings(shapes, questions=10, practice=0)
    server = serve(shapes)
    page = visit(server)
    page.clock.install()
    page.reload()
    person = Participant(page)
    broken = server.app.state.judge.media_id["shape 7.svg"]
    page.get_by_role("button", name="Begin").click()
    id, finished = "", page.get_by_role("heading", name="Some items can't be shown")
    shown = page.locator(".items[data-open]").or_(finished)
    for _ in range(12):
        for _ in range(60):  # the pauses between attempts begin when a request has failed, whenever that is
            if shown.is_visible():
                break
            page.clock.run_for(1000)
        shown.wait_for()
        if finished.is_visible():
            break
        id = person.question_after()
        assert broken not in person.shown()
        page.keyboard.press("1")
        page.locator(f'.items[data-open="{id}"]').wait_for(state="detached")
    expect(finished).to_be_visible()


def test_every_state_is_accessible(shapes: Path, serve: Serve, visit: Visit) -> None:
    write_settings(shapes, questions=1, practice=1, consent="We keep your answers.", completion_code=CODE)
    server = serve(shapes)
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


def test_hostile_texts_are_texts(tmp_path: Path, serve: Serve, visit: Visit) -> None:
    table = tmp_path / "texts.csv"
    table.write_text("text\n" + "".join('"' + text.replace('"', '""') + '"\n' for text in HOSTILE), encoding="utf-8")
    home = tmp_path / "texts-study"
    home.mkdir()
    title, button = "<i>Title</i>", "<u>Can't tell</u>"
    words = f"[words]\ncant_tell = {json.dumps(button)}\n"
    write_settings(
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


def test_words_of_another_language(shapes: Path, serve: Serve, visit: Visit) -> None:
    words = '[words]\ncant_tell = "لا أدري"\nposition = "{position}/{total}"\nbegin = "ابدأ"\n'
    write_settings(shapes, words, questions=3, practice=0, language="ar", question="أيها مختلف؟")
    server = serve(shapes)
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


@pytest.mark.parametrize(("language", "device"), [("de", {}), ("fr", PHONE), ("es", {}), ("zh", PHONE)])
def test_a_sitting_in_each_language(
    shapes: Path, serve: Serve, visit: Visit, language: str, device: dict[str, Any]
) -> None:
    write_settings(shapes, questions=2, practice=1, language=language, consent="…", completion_code=CODE)
    says = texts(language)
    page = visit(serve(shapes), **device)
    person = Participant(page)
    person.heading(says["consent_title"])
    assert page.evaluate("document.documentElement.lang") == language
    person.button(says["consent_agree"]).click()
    person.heading(says["instructions_title"])
    assert_accessible(page)
    assert_no_english(page)
    person.button(says["begin_practice"]).click()
    person.open_question("practice-0")
    person.press_last("1")
    person.heading(says["practice_title"])
    person.button(says["begin"]).click()
    id = person.question_after()
    expect(page.get_by_role("heading", name=says["study_question"])).to_be_visible()
    assert_accessible(page)
    assert_no_english(page)
    page.set_viewport_size({"width": 390, "height": 844})
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    person.press("2", id)
    person.press_last("0")
    person.heading(says["done_title"])
    assert_no_english(page)


def assert_no_english(page: Page) -> None:
    seen = page.locator("body").inner_text().splitlines()
    assert set(seen) & set(texts("en").values()) == set()


def test_sounds_are_played_one_at_a_time(tmp_path: Path, serve: Serve, visit: Visit) -> None:
    folder = tmp_path / "sounds"
    folder.mkdir()
    for number in range(3):
        with wave.open(str(folder / f"tone {number}.wav"), "wb") as file:
            file.setparams((1, 2, 8000, 0, "NONE", ""))
            wave_ = (int(8000 * math.sin(0.2 * (number + 1) * step)) for step in range(16_000))
            file.writeframes(b"".join(struct.pack("<h", value) for value in wave_))
    write_settings(folder, questions=1, practice=0)
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


def test_study_by_invitation(shapes: Path, serve: Serve, visit: Visit) -> None:
    write_settings(shapes, entry="invitation")
    server = serve(shapes)
    page = visit(server, expected=("403",))
    Participant(page).heading("You can't take part with this link")
    assert_accessible(page)
