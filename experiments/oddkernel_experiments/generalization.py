"""Out of sample: how well items that took no part in the learning are clustered."""

from __future__ import annotations

from typing import Any

import pandas as pd

from . import curves
from .experiment import Experiment
from .means import facts, means
from .methods import METHODS
from .outcome import Outcome, Table
from .samples import DATASETS
from .trials import FITTED, LEFT_OUT, UNASKED, Trial

# Items left out should be clustered as well as those learned from, to within this much of the index.
CLOSE = 0.05
OURS = ("ssklr_paper", "ssklr")
Gaps = dict[tuple[Any, ...], float]
SETTING = ("dataset", "method", "answers", "resolution", "labelled")


def trials(draws: int) -> list[Trial]:
    """Those of the curves, where items are left out."""
    return [trial for trial in curves.trials(draws) if trial.left_out]


def outcome(rows: pd.DataFrame) -> Outcome:
    """The figure, a table for each setting, and the difference to the items learned from."""
    rows = curves.with_labelled(rows)
    out = rows[rows["items"] == LEFT_OUT]
    datasets = [name for name in DATASETS if name in set(out["dataset"])]
    gaps = {place: _gaps(rows, place) for place in (FITTED, UNASKED)}
    return Outcome(
        "Items left out",
        QUESTION,
        [*(_table(gaps[place], place, datasets) for place in gaps), *curves.tables(out, datasets)],
        {"generalization.svg": curves.figure(out, datasets)} if datasets else {},
        [*_verdict(gaps[FITTED], "all the items of the draw"), *_verdict(gaps[UNASKED], "those not asked about"), *WHY],
        {
            "means": facts(means(out, SETTING)),
            "largest_gap": {place: max(gaps[place].values(), default=None) for place in gaps},
        },
    )


def _gaps(rows: pd.DataFrame, place: str) -> Gaps:
    """Index of items of the draw less that of the items left out, for each setting of ours."""
    inside, outside = (means(rows[rows["items"] == where], SETTING) for where in (place, LEFT_OUT))
    return {key: inside[key].mean - mean.mean for key, mean in outside.items() if key[1] in OURS and key in inside}


def _table(gaps: Gaps, place: str, datasets: list[str]) -> Table:
    def told(found: list[float]) -> str:
        return f"{sum(found) / len(found):+.3f}, at most {max(found):+.3f}" if found else "–"

    return Table(
        f"Index of the items of the draw ({place}) less that of those left out: mean of all settings, and largest.",
        ["", *(METHODS[method].title for method in OURS)],
        [
            [
                DATASETS[dataset].title,
                *(told([gap for key, gap in gaps.items() if key[:2] == (dataset, method)]) for method in OURS),
            ]
            for dataset in datasets
        ],
    )


def _verdict(gaps: Gaps, place: str) -> list[str]:
    if not gaps:
        return []
    wide = [
        f"{DATASETS[dataset].title}, {METHODS[method].title}, {resolution} at {labelled}, {answers} answers: {gap:.3f}"
        for (dataset, method, answers, resolution, labelled), gap in gaps.items()
        if gap > CLOSE
    ]
    if not wide:
        return [f"In all {len(gaps)} settings within {CLOSE:g} of {place}, or above."]
    return [f"In {len(wide)} of {len(gaps)} settings more than {CLOSE:g} below {place}: {'; '.join(wide)}."]


QUESTION = """\
The kernels of the curves above, on the items that the draw left out: 1888 scenes and 10,000 digits. Each goes to the
nearest of the clusters that kernel k-means has found among the items learned from."""

WHY = [
    "Items that people were asked about are clustered better than the others, and there are many of them in a draw; "
    "the fair comparison is with the items of the draw that nobody was asked about.",
    "The paper clusters old and new items together and adds the part of the initial kernel that learning could not "
    "touch. We keep the clusters that were found, as one would in use, and leave that part out, because it breaks "
    "answers that hold without it (see [the mathematics](mathematics.md)).",
]

EXPERIMENT = Experiment(trials, outcome)
