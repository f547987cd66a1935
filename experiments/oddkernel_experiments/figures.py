"""Figures: a line for each method, its mean with an error bar of one standard error."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from .means import Mean, means
from .methods import METHODS

# The same style for a method in all figures; ours have solid lines.
STYLE: dict[str, dict[str, Any]] = {
    "kkm": {"color": "#8a8a8a", "linestyle": ":", "marker": None},
    "lsml": {"color": "#d9a900", "linestyle": "--", "marker": "^"},
    "itml": {"color": "#59a14f", "linestyle": "--", "marker": "v"},
    "skkm": {"color": "#b07aa1", "linestyle": "--", "marker": "D"},
    "sklr_paper": {"color": "#f28e2b", "linestyle": "-.", "marker": "s"},
    "ssklr_paper": {"color": "#8c5a3c", "linestyle": "-.", "marker": "x"},
    "sklr": {"color": "#e15759", "linestyle": "-", "marker": "o"},
    "ssklr": {"color": "#4e79a7", "linestyle": "-", "marker": "o"},
    "ssklr_10": {"color": "#2f9bd8", "linestyle": "-", "marker": "d"},
    "ssklr_2": {"color": "#76b7b2", "linestyle": "-", "marker": "o"},
    "ssklr_auto": {"color": "#5b5fd6", "linestyle": "-", "marker": "P"},
}

# Text stays text, and equal figures are equal files.
TEXT: Any = {"svg.fonttype": "none", "svg.hashsalt": "oddkernel", "font.size": 9}


def grid(
    rows: pd.DataFrame,
    x: str,
    panels: Sequence[Sequence[tuple[str, pd.Series[bool]]]],
    *,
    methods: Sequence[str],
    label: str,
) -> bytes:
    """Draw curves in rows and columns of panels.

    Parameters
    ----------
    rows : DataFrame
        Results.
    x : str
        The column of the horizontal axis.
    panels : sequence of sequences of (str, mask)
        For each row of the figure: the title of each panel, and a mask of its results.
    methods : sequence of str
        In the order of the legend.
    label : str
        Label of the horizontal axis.

    Returns
    -------
    bytes
        An SVG file.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context(TEXT):
        n_down, n_across = len(panels), len(panels[0])
        figure = Figure(figsize=(1.0 + 3.3 * n_across, 1.3 + 2.5 * n_down), layout="constrained")
        axes = figure.subplots(n_down, n_across, squeeze=False, sharex=True)
        for ax, (title, mask) in zip(axes.flat, (panel for across in panels for panel in across), strict=True):
            found = means(rows[mask], ["method", x])
            for method in methods:
                line = sorted((key[1], *mean[:2]) for key, mean in found.items() if key[0] == method)
                if line:
                    ax.errorbar(
                        *zip(*line, strict=True), label=METHODS[method].title, markersize=4, linewidth=1.3, capsize=2,
                        **STYLE[method],
                    )  # fmt: skip
            ax.set_title(title, loc="left", fontsize=9)
            ax.grid(alpha=0.25)
            ax.spines[["top", "right"]].set_visible(False)
        for ax in axes[:, 0]:
            ax.set_ylabel("Adjusted Rand index")
        for ax in axes[-1]:
            ax.set_xlabel(label)
        known = {name: handle for ax in axes.flat for handle, name in zip(*ax.get_legend_handles_labels(), strict=True)}
        figure.legend(known.values(), known.keys(), loc="outside lower center", ncols=n_across, frameon=False)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()


@dataclass(frozen=True)
class Curve:
    """Means over a horizontal axis, with the name and the style of their line."""

    name: str
    points: Sequence[tuple[int, Mean]]
    style: dict[str, Any]


@dataclass(frozen=True)
class Panel:
    """A part of a figure: some curves of one value."""

    title: str
    value: str
    curves: Sequence[Curve]


ACROSS = 3
"""Panels in a row."""


def panels(parts: Sequence[Panel], label: str) -> bytes:
    """Draw many curves in rows of panels with one legend; ``label`` is that of the horizontal axes.

    All error bars of a curve are one path, and coordinates have one decimal, so that the file stays small.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({**TEXT, "font.sans-serif": ["DejaVu Sans"]}):
        rows = -(-len(parts) // ACROSS)
        figure = Figure(figsize=(9.0, 0.6 + 2.4 * rows), layout="constrained")
        axes = figure.subplots(rows, ACROSS, squeeze=False)
        for ax in axes.flat[len(parts) :]:
            ax.set_axis_off()
        legend: dict[str, Any] = {}
        for ax, part in zip(axes.flat, parts, strict=False):
            for curve in part.curves:
                x, y, error = zip(*((x, mean.mean, mean.error) for x, mean in curve.points), strict=True)
                legend[curve.name] = ax.plot(x, y, **curve.style)[0]
                bars = [(x, y + side * e) for x, y, e in zip(x, y, error, strict=True) for side in (-1, 1, np.nan)]
                ax.plot(*zip(*bars, strict=True), **{**curve.style, "linestyle": "-", "linewidth": 0.8})
            ax.set_title(part.title, loc="left", fontsize=9)
            ax.set(xlabel=label, ylabel=part.value)
            ax.grid(alpha=0.25)
            ax.spines[["top", "right"]].set_visible(False)
        figure.legend(legend.values(), legend.keys(), loc="outside lower center", ncols=4, frameon=False)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    return re.sub(rb"(?<=\d\.\d)\d+(?=[ \")\n])", b"", file.getvalue())
