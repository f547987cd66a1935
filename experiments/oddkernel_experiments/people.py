"""Held-out answers of real people: THINGS and cars60.

The held-out part of THINGS is fixed: a fifth of the distinct triples. The settings of `SKLR` were chosen without it;
those of `Dimensions` were not, as its page says.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from oddkernel import SKLR, Comparisons
from oddkernel.comparisons import Kind
from oddkernel.datasets import load_cars60, load_things
from oddkernel.items import Source, from_images

from .means import Means, drawn, facts, lead, means
from .outcome import Outcome, Table
from .store import Store

Array = np.ndarray[Any, Any]

COLUMNS = {
    "dataset": "str", "method": "str", "n_answers": "int64", "draw": "int64", "agreement": "float64",
    "log_likelihood": "float64", "brier": "float64", "calibration_error": "float64", "n_held_out": "int64",
    "seconds": "float64", "chosen": "str",
}  # fmt: skip
IDENTITY = ["dataset", "method", "n_answers", "draw"]
EVERYTHING = 0
"""As a number of answers: all of them."""

METHODS = {
    "before": "Features as they are",
    "sklr": "SKLR, defaults",
    "identity": "SKLR without features",
    "soe": "SOE (cblearn)",
    "tste": "t-STE (cblearn)",
}
EMBEDDINGS = {"soe": "SOE", "tste": "TSTE"}
"""Methods that use answers only, by their names in cblearn."""


@dataclass(frozen=True)
class Sitting:
    """One measurement: learn from a number of answers with a method, score on held-out answers."""

    dataset: str
    method: str
    n_answers: int
    draw: int


def split(said: Comparisons, share: int, seed: int) -> tuple[Comparisons, Comparisons]:
    """Answers to learn from, and held-out answers: all answers about one in ``share`` of the distinct triples."""
    triples, which = np.unique(said.item_sets(), axis=0, return_inverse=True)
    out = np.random.default_rng(seed).permutation(len(triples))[: len(triples) // share]
    held_out = np.isin(which.ravel(), out)
    return said[~held_out], said[held_out]


@cache
def _things() -> tuple[Array, Comparisons]:
    bunch = load_things()
    return bunch.data, Comparisons.odd_one_out(bunch.comparisons.shown, bunch.comparisons.odd)


@cache
def cars() -> tuple[Source, Comparisons]:
    """The photographs of cars60, and the answers about them."""
    bunch = load_cars60()
    said = bunch.comparisons
    order = [list(said.items).index(name) for name in bunch.names]
    place = np.empty(len(order), dtype=np.intp)
    place[order] = np.arange(len(order))
    shown = place[said.shown]
    source = Source("image", tuple(bunch.names), paths=tuple(bunch.images))
    return source, Comparisons.most_central(shown[:, 0], shown[:, 1:])


@cache
def _cars() -> tuple[Array, Comparisons]:
    source, said = cars()
    return from_images(source.paths, source.names).X, said


def recorded(dataset: str) -> tuple[Array, Comparisons]:
    """Features and answers."""
    return _things() if dataset == "things" else _cars()


def statements(central: Comparisons) -> Comparisons:
    """Each most-central answer as two *closer* answers, which an embedding of triplets can learn from."""
    assert (central.kind == Kind.MOST_CENTRAL).all()
    middle, one, other = central.shown.T
    anchor, far = (np.column_stack(pair).ravel() for pair in ((one, other), (other, one)))
    return Comparisons.closer(anchor, np.repeat(middle, 2), far)


def parts(said: Comparisons, sitting: Sitting) -> tuple[Comparisons, Comparisons]:
    """Answers to learn from, and held-out ones in the form in which all methods can be scored."""
    known, held_out = split(said, 5, 0 if sitting.dataset == "things" else sitting.draw)
    if sitting.n_answers:
        triples, which = np.unique(known.item_sets(), axis=0, return_inverse=True)
        order = np.random.default_rng(1000 + sitting.draw).permutation(len(triples))
        rank = np.empty(len(triples), dtype=np.intp)
        rank[order] = np.arange(len(triples))
        known = known[np.sort(np.argsort(rank[which.ravel()], kind="stable")[: sitting.n_answers])]
    return known, statements(held_out) if sitting.dataset == "cars60" else held_out


def fitted(X: Array, known: Comparisons, sitting: Sitting) -> tuple[SKLR, str]:
    """SKLR as the method says, and the settings that it chose."""
    given: dict[str, dict[str, Any]] = {"before": {"penalty": 0}, "identity": {"kernel": "identity", "rank": None}}
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "The answers don't support a change", UserWarning)
        model = SKLR(
            random_state=sitting.draw, device=os.environ.get("ODDKERNEL_DEVICE"), **given.get(sitting.method, {})
        ).fit(X, known)
    if model.tuning_ is None:
        return model, ""
    recipe = model.tuning_.recipe
    penalties = " then ".join(f"{penalty:.2g}" for penalty in model.tuning_.penalties)
    return model, f"{recipe.kernel}, {recipe.loss}, penalty {penalties}"


def measure(sitting: Sitting) -> dict[str, Any]:
    """Learn and score."""
    X, said = recorded(sitting.dataset)
    known, held_out = parts(said, sitting)
    started = time.perf_counter()
    scores: dict[str, Any] = {"log_likelihood": np.nan, "brier": np.nan, "calibration_error": np.nan}
    if sitting.method in EMBEDDINGS:
        agreement, chosen = _embedding(EMBEDDINGS[sitting.method], statements(known), held_out, len(X), sitting.draw)
    else:
        features = np.arange(len(X))[:, None].astype(float) if sitting.method == "identity" else X
        model, chosen = fitted(features, known, sitting)
        agreement = model.score(features, held_out)
        if sitting.dataset == "things":
            found = asdict(model.evaluate(features, held_out))
            scores = {name: found[name] for name in scores}
    return {
        **asdict(sitting), "agreement": agreement, **scores, "n_held_out": len(held_out),
        "seconds": time.perf_counter() - started, "chosen": chosen,
    }  # fmt: skip


CBLEARN = """
import sys, numpy as np, warnings
warnings.simplefilter("ignore")
from cblearn import embedding
folder, name, dimension, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
triplets = np.load(folder + "/triplets.npy")
if name == "SOE":
    best = embedding.SOE(n_components=dimension, n_init=5, random_state=seed).fit(triplets)
