"""The effect of equality constraints: *can't tell* answers in addition to the others."""

from __future__ import annotations

import pandas as pd

from .experiment import Experiment
from .figures import grid
from .means import Mean, Means, drawn, facts, means, shown
from .methods import METHODS
from .outcome import Outcome, Table
from .questions import count
from .samples import DATASETS, MULTICLASS
from .trials import FITTED, Trial

LABELLED = 10
NUMBERS = (0, 20, 40, 80, 120, 160, 200)
SHOWN = ["sklr_paper", "ssklr_paper", "ssklr", "ssklr_10"]


def trials(draws: int) -> list[Trial]:
    """All methods that accept *can't tell*, with increasing numbers of such answers."""
    return [
        Trial(dataset, method, MULTICLASS, count(LABELLED, DATASETS[dataset].n_classes), draw, equalities=number)
        for draw in range(draws)
        for dataset in DATASETS
        for number in NUMBERS
        for method in SHOWN
    ]


def outcome(rows: pd.DataFrame) -> Outcome:
    """The figure, the tables behind it, and whether *can't tell* helps."""
    rows = rows[rows["items"] == FITTED]
    found = means(rows, ["dataset", "equalities", "method"])
    figure = grid(
        rows,
        "equalities",
        [[(DATASETS[dataset].title, rows["dataset"] == dataset) for dataset in DATASETS]],
        methods=SHOWN,
        label="can't-tell answers",
    )
    gains = _gains(rows)
    return Outcome(
        "The effect of equality constraints",
        QUESTION,
        [*(_table(found, dataset) for dataset in DATASETS), _gain_table(gains)],
        {"equalities.svg": figure} if found else {},
        WHY,
        {"means": facts(found), "gains": facts(gains)},
    )


def _table(found: Means, dataset: str) -> Table:
    here = {key: mean for key, mean in found.items() if key[0] == dataset}
    measured = sorted({key[1] for key in here})
    return Table(
        f"{DATASETS[dataset].title}: Adjusted Rand index by the number of can't-tell answers, mean ± standard error "
        f"over {drawn(here)}.",
        ["", *(METHODS[method].title for method in SHOWN)],
        [[f"{number}", *(shown(found, dataset, number, method) for method in SHOWN)] for number in measured],
    )


def _gains(rows: pd.DataFrame) -> Means:
    """The gain from the largest number of can't-tell answers over none, paired by draw."""
    first, last = (
        rows[rows["equalities"] == number].set_index(["dataset", "method", "draw"])["rand"]
        for number in (NUMBERS[0], NUMBERS[-1])
    )
    gain = (last - first).dropna().rename("gain").reset_index()
    return means(gain, ["dataset", "method"], "gain")


def _gain_table(gains: Means) -> Table:
    def verdict(gain: Mean) -> str:
        clear = "helps" if gain.mean > 2 * gain.error else "harms" if gain.mean < -2 * gain.error else "no clear change"
        return f"{gain.mean:+.3f} ± {gain.error:.3f}, {clear if gain.draws > 1 else 'one draw'}"

    return Table(
        f"Gain in the index from {NUMBERS[-1]} can't-tell answers, paired by draw.",
        ["", *(METHODS[method].title for method in SHOWN)],
        [
            [
                DATASETS[dataset].title,
                *(verdict(gains[dataset, method]) if (dataset, method) in gains else "–" for method in SHOWN),
            ]
            for dataset in DATASETS
        ],
    )


QUESTION = """\
As many odd-one-out answers as in the experiment on noise, all correct, and up to 200 additional *can't tell* answers,
about three items of one class or of three different classes. Such an answer asks for three equal distances. None of the
rivals can use it."""

WHY = [
    "Three items of one class are not equally far apart in the features, and asking for equal distances says nothing "
    "about classes; the paper gives this as the reason for its drop on Vehicle. Three items of three classes say more.",
]

EXPERIMENT = Experiment(trials, outcome)
