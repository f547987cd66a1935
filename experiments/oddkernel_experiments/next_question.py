"""The next question: each policy compared with random questions and with the paper's draw."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from oddkernel import SKLR, Comparisons, KernelKMeans
from oddkernel.datasets import sample_per_class
from oddkernel.kernels import AdaptiveGaussian, Identity, KernelSum, LowRank
from oddkernel.learning import Recipe, learn
from oddkernel.problem import choices
from oddkernel.questions import DEFAULT, POLICIES, ByLabels, ByMetric, LearningCurve, Recorded, simulate
from oddkernel.solvers import SOLVERS

from .figures import Curve, Panel, panels
from .means import Mean, Means, drawn, facts, means
from .outcome import Outcome, Table, listed
from .people import recorded, split
from .questions import triples
from .runner import Row, run_all
from .samples import DATASETS, MULTICLASS, Items, sample
from .store import Store

Array = np.ndarray[Any, Any]

COLUMNS = {
    "dataset": "str", "policy": "str", "noise": "float64", "draw": "int64", "n_answers": "int64",
    "rand": "float64",  # Adjusted Rand index; NaN where there are no classes
    "agreement": "float64",  # share of held-out decided answers to random questions that are predicted
    "undecided": "float64",  # share of can't tell among the answers
}  # fmt: skip
IDENTITY = ["dataset", "policy", "noise", "draw", "n_answers"]

GRADUAL, STANDARDISED = "gradual", "scene_standardised"
ASKED = {
    "vehicle": 80, "scene": 160, "usps": 200, STANDARDISED: 160, GRADUAL: 200, "things": 500, "cars60": 500,
}  # fmt: skip
"""Number of questions. A policy should reach with fewer what this many random questions reach."""
GOAL = {"vehicle": 2 / 3, "scene": 1 / 2, "usps": 1 / 2}
"""The goal for the default policy: the share of these questions with which it reaches that."""
POINTS = 10
NOISE = 0.1
WITH_GUESSES = 1.0
"""The penalty where some answers are guesses: of 10, 3, 1 and 0.3, what served all policies best on other data."""
RECIPE = Recipe("adaptive", "squared", ratio=4.0, margin=0.0)
"""The paper's loss."""
HELD_OUT = 500
THINGS = 500
"""Number of the 1,854 objects of THINGS in a draw, small enough that many recorded questions are about them."""

INFORMED, AT_ONCE = "informed", "at_once"
TITLES = {
    "random": "random", "least_answered": "least answered", "typical": "typical items, random",
    "uncertain": "uncertain", "informative": "informative", "diverse": "diverse", "prototypes": "prototypes",
    "auto": "auto", AT_ONCE: "prototypes, a tenth at once", INFORMED: "odd ones only, by labels",
}  # fmt: skip
COLOURS = {
    "random": "#555555", "least_answered": "#d9a900", "typical": "#59a14f", "uncertain": "#b07aa1",
    "informative": "#2f9bd8", "diverse": "#8c6d31", "prototypes": "#e15759", "auto": "#4e79a7",
    AT_ONCE: "#f1a9aa", INFORMED: "#bbbbbb",
}  # fmt: skip
PEOPLE = {"things": "THINGS", "cars60": "cars60"}
NAMES = {
    **{name: data.title for name, data in DATASETS.items()}, STANDARDISED: "MIT Scene, standardised",
    GRADUAL: "Digits, by a hidden metric", **PEOPLE,
}  # fmt: skip
AGAINST = ("random", "prototypes", DEFAULT)
"""The default policy, and those that it is compared with everywhere."""


@dataclass(frozen=True)
class Asking:
    """The questions of one policy in one draw."""

    dataset: str
    policy: str
    noise: float
    draw: int


