"""Whole sittings in Chromium and Firefox: mouse, keyboard and touch, a large screen and a phone, two languages."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the judge needs oddkernel[judge]")
pytest.importorskip("playwright", reason="tests in a browser need the package playwright")
pytest.importorskip("axe_playwright_python", reason="tests in a browser need the package axe-playwright-python")

from judge_browser import serving, stored, write_settings
from judge_hands import Chromium, Hands, find_firefox, firefox

from oddkernel.judge.words import texts

pytestmark = pytest.mark.slow  # starts browsers

LARGE, PHONE = (1400, 900), (390, 844)
CODE = "THANKS-7"
ABOUT = """
[[about]]
name = "colours"
ask = "1?"
kind = "choice"
choices = ["a", "b"]

[[about]]
name = "age"
ask = "2?"
kind = "number"
"""
FITS = """
    const boxes = [...document.querySelectorAll(".pick, .button:not(.keys *)")].filter((each) => each.offsetParent)
      .map((each) => each.getBoundingClientRect());
    const inside = (box) => box.x >= 0 && box.y >= 0 && box.right <= innerWidth && box.bottom <= innerHeight;
    const large = (box) => Math.min(box.width, box.height) >= 44;
    const seen = [...document.querySelectorAll(".items img")].every((each) => each.getBoundingClientRect().height > 60);
    return boxes.length === 5 && boxes.every(inside) && boxes.every(large) && seen
      && document.documentElement.scrollWidth <= innerWidth;
"""
"""Whether a question needs no scrolling, and a finger hits each button."""


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def hands(request: pytest.FixtureRequest) -> Iterator[Hands]:
    if request.param == "chromium":
        with closing(Chromium(request.getfixturevalue("browser"))) as chromium:
            yield chromium
        return
    program = find_firefox()
    if program is None:
        pytest.skip("this test needs Firefox (Debian's package firefox-esr)")
    with firefox(program) as found:
        yield found


@pytest.mark.parametrize(
    ("way", "size", "language"),
    [
        ("mouse", LARGE, "en"),
        ("mouse", PHONE, "de"),
        ("keyboard", LARGE, "de"),
        ("keyboard", PHONE, "en"),
        ("touch", LARGE, "en"),
        ("touch", PHONE, "de"),
    ],
)
def test_a_sitting(hands: Hands, shapes: Path, way: str, size: tuple[int, int], language: str) -> None:
    says = texts(language)
    write_settings(shapes, ABOUT, questions=3, practice=1, language=language, consent="…", completion_code=CODE)
    hands.way = way
    with serving(shapes) as server:
        hands.open(server.url, *size, touch=way == "touch")

        def pick(place: int) -> None:
            if way == "keyboard":
                hands.press(str(place))
            else:
                hands.use(f".item:nth-child({place}) .pick")

        def look() -> None:
            if way != "keyboard":  # the same pages as by mouse
                hands.assert_accessible()

        hands.heading(says["consent_title"])
        look()
        hands.use(".button.primary")
        hands.heading(says["about_start_title"])
        look()
        hands.use("input[type=radio]", key=" ")
        hands.use("input[type=number]", key=None)
        for digit in "33":
            hands.press(digit)
        hands.use(".button.primary")
        hands.heading(says["instructions_title"])
        hands.use(".button.primary")
        assert hands.question() == "practice-0"
        pick(2)
        hands.heading(says["practice_title"])
        hands.use(".button.primary")
        first = hands.question()
        hands.heading(says["study_question"])
        assert hands.evaluate(FITS)
        look()
        pick(1)
        second = hands.question(before=first)
        hands.use(".undo")
        assert hands.question(before=second) == first
        pick(3)
        assert hands.question(before=first) == second
        hands.use(".cant-tell")
        hands.question(before=second)
        pick(2)
        hands.heading(says["done_title"])
        hands.until("return document.querySelector('.code')?.textContent === arguments[0]", CODE)
        look()
        assert [answer.odd for answer in stored(server)] == [2, -1, 1]
        replies = server.app.state.judge.database.read(lambda records: records.replies())
        assert [dict(each) for each in replies.values()] == [{"colours": "a", "age": 33}]
        assert hands.complaints() == []
