"""A panel's way in a real browser: from the panel's page to the study and back."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode

import pytest

pytest.importorskip("fastapi", reason="the judge needs oddkernel[judge]")
pytest.importorskip("playwright", reason="tests in a browser need the package playwright")
pytest.importorskip("axe_playwright_python", reason="tests in a browser need the package axe-playwright-python")

from judge_browser import Participant, Serve, Visit, assert_accessible, stored, write_settings
from judge_panels import stub_panel
from playwright.sync_api import Error, Route, expect

from oddkernel.judge.words import texts

IDS = {"PROLIFIC_PID": "5f1e0c3b9a77", "STUDY_ID": "study-77", "SESSION_ID": "session-1"}
SIZES: list[dict[str, Any]] = [
    {"viewport": {"width": 1400, "height": 900}},
    {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True},
]


@pytest.mark.parametrize("options", SIZES)
def test_from_the_panel_and_back(shapes: Path, serve: Serve, visit: Visit, options: dict[str, Any]) -> None:
    by_mouse = "is_mobile" in options
    with stub_panel() as (panel, handler):
        more = f"""[panel]
kind = "prolific"
seconds = 1
again = "never"
done = "{panel}/complete?cc={{code}}&pid={{PROLIFIC_PID}}"
"""
        write_settings(shapes, more, questions=2, practice=0, completion_code="C & 1", title="Birds of a feather")
        server = serve(shapes)
        handler.study = f"{server.url}?{urlencode(IDS)}"
        page = visit(server, f"?{urlencode(IDS)}", expected=(panel,), **options)
        page.goto(panel)
        page.get_by_role("link", name="Take part").click()
        person = Participant(page)
        person.heading("How it works")
        expect(page.get_by_text("Birds of a feather", exact=True)).to_be_visible()
        if by_mouse:
            person.button("Begin").click()
        else:
            page.keyboard.press("Enter")  # the focus is on the heading
        id = ""
        for key in ("1", "2"):
            id = person.question_after(id)
            if by_mouse:
                page.locator(".pick").nth(int(key) - 1).tap()
            else:
                page.keyboard.press(key)
        page.wait_for_url(f"{panel}/complete**")
        assert handler.arrived == [{"cc": ["C & 1"], "pid": [IDS["PROLIFIC_PID"]]}]
        assert [answer.odd for answer in stored(server)] == [0, 1]
        (sitting,) = server.app.state.judge.database.read(lambda records: records.sittings())
        assert (sitting.participant, dict(sitting.panel)) == (IDS["PROLIFIC_PID"], IDS)
        page.goto(f"{server.url}?{urlencode(IDS)}")  # the same visit: the way back once more
        person.heading("Thank you!")
        person.button("Stay here").click()
        assert_accessible(page)
        page.goto(f"{server.url}?{urlencode(IDS | {'SESSION_ID': 'session-2'})}")
        person.heading("You took part already")
        assert len(handler.arrived) == 1


def test_mturk_in_a_frame(shapes: Path, serve: Serve, visit: Visit) -> None:
    sandbox = "https://workersandbox.mturk.com"
    write_settings(shapes, '[panel]\nkind = "mturk"\nseconds = 0\n', questions=1, practice=0, completion_code="C1")
    server = serve(shapes)
    ids = {"workerId": "W1", "assignmentId": "A1", "hitId": "H1", "turkSubmitTo": sandbox}
    sent: list[str] = []
    shown = {"assignmentId": "ASSIGNMENT_ID_NOT_AVAILABLE", "hitId": "H1"}
    page = visit(server, f"?{urlencode(shown)}", expected=(sandbox, "Mixed Content"))
    person = Participant(page)
    person.heading("A preview")
    assert server.app.state.judge.database.read(lambda records: records.sittings()) == []

    def amazon(route: Route) -> None:
        if route.request.method == "POST":
            sent.append(f"{route.request.url} {route.request.post_data}")
            route.fulfill(body="<h1>Submitted</h1>", content_type="text/html")
        else:
            frame = f'<iframe src="{server.url}?{urlencode(ids)}" width="1000" height="700"></iframe>'
            route.fulfill(body=f"<!doctype html>{frame}", content_type="text/html")

    with suppress(Error):  # older versions of Chromium know no such permission
        page.context.grant_permissions(["local-network-access"])
    page.route(f"{sandbox}/**", amazon)
    page.goto(f"{sandbox}/task")
    frame = page.frame_locator("iframe")
    frame.get_by_role("button", name="Begin", exact=True).click()
    frame.locator(".items[data-open]").wait_for()
    frame.locator(".pick").nth(2).click()
    frame.get_by_role("button", name=texts("en")["leave"]).click()
    frame.get_by_role("heading", name="Submitted").wait_for()
    url, _, body = sent[0].partition(" ")
    assert url == f"{sandbox}/mturk/externalSubmit"
    assert parse_qs(body) == {"assignmentId": ["A1"], "code": ["C1"]}
    assert [answer.odd for answer in stored(server)] == [2]


def test_whoever_declines_is_sent_back(shapes: Path, serve: Serve, visit: Visit) -> None:
    with stub_panel() as (panel, handler):
        write_settings(shapes, f'[panel]\ndeclined = "{panel}/complete?no=1"\n', consent="May we?", practice=0)
        server = serve(shapes)
        page = visit(server, "?participant=ann", expected=(panel,))
        person = Participant(page)
        person.heading("Before you begin")
        page.keyboard.press("Enter")  # nobody agrees by accident
        person.heading("Before you begin")
        person.button("I don't want to take part").click()
        person.heading("You are not taking part")
        assert server.app.state.judge.database.read(lambda records: records.sittings()) == []
        person.button("Back").click()
        person.heading("Before you begin")
        person.button("I don't want to take part").click()
        person.button(texts("en")["leave"]).click()
        page.wait_for_url(f"{panel}/complete**")
        assert handler.arrived == [{"no": ["1"]}]
