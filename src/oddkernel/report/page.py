"""The report as one HTML file: the results as JSON, shown by static scripts."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import asdict
from html import escape
from importlib.resources import files
from itertools import pairwise
from string import Template
from typing import TYPE_CHECKING, Any

import numpy as np

from ..comparisons import Comparisons, Kind
from ..kernels import Identity
from ..support.types import Array, Indices
from .colours import PALETTE, RAMP
from .opening import initially
from .resolutions import flows, spectrum

if TYPE_CHECKING:
    from .report import Report
    from .verdicts import Verdicts


SCRIPTS = (
    "base.js",
    "charts.js",
    "ink.js",
    "saving.js",
    "map.js",
    "maps.js",
    "clusters.js",
    "dimensions.js",
    "neighbours.js",
    "answers.js",
    "said.js",
    "fit.js",
    "main.js",
)
SHOWN = 60  # answers in each list; chosen by hand
HELD = 100_000  # answers in the page; chosen by hand: 25 bytes each, in base64, are 3.3 MB
EIGENVALUES = 40  # eigenvalues in the chart; chosen by hand
ROUNDING = 1e-6  # slack below this is no violation: it is the solver's default tolerance
# Shares from 0 to 1 as 16-bit integers: finer than any screen. Derived: the largest such integer.
STEPS = 65535
# In 16-bit integers of spreads and probabilities: hundredths of a ratio, and what stands for NaN in both.
HUNDREDTHS, UNKNOWN = 100, 65535


def page(report: Report) -> str:
    """The whole page.

    Names, texts and other data never become markup: they are in a block of JSON in which ``<``, ``>`` and ``&`` are
    escaped, and the scripts insert them as text. A content security policy allows only the page's own scripts and
    styles, by their hashes.
    """
    style = _static("report.css")
    script = "\n".join(['"use strict";', *map(_static, SCRIPTS)])
    policy = (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data: blob:; "
        f"style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    )
    html = Template(_static("report.html")).substitute(
        title=escape(_title(report)), policy=escape(policy), style=style, script=script, data=_json(payload(report))
    )
    # Half a surrogate pair in a text or a class, which UTF-8 can't hold, becomes a question mark.
    return html.encode(errors="replace").decode()


def notebook_frame(html: str) -> str:
    """The page in a sandboxed frame, separate from a notebook's own scripts and styles."""
    return (
        '<iframe title="oddkernel report" sandbox="allow-scripts allow-downloads" loading="lazy" '
        f'style="width:100%;height:52rem;border:1px solid #8884;border-radius:8px" srcdoc="{escape(html)}"></iframe>'
    )


def payload(report: Report) -> dict[str, Any]:
    """Everything that the page shows."""
    return {
        "title": report.title or "",
        "opening": asdict(report.opening),
        "before": initially(report.model),
        "blank": isinstance(report.model.kernel_, Identity),
        "palette": PALETTE,
        "ramp": RAMP,
        "n": len(report.X),
        "names": report.names,
        "texts": report.texts,
        "classes": _classes(report),
        "judged": _compact(np.bincount(report.answers.shown[report.answers.shown >= 0], minlength=len(report.X))),
        "thumbnails": _thumbnails(report),
        "maps": {
            "method": report.maps.method,
            "local": report.maps.local,
            "before": _compact(np.round(report.maps.before * STEPS).astype(np.uint16)),
            "after": _compact(np.round(report.maps.after * STEPS).astype(np.uint16)),
        },
        "clusters": _clusters(report),
        "dimensions": _dimensions(report),
        "neighbours": {
            "count": report.neighbours.after.shape[1],
            "before": _compact(report.neighbours.before),
            "after": _compact(report.neighbours.after),
            "kept": _compact(report.neighbours.kept),
        },
        "answers": _answers(report),
        "fit": _fit(report),
    }


def _title(report: Report) -> str:
    return report.title or report.opening.headline


def _classes(report: Report) -> dict[str, Any] | None:
    if report.classes is None:
        return None
    names, of = np.unique(report.classes, return_inverse=True)
    return {"names": [str(name) for name in names.tolist()], "of": _compact(of)}


