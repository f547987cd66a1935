"""Table 1: binary and multi-class clustering with the least supervision, five labelled items of each class."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from . import paper
from .experiment import Experiment
from .means import Means, drawn, facts, lead, means, shown
from .methods import METHODS, RIVALS
from .outcome import Outcome, Table, listed
from .questions import count
from .samples import BINARY, DATASETS, MULTICLASS
from .trials import FITTED, Trial

LABELLED = 5
OURS, DEFAULT, STANDARD = "sklr", "default", "ssklr_10"
COLUMNS = ["kkm", *RIVALS, "sklr_paper", "ssklr_paper", "sklr", "ssklr", DEFAULT]
SETTINGS = ["sklr", "ssklr", STANDARD, DEFAULT, "sklr_2", "ssklr_2", "ssklr_2_10", "sklr_paper", "ssklr_paper"]


class Cell(NamedTuple):
    """A line of the table."""

    dataset: str
    resolution: str

    @property
    def title(self) -> str:
        """The title, as in the paper."""
        return f"{DATASETS[self.dataset].title}, {self.resolution}"

    def printed(self, method: str) -> float | None:
        """The paper's figure for a method."""
        figures = paper.TABLE1.get(self.dataset, {}).get(self.resolution, {})
        return figures.get(paper.printed_as(method))


# Goals, set before anything was measured; a cell reaches its goal if mean plus two standard errors is at least the
# goal.
GOAL = {
    Cell("vehicle", BINARY): 0.70,
    Cell("scene", BINARY): 0.82,
    Cell("usps", BINARY): 0.80,
    Cell("vehicle", MULTICLASS): 0.46,
    Cell("scene", MULTICLASS): 0.54,
    Cell("usps", MULTICLASS): 0.76,
}


def trials(draws: int) -> list[Trial]:
    """All methods in all six cells."""
    return [
        Trial(cell.dataset, method, cell.resolution, count(LABELLED, DATASETS[cell.dataset].n_classes), draw)
        for draw in range(draws)
        for cell in GOAL
        for method in dict.fromkeys([*COLUMNS, *SETTINGS])
    ]


def outcome(rows: pd.DataFrame) -> Outcome:
    """The table, with the paper's numbers in brackets; the cells that reach their goals; the same at other settings."""
    rows = rows[rows["items"] == FITTED]
    found = means(rows, ["dataset", "resolution", "method"])
    return Outcome(
        "Table 1: five labelled items of each class",
        QUESTION,
        [_main(found), _goals(found), _settings(found)],
        remarks=[*_missed(found), *_chosen(rows), *_rivals_below_the_paper(found), *_infeasible(found), *WHY],
        facts={
            "means": facts(found),
            "reached": {cell.title: bool(_reached(found, cell)) for cell in GOAL if (*cell, OURS) in found},
            "above_rivals": {cell.title: not _rivals_above(found, cell) for cell in GOAL if (*cell, OURS) in found},
        },
    )


def _main(found: Means) -> Table:
    def beside(cell: Cell, method: str) -> str:
        printed = cell.printed(method)
        return shown(found, *cell, method) + ("" if printed is None else f" ({printed:.3f})")

    return Table(
        f"Adjusted Rand index, mean ± standard error over {drawn(found)}; the paper's figure in brackets.",
        ["", *(METHODS[method].title for method in COLUMNS)],
        [[cell.title, *(beside(cell, method) for method in COLUMNS)] for cell in GOAL],
    )


def _goals(found: Means) -> Table:
    lines = []
    for cell, goal in GOAL.items():
        if (*cell, OURS) in found:
            best = max(printed for method in COLUMNS if (printed := cell.printed(method)) is not None)
            above = _rivals_above(found, cell)
            lines.append(
                [
                    cell.title,
                    shown(found, *cell, OURS),
                    f"{best:.3f}",
                    f"{goal:.2f}",
                    "reached" if _reached(found, cell) else "missed",
                    f"below {listed(above)}" if above else "above all",
                ]
            )
    return Table(
        f"{METHODS[OURS].title}: the paper's best figure for any method; the goal set beforehand, reached if the mean "
        "plus two standard errors is at least the goal; the rivals of the same run.",
        ["", METHODS[OURS].title, "paper's best", "goal", "", "rivals"],
        lines,
    )


