"""Many answers: 145,177 answers about 1854 objects (THINGS), with the squared loss and a margin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .data import judgements
from .measure import Clock, measure, python_with
from .results import Case, Row

ALL = {"full": 145_177, "tiny": 300}
SOME = {"full": 20_000, "tiny": 200}
HELD_OUT = {"full": 5_000, "tiny": 100}
# In units of the linear kernel, in which the mean squared distance is 2. About the values that held-out answers choose.
MARGIN, PENALTY, TOLERANCE = 1.2, 0.025, 1e-4
EVERYTHING, PART = "all answers", "some answers, as ordinal embedding takes long"


def run(size: str, tell: Callable[[str], None]) -> Case:
    """Measure the case."""
    held_out = {"held_out": HELD_OUT[size]}
    some = {"n_answers": SOME[size]} | held_out
    tell("all answers")
    whole = measure(learning, {"n_answers": ALL[size] - HELD_OUT[size]} | held_out)
    rows = [Row.of(EVERYTHING, "oddkernel", whole)]
    tell("some answers")
    rows.append(Row.of(PART, "oddkernel", measure(learning, some)))
    python = python_with("cblearn")
    notes = []
    if python is None:
        notes.append("cblearn wasn't installed; ODDKERNEL_PYTHON_CBLEARN may name an interpreter that has it.")
    else:
        tell("cblearn")
        taken = measure(embedding, some, python=python)
        rows.append(Row.of(PART, "cblearn, SOE in 10 dimensions", taken))
    facts = whole.facts
    title = f"Many answers: {facts['n_answers']} about {facts['n_items']} items ({facts['source']})"
    notes.append(
        f"The linear kernel, squared loss, ratio 1, margin {MARGIN}, penalty {PENALTY}, to a residual of "
        f"{TOLERANCE:g}. `right` is the share of {facts['held_out']} other answers that the learned distances agree "
        "with; chance is 0.333."
    )
    return Case("answers", title, size, rows, notes=notes)


def learning(clock: Clock, *, n_answers: int, held_out: int) -> dict[str, Any]:
    """The learner: once with few answers, to compile everything, then with all."""
    from oddkernel import SKLR, Comparisons

    X, shown, source = judgements(n_answers + held_out)
    said = Comparisons.odd_one_out(shown, np.full(len(shown), 2))
    train, test = said[held_out:], said[:held_out]
    model = SKLR("linear", rank=None, loss="squared", ratio=1, margin=MARGIN, penalty=PENALTY, tol=TOLERANCE)
    model.fit(X[:100], Comparisons.odd_one_out([[0, 1, 2], [3, 4, 5]], [2, 2]))
    clock.time(lambda: model.fit(X, train))
    return {
        "source": source,
        "n_items": len(X),
        "n_answers": len(train),
        "held_out": held_out,
        "rank": model.features_.rank,
        "residual": model.solution_.residual,
        "right": model.score(X, test),
    }


def embedding(clock: Clock, *, n_answers: int, held_out: int) -> dict[str, Any]:
    """Soft ordinal embedding of the same answers, without features."""
    from cblearn.embedding import SOE

    X, shown, _ = judgements(n_answers + held_out)
    train, test = shown[held_out:], shown[:held_out]
    # (i, j | k) says that i is closer to j than to k, and j closer to i than to k.
    triplets = np.concatenate([train, train[:, [1, 0, 2]]])
    model = SOE(n_components=10, n_init=1, random_state=0)
    place = clock.time(lambda: model.fit(triplets, n_objects=len(X)).embedding_)
    sides = [np.linalg.norm(place[test[:, a]] - place[test[:, b]], axis=1) for a, b in ((0, 1), (0, 2), (1, 2))]
    return {"right": float(np.mean((sides[0] < sides[1]) & (sides[0] < sides[2])))}
