"""Out of sample: how well items that took no part in the learning are clustered."""

from __future__ import annotations

from typing import Any

import pandas as pd

from . import curves
from .experiment import Experiment
from .means import Means, drawn, facts, means, shown
from .methods import METHODS
from .outcome import Outcome, Table
from .questions import MIXED
from .samples import BINARY, DATASETS, MULTICLASS
from .trials import FITTED, LEFT_OUT, UNASKED, Trial

# Items left out should be clustered as well as those learned from, to within this much of the index.
CLOSE = 0.05
# For scale: a classifier that is told the class of every item of the draw.
TOLD = "told"
OURS = (curves.OURS, "ssklr_paper")
PLACES = {FITTED: "all items of the draw", UNASKED: "those not asked about", LEFT_OUT: "items left out"}
Gaps = dict[tuple[Any, ...], float]
SETTING = ("dataset", "answers", "resolution", "labelled", "method")


def trials(draws: int) -> list[Trial]:
    """Those of the curves, where items are left out, and the classifier's."""
    told = [
        Trial(dataset, TOLD, answers, 0, draw, left_out=True)
        for draw in range(draws)
        for dataset, kind in DATASETS.items()
        if kind.per_class is not None
        for answers in (BINARY, MULTICLASS)
    ]
    return [*(trial for trial in curves.trials(draws) if trial.left_out), *told]


def outcome(rows: pd.DataFrame) -> Outcome:
    """The figure, whose index is how high, and a table for each setting."""
    is_told = rows["method"] == TOLD
    told = means(rows[is_told & (rows["items"] == LEFT_OUT)], ["dataset", "resolution"])
    rows = curves.with_labelled(rows[~is_told])
    out = rows[rows["items"] == LEFT_OUT]
    datasets = [name for name in DATASETS if name in set(out["dataset"])]
    found = {place: means(rows[rows["items"] == place], SETTING) for place in PLACES}
    # Where most draws have too few of these items, those that have enough are chance.
    found[UNASKED] = {key: mean for key, mean in found[UNASKED].items() if mean.draws > mean.without}
    gaps = {place: _gaps(found, place) for place in (FITTED, UNASKED)}
    return Outcome(
        "Items left out",
        QUESTION,
        [*_places(found, told), *curves.tables(out, datasets)],
        {"generalization.svg": curves.figure(out, datasets)} if datasets else {},
        [
            *(sentence for method in OURS for place in gaps for sentence in _verdict(gaps[place], method, place)),
            *_beside_the_classifier(found, told),
            *WHY,
        ],
        {
            "means": facts(found[LEFT_OUT]),
            "told": facts(told),
            "largest_gap": {place: max(gaps[place].values(), default=None) for place in gaps},
        },
    )


def _gaps(found: dict[str, Means], place: str) -> Gaps:
    """Index of items of the draw less that of the items left out, for each setting of ours."""
    return {
        key: found[place][key].mean - mean.mean
        for key, mean in found[LEFT_OUT].items()
        if key[-1] in OURS and key in found[place]
    }


def _places(found: dict[str, Means], told: Means) -> list[Table]:
    """A line for each setting: the index of the exact method by which items, and what a classifier could do."""
    ours = {(place, *key): mean for place in found for key, mean in found[place].items() if key[-1] == curves.OURS}
    settings = sorted({key[1:-1] for key in ours}, key=_order)
    if not settings:
        return []
    lines = [
        [
            f"{DATASETS[dataset].title}, {resolution} at {labelled}{', mixed answers' * (answers == MIXED)}",
            *(shown(ours, place, dataset, answers, resolution, labelled, curves.OURS) for place in PLACES),
            shown(told, dataset, resolution),
        ]
        for dataset, answers, resolution, labelled in settings
    ]
    caption = (
        f"{METHODS[curves.OURS].title}: the index of which items, mean ± standard error over {drawn(ours)}. For scale, "
        "a support-vector classifier that was told the class of every item of the draw, on the items left out. "
        "A dash stands where most draws have too few items that nobody was asked about."
    )
    return [Table(caption, ["", *PLACES.values(), METHODS[TOLD].title], lines)]


def _order(setting: tuple[Any, ...]) -> tuple[int, int, int]:
    dataset, answers, resolution, labelled = setting
    return list(DATASETS).index(dataset), list(curves.SETTINGS.values()).index((answers, resolution)), labelled


def _verdict(gaps: Gaps, method: str, place: str) -> list[str]:
    ours = {key: gap for key, gap in gaps.items() if key[-1] == method}
    if not ours:
        return []
    widest = max(ours, key=lambda key: ours[key])
    dataset, answers, resolution, labelled, _ = widest
    return [
        f"{METHODS[method].title}: in {sum(gap <= CLOSE for gap in ours.values())} of {len(ours)} settings the items "
        f"left out are within {CLOSE:g} of {PLACES[place]}, or above. The largest difference is {ours[widest]:+.3f} "
        f"({DATASETS[dataset].title}, {resolution} at {labelled}, {answers} answers), the mean "
        f"{sum(ours.values()) / len(ours):+.3f}."
    ]


def _beside_the_classifier(found: dict[str, Means], told: Means) -> list[str]:
    """What the classes of all items of the draw would do for the items left out, and how near our index comes to it."""
    above, left_out = (
        [
            mean.mean - told[key[0], key[2]].mean
            for key, mean in found[place].items()
            if key[-1] == curves.OURS and (key[0], key[2]) in told
        ]
        for place in (FITTED, LEFT_OUT)
    )
    if not above or not left_out:
        return []
    return [
        f"In {sum(lead > CLOSE for lead in above)} of {len(above)} settings {METHODS[curves.OURS].title} is on "
        f"{PLACES[FITTED]} more than {CLOSE:g} above what the classifier reaches on the {PLACES[LEFT_OUT]}, though "
        "that was told all classes: an index as high as that on new items is not to be expected there.",
        f"In {sum(lead >= -CLOSE for lead in left_out)} of {len(left_out)} settings the {PLACES[LEFT_OUT]} are within "
        f"{CLOSE:g} of that classifier, or above it.",
    ]


QUESTION = """\
The kernels of the curves above, on the items that the draw left out: 1888 scenes and 10,000 digits. Each goes to the
nearest of the clusters that kernel k-means has found among the items learned from."""

WHY = [
    "Items that people were asked about are clustered better than the others, and there are many of them in a draw: in "
    "hundreds of dimensions a kernel can fit them one by one, and that part of the index does not carry over. The fair "
    "comparison is with the items of the draw that nobody was asked about.",
    "The paper draws these curves without telling their numbers, and does not hold them against those of the items "
    "learned from. It clusters old and new items together and adds the part of the initial kernel that learning "
    "could not touch. We keep the clusters that were found, as one would in use, and leave that part out, "
    "because it breaks answers that hold without it (see [the mathematics](mathematics.md)).",
]

EXPERIMENT = Experiment(trials, outcome)
