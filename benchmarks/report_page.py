"""Size of the report's page, and its loading time in a browser: 2,000 items with pictures, 20,000 without.

    python benchmarks/report_page.py

Needs playwright and Chromium. Times are the browser's own, in milliseconds.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

from oddkernel import SKLR, Comparisons
from oddkernel.report import Report

TIMES = """async () => {
  const frame = () => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
  const timed = async (act) => {
    const start = performance.now();
    await act();
    return Math.round(10 * (performance.now() - start)) / 10;
  };
  const canvas = document.querySelector("#map-after canvas");
  const { left, top } = canvas.getBoundingClientRect();
  const pointer = new PointerEvent("pointermove", { clientX: left + 99, clientY: top + 99 });
  return {
    ready: Math.round(performance.getEntriesByType("navigation")[0].domComplete),
    hover: await timed(() => canvas.dispatchEvent(pointer)),
    zoom: await timed(() => { document.querySelector("#buttons-after button").click(); return frame(); }),
    search: await timed(() => {
      const field = document.getElementById("search");
      field.value = "row 19";
      field.dispatchEvent(new Event("input"));
      return frame();
    }),
    slider: await timed(() => {
      const slider = document.getElementById("k");
      slider.value = 1;
      slider.dispatchEvent(new Event("input"));
      return frame();
    }),
  };
}"""


def example(n: int, pictures: bool) -> Report:
    """Items of eight kinds; the pictures are coarse noise, which is harder to compress than photographs."""
    rng = np.random.default_rng(0)
    kind = np.arange(n) % 8
    X = rng.normal(size=(n, 8)) + 3 * np.eye(8)[kind]
    model = SKLR("linear", rank=None).fit(X[:1000], Comparisons.from_labels(kind[:1000], 200, random_state=0))
    images = rng.integers(0, 255, size=(n, 24, 24, 3), dtype=np.uint8).repeat(5, axis=1).repeat(5, axis=2)
    return Report(model, X, answers=model.comparisons_, clusters=[4, 8], map="pca", images=images if pictures else None)


def measure(browser: Any, report: Report, file: Path) -> dict[str, Any]:
    """The page's size, and the browser's times."""
    report.save(file)
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.goto(file.as_uri())
    page.wait_for_selector("body[data-ready]")
    return {"items": len(report.X), "megabytes": round(file.stat().st_size / 1e6, 1), **page.evaluate(TIMES)}


def main() -> None:
    """Measure both cases and print them as JSON lines."""
    chromium = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    with sync_playwright() as play, tempfile.TemporaryDirectory() as folder:
        browser = play.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for n, pictures in ((2_000, True), (20_000, False)):
            print(json.dumps(measure(browser, example(n, pictures), Path(folder, f"{n}.html"))))
        browser.close()


if __name__ == "__main__":
    main()
