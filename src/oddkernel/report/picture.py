"""The same items before and after learning, as a picture."""

from __future__ import annotations

import io
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..support.types import Array
from .colours import colour_of


def before_after(maps: Sequence[Array], titles: Sequence[str], groups: NDArray[np.intp], legend: str) -> bytes:
    """Draw maps of the same items side by side, one colour for each group.

    Parameters
    ----------
    maps : sequence of ndarray of shape (n, 2)
        Items in the plane, one array for each panel.
    titles : sequence of str
        What each panel shows.
    groups : ndarray of shape (n,)
        Group of each item, from 0.
    legend : str
        What the groups are.

    Returns
    -------
    bytes
        A PNG file.

    Examples
    --------
    >>> import numpy as np
    >>> flat = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    >>> before_after([flat, flat], ["Before", "After"], np.array([0, 0, 1]), "kind")[1:4]
    b'PNG'
    """
    # Not pyplot, which keeps global state in the caller's session and may open windows.
    from matplotlib.figure import Figure
    from matplotlib.patheffects import withStroke

    figure = Figure(figsize=(10, 5.6), layout="constrained", dpi=110)
    panels = figure.subplots(1, len(maps), squeeze=False)[0]
    for panel, flat, title in zip(panels, maps, titles, strict=True):
        for group in np.unique(groups):
            x, y = flat[groups == group].T
            panel.scatter(x, y, s=9, color=colour_of(group), linewidths=0, alpha=0.85, label=f"{group}")
            name = panel.text(
                np.median(x), np.median(y), f"{group}", fontsize=15, weight="bold", ha="center", va="center"
            )
            name.set_path_effects([withStroke(linewidth=4, foreground="white")])
        panel.set_title(title, fontsize=14, loc="left")
        panel.set(xticks=[], yticks=[])
        panel.set_aspect("equal", adjustable="datalim")  # panels of one size, so that titles are level
        panel.spines[:].set_visible(False)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(
        handles, labels, title=legend, loc="outside lower center", ncols=len(labels), frameon=False, markerscale=3,
        handletextpad=0.1, columnspacing=1.2,
    )  # fmt: skip
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()
