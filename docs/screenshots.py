"""Take the pictures of the report that the documentation shows.

    ODDKERNEL_DATA=... python docs/screenshots.py

Needs playwright and Chromium, and for the cars the folder that ODDKERNEL_DATA names (see examples/plot_cars.py).
"""

from __future__ import annotations

import os
import runpy
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_digits

from oddkernel import SKLR, Comparisons
from oddkernel.report import Report

HERE = Path(__file__).parent
OUT = HERE / "_static" / "report"


def digits() -> Report:
    """The demo's images, with a few slips and some "can't tell" among the answers."""
    images = load_digits()
    said = Comparisons.from_labels(images.target, 300, undecided=30, noise=0.05, random_state=0)
    model = SKLR(penalty=0.3).fit(images.data, said)
    ink = (255 - 15 * images.images).astype(np.uint8)
    return Report(model, images.data, images=ink, classes=images.target)


def cars() -> Report:
    """The report of the gallery's page on cars."""
    if "ODDKERNEL_DATA" not in os.environ:
        raise SystemExit("set ODDKERNEL_DATA to a folder with cars60_survey.csv and cars60_images")
    report: Report = runpy.run_path(str(HERE.parent / "examples" / "plot_cars.py"))["report"]
    return report


def take(browser: Any, report: Report, shots: dict[str, tuple[str, Callable[[Any], None]]], **options: Any) -> None:
    """Open a report and take pictures: for each name, the part to show and what to do first."""
    with tempfile.TemporaryDirectory() as folder:
        file = report.save(Path(folder, "report.html"))
        page = browser.new_page(viewport={"width": 1280, "height": 860}, reduced_motion="reduce", **options)
        page.goto(file.as_uri())
        page.wait_for_selector("body[data-ready]")
        for name, (part, act) in shots.items():
            act(page)
            page.evaluate("part => document.getElementById(part).scrollIntoView()", part)
            page.wait_for_timeout(400)
            page.screenshot(path=OUT / f"{name}.png")
        page.close()


def nothing(_: Any) -> None:
    """Show the page as it opens."""


def main() -> None:
    """Take them all."""
    OUT.mkdir(parents=True, exist_ok=True)
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        shots = {"map": ("map", nothing), "clusters": ("clusters", nothing)}
        take(browser, digits(), {**shots, "answers": ("answers", lambda page: page.click("#tab-surprising"))})

        def pick(page: Any) -> None:
            page.fill("#pick", "car 48")
            page.keyboard.press("Enter")

        take(browser, cars(), {"neighbours": ("neighbours", pick)}, color_scheme="dark")
        browser.close()


if __name__ == "__main__":
    main()
