"""The report's pictures as files, for papers and slides."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from importlib.util import find_spec
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .colours import colour_of
from .resolutions import flows, spectrum

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from .report import Report

NAMED = 30  # most groups with a label on a map, chosen by hand: more labels would cover it
ACCENT, SOFT, LINE = "#3b4cb8", "#8a919c", "#e4e0d8"  # like the page's colours in report.css


def require_matplotlib() -> None:
    """Raise an ImportError that says what to install, unless pictures can be drawn."""
    if find_spec("matplotlib") is None:
        raise ImportError('pictures need matplotlib: pip install "oddkernel[report]"')


def draw_figures(report: Report, formats: Sequence[str]) -> Iterator[tuple[str, bytes]]:
    """The name and the content of every picture in every format."""
    require_matplotlib()
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    # A fixed salt makes the files of equal reports equal. Text stays text.
    with rc_context({"svg.hashsalt": "oddkernel", "svg.fonttype": "none"}):
        for name, (size, draw) in FIGURES.items():
            # Not pyplot, which keeps global state in the caller's session and may open windows.
            figure = Figure(figsize=size, layout="constrained", dpi=150)
            if not draw(figure, report):
                continue
            for kind in formats:
                file = io.BytesIO()
                figure.savefig(file, format=kind, metadata={"Date": None} if kind == "svg" else None)
                yield f"{name}.{kind}", file.getvalue()


def _maps(figure: Figure, report: Report) -> bool:
    """Coloured by class where that is known, otherwise by cluster."""
    if report.classes is None:
        return _cluster_maps(figure, report)
    names, of = np.unique(report.classes, return_inverse=True)
    _draw_maps(figure, report, of.ravel(), [str(name) for name in names])
    return True


def _cluster_maps(figure: Figure, report: Report) -> bool:
    level = report.resolutions[report.resolutions.suggestion.k]
    _draw_maps(figure, report, level.labels, [str(cluster + 1) for cluster in range(level.k)])
    return True


def _draw_maps(figure: Figure, report: Report, of: NDArray[Any], names: list[str]) -> None:
    from matplotlib.patheffects import withStroke

    panels = figure.subplots(1, 2)
    size = float(np.clip(6000 / len(of), 2, 30))
    after = f"After {len(report.answers)} answers"
    for panel, flat, title in zip(panels, (report.maps.before, report.maps.after), ("Before", after), strict=True):
        colours = [colour_of(group) for group in of]
        panel.scatter(*flat.T, s=size, c=colours, linewidths=0, alpha=0.85, rasterized=len(of) > 5000)
        for group in np.unique(of)[:NAMED]:
            x, y = np.median(flat[of == group], axis=0)
            label = panel.text(x, y, names[group], fontsize=11, weight="bold", ha="center", va="center")
            label.set_parse_math(False)  # a dollar sign in a name doesn't start a formula
            label.set_path_effects([withStroke(linewidth=3, foreground="white")])
        panel.set_title(title, loc="left")
        panel.set(xticks=[], yticks=[], aspect="equal", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
        panel.spines[:].set_visible(False)


def _alluvial(figure: Figure, report: Report) -> bool:
    from matplotlib.patches import PathPatch, Rectangle
    from matplotlib.path import Path

    levels = report.resolutions.levels
    panel = figure.subplots()
    n, bar, gap = len(report.X), 0.12, 0.012
    tops = []
    for x, level in enumerate(levels):
        sizes = np.bincount(level.labels, minlength=level.k) * (1 - gap * (level.k - 1)) / n
        top, y = np.empty(level.k), 0.0
        for cluster in level.order:
            top[cluster] = y
            panel.add_patch(Rectangle((x, y), bar, sizes[cluster], color=colour_of(cluster), linewidth=0))
            y += sizes[cluster] + gap
        tops.append(top)
    for x, (coarse, fine) in enumerate(pairwise(levels)):
        counts = flows(coarse.labels, fine.labels)
        start, end = tops[x].copy(), tops[x + 1].copy()
        scales = [(1 - gap * (level.k - 1)) / n for level in (coarse, fine)]
        left, right, middle = x + bar, x + 1, x + (1 + bar) / 2
        for a in coarse.order:
            for b in fine.order:
                if not counts[a, b]:
                    continue
                y0, y1, h0, h1 = start[a], end[b], counts[a, b] * scales[0], counts[a, b] * scales[1]
                start[a] += h0
                end[b] += h1
                corners = [(left, y0), (middle, y0), (middle, y1), (right, y1)]
                back = [(right, y1 + h1), (middle, y1 + h1), (middle, y0 + h0), (left, y0 + h0), (left, y0)]
                codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
                ribbon = Path([*corners, *back], codes)
                panel.add_patch(PathPatch(ribbon, facecolor=colour_of(b), alpha=0.28, linewidth=0))
    panel.set(xlim=(-0.1, len(levels) - 1 + bar + 0.1), ylim=(1.02, -0.02), yticks=[], xlabel="number of clusters")
    panel.set_xticks([x + bar / 2 for x in range(len(levels))], [str(level.k) for level in levels])
    panel.spines[:].set_visible(False)
    panel.tick_params(length=0)
    return True


def _stability(figure: Figure, report: Report) -> bool:
    levels = report.resolutions.levels
    panel = _plain(figure, "number of clusters", "stability (Adjusted Rand)")
    colours = [ACCENT if level.k == report.resolutions.suggestion.k else "#cfccc5" for level in levels]
    panel.bar([str(level.k) for level in levels], [level.stability for level in levels], color=colours)
    panel.set_ylim(0, 1.05)
    return True


def _spectrum(figure: Figure, report: Report) -> bool:
    panel = _plain(figure, "direction", "eigenvalue of the centred kernel")
    before, after = (spectrum(points)[:40] for points in report._coordinates)
    panel.semilogy(before, "--", color=SOFT, label="before")
    panel.semilogy(after, color=ACCENT, label="after")
    panel.legend(frameon=False)
    return True


def _convergence(figure: Figure, report: Report) -> bool:
    residual = np.asarray(report.model.solution_.history.get("residual", []), dtype=float)
    if not (residual > 0).any() or len(residual) < 2:
        return False
    panel = _plain(figure, "pass", "residual")
    panel.semilogy(np.arange(len(residual))[residual > 0], residual[residual > 0], color=ACCENT)
    return True


def _answers(figure: Figure, report: Report) -> bool:
    verdicts = report.verdicts
    known = ~np.isnan(verdicts.after)
    if not known.any():
        return False
    panel = _plain(figure, "probability of the answer under the model", "decided answers")
    agrees = verdicts.after >= 0.5
    groups = [verdicts.probability[known & agrees], verdicts.probability[known & ~agrees]]
    panel.hist(groups, bins=20, range=(0, 1), stacked=True, color=[ACCENT, "#d98324"], label=["agrees", "disagrees"])
    panel.legend(frameon=False)
    return True


def _plain(figure: Figure, x: str, y: str) -> Axes:
    panel = figure.subplots()
    panel.set(xlabel=x, ylabel=y)
    panel.spines[["top", "right"]].set_visible(False)
    panel.set_axisbelow(True)
    panel.grid(axis="y", color=LINE)
    return panel


FIGURES: dict[str, tuple[tuple[float, float], Callable[[Figure, Report], bool]]] = {
    "maps": ((9, 4.8), _maps),
    "maps_by_cluster": ((9, 4.8), _cluster_maps),
    "clusters": ((9, 4.5), _alluvial),
    "stability": ((5, 3.2), _stability),
    "answers": ((5, 3.2), _answers),
    "spectrum": ((5, 3.2), _spectrum),
    "convergence": ((5, 3.2), _convergence),
}
"""Every picture: its size in inches, and the function that draws it and returns whether there was anything to draw."""
