"""The items of one draw: the paper's three data sets, subsampled as the paper does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Bunch

from oddkernel import datasets

Array = NDArray[Any]

BINARY, MULTICLASS = "binary", "multiclass"


@dataclass(frozen=True)
class DataSet:
    """A data set as the paper uses it.

    Attributes
    ----------
    title : str
        Its name in the paper.
    load : callable
        Returns a Bunch with ``data``, ``target`` and ``binary``.
    n_classes : int
        Number of classes.
    per_class : int or None
        Number of items of each class in a draw; None takes all items and leaves none out.
    """

    title: str
    load: Callable[[], Bunch]
    n_classes: int
    per_class: int | None


DATASETS = {
    "vehicle": DataSet("Vehicle", datasets.load_vehicle, 4, None),
    "scene": DataSet("MIT Scene", datasets.load_scene, 8, 100),
    "usps": DataSet("USPS Digits", datasets.load_usps, 10, 100),
}


@dataclass(frozen=True, eq=False)
class Items:
    """Features, and the classes at both resolutions.

    Attributes
    ----------
    X : (n, d) array
    labels : dict
        ``"binary"`` and ``"multiclass"``, each (n,).
    """

    X: Array
    labels: dict[str, Array]

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: Array) -> Items:
        """Some of the items."""
        return Items(self.X[rows], {resolution: labels[rows] for resolution, labels in self.labels.items()})


@lru_cache(maxsize=3)
def everything(dataset: str) -> Items:
    """All items of a data set.

    Vehicle's features have different units, so they are z-scored, without using labels. The others are of one kind,
    grey values or filter responses, and are only scaled to unit range.
    """
    found = DATASETS[dataset].load()
    X = np.asarray(found.data, dtype=np.float64)
    X = (X - X.mean(axis=0)) / X.std(axis=0) if dataset == "vehicle" else X / np.abs(X).max()
    return Items(X, {MULTICLASS: np.asarray(found.target), BINARY: np.asarray(found.binary)})


@lru_cache(maxsize=2)
def sample(dataset: str, draw: int) -> tuple[Items, Items]:
    """The items of a draw, and those left out."""
    items, size = everything(dataset), DATASETS[dataset].per_class
    if size is None:
        return items, items.take(np.arange(0))
    rows = datasets.sample_per_class(items.labels[MULTICLASS], size, np.random.RandomState([draw, 0]))
    return items.take(rows), items.take(np.setdiff1d(np.arange(len(items)), rows))
