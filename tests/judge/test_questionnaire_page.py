"""The form with questions about the person, in a real browser."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="the judge needs oddkernel[judge]")
pytest.importorskip("playwright", reason="tests in a browser need the package playwright")
pytest.importorskip("axe_playwright_python", reason="tests in a browser need the package axe-playwright-python")

from judge_browser import Participant, Serve, Visit, assert_accessible, stored, until, write_settings

SIZES: list[dict[str, Any]] = [
    {"viewport": {"width": 1400, "height": 900}},
    {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
]
ABOUT = """
[[about]]
name = "colours"
ask = "Can you tell red from green?"
kind = "choice"
choices = ["yes", "no"]
screen_out = ["no"]

[[about]]
name = "age"
ask = "How old are you?"
kind = "number"
least = 18
most = 120

[[about]]
name = "country"
ask = "Where do you live?"
kind = "choice"
choices = ["A", "B", "C", "D", "E", "F", "G", "H"]
optional = true

[[about]]
name = "remarks"
ask = "What did you notice?"
kind = "text"
optional = true
at = "end"
"""


def replies(server: Any) -> dict[str, Any]:
    found = server.app.state.judge.database.read(lambda records: records.replies())
    return dict(next(iter(found.values()), {}))


@pytest.mark.parametrize("options", SIZES)
def test_start_and_end(shapes: Path, serve: Serve, visit: Visit, options: dict[str, Any]) -> None:
    write_settings(shapes, ABOUT, questions=2, practice=0, completion_code="C1")
    server = serve(shapes)
    page = visit(server, expected=("Failed to load resource",), **options)
    person = Participant(page)
    person.heading("About you")
    assert_accessible(page)
    if "is_mobile" in options:
        page.get_by_label("yes").tap()
        page.get_by_label("How old are you?").fill("17")
        person.button("Continue").tap()
        person.heading("About you")  # the browser objects: too young
        assert replies(server) == {}
        page.get_by_label("How old are you?").fill("33.5")
        page.get_by_label("Where do you live?").select_option("H")
        person.button("Continue").tap()
    else:
        page.keyboard.press("Tab")
        page.keyboard.press("Space")
        page.keyboard.press("Tab")
        page.keyboard.type("33.5")
        page.keyboard.press("Enter")
    person.heading("How it works")
    until(page, lambda: len(replies(server)) == 3)
    person.button("Begin").click()
    id = person.question_after()
    id = person.press("1", id)
    page.keyboard.press("2")
    person.heading("At the end, a few questions about you")
    page.context.set_offline(True)
    page.get_by_label("What did you notice?").fill("Nothing <b>at</b> all")
    page.get_by_label("What did you notice?").evaluate("text => (text.value += '\\ud800')")  # half a character
    person.button("Continue").click()
    person.heading("Sending your last answers …")
    page.context.set_offline(False)
    person.heading("Thank you!")
    page.reload()
    person.heading("Thank you!")
    country = "H" if "is_mobile" in options else None
    wanted = {"age": 33.5, "colours": "yes", "country": country, "remarks": "Nothing <b>at</b> all\ufffd"}
    assert replies(server) == wanted
    assert [answer.odd for answer in stored(server)] == [0, 1]


def test_screened_out(shapes: Path, serve: Serve, visit: Visit) -> None:
    write_settings(shapes, ABOUT, questions=2, practice=0)
    server = serve(shapes)
    page = visit(server)
    person = Participant(page)
    person.heading("About you")
    page.get_by_label("no", exact=True).check()
    page.get_by_label("How old are you?").fill("33")
    person.button("Continue").click()
    person.heading("Thank you for your interest")
    page.reload()
    person.heading("Thank you for your interest")
    assert stored(server) == []
