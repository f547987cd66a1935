"""Many items: coordinates and groups of a million, from a file into files."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from .data import blobs
from .measure import Clock, measure
from .results import Case, Row

SIZES = {"full": {"n_items": 1_000_000, "n_answers": 1000}, "tiny": {"n_items": 2000, "n_answers": 30}}
COORDINATES, GROUPS = "learned coordinates of all items, in a file", "ten groups of all items, in a file"
FLOAT32, GROUPED = "oddkernel, float32", "oddkernel"
CHUNK = 10_000  # items that scikit-learn's methods process at a time; chosen by hand
# Number of items on which the slowest method is timed. Chosen by hand, to bound the time.
PART = 100_000


def run(size: str, tell: Callable[[str], None]) -> Case:
    """Measure the case."""
    options = SIZES[size]
    with tempfile.TemporaryDirectory() as folder:
        here = {"folder": folder}
        tell("learning, writing the items")
        prepared = measure(preparing, here | options).facts
        tell("coordinates")
        rows = [
            Row.of(COORDINATES, "oddkernel, float64", measure(transforming, here | {"dtype": "float64"})),
            Row.of(COORDINATES, FLOAT32, measure(transforming, here | {"dtype": "float32"})),
        ]
        tell("scikit-learn's Nystroem")
        part = measure(approximating, here | prepared)
        times = options["n_items"] / part.facts["n_items"]
        way = "scikit-learn, Nystroem (Gaussian), as many landmarks and dimensions"
        row = Row.of(COORDINATES, way, part)
        seconds, cpu_seconds = times * row.seconds, times * row.cpu_seconds
        rows.append(replace(row, seconds=seconds, cpu_seconds=cpu_seconds, scaled=times > 1))
        tell("groups")
        rows.append(Row.of(GROUPS, GROUPED, measure(grouping, here)))
        rows.append(Row.of(GROUPS, "scikit-learn, MiniBatchKMeans on the features", measure(plain, here)))
    title = (
        f"Many items: {options['n_items']} with 64 features; {options['n_answers']} answers about "
        f"{prepared['n_asked']} others, {prepared['rank']} dimensions"
    )
    note = "`rand` is the adjusted Rand index of the groups against those that the items were drawn from."
    return Case("items", title, size, rows, notes=[note])


def preparing(clock: Clock, *, folder: str, n_items: int, n_answers: int) -> dict[str, Any]:
    """Learn from the constrained items; write all items to a file."""
    from oddkernel import SKLR, Comparisons, models

    asked, group = blobs(3 * n_answers, seed=0)
    said = Comparisons.from_labels(group, n_answers, random_state=0)
    used = said.constrained
    about = Comparisons.odd_one_out(np.searchsorted(used, said.shown), said.odd)
    model = clock.time(lambda: SKLR(penalty=10.0).fit(asked[used], about))
    models.save(model, Path(folder, "model.oddkernel"))
    groups = []
    with Path(folder, "X.npy").open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (n_items, 64)}
        np.lib.format.write_array_header_1_0(file, header)
        for start in range(0, n_items, CHUNK):
            X, group = blobs(min(CHUNK, n_items - start), seed=1 + start)
            file.write(X.data)
            groups.append(group)
    np.save(Path(folder, "y.npy"), np.concatenate(groups))
    return {"n_asked": len(used), "rank": model.rank_}


def transforming(clock: Clock, *, folder: str, dtype: str) -> dict[str, Any]:
    """Coordinates by the learned model."""
    from oddkernel import models, scale

    model = models.load(Path(folder, "model.oddkernel"))
    source = Path(folder, "X.npy")
    clock.time(lambda: scale.transform(model, source, Path(folder, "Z.npy"), dtype=dtype))
    return {"n_items": scale.count(model, source), "rank": model.rank_}


def grouping(clock: Clock, *, folder: str) -> dict[str, Any]:
    """Groups by the learned model."""
    from oddkernel import models, scale

    model = models.load(Path(folder, "model.oddkernel"))
    out = Path(folder, "groups.npy")
    clock.time(lambda: scale.cluster(model, Path(folder, "X.npy"), 10, out, random_state=0))
    return _rand(folder, np.load(out))


def approximating(clock: Clock, *, folder: str, n_asked: int, rank: int) -> dict[str, Any]:
    """scikit-learn's Nyström features with as many dimensions; nothing is learned from answers."""
    from sklearn.decomposition import PCA
    from sklearn.kernel_approximation import Nystroem
    from sklearn.metrics import euclidean_distances

    X = np.load(Path(folder, "X.npy"), mmap_mode="r")[:PART]
    sample = np.asarray(X[: max(n_asked, 1000)])
    spread = float(np.median(euclidean_distances(sample[:1000])))

    features = Nystroem(gamma=1 / spread**2, n_components=n_asked, random_state=0).fit(sample)
    turn = PCA(rank, random_state=0).fit(features.transform(sample))

    def work() -> None:
        with Path(folder, "Z.npy").open("wb") as file:
            for start in range(0, len(X), CHUNK):
                file.write(turn.transform(features.transform(X[start : start + CHUNK])).tobytes())

    clock.time(work)
    return {"n_items": len(X)}


def plain(clock: Clock, *, folder: str) -> dict[str, Any]:
    """Groups by the features alone."""
    from sklearn.cluster import MiniBatchKMeans

    X = np.load(Path(folder, "X.npy"))
    return _rand(folder, clock.time(lambda: MiniBatchKMeans(10, n_init=10, random_state=0).fit_predict(X)))


def _rand(folder: str, groups: Any) -> dict[str, Any]:
    from sklearn.metrics import adjusted_rand_score

    return {"rand": float(adjusted_rand_score(np.load(Path(folder, "y.npy")), groups))}
