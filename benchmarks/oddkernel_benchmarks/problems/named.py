"""Problems on which a solver once failed, or took far longer than on similar ones."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.datasets import load_digits

from oddkernel import Comparisons

from .problem import Problem


def digits(seed: int) -> Problem:
    """300 random questions about ten classes: nearly three quarters of the answers are *can't tell*."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    shown = np.array([rng.choice(len(X), 3, replace=False) for _ in range(300)])
    a, b, c = y[shown].T
    odd = np.select([(a == b) & (b != c), (a == c) & (a != b), (b == c) & (a != b)], [2, 1, 0], -1)
    settings = {"kernel": "adaptive", "loss": "squared", "penalty": 1.0, "ratio": 4.0}
    return Problem(f"digits({seed})", X, Comparisons.odd_one_out(shown, odd), settings)


def _line(name: str, n: int, answers: int, noise: float, loss: str, penalty: float) -> Problem:
    """Items without features, in two classes."""
    said = Comparisons.from_labels(np.arange(n) % 2, answers, noise=noise, random_state=0)
    settings = {"kernel": "identity", "loss": loss, "penalty": penalty, "ratio": 1.0 if loss != "hinge" else 4.0}
    return Problem(f"NAMED[{name!r}]()", np.arange(float(n))[:, None], said, settings)


def _random_digits(name: str, kernel: str, n: int, answers: int, loss: str, penalty: float) -> Problem:
    """Answers at random about some digits."""
    X, _ = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    shown = np.array([rng.choice(n, 3, replace=False) for _ in range(answers)])
    said = Comparisons.odd_one_out(shown, rng.integers(3, size=answers))
    settings = {"kernel": kernel, "loss": loss, "penalty": penalty, "ratio": 1.0}
    return Problem(f"NAMED[{name!r}]()", X[:n], said, settings)


def _tiny_features(name: str) -> Problem:
    """Answers that contradict one another, about items whose features are of the size 1e-4."""
    rng = np.random.default_rng(0)
    features = 1e-4 * rng.normal(size=(12, 3))
    shown = np.array([rng.choice(12, 3, replace=False) for _ in range(30)])
    said = Comparisons.odd_one_out(shown, rng.integers(3, size=30))
    settings = {
        "kernel": "precomputed",
        "rank": None,
        "loss": "squared",
        "penalty": np.inf,
        "ratio": 2.0,
        "margin": 0.1,
    }
    return Problem(f"NAMED[{name!r}]()", features @ features.T, said, settings)


def _far_apart(name: str) -> Problem:
    """Answers and links at random about items on a line: the loss outweighs the divergence 1e17 times."""
    rng = np.random.default_rng(0)
    line = 4e3 * rng.normal(size=60)
    shown = np.array([rng.choice(60, 3, replace=False) for _ in range(1500)])
    said = Comparisons.odd_one_out(shown[:1200], rng.integers(-1, 3, size=1200))
    said = said + Comparisons.must_link(shown[1200:1300, :2]) + Comparisons.cannot_link(shown[1300:, :2])
    settings = {"kernel": "precomputed", "rank": 1, "loss": "squared", "penalty": 7e3, "ratio": 4.0}
    return Problem(f"NAMED[{name!r}]()", np.outer(line, line), said, settings)


_MAKERS: dict[str, tuple[Callable[..., Problem], tuple[Any, ...]]] = {
    "softmax, 3000 noisy answers about 30 items": (_line, (30, 3000, 0.2, "softmax", 100.0)),
    "softmax, 300 random answers without features": (_random_digits, ("identity", 30, 300, "softmax", 1e5)),
    "softmax, 600 random answers": (_random_digits, ("adaptive", 100, 600, "softmax", 1e5)),
    "logistic, 3000 noisy answers": (_line, (50, 3000, 0.2, "logistic", 1000.0)),
    "hinge, 1500 noisy answers about 12 items": (_line, (12, 1500, 0.2, "hinge", 10.0)),
    "hard and contradictory, features of size 1e-4": (_tiny_features, ()),
    "squared, random answers and links at distances of size 1e7": (_far_apart, ()),
}
NAMED: dict[str, Callable[[], Problem]] = {
    name: partial(maker, name, *sizes) for name, (maker, sizes) in _MAKERS.items()
}
"""Problems by name, created on demand."""