def _settings(found: Means) -> Table:
    return Table(
        "The same at other ratios and penalties, and by the paper's own algorithm (ratio 2).",
        ["", *(METHODS[method].title for method in SETTINGS)],
        [[cell.title, *(shown(found, *cell, method) for method in SETTINGS)] for cell in GOAL],
    )


def _reached(found: Means, cell: Cell) -> bool:
    return found[*cell, OURS].high >= GOAL[cell]


def _missed(found: Means) -> list[str]:
    return [
        f"{cell.title} stays below its goal. {TRIED.get(cell, '')}".rstrip()
        for cell in GOAL
        if (*cell, OURS) in found and not _reached(found, cell)
    ]


def _chosen(rows: pd.DataFrame) -> list[str]:
    """How settings chosen by held-out answers compare with the standard penalty, paired by draw."""
    ahead = {
        cell.title: difference
        for cell in GOAL
        if (
            difference := lead(
                rows[(rows["dataset"] == cell.dataset) & (rows["resolution"] == cell.resolution)], DEFAULT, STANDARD
            )
        )
    }
    if not ahead:
        return []
    below = [title for title, difference in ahead.items() if difference.mean < -difference.error]
    return [
        f"{METHODS[DEFAULT].title} has its default settings: held-out answers choose. Minus {METHODS[STANDARD].title}, "
        f"paired by draw: {'; '.join(f'{title} {difference:+}' for title, difference in ahead.items())}; below by more "
        f"than a standard error on {listed(below) if below else 'nothing'}."
    ]


def _rivals_above(found: Means, cell: Cell) -> list[str]:
    return [
        METHODS[rival].title
        for rival in ("kkm", *RIVALS)
        if (*cell, rival) in found and found[*cell, rival].mean >= found[*cell, OURS].mean
    ]


def _rivals_below_the_paper(found: Means) -> list[str]:
    remarks = []
    for rival in RIVALS:
        short = [
            f"{cell.title} ({found[*cell, rival].mean:.3f} for {printed:.3f})"
            for cell in GOAL
            if (*cell, rival) in found
            and (printed := cell.printed(rival)) is not None
            and found[*cell, rival].high < printed
        ]
        if short:
            remarks.append(f"{METHODS[rival].title} stays below the paper's figure for it: {listed(short)}.")
    return remarks


def _infeasible(found: Means) -> list[str]:
    return [
        f"{METHODS[method].title}, {Cell(dataset, resolution).title}: in {mean.without} draws the answers can't all "
        "hold at this rank, so that there is no such kernel; the mean is over the others."
        for (dataset, resolution, method), mean in found.items()
        if mean.without
    ]


QUESTION = """\
Three data sets, each clustered at two resolutions: into two groups (Vehicle: vans against the rest, Scene: natural
against man-made, USPS: even against odd digits) and into its classes. Simulated people answer by these classes: 80
answers on Vehicle, 160 on Scene, 200 on USPS. The methods of relative comparisons (LSML, SKLR, sSKLR) get that many
odd-one-out answers about items drawn from all; ITML and SKkm get as many pairs, half must-links and half cannot-links,
among five labelled items of each class. The Adjusted Rand index of (kernel) k-means is 1 if clusters and classes are
the same, and 0 on average for random clusters. Scene and USPS are sampled, with 100 items of each class."""

TRIED = {
    Cell(
        "usps", BINARY
    ): "Z-scoring the pixels made it worse; bandwidths by 7, 20 or 50 neighbours instead of 100, and "
    "penalties of 10 or 10⁵, made no difference.",
}

WHY = [
    "The paper's algorithm stops at the first kernel that satisfies the answers, not at the closest one; the last "
    "table compares it with the exact optimum at the paper's ratio of 2.",
    "A ratio of 4 asks for more contrast than the paper's 2; most of the gain comes from this.",
    "The rivals run at settings that are good for them: LSML with a penalty of 10, SKkm with the median distance as "
    "its bandwidth and all dimensions, ITML with γ = 1. All are solved to the optimum.",
    "Our run of the paper's algorithm differs from the paper's figures, too: we keep 90% of the trace, "
    "Vehicle is z-scored, and kernel k-means takes the best of 20 starts.",
]

EXPERIMENT = Experiment(trials, outcome)
