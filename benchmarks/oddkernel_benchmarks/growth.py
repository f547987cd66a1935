"""How time grows with the number of items, of answers, and of dimensions."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .data import blobs
from .measure import Clock, Measured, measure
from .results import Case, Growth

ITEMS = {"full": (3_000, 10_000, 30_000, 100_000, 300_000), "tiny": (200, 400)}
ANSWERS = {"full": (1_000, 3_000, 10_000, 30_000, 100_000), "tiny": (50, 100)}
RANKS = {"full": (10, 30, 100, 300, 1000), "tiny": (5, 10)}
MEMORY = {"full": (300_000, 1_000_000), "tiny": (200, 400)}
N_ITEMS = {"full": 300, "tiny": 40}
# The total weight of the answers is kept at that of this many answers with a penalty of 10.
WEIGHED = 1000
N_ASKED = {"full": 1200, "tiny": 40}


def run(size: str, tell: Callable[[str], None]) -> Case:
    """Measure the case."""

    def over(sizes: Sequence[int], what: str, at: Callable[[int], Measured]) -> list[float]:
        seconds = []
        for value in sizes:
            tell(f"{value} {what}")
            seconds.append(at(value).cpu_seconds)
        return seconds

    def grows(of: str, what: str, sizes: Sequence[int], at: Callable[[int], Measured]) -> Growth:
        return Growth(of, what, [float(value) for value in sizes], over(sizes, what, at))

    n_items, n_asked = N_ITEMS[size], N_ASKED[size]
    growth = [
        grows("scale.transform, file to file", "items", ITEMS[size], lambda n: measure(transforming, {"n_items": n})),
        grows("scale.cluster, file to file", "items", ITEMS[size], lambda n: measure(grouping, {"n_items": n})),
        grows(
            f"learning about {n_items} items, equal weight in all",
            "answers",
            ANSWERS[size],
            lambda n: measure(learning, {"n_items": n_items, "n_answers": n, "penalty": 10.0 * WEIGHED / n}),
        ),
        grows(
            f"learning about {n_items} items, equal weight each",
            "answers",
            ANSWERS[size],
            lambda n: measure(learning, {"n_items": n_items, "n_answers": n, "penalty": 0.01}),
        ),
        grows(
            f"learning about {n_asked} items",
            "dimensions",
            RANKS[size],
            lambda r: measure(learning, {"n_items": n_asked, "n_answers": n_asked, "penalty": 10.0, "rank": r}),
        ),
    ]
    few, many = MEMORY[size]
    peaks = [measure(transforming, {"n_items": n}).peak_mib for n in (few, many)]
    note = (
        f"Peak memory of `scale.transform` from file to file: {peaks[0]:.0f} MiB for {few} items, {peaks[1]:.0f} MiB "
        f"for {many}. Learning is timed without the initial kernel and its eigendecomposition. More answers have the "
        "same weight (`penalty`) each, or all together."
    )
    return Case("growth", "How CPU time grows", size, growth=growth, notes=[note])


def transforming(clock: Clock, *, n_items: int) -> dict[str, Any]:
    """Coordinates of ``n_items`` items by a model of 300."""
    return _through_files(clock, n_items, lambda scale, model, X, out: scale.transform(model, X, out))


def grouping(clock: Clock, *, n_items: int) -> dict[str, Any]:
    """Groups of ``n_items`` items by a model of 300."""
    return _through_files(clock, n_items, lambda scale, model, X, out: scale.cluster(model, X, 10, out, random_state=0))


def _through_files(clock: Clock, n_items: int, work: Callable[..., Any]) -> dict[str, Any]:
    from oddkernel import SKLR, Comparisons, scale

    X, group = blobs(300, seed=0)
    model = SKLR("adaptive", penalty=10.0).fit(X, Comparisons.from_labels(group, 200, random_state=0))
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder, "X.npy"), Path(folder, "out.npy")
        with source.open("wb") as file:
            header = {"descr": "<f4", "fortran_order": False, "shape": (n_items, 64)}
            np.lib.format.write_array_header_1_0(file, header)
            for start in range(0, n_items, 1000):
                file.write(blobs(min(1000, n_items - start), seed=1 + start)[0].data)
        clock.time(lambda: work(scale, model, source, out), 2)
    return {}


def learning(clock: Clock, *, n_items: int, n_answers: int, penalty: float, rank: float | int = 0.9) -> dict[str, Any]:
    """The solver alone, with the features already computed."""
    from oddkernel import Comparisons
    from oddkernel.kernels import AdaptiveGaussian, LowRank
    from oddkernel.learning import Recipe
    from oddkernel.solvers import SOLVERS, solve

    X, group = blobs(n_items, seed=0)
    said = Comparisons.from_labels(group, n_answers, random_state=0)
    phi = LowRank.fit(AdaptiveGaussian().fit(X), X, rank=rank).transform(X)
    recipe = Recipe("adaptive", "squared", ratio=4.0, margin=0.0)
    rows = recipe.rows(said)

    def work() -> Any:
        return solve(recipe.problem(phi, rows, penalty), SOLVERS["auto"]())[0]

    work()
    found = clock.time(work, 2)
    return {"residual": found.residual, "passes": found.n_iter, "rank": phi.shape[1]}
