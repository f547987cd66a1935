"""Someone at the judging page with a mouse, a keyboard or a finger, in Chromium and in Firefox alike.

Chromium is driven by Playwright. Firefox, as distributions ship it, has a protocol of its own, Marionette: each message
is JSON after its length.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast

from axe_playwright_python.sync_playwright import Axe
from judge_browser import AXE_TAGS, PATIENCE, Watch
from playwright.sync_api import Browser, Page

FIREFOXES = ("firefox-esr", "firefox")
KEYS = {"Tab": "\ue004", "Enter": "\ue007"}  # as WebDriver writes them
MOST_TABS = 20

WHERE = """
    const element = document.querySelector(arguments[0]);
    element.scrollIntoView({ block: "nearest" });
    const box = element.getBoundingClientRect();
    const [x, y] = [Math.round(box.x + box.width / 2), Math.round(box.y + box.height / 2)];
    const hit = document.elementFromPoint(x, y);
    return element.contains(hit) ? [x, y] : null;
"""
"""The middle of an element, if nothing covers it."""

SET_VIEW = """
    const [width, height, touch, scheme] = arguments;
    const browser = gBrowser.selectedBrowser;
    for (const [side, length] of [["width", width], ["height", height]])
      for (const bound of ["", "min-", "max-"]) browser.style.setProperty(bound + side, `${length}px`);
    browser.browsingContext.inRDMPane = true;
    browser.browsingContext.touchEventsOverride = touch ? "enabled" : "none";
    browser.browsingContext.prefersColorSchemeOverride = scheme;
"""
"""What Firefox's responsive design mode does; a window can't be as narrow as a phone."""

COMPLAINTS = """
    return Services.console.getMessageArray()
      .filter((each) => each instanceof Ci.nsIScriptError && each.sourceName.startsWith(arguments[0]))
      .map((each) => each.toString());
"""


class Hands(ABC):
    """What a person does with a page; `use` is by `way`: "mouse", "keyboard" or "touch"."""

    way = "mouse"

    @abstractmethod
    def open(self, url: str, width: int, height: int, touch: bool) -> None:
        """Open a page in a window of this size."""

    @abstractmethod
    def evaluate(self, script: str, *arguments: object) -> Any:
        """What the body of a function returns in the page."""

    @abstractmethod
    def point(self, x: int, y: int) -> None:
        """Click, or tap."""

    @abstractmethod
    def press(self, key: str) -> None:
        """Press and release a key."""

    @abstractmethod
    def scheme(self, name: str) -> None:
        """Make the system's colours "light" or "dark"."""

    @abstractmethod
    def complaints(self) -> list[str]:
        """What the page did that it should not."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the page."""

    def until(self, script: str, *arguments: object) -> Any:
        """Wait until a script returns something true."""
        end = time.monotonic() + PATIENCE
        while not (found := self.evaluate(script, *arguments)):
            if time.monotonic() > end:
                raise AssertionError(f"waited in vain for {script} {arguments}; complaints: {self.complaints()}")
            time.sleep(0.02)
        return found

    def heading(self, text: str) -> None:
        """Wait for a screen with this heading."""
        self.until("return document.querySelector('h1')?.textContent.includes(arguments[0])", text)

    def question(self, before: str = "") -> str:
        """The id of the question after `before`, once it can be answered."""
        script = (
            "const id = document.querySelector('.items[data-open]')?.dataset.open; return id !== arguments[0] && id"
        )
        return cast(str, self.until(script, before))

    def use(self, selector: str, key: str | None = "Enter") -> None:
        """Press a button or enter a field; on a keyboard by tab and a key."""
        if self.way != "keyboard":
            self.point(*self.until(WHERE, selector))
            return
        for _ in range(MOST_TABS):
            if self.evaluate("return document.activeElement.matches(arguments[0])", selector):
                break
            self.press("Tab")
        else:
            raise AssertionError(f"{MOST_TABS} times Tab don't lead to {selector}")
        if key:
            self.press(key)

    def assert_accessible(self) -> None:
        """No violation of WCAG 2.2 A and AA, in light and in dark."""
        run = "return axe.run({ runOnly: { type: 'tag', values: arguments[0] } }).then((found) => found.violations)"
        for name in ("light", "dark"):
            self.scheme(name)
            found = self.evaluate(f"{Axe().axe_script}\n{run}", AXE_TAGS)
            assert found == [], f"{name}: {json.dumps(found, indent=1)}"
        self.scheme("light")


