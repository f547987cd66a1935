"""The effect of noise: a growing share of wrong answers."""

from __future__ import annotations

import pandas as pd

from .experiment import Experiment
from .figures import grid
from .means import Means, drawn, facts, lead, means, shown
from .methods import METHODS, RIVALS
from .outcome import Outcome, Table, listed
from .questions import count
from .samples import DATASETS, MULTICLASS
from .trials import FITTED, Trial

LABELLED = 10
LEVELS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6)
# Goal, set beforehand: up to this share of wrong answers the soft form stays above its rivals.
BEARABLE = 0.4
CHOSEN = ("ssklr_auto",)
FIXED = ("ssklr", "ssklr_2", "ssklr_paper")
SHOWN = ["kkm", *RIVALS, "sklr_paper", *reversed(FIXED), *CHOSEN]


def trials(draws: int) -> list[Trial]:
    """All methods at all levels."""
    return [
        Trial(dataset, method, MULTICLASS, count(LABELLED, DATASETS[dataset].n_classes), draw, noise=level)
        for draw in range(draws)
        for dataset in DATASETS
        for level in LEVELS
        for method in SHOWN
    ]


def outcome(rows: pd.DataFrame) -> Outcome:
    """The figure, and the tables behind it."""
    rows = rows[rows["items"] == FITTED]
    found = means(rows, ["dataset", "noise", "method"])
    figure = grid(
        rows,
        "noise",
        [[(DATASETS[dataset].title, rows["dataset"] == dataset) for dataset in DATASETS]],
        methods=SHOWN,
        label="share of wrong answers",
    )
    return Outcome(
        "The effect of noise",
        QUESTION,
        [_table(found, dataset) for dataset in DATASETS],
        {"noise.svg": figure} if found else {},
        [
            *(line for ours in CHOSEN for line in _against_rivals(rows, ours)),
            *(line for ours in CHOSEN for fixed in FIXED for line in _against_fixed(found, ours, fixed)),
            *WHY,
        ],
        {"means": facts(found)},
    )


def _table(found: Means, dataset: str) -> Table:
    here = {key: mean for key, mean in found.items() if key[0] == dataset}
    measured = sorted({key[1] for key in here})
    return Table(
        f"{DATASETS[dataset].title}: Adjusted Rand index by the share of wrong answers, mean ± standard error over "
        f"{drawn(here)}.",
        ["", *(METHODS[method].title for method in SHOWN)],
        [[f"{level:g}", *(shown(found, dataset, level, method) for method in SHOWN)] for level in measured],
    )


def _compared(found: Means, ours: str, other: str) -> dict[str, tuple[float, float]]:
    """Our lead over another method, and its standard error, where both were measured at up to BEARABLE noise."""
    return {
        f"{DATASETS[dataset].title} at {level:g}": (
            found[dataset, level, ours].mean - found[dataset, level, other].mean,
            found[dataset, level, other].error,
        )
        for dataset in DATASETS
        for level in LEVELS
        if level <= BEARABLE and (dataset, level, ours) in found and (dataset, level, other) in found
    }


def _against_rivals(rows: pd.DataFrame, ours: str) -> list[str]:
    """Where a rival is level or ahead, paired by draw."""
    level, below, compared = [], [], 0
    for dataset in DATASETS:
        for noise in (share for share in LEVELS if share <= BEARABLE):
            here = rows[(rows["dataset"] == dataset) & (rows["noise"] == noise)]
            for rival in ("kkm", *RIVALS):
                if (ahead := lead(here, ours, rival)) is None:
                    continue
                compared += 1
                where = f"{DATASETS[dataset].title} at {noise:g} ({METHODS[rival].title}, {ahead:+})"
                if ahead.mean <= 0:
                    below.append(where)
                elif ahead.mean < 2 * ahead.error:
                    level.append(where)
    if not compared:
        return []
    verdict = f"above every rival {f'but for {listed(below)}' if below else 'everywhere'}"
    within = f"; by less than two standard errors on {listed(level)}" if level else ""
    return [f"{METHODS[ours].title}, paired by draw: up to a noise of {BEARABLE:g} {verdict}{within}."]


def _against_fixed(found: Means, ours: str, method: str) -> list[str]:
    # A single draw has no standard error.
    compared = _compared({key: mean for key, mean in found.items() if mean.draws > 1}, ours, method)
    if not compared:
        return []
    below = [f"{where} (by {-lead:.3f})" for where, (lead, error) in compared.items() if lead < -error]
    above = [f"{where} (by {lead:.3f})" for where, (lead, error) in compared.items() if lead > 2 * error]
    return [
        f"{METHODS[ours].title}, compared with {METHODS[method].title} (a fixed penalty of 10⁵): clearly above on "
        f"{listed(above) if above else 'nothing'}; below by more than a standard error on "
        f"{listed(below) if below else 'nothing'}."
    ]


QUESTION = """\
Ten labelled items of each class, or the same number of answers: 360 on Vehicle, 720 on Scene, 900 on USPS. A share of
them is made wrong: the odd one is exchanged with one of the other two, a must-link becomes a cannot-link. The
clustering is into all classes. Cross-validation over the answers alone, wrong ones included, chooses the loss, the
penalty and the number of dimensions of the last method (`penalty="auto"`, the default). It uses no class label."""

WHY = [
    "The paper's SKLR requires that every answer hold. In hundreds of dimensions there is nearly always a kernel that "
    "satisfies all answers, wrong ones included.",
    "Clusters are in few dimensions, the errors of single answers in hundreds. The method with settings chosen by "
    "held-out answers keeps the number of leading dimensions that predicts these best.",
    "The paper's algorithm stops as soon as the answers hold, or after 100 passes, far from the optimum. That acts "
    "like a smaller penalty: under noise it can do better than the exact optimum at the same penalty.",
    "Where more than half of the answers are wrong, the settings that held-out answers choose stay near the initial "
    "kernel.",
]

EXPERIMENT = Experiment(trials, outcome)
