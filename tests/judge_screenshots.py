"""Makes the screenshots of docs/judge.md: python tests/judge_screenshots.py FOLDER_OF_PHOTOS [docs/_static/judge]

Those in the documentation show the 60 photographs of cars of Kleindessner and von Luxburg, which are in the public
domain; twelve simulated people answered by the colours in them.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from judge_browser import Participant, launch, serving
from PIL import Image
from playwright.sync_api import Browser, Page, sync_playwright

from oddkernel.judge.server import Server
from oddkernel.judge.simulate import Crowd, by_features

SETTINGS = """\
title = "Sixty cars"
consent = \"\"\"
This study asks how people see cars. It takes about ten minutes.

We store your answers and how long each took, and nothing else about you. You may stop at any time.\"\"\"
questions = 60
practice = 0
completion_code = "CAR-4821"

[[catch]]
items = ["1.jpg", "2.jpg", "3.jpg"]
odd = "3.jpg"
"""

SIZE = {"width": 1200, "height": 750}
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 760}, "is_mobile": True, "has_touch": True}


def make(browser: Browser, server: Server, out: Path) -> None:
    def page(path: str, **options: Any) -> Page:
        opened = browser.new_context(**{"viewport": SIZE, "reduced_motion": "reduce"} | options).new_page()
        opened.goto(path)
        return opened

    def shoot(page: Page, name: str, **options: Any) -> None:
        page.screenshot(path=out / f"{name}.jpg", type="jpeg", quality=85, **options)

    def asked(page: Page) -> Participant:
        person = Participant(page)
        person.button("I agree and take part").click()
        id = person.begin()
        for key in "2131":
            id = person.press(key, id)
        page.mouse.move(0, 0)
        return person

    shoot(asked(page(server.url)).page, "question")
    shoot(asked(page(server.url, device_scale_factor=2, color_scheme="dark", **PHONE)).page, "phone")
    watch = page(server.experimenter_url)
    watch.locator(".thumbnail").first.wait_for(timeout=120_000)
    watch.wait_for_timeout(3000)  # SVG doesn't tell when its pictures are loaded
    shoot(watch, "experimenter", full_page=True)


def main(photos: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        study = Path(folder, "cars")
        shutil.copytree(photos, study, ignore=lambda _, names: [name for name in names if not name.endswith(".jpg")])
        (study / "study.toml").write_text(SETTINGS)
        with serving(study) as server:
            judge = server.app.state.judge
            colours = [np.asarray(Image.open(study / name).convert("HSV").resize((3, 2))) for name in judge.study.names]
            X = np.stack(colours).reshape(len(colours), -1).astype(float)
            crowd = Crowd(server.url, judge.study, judge.keys, by_features(X, noise=0.1))
            crowd.answer(8, 60)
            crowd.answer(4, 25, prefix="simulated late")
            make(launch(playwright), server, out)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2] if len(sys.argv) > 2 else "docs/_static/judge"))