else:  # it has no way to start several times
    tried = (getattr(embedding, name)(n_components=dimension, random_state=5 * seed + k) for k in range(5))
    best = min((model.fit(triplets) for model in tried), key=lambda model: model.stress_)
np.save(folder + "/embedding.npy", best.embedding_)
"""


def _embedding(name: str, known: Comparisons, held_out: Comparisons, n_items: int, seed: int) -> tuple[float, str]:
    """An ordinal embedding of cblearn, in a separate Python; answers held out of ``known`` choose the dimension."""
    python = os.environ.get("ODDKERNEL_PYTHON_CBLEARN")
    if not python:
        raise ValueError("ODDKERNEL_PYTHON_CBLEARN names no Python with cblearn, which needs an older NumPy")

    def share(train: Comparisons, test: Comparisons, dimension: int) -> float:
        with tempfile.TemporaryDirectory() as folder:
            np.save(Path(folder, "triplets.npy"), train.shown)
            command = [python, "-c", CBLEARN, folder, name, str(dimension), str(seed)]
            subprocess.run(command, check=True, capture_output=True)
            z = np.load(Path(folder, "embedding.npy"))
        anchor, near, far = (z[column] for column in test.shown.T)
        closer = np.square(anchor - near).sum(axis=1) < np.square(anchor - far).sum(axis=1)
        return float(np.average(closer, weights=test.weight))

    inner, validation = split(known, 5, seed)
    dimensions = [2, 3, 5, 8]
    best = dimensions[int(np.argmax([share(inner, validation, dimension) for dimension in dimensions]))]
    # An embedding can't place items that no answer is about.
    if len(known.constrained) < n_items:
        raise ValueError("an ordinal embedding needs answers about every item")
    return share(known, held_out, best), f"{best} dimensions"


def results(folder: Path) -> Store:
    """The results stored in a folder."""
    return Store(folder / "people", COLUMNS, IDENTITY)


@dataclass(frozen=True)
class People:
    """An experiment on people's answers."""

    dataset: str
    sittings: Callable[[int], Iterable[Sitting]]
    outcome: Callable[[pd.DataFrame], Outcome]

    def compute(self, folder: Path, *, draws: int, jobs: int, tell: Callable[[str], None]) -> int:
        """Measure what the folder doesn't hold yet; return the number of measurements."""
        from joblib import Parallel, delayed

        store = results(folder)
        have = {tuple(row) for row in store.read()[IDENTITY].itertuples(index=False)}
        todo = [s for s in self.sittings(draws) if (s.dataset, s.method, s.n_answers, s.draw) not in have]
        found = Parallel(n_jobs=jobs, return_as="generator_unordered")(delayed(measure)(sitting) for sitting in todo)
        for number, row in enumerate(found, 1):
            store.append([row])
            tell(f"{number} of {len(todo)}: {row['method']} on {row['n_answers'] or 'all'} answers")
        store.merge()
        return len(todo)

    def show(self, folder: Path, *, draws: int) -> Outcome:
        """Tables and remarks from the results in the folder."""
        rows = results(folder).read()
        return self.outcome(rows[(rows["dataset"] == self.dataset) & (rows["draw"] < draws)])


