"""What a form is worth: random questions of each form, over their answers, picks and items shown."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from oddkernel import SKLR, Comparisons, KernelKMeans
from oddkernel.datasets import sample_per_class
from oddkernel.problem import choices
from oddkernel.questions import ByLabels, ByMetric, LearningCurve

from .figures import Curve, Panel, panels
from .means import Means, drawn, facts, means
from .outcome import Outcome, Table
from .runner import Row, run_all
from .samples import DATASETS, MULTICLASS, everything
from .store import Store

Array = np.ndarray[Any, Any]

COLUMNS = {
    "dataset": "str", "people": "str", "noise": "float64", "form": "str", "draw": "int64", "n_answers": "int64",
    "rand": "float64",  # Adjusted Rand index; NaN where people don't go by class
    "agreement": "float64",  # share of decided answers, without guesses, to random odd-one-out questions predicted
}  # fmt: skip
IDENTITY = ["dataset", "people", "noise", "form", "draw", "n_answers"]

FORMS = {"odd": "odd-one-out", "anchor": "anchor", "central": "most central", "grid": "grid, 2 of 8"}
COLOURS = {"odd": "#555555", "anchor": "#2f9bd8", "central": "#59a14f", "grid": "#e15759"}
N, K = 8, 2
PICKS = {"odd": 1, "anchor": 1, "central": 1, "grid": K}
SHOWN = {"odd": 3, "anchor": 3, "central": 3, "grid": N + 1}

PEOPLE = {"class": "by class", "metric": "by a hidden metric"}
GUESSES = (0.0, 0.1)
PER_CLASS = {"vehicle": 60, "scene": 35, "usps": 30}
"""Number of items of each class: 240 to 300 in all, so that a draw takes about a minute."""
ASKED = 180
"""Number of odd-one-out questions; a grid is to reach with fewer items shown what all of them reach."""
AT = {
    "grid": (20, 30, 40, 50, 60, 90, 180),
    **dict.fromkeys(("odd", "anchor", "central"), (60, 90, 120, 150, 180)),
}
"""Numbers of answers to learn from.

With 30, 60 and 90 grids people have seen half of the items of `ASKED` odd-one-outs,
as many items, and made as many picks."""
HELD_OUT = 1000
DIRECTIONS, UNCLEAR = 3, 0.1
PENALTY = 0.3
"""Of 0.1, 0.3 and 1, best on average of all forms on scikit-learn's digits."""


@dataclass(frozen=True)
class Asked:
    """The questions of one form in one draw."""

    dataset: str
    people: str
    noise: float
    form: str
    draw: int


def measure(asked: Asked) -> list[dict[str, Any]]:
    """Ask random questions of a form, and score what is learned after some numbers of answers."""
    X, labels = items(asked.dataset, asked.draw)
    seeds = [np.random.default_rng([asked.draw, number]) for number in range(4)]
    hidden = X @ seeds[0].standard_normal((X.shape[1], DIRECTIONS))

    def person(noise: float) -> ByLabels | ByMetric:
        if asked.people == "class":
            return ByLabels(labels, noise=noise, random_state=seeds[1])
        return ByMetric(hidden, undecided=UNCLEAR, noise=noise, random_state=seeds[1])

    tested = answers("odd", person(0.0), len(X), HELD_OUT, seeds[2])[0]
    tested = tested[tested.decided]
    said, ends = answers(asked.form, person(asked.noise), len(X), AT[asked.form][-1], seeds[3])
    rows = []
    for n in AT[asked.form]:
        model = SKLR("adaptive", loss="logistic", penalty=PENALTY, random_state=0, verbose=False)
        z = np.asarray(model.fit(X, said[: ends[n]]).transform(X))
        rand = _rand(z, labels, asked.draw) if asked.people == "class" else np.nan
        right = choices.agreement(choices.sides(z, tested.shown), tested)
        rows.append({**asdict(asked), "n_answers": n, "rand": rand, "agreement": float(np.mean(right))})
    return rows


def items(dataset: str, draw: int) -> tuple[Array, Array]:
    """Standardised features and classes of the items of a draw."""
    found = everything(dataset)
    labels = found.labels[MULTICLASS]
    rows = sample_per_class(labels, PER_CLASS[dataset], np.random.RandomState([draw, 1]))
    return np.asarray(scale(found.X[rows])), labels[rows]


