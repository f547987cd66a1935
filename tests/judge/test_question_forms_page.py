"""The participant's page with other forms of questions, in a real browser."""

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
from playwright.sync_api import expect

PICKS = {"anchor": 2, "central": 3}
FIRST = {"anchor": 1, "central": 0}


@pytest.mark.parametrize("form", ["anchor", "central"])
def test_sitting_by_mouse(shapes: Path, serve: Serve, visit: Visit, form: str) -> None:
    write_settings(shapes, form=form, questions=3, practice=1)
    server = serve(shapes)
    page = visit(server, **DESK)
    person = Participant(page)
    person.button("Begin with a short practice").click()
    person.open_question("practice-0")
    page.locator(".pick").nth(1).click()
    person.button("Begin").click()
    id, seen = "", []
    for choice in (1, 0, -1 if form == "anchor" else 2):
        id = person.question_after(id)
        expect(page.locator(".pick")).to_have_count(PICKS[form])
        expect(page.locator(".place")).to_have_text(["1", "2", "3"][: PICKS[form]])
        seen.append((id, person.shown(), choice if choice < 0 else choice + FIRST[form]))
        if len(seen) == 1:
            assert_accessible(page)
            if form == "anchor":
                above, below = (page.locator(each).first.bounding_box() for each in (".item.anchor", ".pick"))
                assert above is not None
                assert below is not None
                assert above["y"] + above["height"] <= below["y"]
                page.locator(".item.anchor").click()  # the item above is no answer
                page.wait_for_timeout(300)
                assert not stored(server)
        (person.button("Can't tell") if choice < 0 else page.locator(".pick").nth(choice)).click()
    person.heading("Thank you!")
    media_id = server.app.state.judge.media_id
    assert [
        (answer.question, [media_id[name] for name in answer.items], answer.odd) for answer in stored(server)
    ] == seen
    assert {answer.form for answer in stored(server)} == {form}


def test_sitting_by_keyboard_with_undo_in_mixed_forms(shapes: Path, serve: Serve, visit: Visit) -> None:
    write_settings(shapes, form=["anchor", "central"], questions=6, practice=0)
    server = serve(shapes)
    page = visit(server, **DESK)
    person = Participant(page)
    id = person.begin()
    for number in range(6):
        form = page.locator(".items").get_attribute("data-form")
        wrong = "3" if form == "anchor" else "0"  # keys that are no answer to this form
        page.keyboard.press(wrong)
        page.wait_for_timeout(250)
        assert person.question_after() == id
        expect(page.get_by_role("button", name="Can't tell")).to_be_visible(visible=form == "anchor")
        if number == 5:
            break
        id = person.press("2", id)
        if number == 2:
            before = id
            id = person.press("u", id)
            assert id != before
            id = person.press("1", id)
            assert id == before
    person.press_last("2")
    answers = eventually_stored(page, server, 6)
    expected = [answer.odd - (answer.form == "anchor") for answer in answers]
    assert expected == [1, 1, 0, 1, 1, 1]
    assert sorted(answer.form for answer in answers) == ["anchor"] * 3 + ["central"] * 3


@pytest.mark.parametrize("form", ["anchor", "central"])
@pytest.mark.parametrize("size", [(390, 844), (640, 340)])
def test_sitting_on_a_phone(shapes: Path, serve: Serve, visit: Visit, form: str, size: tuple[int, int]) -> None:
    write_settings(shapes, form=form, questions=3, practice=0)
    server = serve(shapes)
    page = visit(server, **PHONE | {"viewport": {"width": size[0], "height": size[1]}})
    person = Participant(page)
    person.button("Begin").tap()
    id = ""
    for _ in range(3):
        id = person.question_after(id)
        boxes = [box for control in page.locator(".pick").all() if (box := control.bounding_box())]
        assert len(boxes) == PICKS[form]
        assert min(min(box["width"], box["height"]) for box in boxes) >= 44
        for image in page.locator(".items img").all():
            box = image.bounding_box() or {}
            assert box["height"] > 60
            assert 0 <= box["y"] <= box["y"] + box["height"] <= size[1]
        page.locator(".pick").nth(1).tap()
    person.heading("Thank you!")
    assert [answer.odd for answer in stored(server)] == [1 + FIRST[form]] * 3


def test_answers_are_kept_while_there_is_no_network(shapes: Path, serve: Serve, visit: Visit) -> None:
    write_settings(shapes, form=["anchor", "central"], questions=8, practice=0)
    server = serve(shapes)
    page = visit(server, expected=("ERR_INTERNET_DISCONNECTED",), **DESK)
    loading = Loading(page, server)
    person = Participant(page)
    id = person.begin()
    id = person.press("1", id)
    loading.wait_for(8)
    page.context.set_offline(True)
    for _ in range(5):
        id = person.press("2", id)
    page.context.set_offline(False)
    id = person.press("2", id)
    person.press_last("2")
    answers = eventually_stored(page, server, 8)
    assert [answer.odd - (answer.form == "anchor") for answer in answers] == [0] + [1] * 7


def test_sounds_and_texts_can_be_anchors(tmp_path: Path, serve: Serve, visit: Visit) -> None:
    table = tmp_path / "words.csv"
    table.write_text("name,text\n" + "".join(f"n{i},a text about number {i}\n" for i in range(5)), encoding="utf-8")
    (tmp_path / "words-study").mkdir()
    write_settings(tmp_path / "words-study", form="anchor", questions=1, practice=0)
    server = serve(table)
    page = visit(server, **DESK)
    person = Participant(page)
    person.begin()
    expect(page.locator(".item.anchor")).to_contain_text("a text about number")
    assert_accessible(page)
    person.press_last("1")
    assert [answer.odd for answer in eventually_stored(page, server, 1)] == [1]
