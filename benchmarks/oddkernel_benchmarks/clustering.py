"""Clustering with the learned kernel, compared with scikit-learn's k-means in the learned coordinates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .data import digits
from .measure import Clock, measure
from .results import Case, Row

SIZES = {"full": {"per_class": 300, "n_answers": 500}, "tiny": {"per_class": 6, "n_answers": 15}}
TASK = "ten groups, the best of 20 starts"


def run(size: str, tell: Callable[[str], None]) -> Case:
    """Measure the case."""
    tell("kernel k-means")
    ours = measure(by_kernel, SIZES[size])
    tell("scikit-learn's k-means")
    rows = [
        Row.of(TASK, "oddkernel, KernelKMeans", ours),
        Row.of(TASK, "scikit-learn, KMeans in the coordinates", measure(by_coordinates, SIZES[size])),
    ]
    facts = ours.facts
    title = f"Clustering: {facts['n_items']} items of {facts['source']}, {facts['rank']} dimensions"
    note = "Both minimise the same `inertia`; `rand` is the adjusted Rand index against the digits."
    return Case("clustering", title, size, rows, notes=[note])


def by_kernel(clock: Clock, *, per_class: int, n_answers: int) -> dict[str, Any]:
    """Kernel k-means on the kernel matrix."""
    from oddkernel import KernelKMeans

    model, X, y, about = _learned(per_class, n_answers)
    K = model.kernel_matrix(X)
    clusterer = KernelKMeans(10, n_init=20, random_state=0)
    clusterer.fit(K[:50, :50])
    return about | _outcome(clock.time(lambda: clusterer.fit(K)), y)


def by_coordinates(clock: Clock, *, per_class: int, n_answers: int) -> dict[str, Any]:
    """k-means on the coordinates."""
    from sklearn.cluster import KMeans

    model, X, y, about = _learned(per_class, n_answers)
    Z = model.transform(X)
    return about | _outcome(clock.time(lambda: KMeans(10, n_init=20, random_state=0).fit(Z)), y)


def _learned(per_class: int, n_answers: int) -> tuple[Any, Any, Any, dict[str, Any]]:
    from oddkernel import SKLR, Comparisons

    X, y, source = digits(per_class)
    model = SKLR().fit(X, Comparisons.from_labels(y, n_answers, random_state=0))
    return model, X, y, {"source": source, "n_items": len(X), "rank": model.features_.rank}


def _outcome(clusterer: Any, y: Any) -> dict[str, Any]:
    from sklearn.metrics import adjusted_rand_score

    return {"inertia": float(clusterer.inertia_), "rand": float(adjusted_rand_score(y, clusterer.labels_))}