def answers(
    form: str, person: ByLabels | ByMetric, n_items: int, n: int, rng: np.random.Generator
) -> tuple[Comparisons, Array]:
    """Answers to n random questions, and the number of rows of the first 0, 1, ..., n of them."""
    shown = np.array([rng.choice(n_items, SHOWN[form], replace=False) for _ in range(n)])
    rows = K * (N - K) if form == "grid" else 1
    if form == "grid":
        picked = [person.grid(row[0], row[1:], K) for row in shown]
        said = Comparisons.grid(shown[:, 0], list(shown[:, 1:]), picked)
    elif form == "anchor":
        said = Comparisons.anchor(shown, [person.anchor(row) for row in shown])
    elif form == "central":
        central = np.array([person.central(row) for row in shown])
        others = np.array([np.delete(row, place) for row, place in zip(shown, central, strict=True)])
        said = Comparisons.most_central(shown[np.arange(n), central], others)
    else:
        said = Comparisons.odd_one_out(shown, [person(row) for row in shown])
    return said, rows * np.arange(n + 1)


def _rand(z: Array, labels: Array, draw: int) -> float:
    groups = KernelKMeans(n_clusters=len(np.unique(labels)), random_state=draw).fit_predict(z @ z.T)
    return float(adjusted_rand_score(labels, groups))


def results(folder: Path) -> Store:
    """The results stored in a folder."""
    return Store(folder / "forms", COLUMNS, IDENTITY)


class Forms:
    """The experiment."""

    def compute(self, folder: Path, *, draws: int, jobs: int, tell: Callable[[str], None]) -> int:
        """Measure what the folder doesn't hold yet; return the number of measurements."""
        store = results(folder)
        have = set(store.read()[IDENTITY].itertuples(index=False, name=None))
        every = [
            Asked(dataset, people, noise, form, draw)
            for draw in range(draws)
            for dataset in DATASETS
            for people in PEOPLE
            for noise in GUESSES
            for form in FORMS
        ]
        todo = [asked for asked in every if (*asdict(asked).values(), AT[asked.form][-1]) not in have]
        return run_all(measure, todo, store, jobs=jobs, tell=tell, named=_named)

    def show(self, folder: Path, *, draws: int) -> Outcome:
        """Tables, figure and remarks from the results in the folder."""
        rows = results(folder).read()
        return outcome(rows[rows["draw"] < draws])


def _named(row: Row) -> str:
    return f"{row['form']} on {row['dataset']}, draw {row['draw']}"


VALUES = {"rand": "Adjusted Rand index", "agreement": "held-out answers predicted"}


def outcome(rows: pd.DataFrame) -> Outcome:
    """Tables, figure and remarks."""
    by = ["dataset", "people", "noise", "form", "n_answers"]
    found = {value: means(rows, by, value) for value in VALUES}
    return Outcome(
        "What a form is worth",
        QUESTION,
        [table for value in found for table in _tables(found[value], value)],
        {"forms.svg": _figure(found)} if len(rows) else {},
        [sentence for value in found for sentence in _remarks(found[value], value)],
        {value: facts(found[value]) for value in found},
    )


Setting = tuple[str, str, float]


def _settings(found: Means) -> list[Setting]:
    there = {key[:3] for key in found}
    every = [(data, people, noise) for data in DATASETS for people in PEOPLE for noise in GUESSES]
    return [setting for setting in every if setting in there]


def _name(setting: Setting) -> str:
    dataset, people, noise = setting
    return f"{DATASETS[dataset].title}, {PEOPLE[people]}" + (f", {noise:.0%} guesses" if noise else "")


def needed(found: Means, setting: Setting, form: str) -> int | None:
    """Number of items shown after which a form reaches what all odd-one-out questions reach; None if never."""
    goal = found.get((*setting, "odd", ASKED))
    at = [n for n in AT[form] if (*setting, form, n) in found]
    if goal is None or not at:
        return None
    curve = LearningCurve(np.array(at) * SHOWN[form], np.array([found[*setting, form, n].mean for n in at]))
    return curve.reaches(goal.mean)


