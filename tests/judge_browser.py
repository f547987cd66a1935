"""A browser in front of a running study: what the tests of the pages and their screenshots share."""

from __future__ import annotations

import json
import re
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Playwright, Request, expect

from oddkernel.judge.server import Server
from oddkernel.judge.store.answers import Answer
from oddkernel.judge.study import Study

Serve = Callable[[Path], Server]
Visit = Callable[..., Page]

PATIENCE = 60.0
"""Seconds until something that does not happen fails a test. A busy machine has taken more than 15."""

expect.set_options(timeout=1000 * PATIENCE)

DESK: dict[str, Any] = {"viewport": {"width": 1400, "height": 900}}
PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844},
    "device_scale_factor": 2,
    "is_mobile": True,
    "has_touch": True,
}
"""Options of a browser: the window of a desk, and a phone."""

AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
"""The first draws pages as the others do, without windows around them: a page takes 0.13 s of CPU, not 0.75 s."""


def find_chromium() -> str | None:
    """Where a Chromium is installed, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def launch(playwright: Playwright) -> Browser:
    # Containers seldom let a browser make its own sandbox; the only pages it sees here are ours.
    return playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])


@contextmanager
def serving(study: Path, port: int = 0) -> Iterator[Server]:
    """The study's server, on a free port of this machine unless told, until the end of the block."""
    server = Server(Study.open(study), port=port)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()


def write_settings(folder: Path, more: str = "", **values: object) -> None:
    """Write study.toml; unless told, there are random questions only."""
    values = {"catch_share": 0, "repeat_share": 0, "holdout_share": 0} | values
    lines = [f"{name} = {json.dumps(value)}" for name, value in values.items()]
    (folder / "study.toml").write_text("\n".join(lines) + "\n" + more, encoding="utf-8")


def stored(server: Server) -> list[Answer]:
    """The answers that count, in the order of the questions."""
    answers = server.app.state.judge.database.read(lambda records: records.answers())
    return sorted(answers, key=lambda answer: answer.place)


def until(page: Page, is_so: Callable[[], bool]) -> None:
    """Wait for something that no element of the page shows."""
    end = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        page.wait_for_timeout(50)


def eventually_stored(page: Page, server: Server, number: int) -> list[Answer]:
    until(page, lambda: len(stored(server)) >= number)
    assert len(stored(server)) == number
    return stored(server)


class Loading:
    """The pictures that a page has loaded, from now on."""

    def __init__(self, page: Page, server: Server) -> None:
        self._page, self._judge = page, server.app.state.judge
        self._loaded: set[str] = set()
        page.on("requestfinished", self._note)

    def _note(self, request: Request) -> None:
        self._loaded.add(request.url.rpartition("/media/")[2].partition("?")[0])

    def wait_for(self, number: int) -> None:
        """Wait until so many questions are handed out and all their items are loaded."""

        def is_so() -> bool:
            asked = self._judge.database.read(lambda records: [records.asked(each) for each in records.sittings()])
            items = [{self._judge.media_id[name] for name in question.items} for question, _ in asked[0]]
            return len(items) == number and self._loaded.issuperset(set().union(*items))

        until(self._page, is_so)


def assert_accessible(page: Page) -> None:
    """No violation of WCAG 2.2 A and AA, in light and in dark."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme, reduced_motion="reduce")
        results = Axe().run(page, options={"runOnly": {"type": "tag", "values": AXE_TAGS}})
        assert results.violations_count == 0, f"{scheme}: {results.generate_report()}"


class Watch:
    """Everything that a page should not do."""

    def __init__(self, context: BrowserContext, url: str, expected: tuple[str, ...] = ()) -> None:
        self._expected = expected
        self.problems: list[str] = []
        context.on("console", lambda message: message.type in ("error", "warning") and self._note(message.text))
        context.on("weberror", lambda error: self._note(str(error.error)))
        context.on("request", lambda request: request.url.startswith(url) or self._note(f"request to {request.url}"))
        context.on("dialog", lambda dialog: self._note(f"dialog {dialog.message}"))

    def _note(self, problem: str) -> None:
        if not any(text in problem for text in self._expected):
            self.problems.append(problem)


class Participant:
    """Somebody who takes part, with a mouse or a keyboard."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def heading(self, text: str) -> None:
        """Wait for a screen with this heading."""
        self.page.get_by_role("heading", level=1, name=text).wait_for()

    def begin(self, practice: int = 0) -> str:
        """From the instructions to the first question, which is told."""
        if practice:
            self.button("Begin with a short practice").click()
            for number in range(practice):
                self.open_question(f"practice-{number}")
                self.page.keyboard.press("2")
        self.button("Begin").click()
        return self.question_after()

    def open_question(self, id: str) -> None:
        self.page.locator(f'.items[data-open="{id}"]').wait_for()

    def question_after(self, before: str = "") -> str:
        """The id of the question that is shown after `before`, once it can be answered."""
        id = self.page.locator(f'.items[data-open]:not([data-open="{before}"])').get_attribute("data-open")
        assert id is not None
        return id

    def press(self, key: str, question: str) -> str:
        """Answer with a key; returns the next question."""
        self.page.keyboard.press(key)
        return self.question_after(question)

    def press_last(self, key: str) -> None:
        """Answer the last question."""
        self.page.keyboard.press(key)
        self.page.locator(".text-screen").wait_for()

    def shown(self) -> list[str]:
        """The media ids of the three items, from the first place to the third."""
        urls = self.page.locator(".items img").evaluate_all("images => images.map(image => image.src)")
        return [re.sub(r".*/media/|\?.*", "", url) for url in urls]