class Chromium(Hands):
    """By Playwright."""

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._page: Page | None = None
        self._watch: Watch | None = None

    def open(self, url: str, width: int, height: int, touch: bool) -> None:
        self.close()
        size = {"width": width, "height": height}
        context = self._browser.new_context(viewport=size, has_touch=touch, is_mobile=touch, reduced_motion="reduce")
        self._watch = Watch(context, url)
        self._page = context.new_page()
        self._page.goto(url)

    @property
    def page(self) -> Page:
        assert self._page is not None
        return self._page

    def evaluate(self, script: str, *arguments: object) -> Any:
        return self.page.evaluate(f"given => (function () {{ {script} }})(...given)", list(arguments))

    def point(self, x: int, y: int) -> None:
        (self.page.touchscreen.tap if self.way == "touch" else self.page.mouse.click)(x, y)

    def press(self, key: str) -> None:
        self.page.keyboard.press(key)

    def scheme(self, name: str) -> None:
        self.page.emulate_media(color_scheme="dark" if name == "dark" else "light", reduced_motion="reduce")

    def complaints(self) -> list[str]:
        return [] if self._watch is None else self._watch.problems

    def close(self) -> None:
        if self._page is not None:
            self._page.context.close()


class Firefox(Hands):
    """By Marionette."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._stream = self._socket.makefile("rb")
        self._n = 0
        self._url = ""
        self._view: list[Any] = []
        self._receive()  # who it is
        self.command("WebDriver:NewSession")

    def _receive(self) -> Any:
        length = b""
        while (byte := self._stream.read(1)) != b":":
            assert byte, "Firefox has closed the connection"
            length += byte
        return json.loads(self._stream.read(int(length)))

    def command(self, name: str, **parameters: object) -> Any:
        """What a command returns."""
        self._n += 1
        message = json.dumps([0, self._n, name, parameters]).encode()
        self._socket.sendall(b"%d:%s" % (len(message), message))
        _, _, error, result = self._receive()
        assert error is None, f"{name}: {error}"
        return result.get("value") if isinstance(result, dict) else result

    def _in_chrome(self, script: str, *arguments: object) -> Any:
        """What a script returns that may do what Firefox itself may."""
        self.command("Marionette:SetContext", value="chrome")
        try:
            return self.evaluate(script, *arguments)
        finally:
            self.command("Marionette:SetContext", value="content")

    def open(self, url: str, width: int, height: int, touch: bool) -> None:
        self._url = url
        self._in_chrome("Services.console.reset()")
        self.command(
            "WebDriver:SetWindowRect", width=max(width, 500), height=height + 200
        )  # with the window's own bars
        self._view = [width, height, touch]
        self.scheme("light")
        self.command("WebDriver:Navigate", url=url)

    def evaluate(self, script: str, *arguments: object) -> Any:
        return self.command("WebDriver:ExecuteScript", script=script, args=list(arguments))

    def _perform(self, source: dict[str, object], *actions: dict[str, object]) -> None:
        self.command("WebDriver:PerformActions", actions=[source | {"actions": actions}])

    def point(self, x: int, y: int) -> None:
        down, up = ({"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp"))
        source = {"type": "pointer", "id": self.way, "parameters": {"pointerType": self.way}}
        self._perform(source, {"type": "pointerMove", "x": x, "y": y}, down, up)

    def press(self, key: str) -> None:
        down, up = ({"type": kind, "value": KEYS.get(key, key)} for kind in ("keyDown", "keyUp"))
        self._perform({"type": "key", "id": "keyboard"}, down, up)

    def scheme(self, name: str) -> None:
        self._in_chrome(SET_VIEW, *self._view, name)

    def complaints(self) -> list[str]:
        return list(self._in_chrome(COMPLAINTS, self._url))

    def close(self) -> None:
        self._stream.close()
        self._socket.close()


def find_firefox() -> str | None:
    """Where a Firefox is installed, if there is one."""
    return next((path for name in FIREFOXES if (path := shutil.which(name))), None)


@contextmanager
def firefox(program: str) -> Iterator[Firefox]:
    """A Firefox without a window on the screen, with a new profile."""
    settings = {"marionette.port": 0, "ui.prefersReducedMotion": 1, "services.settings.server": "data:,"}
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        lines = (f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in settings.items())
        Path(profile, "user.js").write_text("".join(lines))
        command = [program, "--headless", "--marionette", "--remote-allow-system-access", "--profile", profile]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
            try:
                assert process.stdout is not None
                ports = (re.search(r"Listening on port (\d+)", line) for line in process.stdout)
                port = next((int(found[1]) for found in ports if found), None)
                assert port is not None, f"{program} ended before it listened"
                threading.Thread(target=process.stdout.read, daemon=True).start()  # a full pipe would stop it
                with closing(Firefox(port)) as hands:
                    yield hands
            finally:
                process.terminate()
