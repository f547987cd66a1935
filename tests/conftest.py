"""Ctrl-C and tiers for all tests, and fixtures of those in a browser, which start nothing unless asked for."""

from __future__ import annotations

import gc
import inspect
import os
import signal
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from properties import NEW, QUICK

if TYPE_CHECKING:
    from judge_browser import Serve, Visit
    from playwright.sync_api import Browser, Page

    from oddkernel.judge.server import Server


# Tests that a shell starts in the background ignore Ctrl-C, and so would the programs that they start to interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# On a busy machine an example takes as long as it takes, and so does drawing it. Examples are the same in every run, so
# that what passes here passes elsewhere, and a user's first `make test` isn't the one that meets a new one.
settings.register_profile(
    "any machine", deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("quick", settings.get_profile("any machine"), max_examples=QUICK)
settings.register_profile("new", settings.get_profile("any machine"), derandomize=False, max_examples=NEW)
settings.load_profile("any machine")

# What tests write need not survive a power cut: waiting for the disk takes several milliseconds a file.
os.fsync = lambda descriptor: None

# Fixtures and functions that start a server, a browser or another program.
STARTED = {"browser", "cluster"}
STARTING = {"running", "serving", "subprocess", "LearningProcess"}


def is_quick(config: pytest.Config) -> bool:
    """Whether this is `make quick`."""
    return bool(config.option.markexpr == "not slow")


def pytest_configure(config: pytest.Config) -> None:
    """Let Hypothesis draw few examples for the inner loop."""
    if is_quick(config):
        settings.load_profile("quick")


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Workers for ``-n auto``: one for each core, and one more for tests that wait for servers and browsers."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return cores + (not is_quick(config))


def starts(item: pytest.Item) -> bool:
    """Whether a test, or a fixture of it, starts something by one of these names."""
    if STARTED & set(getattr(item, "fixturenames", ())):
        return True
    fixtures = getattr(item, "_fixtureinfo", None)
    functions = [each.func for defined in (fixtures.name2fixturedefs.values() if fixtures else ()) for each in defined]
    functions = [inspect.unwrap(each) for each in (getattr(item, "function", None), *functions) if callable(each)]
    return any(STARTING & set(each.__code__.co_names) for each in functions if inspect.isfunction(each))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests as slow that start something, and put slow ones first.

    A long test that starts last keeps one worker busy while the others have nothing left to do.
    """
    for item in items:
        if starts(item):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: item.get_closest_marker("slow") is None)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, Any, Any]:
    """Exclude from garbage collection what lives to the end: half a million objects of modules and collected tests.

    Each of the several hundred servers that tests start would go through them, for 0.3 s.
    """
    gc.disable()  # hardly anything is garbage yet
    try:
        return (yield)
    finally:
        gc.enable()
        gc.collect()
        gc.freeze()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium; tests that need it are skipped where there is none."""
    from judge_browser import find_chromium, launch
    from playwright.sync_api import sync_playwright

    if find_chromium() is None:
        pytest.skip("tests in a browser need Chromium (Debian's package chromium)")
    with sync_playwright() as playwright:
        browser = launch(playwright)
        yield browser
        browser.close()


@pytest.fixture
def shapes(tmp_path: Path) -> Path:
    """A study of eight drawings with twelve questions."""
    from judge_browser import write_settings

    folder = tmp_path / "shapes"
    folder.mkdir()
    for number in range(8):
        shape = f'<rect x="20" y="20" width="60" height="60" rx="{4 * number}" fill="hsl({45 * number} 60% 50%)"/>'
        drawing = f'<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100">{shape}</svg>'
        (folder / f"shape {number}.svg").write_text(drawing)
    write_settings(folder, questions=12, practice=0)
    return folder


@pytest.fixture
def serve(browser: Browser) -> Iterator[Serve]:
    """Starts the server of a study."""
    from judge_browser import serving

    with ExitStack() as servers:
        yield lambda study: servers.enter_context(serving(study))


@pytest.fixture
def served(shapes: Path, serve: Serve) -> Server:
    """The server of the drawings."""
    return serve(shapes)


@pytest.fixture
def visit(browser: Browser, serve: Serve) -> Iterator[Visit]:
    """Opens a page in a browser of its own; fails if it complains or talks to anybody else."""
    from judge_browser import PATIENCE, Watch

    watches = []
    with ExitStack() as contexts:

        def visit(server: Server, path: str = "", expected: tuple[str, ...] = (), **options: Any) -> Page:
            context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}} | options)
            contexts.callback(context.close)
            context.set_default_timeout(1000 * PATIENCE)
            watches.append(Watch(context, server.url, expected))
            page = context.new_page()
            page.goto(server.url + path)
            return page

        yield visit
    assert [problem for watch in watches for problem in watch.problems] == []
