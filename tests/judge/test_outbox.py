"""Answers on their way from the page to the server, through lost networks and full disks, in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the judge needs oddkernel[judge]")
pytest.importorskip("playwright", reason="tests in a browser need the package playwright")
pytest.importorskip("axe_playwright_python", reason="tests in a browser need the package axe-playwright-python")

from judge_browser import Participant, Serve, Visit, eventually_stored, serving, stored, until, write_settings
from playwright.sync_api import Page, Route, expect

from oddkernel.judge.server import Server

NETWORK = "net::ERR_INTERNET_DISCONNECTED"


def interfere(page: Page, handle: Callable[[Route], object]) -> Callable[[], None]:
    """Let `handle` deal with answers on their way to the server; returns what ends that."""
    active = True

    def deal_with(route: Route) -> None:
        if active:
            handle(route)
        else:
            route.continue_()

    def end() -> None:
        nonlocal active
        active = False

    page.route("**/api/answers", deal_with)
    return end


def refuse(route: Route) -> None:
    route.fulfill(status=503, json={"error": "The disk is full."})


def lose_reply(route: Route) -> None:
    route.fetch()
    route.abort()


def handed_out(server: Server) -> set[str]:
    """Media ids of the items in questions that wait for an answer."""
    judge = server.app.state.judge
    return {judge.media_id[name] for items in judge.database.read(lambda r: r.open_questions()) for name in items}


def fetched(page: Page) -> set[str]:
    """Media ids of the items that the page has loaded."""
    urls = page.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)")
    return {url.rpartition("/media/")[2].partition("?")[0] for url in urls}


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


def test_page_whose_first_requests_fail_comes_later(served: Server, visit: Visit) -> None:
    page = visit(served, expected=("net::ERR_",))
    failed = []

    def fail_once(route: Route) -> None:
        if route.request.url in failed:
            route.continue_()
        else:
            failed.append(route.request.url)
            route.abort()

    person = Participant(page)
    person.button("Begin").wait_for()
    for path in ("static/*/participant/words.en.json", "api/sitting", "api/questions*"):
        page.route(f"**/{path}", fail_once)
    page.reload()
    person.begin()
    assert len(failed) == 3


def test_answers_the_server_cannot_store_survive_a_reload(served: Server, visit: Visit) -> None:
    page = visit(served, expected=("503",))
    person = Participant(page)
    first = person.begin()
    end = interfere(page, refuse)
    second = person.press("1", first)
    expect(page.get_by_role("status")).to_contain_text("The server can't store answers just now.")
    third = person.press("2", second)
    page.reload()
    assert person.question_after() == third
    expect(page.get_by_text("Question 3 of 12", exact=True)).to_be_visible()
    assert stored(served) == []
    end()
    answers = eventually_stored(page, served, 2)
    assert [(answer.question, answer.odd) for answer in answers] == [(first, 0), (second, 1)]


def test_reply_that_got_lost_stores_once(served: Server, visit: Visit) -> None:
    page = visit(served, expected=("net::ERR_",))
    person = Participant(page)
    first = person.begin()
    end = interfere(page, lose_reply)
    second = person.press("1", first)
    eventually_stored(page, served, 1)
    person.press("2", second)
    page.wait_for_timeout(1500)  # it is sent again, and stored already
    end()
    until(page, lambda: page.evaluate("Object.keys(localStorage).every(key => !key.includes('outbox'))"))
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
    end = interfere(page, refuse)
    person.press("1", first)
    page.goto(served.url + "?participant=ben")
    end()
    id = person.begin()
    person.press("3", id)
    answers = eventually_stored(page, served, 1)
    assert [(answer.participant, answer.odd) for answer in answers] == [("ben", 2)]


def test_reload_after_a_lost_confirmation_leaves_out_no_question(shapes: Path, serve: Serve, visit: Visit) -> None:
    write_settings(shapes, questions=2, practice=0)
    server = serve(shapes)
    page = visit(server, expected=("net::ERR_", "503"))
    person = Participant(page)
    first = person.begin()
    end = interfere(page, lose_reply)
    second = person.press("1", first)
    eventually_stored(page, server, 1)
    page.reload()
    page.get_by_role("heading", name="Sending your last answers").wait_for()
    end()
    assert person.question_after() == second
    person.press_last("2")
    person.heading("Thank you!")
    assert [(answer.question, answer.odd) for answer in stored(server)] == [(first, 0), (second, 1)]


def test_a_named_participant_whose_first_reply_got_lost_begins_all_the_same(served: Server, visit: Visit) -> None:
    page = visit(served, expected=("net::ERR_",))
    lost = []

    def lose_first(route: Route) -> None:
        if lost:
            route.continue_()
        else:
            lost.append(route)
            lose_reply(route)
            page.context.clear_cookies()  # the reply would have brought one

    person = Participant(page)
    person.button("Begin").wait_for()
    page.route("**/api/sitting", lose_first)
    page.goto(served.url + "?participant=ann")
    id = person.begin()
    person.press("2", id)
    answers = eventually_stored(page, served, 1)
    assert [answer.participant for answer in answers] == ["ann"]
    assert len(lost) == 1


def test_a_browser_that_lost_its_cookie_goes_on(served: Server, visit: Visit) -> None:
    page = visit(served, "?participant=ann")
    person = Participant(page)
    id = person.press("1", person.begin())
    eventually_stored(page, served, 1)
    page.context.clear_cookies()
    page.reload()
    assert person.question_after() == id


def kept(page: Page) -> int:
    """How many answers wait in the browser."""
    keys: list[str] = page.evaluate("Object.keys(localStorage).filter(key => key.includes('outbox'))")
    return len(keys)


def test_another_participant_in_a_second_tab_takes_no_answer_away(served: Server, visit: Visit) -> None:
    page = visit(served, "?participant=ann", expected=("401",))
    ann = Participant(page)
    id = ann.begin()
    second = page.context.new_page()
    second.goto(served.url + "?participant=ben")
    ben = Participant(second)
    other = ben.begin()
    for key in ("1", "2"):
        id = ann.press(key, id)
        other = ben.press("3", other)
    answers = eventually_stored(page, served, 4)
    assert sorted((answer.participant, answer.odd) for answer in answers) == [
        ("ann", 0),
        ("ann", 1),
        ("ben", 2),
        ("ben", 2),
    ]


def test_another_study_at_the_same_address_takes_no_answer_away(shapes: Path, tmp_path: Path, visit: Visit) -> None:
    other = tmp_path / "others"
    other.mkdir()
    for drawing in shapes.glob("*.svg"):
        (other / drawing.name).write_bytes(drawing.read_bytes())
    write_settings(other, questions=12, practice=0)
    with serving(shapes) as server:
        port = int(server.url.rstrip("/").rpartition(":")[2])
        page = visit(server, "?participant=ann", expected=("401", "404", "net::ERR_"))
        person = Participant(page)
        id = person.begin()
    with serving(other, port) as server:
        page.keyboard.press("2")
        person.heading("This sitting can't be found")
        assert kept(page) == 1
        assert server.app.state.judge.database.read(lambda records: records.sittings()) == []
    with serving(shapes, port) as server:
        page.reload()
        answers = eventually_stored(page, server, 1)
        assert [(answer.participant, answer.question, answer.odd) for answer in answers] == [("ann", id, 1)]
        until(page, lambda: kept(page) == 0)
        page.goto("about:blank")  # a connection that is kept open would hold up the server's end


def test_two_studies_on_two_ports_go_on_side_by_side(shapes: Path, tmp_path: Path, serve: Serve, visit: Visit) -> None:
    other = tmp_path / "others"
    other.mkdir()
    for drawing in shapes.glob("*.svg"):
        (other / drawing.name).write_bytes(drawing.read_bytes())
    write_settings(other, questions=12, practice=0)
    servers = [serve(shapes), serve(other)]
    first = visit(servers[0], expected=(servers[1].url,))
    second = first.context.new_page()
    second.goto(servers[1].url)
    people = [Participant(first), Participant(second)]
    ids = [person.begin() for person in people]
    for key in ("1", "2", "3"):
        ids = [person.press(key, id) for person, id in zip(people, ids, strict=True)]
    for person, server in zip(people, servers, strict=True):
        assert [answer.odd for answer in eventually_stored(person.page, server, 3)] == [0, 1, 2]


def test_the_second_of_two_tabs_is_told(served: Server, visit: Visit) -> None:
    page = visit(served, expected=("409",))
    first = Participant(page)
    id = first.begin()
    other = page.context.new_page()
    other.goto(served.url)
    second = Participant(other)
    assert second.begin() == id
    following = first.press("1", id)
    eventually_stored(page, served, 1)
    other.keyboard.press("3")
    second.heading("This page is open twice")
    second.button("Go on here").click()
    assert second.question_after() == following
    assert [answer.odd for answer in stored(served)] == [0]


def test_consent_asked_for_later_is_asked_before_kept_answers_are_sent(shapes: Path, visit: Visit) -> None:
    with serving(shapes) as server:
        port = int(server.url.rstrip("/").rpartition(":")[2])
        page = visit(server, expected=("403", "net::ERR_"))
        person = Participant(page)
        first = person.begin()
        second = person.press("1", first)
        eventually_stored(page, server, 1)
    settings = shapes / "study.toml"
    settings.write_text('consent = "We keep your answers."\n' + settings.read_text())
    with serving(shapes, port) as server:
        page.keyboard.press("2")
        person.heading("This page can't go on just now")
        person.button("Try again").click()
        person.heading("Before you go on")
        assert len(stored(server)) == 1
        person.button("I agree and take part").click()
        answers = eventually_stored(page, server, 2)
        assert [(answer.question, answer.odd) for answer in answers] == [(first, 0), (second, 1)]
        person.press("1", person.question_after(second))
        page.goto("about:blank")


def test_undo_about_an_item_that_was_removed_meanwhile(shapes: Path, visit: Visit) -> None:
    write_settings(shapes, questions=3, practice=0)
    with serving(shapes) as server:
        port = int(server.url.rstrip("/").rpartition(":")[2])
        page = visit(server, expected=("404", "net::ERR_"))
        person = Participant(page)
        first = person.begin()
        removed = server.app.state.judge.media[person.shown()[0]]
        person.press("1", first)
        eventually_stored(page, server, 1)
    (shapes / removed).unlink()
    with serving(shapes, port) as server:
        page.reload()
        second = person.question_after()
        page.keyboard.press("u")
        id = person.question_after(second)
        for _ in range(2):
            id = person.press("2", id)
        person.press_last("2")
        person.heading("Thank you!")
        assert len(stored(server)) == 3
        assert kept(page) == 0
        page.goto("about:blank")
