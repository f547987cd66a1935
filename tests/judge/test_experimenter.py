"""The experimenter's page, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the judge needs oddkernel[judge]")
pytest.importorskip("playwright", reason="tests in a browser need the package playwright")
pytest.importorskip("axe_playwright_python", reason="tests in a browser need the package axe-playwright-python")

from judge_browser import Participant, Serve, Visit, assert_accessible, stored, write_settings
from judge_studies import Person, make_folder, open_client
from playwright.sync_api import expect

from oddkernel.judge.server import Server

HOSTILE = ("<img src=x onerror=alert(1)>", "<script>alert(2)</script>", '"><svg/onload=alert(3)>')


def test_experimenter_watches_pauses_deletes_and_downloads(shapes: Path, serve: Serve, visit: Visit) -> None:
    write_settings(shapes, questions=10, practice=0, title="Eight shapes")
    server = serve(shapes)
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
        {"name": f"shape {n}.svg", "kind": "text", "text": HOSTILE[n % 3], "x": n, "y": n % 3, "cluster": n % 2}
        for n in range(8)
    ]
    reply = {"computing": False, "problem": None, "answers_needed": 0, "computed_at": "2026-01-01T12:00:00+00:00"}
    reply |= {"answers_used": 30, "holdout": {"answers": 5, "agrees": 0.6, "chance": 0.5}, "items": placed}
    page = visit(served, served.experimenter_url.removeprefix(served.url))
    page.route("**/api/map", lambda route: route.fulfill(json=reply))
    page.reload()
    expect(page.locator("#map-about")).to_contain_text("from 30 answers")
    expect(page.locator("#map-about")).to_contain_text("chance is 50%")
    assert page.locator("#map .dot").count() == 8
    page.get_by_text("The groups as lists").click()
    expect(page.get_by_role("heading", name="Group 2")).to_be_visible()
    assert page.locator("#map script, #groups script, #groups img, #groups svg").count() == 0
    assert_accessible(page)


def test_the_report_is_made_and_opened_with_one_button(tmp_path: Path, serve: Serve, visit: Visit) -> None:
    pictures = make_folder(tmp_path / "photos", settings="questions = 12\npractice = 0\n")
    server = serve(pictures)
    page = visit(server, server.experimenter_url.removeprefix(server.url), expected=("blob:null",))
    expect(page.get_by_role("button", name="Make report")).to_be_enabled()
    expect(page.get_by_role("link", name="Open report")).not_to_be_visible()
    assert_accessible(page)
    with open_client(base_url=server.url) as client:
        Person(client, participant="ann").answer_all()
    with page.expect_popup() as opened:
        page.get_by_role("button", name="Make report").click()
    expect(page.locator("#report-about")).to_contain_text("Being made")
    expect(page.locator("#report-about")).to_contain_text("from 11 answers.", timeout=600_000)
    expect(page.get_by_role("link", name="Open report")).to_be_visible()
    assert_accessible(page)
    report = opened.value
    expect(report.get_by_text("photos", exact=True).first).to_be_visible()
    assert report.evaluate("self.origin") == "null"  # it can reach nothing of the server's


def test_a_plan_is_simulated_with_one_button(
    shapes: Path, serve: Serve, visit: Visit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("oddkernel.judge.running_study.PLAN_SECONDS", 0.1)
    write_settings(shapes, questions=20, holdout_share=0.5)
    server = serve(shapes)
    page = visit(server, server.experimenter_url.removeprefix(server.url))
    expect(page.locator("#plan-about")).to_contain_text("Simulates people")
    page.get_by_role("button", name="Simulate").click()
    cells = page.locator("#plan tbody tr").nth(1).locator("th, td")
    expect(cells.nth(1)).to_have_text("5", timeout=600_000)  # people, with 10 answers each to learn from
    expect(cells.nth(0)).to_have_text("50")
    expect(page.locator("#plan")).to_contain_text("25% of the answers are guesses")
    assert_accessible(page)
    assert server.n_answers() == 0
