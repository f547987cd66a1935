"""Data for the benchmarks: real data where available, else synthetic data of the same size."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def digits(per_class: int) -> tuple[Array, Array, str]:
    """Features and labels of ``per_class`` digits of each class, and their source: USPS, or scikit-learn's digits."""
    file = _file("usps_all.mat")
    if file is not None:
        from scipy.io import loadmat

        pixels = loadmat(file)["data"].astype(np.float64)  # 256 × 1100 × 10
        X = pixels.transpose(2, 1, 0).reshape(-1, 256)
        y, source = np.repeat(np.arange(10), 1100), "USPS"
    else:
        from sklearn.datasets import load_digits

        X, y = load_digits(return_X_y=True)
        source = "scikit-learn's digits"
    random = np.random.default_rng(0)
    chosen = np.concatenate([random.permutation(np.flatnonzero(y == label))[:per_class] for label in range(10)])
    return X[chosen], y[chosen], source


def judgements(n_answers: int, n_items: int = 1854) -> tuple[Array, Array, str]:
    """Features, triples whose last item is the odd one, and their source: THINGS, or drawn at random."""
    file = _file("things.npz")
    random = np.random.default_rng(0)
    if file is not None:
        with np.load(file) as things:
            X, shown = things["features"].astype(np.float64), things["judgements"].astype(np.intp)
        return X, shown[random.permutation(len(shown))[:n_answers]], "THINGS"
    X = random.normal(size=(n_items, 64))
    hidden = X[:, :8] * np.linspace(2, 0.2, 8)
    drawn = np.stack([random.permutation(n_items)[:3] for _ in range(n_answers)])
    sides = np.stack([_apart(hidden, drawn[:, [b, c]]) for b, c in ((1, 2), (0, 2), (0, 1))], axis=1)
    odd = np.argmin(sides * random.lognormal(sigma=0.5, size=sides.shape), axis=1)
    kept = np.arange(3)[None] != odd[:, None]
    return X, np.column_stack([drawn[kept].reshape(-1, 2), drawn[np.arange(n_answers), odd]]), "drawn at random"


def blobs(n_items: int, seed: int, n_features: int = 64) -> tuple[NDArray[np.float32], Array]:
    """Ten overlapping groups in 12 hidden dimensions, observed through 64 noisy features."""
    fixed = np.random.default_rng(5)
    centres, mixing = 2 * fixed.normal(size=(10, 12)), fixed.normal(size=(12, n_features))
    random = np.random.default_rng(seed)
    group = random.integers(0, 10, n_items)
    hidden = centres[group] + random.normal(size=(n_items, 12))
    return (hidden @ mixing + 0.5 * random.normal(size=(n_items, n_features))).astype(np.float32), group


def _apart(X: Array, pairs: Array) -> Array:
    difference = X[pairs[:, 0]] - X[pairs[:, 1]]
    squared: Array = np.einsum("ij,ij->i", difference, difference)
    return squared


def _file(name: str) -> Path | None:
    folder = os.environ.get("ODDKERNEL_DATA")
    path = Path(folder, name) if folder else None
    return path if path is not None and path.exists() else None
