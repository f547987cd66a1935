"""A browser in front of a running study: what the tests of the pages and their screenshots share."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, Locator, Page, Playwright

from oddkernel.judge.server import Server
from oddkernel.judge.study import Study

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium() -> str | None:
    """Where a Chromium is installed, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def launch(playwright: Playwright) -> Browser:
    # Containers seldom let a browser make its own sandbox; the only pages it sees here are ours.
    return playwright.chromium.launch(executable_path=find_chromium(), args=["--no-sandbox"])


@contextmanager
def serving(study: Path) -> Iterator[Server]:
    """The study's server, on a free port of this machine, until the end of the block."""
    server = Server(Study.open(study))
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()


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
        return [re.sub(r".*/media/", "", url) for url in urls]
