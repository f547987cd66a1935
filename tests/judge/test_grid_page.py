"""The participant's page with grids, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="the judge needs oddkernel[judge]")
pytest.importorskip("playwright", reason="tests in a browser need the package playwright")
pytest.importorskip("axe_playwright_python", reason="tests in a browser need the package axe-playwright-python")

from judge_browser import (
    DESK,
    PHONE,
    Loading,
    Participant,
    Serve,
    Visit,
    assert_accessible,
    eventually_stored,
    stored,
    write_settings,
)
from playwright.sync_api import Locator, Page, expect

TEXT = "name,text\n" + "".join(f"n{i},a text about number {i} that takes a line or two\n" for i in range(9))


@pytest.fixture
def many(shapes: Path) -> Path:
    """As many drawings as the largest grid has."""
    for number in range(8, 21):
        drawing = (shapes / "shape 0.svg").read_text().replace("hsl(0 ", f"hsl({17 * number} ")
        (shapes / f"shape {number}.svg").write_text(drawing)
    return shapes


def box(element: Locator) -> dict[str, float]:
    found = element.bounding_box()
    assert found is not None
    return {**found, "right": found["x"] + found["width"], "bottom": found["y"] + found["height"]}


def assert_laid_out(page: Page, n: int, width: int, height: int) -> None:
    """All items are on the screen and none covers another; the first is in the middle of those around it."""
    boxes = [box(each) for each in page.locator(".items .item").all()]
    assert len(boxes) == n + 1
    for number, one in enumerate(boxes):
        assert 0 <= one["x"] < one["right"] <= width
        assert 0 <= one["y"] < one["bottom"] <= height
        for other in boxes[:number]:
            apart = one["x"] - other["right"], other["x"] - one["right"], one["y"] - other["bottom"]
            assert max(*apart, other["y"] - one["bottom"]) >= 0
    around = box(page.locator(".items"))
    middle = boxes[0]
    assert abs(middle["x"] + middle["right"] - around["x"] - around["right"]) < 4
    assert abs(middle["y"] + middle["bottom"] - around["y"] - around["bottom"]) < 4
    assert min(min(each["width"], each["height"]) for each in boxes) >= 44


def test_sitting_by_mouse(many: Path, serve: Serve, visit: Visit) -> None:
    write_settings(many, form="grid", questions=3, practice=1)
    server = serve(many)
    page = visit(server, **DESK)
    person = Participant(page)
    person.button("Begin with a short practice").click()
    person.open_question("practice-0")
    for place in (1, 4):
        page.locator(".pick").nth(place).click()
    person.button("Begin").click()
    id, seen = "", []
    for picks in ((1, 6), (7, 0), (3, 2)):
        id = person.question_after(id)
        assert page.locator(".place").all_inner_texts() == list("12345678")
        seen.append((id, person.shown(), tuple(1 + place for place in sorted(picks))))
        button = page.locator(".pick").nth(picks[0])
        if len(seen) == 1:
            assert_laid_out(page, 8, 1400, 900)
            page.locator(".item.anchor").click()  # the one in the middle is no answer
            button.click()
            expect(button).to_have_attribute("aria-pressed", "true")
            expect(page.get_by_role("status").filter(has_text="1 of 2 picked")).to_be_visible()
            assert_accessible(page)
            page.wait_for_timeout(600)
            button.click()  # no longer picked
            expect(button).to_have_attribute("aria-pressed", "false")
            expect(page.get_by_role("status").filter(has_text="0 of 2 picked")).to_be_visible()
            page.wait_for_timeout(600)  # else the next would be the second of a double click
            assert not stored(server)
        for place in picks:
            page.locator(".pick").nth(place).click()
    person.heading("Thank you!")
    media_id = server.app.state.judge.media_id
    assert [
        (answer.question, [media_id[name] for name in answer.items], answer.odd) for answer in stored(server)
    ] == seen
    assert all(200 <= answer.response_ms < 30_000 for answer in stored(server))


def test_sitting_by_keyboard_with_undo_beside_another_form(many: Path, serve: Serve, visit: Visit) -> None:
    write_settings(many, form=["grid", "odd"], grid_size=11, grid_picks=3, questions=4, practice=0)
    server = serve(many)
    page = visit(server, **DESK)
    person = Participant(page)
    id = person.begin()
    expected: list[object] = []
    for number in range(4):
        if page.locator(".items").get_attribute("data-form") == "odd":
            expect(person.button("Can't tell")).to_be_visible()
            expected.append(1)
            keys = "2"
        else:
            expect(person.button("Can't tell")).to_be_hidden()
            for key in "C0 ":  # a place that is not there; can't tell is no answer
                page.keyboard.press(key)
            expected.append((1, 9, 11))
            keys = "1B9" if number < 2 else "b22" + "91"  # small letters, and one picked and taken out again
        for key in keys[:-1]:
            page.keyboard.press(key)
        if number == 3:
            person.press_last(keys[-1])
            break
        before, id = id, person.press(keys[-1], id)
        if number == 1:
            assert person.press("u", id) == before
            assert page.locator("[aria-pressed=true]").count() == 0
            for key in keys[:-1]:
                page.keyboard.press(key)
            id = person.press(keys[-1], before)
    assert [answer.odd for answer in eventually_stored(page, server, 4)] == expected


def test_items_can_be_picked_with_tab_and_space(many: Path, serve: Serve, visit: Visit) -> None:
    write_settings(many, form="grid", questions=1, practice=0)
    server = serve(many)
    page = visit(server, **DESK)
    Participant(page).begin()
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.get_by_role("button", name="Item 1", pressed=True)).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert [answer.odd for answer in eventually_stored(page, server, 1)] == [(1, 2)]


@pytest.mark.parametrize("n", [2, 5, 8, 12, 20])
@pytest.mark.parametrize("size", [(390, 844), (740, 360)])
def test_sitting_on_a_phone(many: Path, serve: Serve, visit: Visit, n: int, size: tuple[int, int]) -> None:
    picks = min(2, n - 1)
    write_settings(many, form="grid", grid_size=n, grid_picks=picks, questions=2, practice=0)
    server = serve(many)
    page = visit(server, **PHONE | {"viewport": {"width": size[0], "height": size[1]}})
    person = Participant(page)
    person.button("Begin").tap()
    id = ""
    for number in range(2):
        id = person.question_after(id)
        assert_laid_out(page, n, *size)
        if (number, n) == (0, 8):
            assert_accessible(page)
            page.set_viewport_size({"width": size[1], "height": size[0]})  # turned round
            page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
            assert_laid_out(page, n, size[1], size[0])
            page.set_viewport_size({"width": size[0], "height": size[1]})
        for place in range(picks):
            page.locator(".pick").nth(-1 - place).tap()
    person.heading("Thank you!")
    assert [answer.odd for answer in stored(server)] == [tuple(range(n + 1 - picks, n + 1))] * 2


def test_answers_are_kept_while_there_is_no_network(many: Path, serve: Serve, visit: Visit) -> None:
    write_settings(many, form="grid", grid_size=4, questions=6, practice=0)
    server = serve(many)
    page = visit(server, expected=("ERR_INTERNET_DISCONNECTED",), **DESK)
    loading = Loading(page, server)
    person = Participant(page)
    id = person.begin()
    loading.wait_for(6)
    page.context.set_offline(True)
    for _ in range(4):
        page.keyboard.press("3")
        id = person.press("2", id)
    page.keyboard.press("1")  # picked before the page is opened again: no answer yet
    page.context.set_offline(False)
    page.reload()
    again = person.question_after()
    assert page.locator("[aria-pressed=true]").count() == 0
    page.keyboard.press("4")
    page.keyboard.press("1")
    id = person.question_after(again)
    page.keyboard.press("4")
    person.press_last("1")
    assert [answer.odd for answer in eventually_stored(page, server, 6)] == [(2, 3)] * 4 + [(1, 4)] * 2


@pytest.mark.parametrize("phone", [False, True])
def test_texts_can_stand_in_a_grid(tmp_path: Path, serve: Serve, visit: Visit, phone: bool) -> None:
    table = tmp_path / "words.csv"
    table.write_text(TEXT, encoding="utf-8")
    (tmp_path / "words-study").mkdir()
    write_settings(tmp_path / "words-study", form="grid", questions=1, practice=0)
    server = serve(table)
    page = visit(server, **(PHONE if phone else DESK))
    person = Participant(page)
    person.begin()
    expect(page.locator(".item.anchor")).to_contain_text("a text about number")
    assert_laid_out(page, 8, *((390, 844) if phone else (1400, 900)))
    assert_accessible(page)
    page.keyboard.press("7")
    person.press_last("2")
    assert [answer.odd for answer in eventually_stored(page, server, 1)] == [(2, 7)]
