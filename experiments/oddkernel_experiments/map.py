"""The map of two resolutions: USPS digits before learning, with SKkm and with SKLR."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from . import questions, samples
from .methods import METHODS, NOTHING, PAIRS
from .outcome import Outcome, Table
from .samples import BINARY, MULTICLASS
from .store import Store

Array = NDArray[Any]

DATASET, LABELLED, DRAW = "usps", 10, 0
SHOWN = {"kkm": "before", "skkm": "SKkm", "ssklr": "sSKLR, exact"}
NEIGHBOURS = 10  # of an item on the map, for the table; chosen by hand
COLUMNS = {
    "method": "object",
    "settings": "object",
    "item": "int64",
    "x": "float64",
    "y": "float64",
    BINARY: "int64",
    MULTICLASS: "int64",
}


class Map:
    """One draw with mixed answers, mapped to the plane by t-SNE on the learned distances."""

    def compute(self, folder: Path, *, draws: int, jobs: int, tell: Callable[[str], None]) -> int:
        """Learn and map what is missing; the picture shows one draw only."""
        store = results(folder)
        kept = store.read()
        known = set(zip(kept["method"], kept["settings"], strict=True))
        todo = [method for method in SHOWN if (method, METHODS[method].described()) not in known]
        for done, method in enumerate(todo):
            tell(f"map {done + 1} of {len(todo)}: {METHODS[method].title}")
            store.append(_laid_out(method))
        store.merge()
        return len(todo)

    def show(self, folder: Path, *, draws: int) -> Outcome:
        """The picture, and the share of an item's neighbours in it that are of its kind."""
        kept = results(folder).read()
        maps = {
            method: mine
            for method in SHOWN
            if len(mine := kept[(kept["method"] == method) & (kept["settings"] == METHODS[method].described())])
        }
        shares = {method: _shares(mine) for method, mine in maps.items()}
        table = Table(
            f"Share of an item's {NEIGHBOURS} nearest neighbours on the map that are of its kind, mean over all items.",
            ["", "same digit", "both even or both odd"],
            [[SHOWN[method], f"{share[MULTICLASS]:.3f}", f"{share[BINARY]:.3f}"] for method, share in shares.items()],
        )
        return Outcome(
            "A map of two resolutions",
            QUESTION,
            [table],
            {"map.png": _picture(maps)} if maps else {},
            WHY,
            {"shares": shares},
        )


def results(folder: Path) -> Store:
    """The maps stored in a folder."""
    return Store(folder / "map", COLUMNS, ["method", "settings", "item"])


def _laid_out(method: str) -> list[dict[str, Any]]:
    from sklearn.manifold import TSNE

    items, _ = samples.sample(DATASET, DRAW)
    n = questions.count(LABELLED, samples.DATASETS[DATASET].n_classes)
    asks = METHODS[method].asks
    ask = questions.pairs if asks == PAIRS else questions.triples
    said = None if asks == NOTHING else ask(items, questions.MIXED, n, draw=DRAW)
    K = METHODS[method].fit(items.X, said).kernel_matrix(items.X)
    squared = np.maximum(K.diagonal()[:, None] + K.diagonal() - 2 * K, 0.0)
    np.fill_diagonal(squared, 0.0)
    flat = TSNE(metric="precomputed", init="random", perplexity=30, random_state=DRAW).fit_transform(np.sqrt(squared))
    return [
        {
            "method": method,
            "settings": METHODS[method].described(),
            "item": item,
            "x": x,
            "y": y,
            BINARY: items.labels[BINARY][item],
            MULTICLASS: items.labels[MULTICLASS][item],
        }
        for item, (x, y) in enumerate(flat)
    ]


def _shares(points: pd.DataFrame) -> dict[str, float]:
    from sklearn.neighbors import NearestNeighbors

    flat = points[["x", "y"]].to_numpy()
    near = NearestNeighbors(n_neighbors=min(NEIGHBOURS, len(flat) - 1)).fit(flat).kneighbors(return_distance=False)
    return {
        resolution: float((kinds[near] == kinds[:, None]).mean())
        for resolution in (MULTICLASS, BINARY)
        for kinds in [points[resolution].to_numpy()]
    }


def _picture(maps: dict[str, pd.DataFrame]) -> bytes:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 * len(maps), 4.6), layout="constrained", dpi=110)
    for panel, (method, points) in zip(figure.subplots(1, len(maps), squeeze=False)[0], maps.items(), strict=True):
        for kind in np.unique(points[MULTICLASS]):
            mine = points[points[MULTICLASS] == kind]
            odd = bool(mine[BINARY].iloc[0])
            panel.scatter(
                mine["x"], mine["y"], s=9, marker="^" if odd else "o", linewidths=0, label=str(kind), alpha=0.8,
                color=_COLOURS[int(kind) % len(_COLOURS)],
            )  # fmt: skip
        panel.set_title(SHOWN[method], loc="left")
        panel.set(xticks=[], yticks=[], aspect="equal")
        panel.spines[:].set_visible(False)
    handles, labels = panel.get_legend_handles_labels()
    figure.legend(
        handles, labels, title="digit (triangles: odd, cold colours; circles: even, warm colours)", ncols=len(labels),
        loc="outside lower center", frameon=False, markerscale=2,
    )  # fmt: skip
    file = io.BytesIO()
    figure.savefig(file, format="png")
    return file.getvalue()


# Even digits in warm colours, odd ones in cold colours, to show the coarse resolution.
_COLOURS = (
    "#e15759", "#4e79a7", "#f28e2b", "#76b7b2", "#d9a900", "#5b5fd6", "#ff7f9b", "#59a14f", "#8c3c2c", "#2f9bd8",
)  # fmt: skip

QUESTION = """\
One draw of 1000 digits, with 900 answers by digit and 900 by even or odd. The map places items that are similar by the
kernel next to each other, by t-SNE, the successor of the SNE that the paper uses."""

WHY = ["A kernel that serves both resolutions shows the digits as groups, with the even ones apart from the odd ones."]

EXPERIMENT = Map()
