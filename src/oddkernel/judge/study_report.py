"""The report of a study: the same from the command line and from the experimenter's page."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..comparisons import Comparisons
from ..items.sources import Source
from ..support.files import replace
from .item_features import source_of

if TYPE_CHECKING:  # the server only shows reports; and study_data needs the packages of a database, some reports none
    from ..learning.sklr import SKLR
    from ..report import Report
    from .study_data import StudyData

REPORT_FILE = "report.html"
DIMENSIONS_FILE = "dimensions.oddkernel"
"""Where a study keeps its dimensions and their names."""

PARTS = {
    "maps": "drawing the maps",
    "resolutions": "finding clusters at several resolutions",
    "neighbours": "finding neighbours",
    "held_out": "scoring answers that were held out",
    "thumbnails": "shrinking the images",
}
"""The parts of a report that take long, with what to say meanwhile."""


def report_of(data: StudyData, model: SKLR, **options: Any) -> Report:
    """The report of a study; options are those of `Report`, and overrule what the study says."""
    from ..dimensions import load
    from ..report import Report

    items = data.features.items
    study = data.study
    n_all = len(data.said) + len(data.held_out)
    title = study.name + simulated_mark(data.n_simulated, n_all)
    usual: dict[str, Any] = {"names": items.names, "title": title, "question": study.settings.question}
    if is_decided(data.held_out):
        usual["held_out"] = data.held_out
    kept = study.home / DIMENSIONS_FILE
    if kept.is_file() and (dimensions := load(kept)).n_features_in_ == items.X.shape[1]:
        usual["dimensions"] = dimensions
    usual |= looks_of(source_of(study.items), items.names or ())
    return Report(model, items.X, **{**usual, **options})


def simulated_mark(n_simulated: int, n_answers: int) -> str:
    """What a report's title ends with if some of the answers are of simulated people."""
    return f" ({n_simulated} of {n_answers} answers simulated)" if n_simulated else ""


def save_report(report: Report, out: Path) -> None:
    """Write the report of a study for its owner's eyes, as it shows people's answers."""
    replace(out, report.html().encode(), private=True)


def looks_of(source: Source | None, names: tuple[str, ...]) -> dict[str, Any]:
    """The images or texts of these items, as `Report` takes them."""
    if source is None:
        return {}
    part = source.only(set(names))
    if source.kind == "text":
        return {"texts": part.texts}
    return {"images": list(part.paths)} if find_spec("PIL") else {}


def is_decided(said: Comparisons) -> bool:
    """Whether any of the answers names one of its items."""
    return bool(len(said)) and bool(said.decided.any())


def work_out(report: Report, tell: Callable[[str], None]) -> None:
    """Compute the parts of a report that take long, saying which."""
    for part, words in PARTS.items():
        tell(words)
        getattr(report, part)
