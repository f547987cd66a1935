"""Figures as the paper draws them: a line for each method, its mean with a bar of one standard error."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import pandas as pd

from .means import means
from .methods import METHODS
from .samples import DATASETS

# One look for each method in all figures; ours are the full lines.
STYLE: dict[str, dict[str, Any]] = {
    "kkm": {"color": "#8a8a8a", "linestyle": ":", "marker": None},
    "lsml": {"color": "#d9a900", "linestyle": "--", "marker": "^"},
    "itml": {"color": "#59a14f", "linestyle": "--", "marker": "v"},
    "skkm": {"color": "#b07aa1", "linestyle": "--", "marker": "D"},
    "sklr_paper": {"color": "#f28e2b", "linestyle": "-.", "marker": "s"},
    "ssklr_paper": {"color": "#8c5a3c", "linestyle": "-.", "marker": "x"},
    "sklr": {"color": "#e15759", "linestyle": "-", "marker": "o"},
    "ssklr": {"color": "#4e79a7", "linestyle": "-", "marker": "o"},
    "ssklr_2": {"color": "#76b7b2", "linestyle": "-", "marker": "o"},
    "ssklr_auto": {"color": "#000000", "linestyle": "-", "marker": "P"},
}


def grid(
    rows: pd.DataFrame,
    x: str,
    *,
    datasets: Sequence[str],
    columns: Sequence[tuple[str, pd.Series[bool]]],
    methods: Sequence[str],
    label: str,
) -> bytes:
    """A grid of panels, a row for each data set and a column for each setting.

    Parameters
    ----------
    rows : DataFrame
        Results.
    x : str
        The column along which the curves go.
    datasets : sequence of str
    columns : sequence of (str, mask)
        The heading of each column, and the results that belong into it.
    methods : sequence of str
        In the order of the legend.
    label : str
        What stands below the panels.

    Returns
    -------
    bytes
        An SVG file.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    # Text stays text, and equal figures are equal files.
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "oddkernel", "font.size": 9}):
        size = (1.0 + 3.1 * len(columns), 0.9 + 2.5 * len(datasets))
        figure = Figure(figsize=size, layout="constrained")
        panels = figure.subplots(len(datasets), len(columns), squeeze=False, sharex="col")
        for across, dataset in zip(panels, datasets, strict=True):
            for panel, (heading, mask) in zip(across, columns, strict=True):
                found = means(rows[mask & (rows["dataset"] == dataset)], ["method", x])
                for method in methods:
                    line = sorted((key[1], *mean[:2]) for key, mean in found.items() if key[0] == method)
                    if line:
                        panel.errorbar(
                            *zip(*line, strict=True), label=METHODS[method].title, markersize=4, linewidth=1.3,
                            capsize=2, **STYLE[method],
                        )  # fmt: skip
                panel.set_title(f"{DATASETS[dataset].title}{', ' * bool(heading)}{heading}", loc="left", fontsize=9)
                panel.grid(alpha=0.25)
                panel.spines[["top", "right"]].set_visible(False)
            across[0].set_ylabel("Adjusted Rand index")
        for panel in panels[-1]:
            panel.set_xlabel(label)
        known = {
            name: handle
            for panel in panels.flat
            for handle, name in zip(*panel.get_legend_handles_labels(), strict=True)
        }
        figure.legend(known.values(), known.keys(), loc="outside lower center", ncols=min(len(known), 4), frameon=False)
        file = io.BytesIO()
        figure.savefig(file, format="svg", metadata={"Date": None})
    return file.getvalue()