def _tables(found: Means, value: str) -> list[Table]:
    lines = []
    for setting in _settings(found):
        for form, title in FORMS.items():
            shares = (ASKED * 3 // SHOWN[form], ASKED // PICKS[form], ASKED)
            if any((*setting, form, n) not in found for n in shares):
                continue
            reached = needed(found, setting, form)
            lines.append([
                _name(setting), title, *(str(found[*setting, form, n]) for n in shares),
                f"not with {AT[form][-1] * SHOWN[form]}" if reached is None else str(reached),
            ])  # fmt: skip
    if not lines:
        return []
    header = [
        "", "form", f"{3 * ASKED} items shown", f"{ASKED} picks", f"{ASKED} answers",
        f"items shown to reach what {ASKED} odd-one-outs reach",
    ]  # fmt: skip
    return [Table(f"{VALUES[value].capitalize()}, mean ± standard error over {drawn(found)}.", header, lines)]


def _remarks(found: Means, value: str) -> list[str]:
    """Where a grid reaches what all odd-one-out questions reach, with half of their items shown and at equal costs."""
    equal = ASKED * 3 // SHOWN["grid"]
    costs = {
        "half of the items shown": equal // 2, "as many items shown": equal, "as many picks": ASKED // K,
        "as many answers": ASKED,
    }  # fmt: skip
    said = []
    for cost, n in costs.items():
        pairs = {
            _name(setting): (mine.mean, goal.mean)
            for setting in _settings(found)
            if (mine := found.get((*setting, "grid", n))) and (goal := found.get((*setting, "odd", ASKED)))
        }
        reached = [name for name, (mine, goal) in pairs.items() if mine >= goal]
        named = f": {'; '.join(reached)}" if 0 < len(reached) < len(pairs) else ""
        if pairs:
            said.append(
                f"{VALUES[value].capitalize()}: with {cost}, {n} grids reach what {ASKED} odd-one-outs reach in "
                f"{len(reached)} of {len(pairs)} settings{named}."
            )
    return said


def _figure(found: dict[str, Means]) -> bytes:
    """A panel for each setting: first the Adjusted Rand index, then held-out answers."""
    return panels(
        [
            Panel(_name(setting), VALUES[value], _curves(found[value], setting))
            for value in VALUES
            for setting in _settings(found[value])
        ],
        "items shown",
    )


def _curves(found: Means, setting: Setting) -> list[Curve]:
    curves = []
    for form, title in FORMS.items():
        known = [(n * SHOWN[form], found[key]) for n in AT[form] if (key := (*setting, form, n)) in found]
        if known:
            curves.append(Curve(title, known, {"color": COLOURS[form]}))
    return curves


QUESTION = f"""\
What was assumed about people: they are simulated, and answer all forms by the same distances. *By class*, two items of
one class are alike, and all others equally far apart. In odd-one-out and anchor questions such ties are *can't tell*;
in the other forms, which have no such answer, chance decides. *By a hidden metric*, people compare in {DIRECTIONS}
random directions of the standardised features. In odd-one-out and anchor questions they can't tell if two distances
differ by less than a tenth. Guesses are a share of the picks, the same in all forms: nobody gets tired or sees less in
a grid, and a pick among eight is no harder than one among three. No simulation can say whether that holds for real
people, or how long an answer takes; the judging page measures that.

Every question is random, and *can't tell* counts as one: odd-one-out ({SHOWN["odd"]} items, one pick), anchor (which of
two is more like a third), most central of three, and a grid ({N} items around one, the {K} most like it). A grid's
{K * (N - K)} rows have the weight 1/{K} each. Each data set is a sample of {PER_CLASS["vehicle"]}, {PER_CLASS["scene"]}
and {PER_CLASS["usps"]} items of each class. The metric is learned with the logistic loss and the penalty {PENALTY:g},
the best of 0.1, 0.3 and 1 on scikit-learn's digits (two draws, average of the forms). Scored are kernel k-means, if
there are classes, and the predictions of {HELD_OUT} random odd-one-out answers without guesses and without *can't
tell*. These are questions of one of the forms, which may favour it.

The three columns of numbers compare the forms at equal costs: as many items shown, as many picks, as many answers. See
[other forms](questions.md#other-forms-of-questions);
`oddkernel reproduce forms --results experiments/results --out docs` writes this page."""

EXPERIMENT = Forms()
"""The experiment."""