def _thumbnails(report: Report) -> dict[str, Any] | None:
    small = report.thumbnails
    if small is None:
        return None
    sheets = [base64.b64encode(sheet).decode() for sheet in small.sheets]
    return {"side": small.side, "columns": small.columns, "exact": small.exact, "sheets": sheets}


def _clusters(report: Report) -> dict[str, Any]:
    levels = report.resolutions.levels
    return {
        "levels": [
            {
                "k": level.k,
                "labels": _compact(level.labels),
                "order": level.order.tolist(),
                "sizes": np.bincount(level.labels, minlength=level.k).tolist(),
                "typical": [members.tolist() for members in level.typical],
                "odd": [members.tolist() for members in level.odd],
                "stability": round(level.stability, 3),
            }
            for level in levels
        ],
        "flows": [flows(coarse.labels, fine.labels).tolist() for coarse, fine in pairwise(levels)],
        "suggestion": {"k": report.resolutions.suggestion.k, "reason": report.resolutions.suggestion.reason},
    }


def _dimensions(report: Report) -> dict[str, Any] | None:
    found, loadings = report.dimensions, report.loadings
    if found is None or loadings is None:
        return None
    unit = float(loadings.max(initial=0.0)) / STEPS or 1.0
    return {
        "names": list(found.names_),
        "weight": np.round(found.weight_, 6).tolist(),
        "error": np.round(found.weight_error_, 6).tolist(),
        "reproducibility": np.round(found.reproducibility_, 3).tolist(),
        "sure": found.reproducible_.tolist(),
        "unit": unit,
        "loadings": _compact(np.round(loadings / unit).astype(np.uint16)),
    }


def _answers(report: Report) -> dict[str, Any]:
    verdicts = report.verdicts
    lists = {
        "influential": verdicts.influential(),
        "surprising": verdicts.surprising(),
        "disagree": verdicts.disagreeing(),
        "agree": verdicts.agreeing(),
        "undecided": verdicts.undecided(),
        "conflicts": np.concatenate([np.empty(0, dtype=np.intp), *verdicts.conflicts]),
    }
    said = verdicts.said
    rows = np.arange(len(said))
    if len(said) > HELD:
        listed = [found[:SHOWN] for found in lists.values()]
        rows = np.unique(np.concatenate([*listed, verdicts.surprising()[:HELD]]))
    known = ~np.isnan(verdicts.after)
    return {
        "total": len(said),
        "held": len(rows),
        "decided": int(known.sum()),
        "links": int(np.count_nonzero(said.links)),
        "agreement": verdicts.agreement(),
        "learned": bool(len(report.model.comparisons_)) and report.model.penalty_ > 0,
        "learned_from": verdicts.influence is not None,
        "counts": {name: len(found) for name, found in lists.items()},
        "lists": {name: np.searchsorted(rows, found[:SHOWN]).tolist() for name, found in lists.items()},
        "spread": {
            group: [_typical(spread[mask]) for spread in (verdicts.spread_before, verdicts.spread_after)]
            for group, mask in (("undecided", said.undecided), ("decided", known))
        },
        "probabilities": np.histogram(verdicts.probability[known], bins=10, range=(0, 1))[0].tolist(),
        "kinds": [Kind(number).name.lower() for number in range(len(Kind))],
        "raters": [] if said.rater is None else np.unique(said.rater[rows]).tolist(),
        "columns": {name: _compact(column) for name, column in _columns(verdicts, rows, len(report.X)).items()},
    }