def askings(draws: int) -> list[Asking]:
    """Every policy on all data; with guesses and standardised features, the best policies and random questions."""
    return [
        Asking(dataset, policy, noise, draw)
        for draw in range(draws)
        for dataset in NAMES
        for noise in ((0.0, NOISE) if dataset in DATASETS else (0.0,))
        for policy in TITLES
        if (policy in POLICIES or dataset in DATASETS)
        and (noise == 0 or policy in (*AGAINST, "diverse", AT_ONCE))
        and (dataset != STANDARDISED or policy in AGAINST)
        and not (policy in ("typical", "prototypes", "auto") and dataset in PEOPLE)  # only recorded questions
    ]


def points(dataset: str) -> list[int]:
    """The numbers of questions after which to score, and after which the policy learns."""
    return [ASKED[dataset] * part // POINTS for part in range(1, POINTS + 1)]


def measure(asking: Asking) -> list[dict[str, Any]]:
    """Ask, and score after every tenth of the questions."""
    at = points(asking.dataset)
    labels = None
    answer: Recorded | ByLabels | ByMetric
    if asking.dataset in PEOPLE:
        X, known, held_out = _recorded(asking.dataset, asking.draw)
        answer = Recorded(known)
    elif asking.dataset == GRADUAL:
        X, answer = _gradual(asking.draw)
        held_out = _random(X, answer, asking.draw)
    else:
        items = _items(asking.dataset, asking.draw)
        X, labels = items.X, items.labels[MULTICLASS]
        answer = ByLabels(labels, noise=asking.noise, random_state=np.random.default_rng([asking.draw, 10]))
        others = ByLabels(labels, noise=asking.noise, random_state=np.random.default_rng([asking.draw, 11]))
        held_out = _random(X, others, asking.draw)
    if asking.policy == INFORMED:
        said = triples(items, MULTICLASS, at[-1], noise=asking.noise, draw=asking.draw)
    else:
        said = simulate(
            X,
            answer,
            policy="prototypes" if asking.policy == AT_ONCE else asking.policy,
            n=at[-1],
            batch=1 if asking.policy in ("prototypes", "auto") else at[0],
            random_state=np.random.default_rng([asking.draw, 13]),
        )
    decided = held_out[~held_out.undecided]
    rows = []
    for n in at:
        z = _coordinates(asking, said[:n])
        right = choices.agreement(choices.sides(z, decided.shown), decided)
        rows.append({
            **asdict(asking), "n_answers": n, "undecided": float(said[:n].undecided.mean()),
            "agreement": float(np.average(right, weights=decided.weight)),
            "rand": np.nan if labels is None else _rand(z, labels, asking.draw),
        })  # fmt: skip
    return rows


def _items(dataset: str, draw: int) -> Items:
    """The items of a draw, with each feature standardised if the data set is."""
    if dataset != STANDARDISED:
        return sample(dataset, draw)[0]
    items = sample("scene", draw)[0]
    return replace(items, X=scale(items.X))


def _random(X: Array, answer: ByLabels | ByMetric, draw: int) -> Comparisons:
    """Answers to random questions, to be held out."""
    return simulate(X, answer, policy="random", n=HELD_OUT, random_state=np.random.default_rng([draw, 12]))


def _gradual(draw: int) -> tuple[Array, ByMetric]:
    """Handwritten digits, and people who use three hidden directions and can't tell if two distances are similar."""
    data = load_digits()
    rng = np.random.default_rng([draw, 15])
    X = data.data[sample_per_class(data.target, 50, draw)] / 16
    return X, ByMetric(X @ rng.standard_normal((X.shape[1], 3)), undecided=0.1, random_state=rng)


@lru_cache(maxsize=2)
def _recorded(dataset: str, draw: int) -> tuple[Array, Comparisons, Comparisons]:
    """Features, recorded answers and held-out answers; for THINGS, those about a sample of the objects."""
    X, said = recorded(dataset)
    if dataset == "things":
        items = np.sort(np.random.default_rng([draw, 14]).choice(len(X), THINGS, replace=False))
        said = said[np.isin(said.shown, items).all(axis=1)]
        X, said = X[items], Comparisons.odd_one_out(np.searchsorted(items, said.shown), said.odd)
    return X, *split(said, 5, draw)


@lru_cache(maxsize=2)
def _features(dataset: str, draw: int) -> Array:
    """The items' features under the initial kernel, which all policies of a draw share."""
    X = _items(dataset, draw).X
    return LowRank.fit(AdaptiveGaussian().fit(X), X, rank=0.9).transform(X)


def _coordinates(asking: Asking, said: Comparisons) -> Array:
    """Learned coordinates: with the paper's squared loss for answers by class, with the softmax loss for people's."""
    if asking.dataset in PEOPLE:
        X = _recorded(asking.dataset, asking.draw)[0]
        kernel = KernelSum([AdaptiveGaussian(), Identity()], [1.0, 0.5])
        return np.asarray(SKLR(kernel, rank=None, loss="softmax", penalty=0.1, tol=1e-3).fit(X, said).transform(X))
    if asking.dataset == GRADUAL:
        X = _gradual(asking.draw)[0]
        return np.asarray(SKLR("adaptive", loss="softmax", penalty=1.0, tol=1e-3).fit(X, said).transform(X))
    phi = _features(asking.dataset, asking.draw)
    penalty = WITH_GUESSES if asking.noise else 1e5
    learned = learn(phi, said, RECIPE, [penalty], solver=SOLVERS["auto"](), tol=1e-5)
    return np.asarray(phi @ learned.root)


def _rand(z: Array, labels: Array, draw: int) -> float:
    groups = KernelKMeans(n_clusters=len(np.unique(labels)), random_state=draw).fit_predict(z @ z.T)
    return float(adjusted_rand_score(labels, groups))


def results(folder: Path) -> Store:
    """The results stored in a folder."""
    return Store(folder / "next_question", COLUMNS, IDENTITY)


class NextQuestion:
    """The experiment."""

    def compute(self, folder: Path, *, draws: int, jobs: int, tell: Callable[[str], None]) -> int:
        """Measure what the folder doesn't hold yet; return the number of measurements."""
        store = results(folder)
        have = set(store.read()[IDENTITY].itertuples(index=False, name=None))
        todo = [a for a in askings(draws) if (*asdict(a).values(), ASKED[a.dataset]) not in have]
        return run_all(measure, todo, store, jobs=jobs, tell=tell, named=_named)

    def show(self, folder: Path, *, draws: int) -> Outcome:
        """Tables, figure and remarks from the results in the folder."""
        rows = results(folder).read()
        return outcome(rows[rows["draw"] < draws])


def _named(row: Row) -> str:
    return f"{row['policy']} on {row['dataset']}, draw {row['draw']}"


def outcome(rows: pd.DataFrame) -> Outcome:
    """Curves, and the number of questions that each policy needs to reach what all random ones reach."""
    keys = ["dataset", "noise", "policy", "n_answers"]
    found = {value: means(rows, keys, value) for value in ("rand", "agreement")}
    return Outcome(
        "What the next question is worth",
        QUESTION,
        [table for value in found for table in _tables(found[value], value)],
        {"next_question.svg": _figure(found)} if len(rows) else {},
        [
            *_goals(found["rand"]),
            *_worse(found),
            *(sentence for other in AGAINST if other != DEFAULT for sentence in _paired(rows, other)),
        ],
        {value: facts(found[value]) for value in found},
    )


VALUES = {"rand": "Adjusted Rand index", "agreement": "held-out answers predicted"}


def curve(found: Means, dataset: str, noise: float, policy: str) -> LearningCurve | None:
    """The mean over draws."""
    at = [n for n in points(dataset) if (dataset, noise, policy, n) in found]
    if not at:
        return None
    return LearningCurve(np.array(at), np.array([found[dataset, noise, policy, n].mean for n in at]))


def needed(found: Means, dataset: str, noise: float, policy: str) -> int | None:
    """Number of questions after which a policy reaches what all random ones reach; None if never."""
    goal, mine = found.get((dataset, noise, "random", ASKED[dataset])), curve(found, dataset, noise, policy)
    return None if goal is None or mine is None else mine.reaches(goal.mean)


def _tables(found: Means, value: str) -> list[Table]:
    lines = []
    for dataset, noise in _settings(found):
        n = ASKED[dataset]
        for policy in TITLES:
            half, whole = (found.get((dataset, noise, policy, m)) for m in (n // 2, n))
            if half is None or whole is None:
                continue
            reached = needed(found, dataset, noise, policy)
            lines.append([
                _setting(dataset, noise), TITLES[policy], str(half), str(whole),
                f"{reached} of {n}" if reached is not None else f"not with {n}",
            ])  # fmt: skip
    if not lines:
        return []
    caption = f"{VALUES[value].capitalize()}, mean ± standard error over {drawn(found)}."
    header = ["", "policy", "after half of the questions", "after all", "needed to reach what all random ones reach"]
    return [Table(caption, header, lines)]


def _settings(found: Means) -> list[tuple[str, float]]:
    """Data sets and noise in the order of the page: those with classes first, without guesses before with guesses."""
    order = list(NAMES)
    return sorted(
        {(key[0], key[1]) for key in found},
        key=lambda each: (each[0] not in (*DATASETS, STANDARDISED), each[1], order.index(each[0])),
    )


def _setting(dataset: str, noise: float) -> str:
    return NAMES[dataset] + (f", {noise:.0%} guesses" if noise else "")


def _goals(found: Means) -> list[str]:
    said = []
    for dataset, goal in GOAL.items():
        for noise in (0.0, NOISE):
            reached = needed(found, dataset, noise, DEFAULT)
            if any((dataset, noise, policy, ASKED[dataset]) not in found for policy in ("random", DEFAULT)):
                continue
            most = int(np.floor(goal * ASKED[dataset]))
            verdict = "never reaches" if reached is None else f"needs {reached} questions to reach"
            met = reached is not None and reached <= most
            said.append(
                f"{_setting(dataset, noise)}: the default policy, *{TITLES[DEFAULT]}*, {verdict} what "
                f"{ASKED[dataset]} random ones reach; the goal of at most {most} is {'met' if met else 'missed'}."
            )
    return said


def _worse(found: dict[str, Means]) -> list[str]:
    """Where a policy is below random questions by more than both error bars."""
    below: dict[str, list[str]] = {}
    for value, each in found.items():
        for (dataset, noise, policy, n), mine in each.items():
            chance = each.get((dataset, noise, "random", n))
            if policy in POLICIES and chance is not None and _apart(mine, chance):
                below.setdefault(f"{TITLES[policy]} on {_setting(dataset, noise)}, {VALUES[value]}", []).append(str(n))
    return [f"Worse than random by more than the error bars: {where}, at {listed(at)}." for where, at in below.items()]


def _paired(rows: pd.DataFrame, other: str = "random") -> list[str]:
    """Where the default policy is below another one in the same draws, by more than the error of the difference.

    All numbers of questions count, so that some are below by chance; the sentence says how many there are.
    """
    point = ["dataset", "noise", "n_answers"]
    mine, chance = (rows[rows["policy"] == policy].set_index([*point, "draw"]) for policy in (DEFAULT, other))
    apart = mine[list(VALUES)].sub(chance[list(VALUES)]).reset_index()
    found = {value: means(apart, point, value) for value in VALUES}
    every = [(value, key, mean) for value, each in found.items() for key, mean in each.items() if mean.draws > 1]
    if not every:
        return []
    below = {1: 0, 2: 0}
    where: dict[str, list[str]] = {}
    for value, (dataset, noise, n), mean in every:
        for errors in below:
            below[errors] += mean.mean < -errors * mean.error
        if mean.mean < -mean.error:
            difference = f"{n} ({mean:+})".replace("-", "−")
            where.setdefault(f"{_setting(dataset, noise)}, {VALUES[value]}", []).append(difference)
    said = [f"*{TITLES[DEFAULT]}* below {TITLES[other]}, {each}: at {listed(at)}." for each, at in where.items()]
    return [
        f"In the same draws, the default policy is below {TITLES[other]} by more than the standard error of the "
        f"difference at {below[1]} of {len(every)} points of the curves, by more than two at {below[2]}.",
        *said,
    ]


def _apart(mine: Mean, chance: Mean) -> bool:
    return min(mine.draws, chance.draws) > 1 and mine.mean + mine.error < chance.mean - chance.error


def _figure(found: dict[str, Means]) -> bytes:
    """A panel for each setting: first the Adjusted Rand index, then held-out answers."""
    return panels(
        [
            Panel(_setting(dataset, noise), VALUES[value], _curves(found[value], dataset, noise))
            for value in VALUES
            for dataset, noise in _settings(found[value])
        ],
        "questions",
    )


def _curves(found: Means, dataset: str, noise: float) -> list[Curve]:
    curves = []
    for policy, title in TITLES.items():
        known = [(n, found[key]) for n in points(dataset) if (key := (dataset, noise, policy, n)) in found]
        wide, dashed = policy in ("random", DEFAULT), policy == INFORMED
        style = {"color": COLOURS[policy], "linewidth": 2.0 if wide else 1.1, "linestyle": "--" if dashed else "-"}
        if known:
            curves.append(Curve(title, known, style))
    return curves


QUESTION = f"""\
Simulated people answer by class. Every question counts, also those that they answer with *can't tell*: three items of
one class, or of three classes. *Random* shows three random items. After every tenth of the questions, the kernel is
learned from all answers so far (as sSKLR, exact; with guesses at λ = {WITH_GUESSES:g}) and clustered by kernel k-means.
The second measure is the share of correctly predicted answers to {HELD_OUT} further random questions, without *can't
tell*. *Odd ones only, by labels* is the paper's draw, which uses the labels and never gets *can't tell*.

*Prototypes* uses the answers themselves. *Auto*, the default, first shows each of 20 typical items once and then asks
as *prototypes* does, but as *uncertain* does if less than a quarter of the first 20 answers are *can't tell*. Both
choose one question at a time; *a tenth at once* shows how *prototypes* does when many people answer at once. The other
policies choose a tenth of the questions at a time, after which they learn; learning more often gained nothing on other
data. On THINGS, with {THINGS} objects in each draw, and on cars60, only recorded questions can be asked (there
*prototypes* and *auto* do the same as *uncertain*), and a fifth of them is held out.
*Digits, by a hidden metric* are 500 of scikit-learn's digits, and people without classes: they compare in three hidden
directions, and can't tell when the two shortest distances differ by less than a tenth. In these three the kernel is
learned with the softmax loss. *MIT Scene, standardised* has each feature at mean 0 and variance 1.

The policies were developed, and their settings chosen, on scikit-learn's digits, on synthetic data and on data sets of
the KEEL repository (letter, segment, satimage, vowel, optdigits, and for a last check texture and penbased), and not on
the data of this page. Two others, better than *diverse* on those data, were measured here once each and dropped, since
they were not better here. *Auto* once asked as *prototypes* from the first question on, and was below random at 11 of
150 points. A change of its first questions was measured here once and dropped, since it was worse on Scene; another,
the present one, was measured once and kept; a third was measured once and dropped, since it was below random at 8 of
150 points. With guesses, *prototypes* was first measured at λ = 10, where it missed its goal on Scene; it was replaced
by λ = 1, at which all policies do better on the other data. Every draw of Vehicle has all its items, so that
*prototypes* and *auto* ask the same questions in each as long as nobody guesses. See [the next question](questions.md)
for what the policies do;
`oddkernel reproduce next_question --results experiments/results --out docs` writes this page."""

EXPERIMENT = NextQuestion()
