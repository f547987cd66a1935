"""Out of sample: how well items that took no part in the learning are clustered."""

from __future__ import annotations

import pandas as pd

from . import curves
from .experiment import Experiment
from .means import facts, means
from .methods import METHODS
from .outcome import Outcome, Table
from .samples import DATASETS
from .trials import FITTED, LEFT_OUT, Trial

# Items left out should be clustered as well as those learned from, to within this much of the index.
CLOSE = 0.05
OURS = ("ssklr_paper", "ssklr")
SETTING = ("dataset", "method", "answers", "resolution", "labelled")


def trials(draws: int) -> list[Trial]:
    """Those of the curves, where items are left out."""
    return [trial for trial in curves.trials(draws) if trial.left_out]


def outcome(rows: pd.DataFrame) -> Outcome:
    """The figure, a table for each setting, and the difference to the items learned from."""
    rows = curves.with_labelled(rows)
    out = rows[rows["items"] == LEFT_OUT]
    datasets = [name for name in DATASETS if name in set(out["dataset"])]
    gaps = _gaps(rows)
    by_dataset = {
        (dataset, method): [gap for key, gap in gaps.items() if key[:2] == (dataset, method)]
        for dataset in datasets
        for method in OURS
    }
    table = Table(
        "Index of the items learned from less that of the items left out: mean of all settings, and the largest.",
        ["", *(METHODS[method].title for method in OURS)],
        [
            [
                DATASETS[dataset].title,
                *(
                    f"{sum(found) / len(found):+.3f}, at most {max(found):+.3f}" if found else "–"
                    for method in OURS
                    for found in [by_dataset[dataset, method]]
                ),
            ]
            for dataset in datasets
        ],
    )
    return Outcome(
        "Items left out",
        QUESTION,
        [table, *curves.tables(out, datasets)],
        {"generalization.svg": curves.figure(out, datasets)} if datasets else {},
        [*_verdict(gaps), *WHY],
        {"means": facts(means(out, SETTING)), "largest_gap": max(gaps.values(), default=None)},
    )


def _gaps(rows: pd.DataFrame) -> dict[tuple[str, str, str, str, int], float]:
    """In-sample less out-of-sample index, for each setting of ours."""
    inside, outside = (means(rows[rows["items"] == place], SETTING) for place in (FITTED, LEFT_OUT))
    return {key: inside[key].mean - mean.mean for key, mean in outside.items() if key[1] in OURS and key in inside}


def _verdict(gaps: dict[tuple[str, str, str, str, int], float]) -> list[str]:
    wide = [
        f"{DATASETS[dataset].title}, {METHODS[method].title}, {resolution} at {labelled}, {answers} answers: {gap:.3f}"
        for (dataset, method, answers, resolution, labelled), gap in gaps.items()
        if gap > CLOSE
    ]
    if not wide:
        return [f"Within {CLOSE:g} of the items learned from in all {len(gaps)} settings."] if gaps else []
    count = f"{len(wide)} of {len(gaps)} settings"
    return [f"In {count} farther than {CLOSE:g} from the items learned from: {'; '.join(wide)}."]


QUESTION = """\
The kernels of the curves above, on the items that the draw left out: 1888 scenes and 10,000 digits. Each goes to the
nearest of the clusters that kernel k-means has found among the items learned from."""

WHY = [
    "The paper clusters old and new items together and adds the part of the initial kernel that learning could not "
    "touch. We keep the clusters that were found, as one would in use, and leave that part out, because it breaks "
    "answers that hold without it (see [the mathematics](mathematics.md)).",
]

EXPERIMENT = Experiment(trials, outcome)
