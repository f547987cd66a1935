"""Problems of real size, drawn from a seed: items, answers of every kind, settings."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from sklearn import datasets

from oddkernel import Comparisons
from oddkernel.kernels import AdaptiveGaussian, Columns, Diffusion, Gaussian, Identity, Linear

from .certificate import Array, Rows
from .problem import Problem

Random = np.random.Generator

# Smallest and largest numbers: the range of real studies. Chosen by hand.
ITEMS, ANSWERS = (30, 2000), (20, 3000)
CARRIED: dict[str, Callable[..., Any]] = {
    "digits": datasets.load_digits,
    "wine": datasets.load_wine,
    "iris": datasets.load_iris,
    "breast_cancer": datasets.load_breast_cancer,
    "diabetes": datasets.load_diabetes,
}
CLOUDS = ("blobs", "moons", "uniform", "heavy", "grid")
KERNELS = ("adaptive", "gaussian", "linear", "identity", "diffusion", "precomputed", "sum", "columns")
LOSSES = ("squared", "hinge", "logistic", "softmax")
# Upper bound of items times answers. Chosen by hand: larger problems take minutes, so that a run would check few.
LARGEST = 1_000_000
# Questions drawn for each one kept, where some are rejected. Chosen by hand.
SPARE = 8
# The share of small problems that are solved by every exact solver. Chosen by hand.
COMPARED = 0.3


def draw(seed: int) -> Problem:
    """The problem with this seed."""
    rng = np.random.default_rng([18, seed])
    X, y = draw_items(rng)
    settings: dict[str, Any] = {
        "kernel": str(rng.choice(KERNELS)),
        "rank": [None, float(rng.uniform(0.5, 1.0)), _size(rng, 1, 60)][rng.choice(3, p=[0.3, 0.4, 0.3])],
        "loss": str(rng.choice(LOSSES)),
        "penalty": np.inf if rng.random() < 0.15 else float(10 ** rng.uniform(-3, 5)),
        "ratio": float([1.0, 4.0, 2 ** rng.uniform(0, 4)][rng.integers(3)]),
    }
    X, settings["kernel"] = _with_kernel(X, settings["kernel"], rng)
    problem = Problem(f"draw({seed})", X, Comparisons.empty(), settings)
    unit = 2.0 * float(np.square(problem.phi - problem.phi.mean(axis=0)).sum(axis=1).mean()) or 1.0
    if rng.random() < 0.4:
        settings["margin"] = float(10 ** rng.uniform(-3, 0.5) * (unit if rng.random() < 0.9 else 1.0))
    if rng.random() < 0.2:
        settings["softness"] = float(10 ** rng.uniform(-1.5, 1.0))
    feasible = problem.hard and rng.random() < 0.5
    said = draw_answers(problem, y, unit, rng, feasible=feasible)
    return problem.saying(said, feasible=feasible, compared=bool(rng.random() < COMPARED))


def draw_items(rng: Random) -> tuple[Array, Array]:
    """Items with classes: from a data set of scikit-learn, or synthetic."""
    n = _size(rng, *ITEMS)
    if rng.random() < 0.5:
        X, y = _carried(str(rng.choice(list(CARRIED))))
        kept = rng.permutation(len(X))[:n]
        X, y = X[kept], y[kept]
    else:
        X, y = _cloud(str(rng.choice(CLOUDS)), n, rng)
    if rng.random() < 0.15:  # copies
        copied = rng.random(len(X)) < rng.uniform(0.02, 0.5)
        X, y = X.copy(), y.copy()
        original = rng.integers(len(X), size=len(X))
        X[copied], y[copied] = X[original[copied]], y[original[copied]]
    return X * float(rng.choice([1.0, 1e-4, 1e4], p=[0.8, 0.1, 0.1])), y


@cache
def _carried(name: str) -> tuple[Array, Array]:
    X, y = CARRIED[name](return_X_y=True)
    if name == "diabetes":  # five bins
        y = np.digitize(y, np.quantile(y, [0.2, 0.4, 0.6, 0.8]))
    return np.asarray(X, dtype=float), np.asarray(y)


def _cloud(shape: str, n: int, rng: Random) -> tuple[Array, Array]:
    d, k = _size(rng, 1, 30), int(rng.integers(2, 9))
    y = rng.integers(k, size=n)
    if shape == "blobs":
        return rng.normal(size=(k, d))[y] * rng.uniform(0.5, 5) + rng.normal(size=(n, d)), y
    if shape == "moons":
        turn = np.pi * rng.random(n)
        X = np.column_stack([np.cos(turn), np.sin(turn)]) * np.where(y % 2, 1, -1)[:, None] + (y % 2)[:, None] * 0.5
        return X + 0.1 * rng.normal(size=(n, 2)), y % 2
    if shape == "heavy":
        return rng.standard_t(1.5, size=(n, d)), y
    if shape == "grid":  # integers, with ties among distances and copies
        X = rng.integers(0, max(3, round(n ** (1 / min(d, 3)))), size=(n, min(d, 3))).astype(float)
        return X, (X.sum(axis=1) % k).astype(int)
    X = rng.random((n, d))
    return X, (k * X[:, 0]).astype(int)


def _with_kernel(X: Array, name: str, rng: Random) -> tuple[Array, Any]:
    """The items in the form that the kernel expects, and the kernel."""
    match name:
        case "precomputed":
            centred = X - X.mean(axis=0)
            return centred @ centred.T, name
        case "sum":
            sums = [0.5 * Linear() + 0.5 * AdaptiveGaussian(), AdaptiveGaussian() + 0.5 * Identity()]
            return X, [*sums, Gaussian() + 3.0 * Identity(), Linear() + 0.1 * Diffusion()][rng.integers(4)]
        case "columns":
            return X, Columns(list(range(max(1, X.shape[1] // 2))), Linear())
    return X, name


def draw_answers(problem: Problem, y: Array, unit: float, rng: Random, *, feasible: bool) -> Comparisons:
    """Answers by class, by a hidden metric near the initial one, or at random.

    If they must be feasible, only answers that the hidden metric satisfies, ratio and margin included, are kept.
    """
    m = min(_size(rng, *ANSWERS), LARGEST // len(problem.X))
    asked = rng.permutation(len(problem.X))[: None if rng.random() < 0.6 else _size(rng, 6, len(problem.X))]
    coordinates = _hidden(problem.phi, rng)
    by_class = not feasible and rng.random() < 0.5
    truth = y[:, None].astype(float) if by_class else coordinates
    shares = rng.dirichlet([2.0, 0.5, 0.5, 0.5, 0.5]) if rng.random() < 0.5 else np.eye(5)[0]
    counts = rng.multinomial(m, shares)
    spare = SPARE * counts if feasible else counts
    links = unit if rng.random() < 0.5 else None
    said = (
        _odd_ones(asked, truth, int(spare[0]), rng, by_class=by_class, feasible=feasible)
        + _closer(asked, truth, int(spare[1]), rng)
        + _central(asked, truth, int(spare[2]), rng)
        + _links(asked, truth, int(spare[3]), int(spare[4]), links, rng, feasible=feasible)
    )
    if feasible:
        said = said[_satisfied(problem, said, coordinates)]
        said = said[rng.permutation(len(said))[:m]]
    if rng.random() < 0.3:  # weights
        even = rng.random() < 0.5
        said = said.with_weight(np.exp(rng.normal(size=len(said))) if even else rng.choice([0.1, 10.0], len(said)))
    if rng.random() < 0.3 and len(said):  # repeats
        said = said[rng.integers(len(said), size=len(said))]
    return said[rng.permutation(len(said))]


def _hidden(phi: Array, rng: Random) -> Array:
    """Coordinates of the items in a metric that stretches every dimension a little, and some directions more."""
    stretched = phi * np.exp(0.3 * rng.normal(size=phi.shape[1]))
    few = rng.normal(size=(phi.shape[1], 3)) / np.sqrt(max(phi.shape[1], 1))
    return np.column_stack([stretched, rng.uniform(0, 2) * phi @ few])


def _questions(asked: Array, count: int, rng: Random) -> Array:
    """(count, 3): three different items for each question."""
    places = rng.integers(len(asked) - np.arange(3), size=(count, 3))
    second = places[:, 1] + (places[:, 1] >= places[:, 0])
    low, high = np.minimum(places[:, 0], second), np.maximum(places[:, 0], second)
    third = places[:, 2] + (places[:, 2] >= low)
    third += third >= high
    return np.asarray(asked[np.column_stack([places[:, 0], second, third])])


def _squared(truth: Array, i: Array, j: Array) -> Array:
    """Squared distances; 0 or 1 for classes."""
    apart = np.square(truth[i] - truth[j]).sum(axis=1)
    return np.asarray((apart > 0).astype(float) if truth.shape[1] == 1 else apart)


def _odd_ones(asked: Array, truth: Array, count: int, rng: Random, *, by_class: bool, feasible: bool) -> Comparisons:
    """Odd ones out: the item opposite the shortest side. Ties are *can't tell*, and so is a share of the others."""
    shown = _questions(asked, count, rng)
    opposite = np.column_stack([_squared(truth, shown[:, (p + 1) % 3], shown[:, (p + 2) % 3]) for p in range(3)])
    shortest = np.sort(opposite, axis=1)
    odd = np.where(shortest[:, 0] == shortest[:, 1], -1, np.argmin(opposite, axis=1))
    if feasible:
        return Comparisons.odd_one_out(shown, odd)
    if by_class and rng.random() < 0.5:  # only questions that have an answer
        shown, odd = shown[odd >= 0], odd[odd >= 0]
    guessed = rng.random(len(odd)) < rng.choice([0.0, rng.uniform(0, 0.3), 1.0], p=[0.4, 0.5, 0.1])
    odd = np.where(guessed, rng.integers(3, size=len(odd)), odd)
    unsure = rng.random(len(odd)) < rng.choice([0.0, rng.random(), 1.0], p=[0.5, 0.4, 0.1])
    return Comparisons.odd_one_out(shown, np.where(unsure, -1, odd))