def _columns(verdicts: Verdicts, rows: Indices, n_items: int) -> dict[str, Array]:
    """The answers in these rows, column by column, as non-negative integers."""
    said: Comparisons = verdicts.said[rows]
    columns: dict[str, Array] = {
        "row": rows,
        "kind": said.kind,
        "shown": np.where(said.shown < 0, n_items, said.shown),
        "odd": said.odd + 1,
        "pick": verdicts.pick[rows] + 1,
        # Shares are 0, 1/3, 1/2 or 1: sixths are exact.
        "before": _whole(6 * verdicts.before[rows], 255),
        "after": _whole(6 * verdicts.after[rows], 255),
        "probability": _whole((STEPS - 1) * verdicts.probability[rows], UNKNOWN),
        "spread_before": _whole(HUNDREDTHS * verdicts.spread_before[rows], UNKNOWN),
        "spread_after": _whole(HUNDREDTHS * verdicts.spread_after[rows], UNKNOWN),
    }
    if said.rater is not None:
        columns["rater"] = np.unique(said.rater, return_inverse=True)[1]
    if verdicts.influence is not None:
        largest = float(verdicts.influence.max(initial=0.0)) or 1.0
        columns["influence"] = _whole((STEPS - 1) * verdicts.influence[rows] / largest, UNKNOWN)
    return columns


def _whole(values: Array, unknown: int) -> Array:
    """Rounded, at most ``unknown − 1``, and ``unknown`` in place of NaN."""
    return np.where(np.isnan(values), unknown, np.round(np.minimum(values, unknown - 1))).astype(np.int64)


def _fit(report: Report) -> dict[str, Any]:
    model, held_out = report.model, report.held_out
    solution = model.solution_
    before, after = (spectrum(points) for points in report._coordinates)
    # By how much each condition fails; an equality may fail on either side.
    failing = np.maximum(np.where(model.fit_.rows.equality, np.abs(solution.slack), solution.slack), 0.0)
    settings = {name: _word(value) for name, value in model.get_params(deep=False).items()}
    return {
        "notes": [vars(note) for note in report.notes],
        "held_out": None
        if held_out is None
        else {
            "before": held_out.before,
            "after": held_out.after,
            "interval": held_out.interval,
            "n": held_out.n_answers,
            "how": held_out.how,
            "undecided": held_out.n_undecided,
            "links": held_out.n_links,
        },
        "numbers": {
            "status": str(solution.status),
            "passes": solution.n_iter,
            "residual": _rounded(solution.residual, None),
            "gap": _rounded(solution.gap, None),
            "divergence": _rounded(solution.divergence, 4),
            "rank": model.features_.rank,
            "full_rank": model.features_.full_rank,
            "share": _rounded(model.features_.share, 4),
            "rows": len(solution.slack),
            "active": int(np.count_nonzero(solution.multipliers)),
            "violated": int(np.count_nonzero(failing > ROUNDING * max(1.0, float(failing.max(initial=0.0))))),
            "slack": _rounded(float(failing.max(initial=0.0))),
        },
        "history": {
            name: [_rounded(value, None) for value in solution.history[name]]
            for name in ("residual", "divergence")
            if name in solution.history
        },
        "spectrum": {
            "before": [_rounded(value, None) for value in before[:EIGENVALUES]],
            "after": [_rounded(value, None) for value in after[:EIGENVALUES]],
        },
        "settings": settings | {"loss_": model.loss_, "ratio_": _word(model.ratio_), "penalty_": _word(model.penalty_)},
    }


def _word(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def _typical(values: Array) -> float | None:
    return _rounded(np.median(values), 3) if len(values) else None


def _rounded(value: float, digits: int | None = 4) -> float | None:
    """A rounded number, or None if JSON can't represent it. Without ``digits``: four significant digits."""
    if not np.isfinite(value):
        return None
    return float(f"{value:.4g}") if digits is None else round(float(value), digits)


def _compact(numbers: Array) -> dict[str, str]:
    """Non-negative integers as the bytes of JavaScript's smallest typed array that holds them."""
    largest = int(numbers.max(initial=0))
    size = 8 if largest < 2**8 else 16 if largest < 2**16 else 32
    data = np.ascontiguousarray(numbers, dtype=f"<u{size // 8}").tobytes()
    return {"array": f"Uint{size}Array", "bytes": base64.b64encode(data).decode()}


def _json(data: Any) -> str:
    text = json.dumps(data, allow_nan=False, ensure_ascii=False, separators=(",", ":"))
    # These characters occur only inside JSON strings, where the escape means the same character.
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _static(name: str) -> str:
    return files(__package__).joinpath("static", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