def _amount(n_answers: int) -> str:
    return f"{n_answers:,}" if n_answers else "all"


def _things_sittings(draws: int) -> list[Sitting]:
    sizes = (1_000, 3_000, 10_000, 30_000, EVERYTHING)
    return [Sitting("things", "before", EVERYTHING, 0), *(Sitting("things", "sklr", n, 0) for n in sizes)]


def _things_outcome(rows: pd.DataFrame) -> Outcome:
    rows = rows.assign(order=rows["n_answers"].replace(EVERYTHING, np.iinfo(np.int64).max)).sort_values("order")
    table = Table(
        "Held-out answers predicted right, their mean log-likelihood (−1.099 is guessing), Brier score (0.667 is "
        "guessing) and expected calibration error (15 bins).",
        ["answers learned from", "", "right", "log-likelihood", "Brier", "calibration error", "chosen"],
        [
            [
                _amount(row.n_answers), METHODS[row.method], f"{row.agreement:.3f}", f"{row.log_likelihood:.3f}",
                f"{row.brier:.3f}", f"{row.calibration_error:.3f}", row.chosen,
            ]
            for _, row in rows.iterrows()
        ],
    )  # fmt: skip
    return Outcome(
        "THINGS: answers of real people on everyday objects", THINGS, [table],
        facts={"rows": rows.drop(columns="order").to_dict("records")},
    )  # fmt: skip


def _cars_sittings(draws: int) -> list[Sitting]:
    return [
        Sitting("cars60", method, n, draw)
        for draw in range(draws)
        for n in (250, 1_000, EVERYTHING)
        for method in METHODS
        if method not in EMBEDDINGS or os.environ.get("ODDKERNEL_PYTHON_CBLEARN")
    ]


def _cars_outcome(rows: pd.DataFrame) -> Outcome:
    found: Means = means(rows, ["n_answers", "method"], "agreement")
    sizes = sorted({n for n, _ in found}, key=lambda n: n or np.inf)
    table = Table(
        f"Held-out statements that the learned distances agree with, mean ± standard error over {drawn(found)}.",
        ["answers learned from", *METHODS.values()],
        [
            [_amount(n), *(str(found[n, method]) if (n, method) in found else "–" for method in METHODS)]
            for n in sizes
        ],
    )  # fmt: skip

    def at(n_answers: int) -> pd.DataFrame:
        return rows[rows["n_answers"] == n_answers]

    notes = [
        f"{METHODS['sklr']} minus {METHODS[other]}, paired by draw: {'; '.join(lines)}."
        for other in ("before", *EMBEDDINGS)
        if (lines := [f"{ahead:+} ({_amount(n)})" for n in sizes if (ahead := lead(at(n), "sklr", other, "agreement"))])
    ]
    return Outcome("cars60: photographs of cars", CARS, [table], {}, notes, {"means": facts(found)})


THINGS = """\
145,177 odd-one-out answers of people about three of 1,854 everyday objects (Hebart et al. 2020, 2023). The objects'
features come from a network trained on pictures with captions (CLIP ViT-B/32), and not on these answers. A fifth of the
distinct triples is held out; `SKLR()` with its defaults learns from the others, or from a part of them.
`oddkernel reproduce things --results experiments/results --out docs` writes this page."""

CARS = """\
7,097 answers of people to *which of these three cars is the most central?*, on 60 photographs: the other two are the
farthest apart (Kleindessner and von Luxburg). The features are computed from the pictures alone: their GIST descriptor
and colours (`oddkernel features`). A fifth of the triples is held out, a different fifth in each draw. SKLR uses an
answer as a choice among three. SOE and t-STE, the soft ordinal embedding and the t-distributed stochastic triplet
embedding of cblearn, use answers only, without features. They take an answer as two statements of the form *a is closer
to b than to c*, and all methods are scored on such statements. Answers held out among those to learn from choose the
embeddings' dimension among 2, 3, 5 and 8, and each is the best of five starts. One triple was asked 146 times; wherever
it is held out, it is a tenth of the statements. These features say little about which cars people find similar;
[those of a network](encoders.md) say more.
`oddkernel reproduce cars60 --draws 10 --results experiments/results --out docs` writes this page."""

THINGS_EXPERIMENT = People("things", _things_sittings, _things_outcome)
CARS_EXPERIMENT = People("cars60", _cars_sittings, _cars_outcome)