def _closer(asked: Array, truth: Array, count: int, rng: Random) -> Comparisons:
    shown = _questions(asked, count, rng)
    one, other = (_squared(truth, shown[:, 0], shown[:, place]) for place in (1, 2))
    return Comparisons.anchor(shown, np.select([one < other, one > other], [1, 2], -1))


def _central(asked: Array, truth: Array, count: int, rng: Random) -> Comparisons:
    shown = _questions(asked, count, rng)
    opposite = np.column_stack([_squared(truth, shown[:, (p + 1) % 3], shown[:, (p + 2) % 3]) for p in range(3)])
    place, every = np.argmax(opposite, axis=1), np.arange(count)
    others = np.column_stack([shown[every, (place + 1) % 3], shown[every, (place + 2) % 3]])
    return Comparisons.most_central(shown[every, place], others)


def _links(
    asked: Array, truth: Array, must: int, cannot: int, unit: float | None, rng: Random, *, feasible: bool
) -> Comparisons:
    """Links of near and far pairs, with or without bounds; the bounds agree with the hidden metric, if there is one."""
    pairs = _questions(asked, 2 * (must + cannot), rng)[:, :2]
    apart = _squared(truth, *pairs.T)
    order = np.argsort(apart, kind="stable")
    near, far = order[:must], order[len(order) - cannot :]
    if feasible:
        near, far = rng.permutation(order[: len(order) // 2])[:must], rng.permutation(order[len(order) // 2 :])[:cannot]
        at_most, at_least = 1.1 * apart[near], 0.9 * apart[far]
        return Comparisons.must_link(pairs[near], at_most) + Comparisons.cannot_link(pairs[far], at_least)
    if unit is None:
        return Comparisons.must_link(pairs[near]) + Comparisons.cannot_link(pairs[far])
    at_most, at_least = unit * rng.uniform(0.01, 0.5, size=must), unit * rng.uniform(0.5, 3.0, size=cannot)
    return Comparisons.must_link(pairs[near], at_most) + Comparisons.cannot_link(pairs[far], at_least)


def _satisfied(problem: Problem, said: Comparisons, coordinates: Array) -> Array:
    """Which answers have all their rows satisfied by the hidden metric."""
    rows = Rows.of(said, problem.settings["ratio"], problem.settings.get("margin", 0.0))
    near, far = rows.sides(coordinates, rows.apart(problem.phi))
    broken = np.where(rows.equality, near != far, near - far + rows.offset > 0) | rows.beyond(problem.phi)
    return np.asarray(np.bincount(rows.answer, broken, minlength=len(said)) == 0)


def _size(rng: Random, least: int, most: int) -> int:
    """An integer, drawn log-uniformly."""
    return round(float(np.exp(rng.uniform(np.log(least), np.log(max(most, least))))))
