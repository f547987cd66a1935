"""Take the pictures of the report that the documentation shows.

    ODDKERNEL_DATA=... python docs/screenshots.py

Needs playwright and Chromium, and for the cars the folder that ODDKERNEL_DATA names (see examples/plot_cars.py).
"""

from __future__ import annotations

import io
import os
import runpy
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image
from playwright.sync_api import sync_playwright
from sklearn.datasets import load_digits

from oddkernel import SKLR, Comparisons
from oddkernel.report import Report

HERE = Path(__file__).parent
OUT = HERE / "_static" / "report"


def digits() -> Report:
    """Twelve simulated people, with a few slips and some "can't tell"; every tenth question is put to a second one."""
    images = load_digits()
    said = Comparisons.from_labels(images.target, 300, undecided=30, noise=0.05, random_state=0)
    shown, odd = np.vstack([said.shown, said.shown[:300:10]]), np.concatenate([said.odd, said.odd[:300:10]])
    odd[330::6] = (odd[330::6] + 1) % 3  # some of them disagree
    said = Comparisons.odd_one_out(shown, odd, rater=[f"person {row % 12 + 1}" for row in range(len(shown))])
    ink = (255 - 15 * images.images).astype(np.uint8)
    return Report(
        SKLR().fit(images.data, said), images.data, images=ink, classes=images.target, title="Handwritten digits"
    )


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
            small(page.screenshot()).save(OUT / f"{name}.png", optimize=True)
        page.close()


def small(png: bytes) -> Image.Image:
    """A screenshot in 256 colours, which makes a smaller file."""
    return Image.open(io.BytesIO(png)).convert("RGB").quantize(256, dither=Image.Dither.NONE)


def nothing(_: Any) -> None:
    """Show the page as it opens."""


def main() -> None:
    """Take them all."""
    OUT.mkdir(parents=True, exist_ok=True)
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        shots = {"first": ("title", nothing), "map": ("map", nothing), "clusters": ("clusters", nothing)}
        take(browser, digits(), {**shots, "answers": ("answers", lambda page: page.click("#tab-surprising"))})

        def pick(page: Any) -> None:
            page.fill("#pick", "car 48")
            page.keyboard.press("Enter")

        take(browser, cars(), {"items": ("neighbour-view", pick)}, color_scheme="dark")
        browser.close()


if __name__ == "__main__":
    main()
