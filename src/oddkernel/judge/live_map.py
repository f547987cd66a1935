"""A first map of the items, learned from the answers so far in a separate process, so that answering never waits."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..comparisons import Comparisons
from .export import Export
from .store import now

MOST_ITEMS = 400
MOST_ANSWERS = 3000
PATIENCE = 120.0
"""Bounds on the cost of a map: 400 items, 3,000 answers, and 120 seconds until it is given up. Chosen by hand."""

PAUSE = 15.0
"""Shortest time in seconds between the starts of two maps. Chosen by hand."""

ENOUGH = 10
"""Smallest number of answers that a map is made from. Chosen by hand."""


def learn(
    said: Comparisons, held_out: Comparisons, features: NDArray[np.float64] | None, random_state: int = 0
) -> dict[str, Any]:
    """Learn from answers, and place the items in the plane and in groups.

    Parameters
    ----------
    said : Comparisons
        Answers to learn from, about all items.
    held_out : Comparisons
        Answers to evaluate the result on, about the same items.
    features : ndarray of shape (n, d), or None
        Features of the items; without any, only the answers are used.
    random_state : int
        Seed for the draw of items and answers if there are too many, and for the start of k-means.

    Returns
    -------
    dict
        ``items`` (their numbers), ``x``, ``y``, ``cluster``, ``answers_used``, ``n_clusters`` and ``holdout``: the
        number of held-out answers about these items, the share of them that the learned distances agree with, and the
        share that guesses would agree with.
    """
    from ..cluster import KernelKMeans
    from ..kernels import AdaptiveGaussian, Identity, Kernel, KernelSum
    from ..learning.sklr import SKLR
    from ..problem import choices
    from ..report.maps import flat_map

    rng = np.random.default_rng(random_state)
    items = _most_answered(said, rng)
    said = _about(said, items, rng)
    held_out = _about(held_out, items, rng)
    if features is None:
        X = np.arange(len(items), dtype=np.float64)[:, None]
        kernel: Kernel = Identity()
    else:
        X = features[items]
        kernel = KernelSum(
            [AdaptiveGaussian(), Identity()], [1.0, 0.3]
        )  # the identity kernel learns what the features don't say
    model = SKLR(kernel, loss="softmax", penalty=0.5, rank=None, tol=1e-3, verbose=0).fit(X, said)
    n_clusters = int(np.clip(round(np.sqrt(len(items) / 2)), 2, 10))
    groups = KernelKMeans(n_clusters=min(n_clusters, len(items)), n_init=5, random_state=random_state)
    place = flat_map(model.transform(X))
    decided = held_out[~held_out.undecided]
    return {
        "items": items.tolist(),
        "x": place[:, 0].tolist(),
        "y": place[:, 1].tolist(),
        "cluster": groups.fit_predict(model.kernel_matrix(X)).tolist(),
        "n_clusters": min(n_clusters, len(items)),
        "answers_used": said.n_answers,
        "holdout": {
            "answers": decided.n_answers,
            "agrees": model.score(X, decided) if len(decided) else None,
            "chance": choices.chance(decided) if len(decided) else None,
        },
    }


def _most_answered(said: Comparisons, rng: np.random.Generator) -> NDArray[np.intp]:
    times = np.bincount(said.shown.ravel(), minlength=said.n_items)
    return np.sort(np.lexsort((rng.random(len(times)), -times))[:MOST_ITEMS]).astype(np.intp)


def _about(said: Comparisons, items: NDArray[np.intp], rng: np.random.Generator) -> Comparisons:
    """The answers that are about these items only, at most `MOST_ANSWERS`, with the items renumbered from 0."""
    inside = np.flatnonzero(np.isin(said.shown, items).all(axis=1))
    if len(inside) > MOST_ANSWERS:
        inside = np.sort(rng.choice(inside, MOST_ANSWERS, replace=False))
    kept = said[inside]
    numbers = np.searchsorted(items, kept.shown)
    return Comparisons(kept.kind, numbers, kept.odd, kept.bound, kept.weight, part_of=kept.part_of)


class LiveMap:
    """The latest map, and the making of the next.

    Parameters
    ----------
    answers : callable
        Returns two `Export`: what to learn from, and what was held out.
    names : sequence of str
        The items' names; answers about other items are left out.
    features : ndarray or None
        Their features.
    """

    def __init__(
        self, answers: Callable[[], tuple[Export, Export]], names: tuple[str, ...], features: NDArray[np.float64] | None
    ) -> None:
        self._answers = answers
        self._names = names
        self._features = features
        self._lock = threading.Lock()
        self._worker: threading.Thread | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._begun_at = -np.inf
        self._begun_with = -1
        self._latest: dict[str, Any] = {}
        self._problem: str | None = None

    def latest(self, n_answers: int) -> dict[str, Any]:
        """The latest map. If answers have changed since, and no map is being made, this starts the next one."""
        with self._lock:
            busy = self._worker is not None and self._worker.is_alive()
            rested = time.monotonic() - self._begun_at > PAUSE
            if n_answers >= ENOUGH and n_answers != self._begun_with and rested and not busy:
                self._begun_at, self._begun_with = time.monotonic(), n_answers
                self._worker = threading.Thread(target=self._make, name="oddkernel-map", daemon=True)
                self._worker.start()
                busy = True
            return {
                "computing": busy,
                "problem": self._problem,
                "answers_needed": max(0, ENOUGH - n_answers),
                **self._latest,
            }

    def use(self, features: NDArray[np.float64] | None) -> None:
        """Make the next map with these features."""
        with self._lock:
            self._features = features
            self._begun_with = -1

    def close(self) -> None:
        """Give up a map that is being made."""
        process = self._process
        if process is not None and process.poll() is None:
            process.kill()

    def _make(self) -> None:
        try:
            made = self._learn_elsewhere(*self._answers())
            with self._lock:
                self._latest, self._problem = {**made, "computed_at": now()}, None
        except Exception as error:  # whatever goes wrong with a map, answering goes on
            with self._lock:
                self._problem = str(error)

    def _learn_elsewhere(self, learned: Export, held_out: Export) -> dict[str, Any]:
        task = io.BytesIO()
        said, kept = (_joined(part.said, self._names) for part in (learned, held_out))
        arrays: dict[str, Any] = {
            f"{part}_{name}": getattr(each, name)
            for part, each in (("said", said), ("kept", kept))
            for name in _COLUMNS
        }
        for part, each in (("said", said), ("kept", kept)):
            arrays[f"{part}_part_of"] = np.arange(len(each)) if each.part_of is None else each.part_of
        if self._features is not None:
            arrays["features"] = self._features
        arrays["names"] = np.array(self._names)
        np.savez(task, **arrays)
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "oddkernel.judge.live_map"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **one_thread},
        )
        try:
            made, complaints = self._process.communicate(task.getvalue(), timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.communicate()
            raise TimeoutError(f"The map took longer than {PATIENCE:.0f} seconds and was given up.") from None
        if self._process.returncode:
            last = complaints.decode(errors="replace").strip().splitlines()
            raise RuntimeError(f"The map could not be made: {last[-1] if last else 'its process was ended'}")
        result: dict[str, Any] = json.loads(made)
        return result


_COLUMNS = ("kind", "shown", "odd", "bound", "weight")


def _joined(said: Comparisons, names: tuple[str, ...]) -> Comparisons:
    """The answers about items that the study still has, numbered by `names`."""
    assert said.items is not None
    known = np.isin(np.array(said.items), np.array(names))
    return said[known[said.shown].all(axis=1)].reindex(names)


def main() -> None:
    """Read a task from stdin, write the map to stdout."""
    if hasattr(os, "nice"):
        os.nice(19)  # the lowest priority: people's answers come first
    task = np.load(io.BytesIO(sys.stdin.buffer.read()), allow_pickle=False)
    names = task["names"].tolist()
    said, kept = (
        Comparisons(**{name: task[f"{part}_{name}"] for name in (*_COLUMNS, "part_of")}, items=names)
        for part in ("said", "kept")
    )
    made = learn(said, kept, task.get("features"))
    sys.stdout.write(json.dumps(made, allow_nan=False))


if __name__ == "__main__":
    main()
