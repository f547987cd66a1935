"""Which weight the rows of a grid's answer get: ``python -m oddkernel_experiments.grid_weights --draws 5``.

People answer 50 random grids, the two of eight items that are most like the one in the middle, and 150 random
odd-one-out questions. A fifth of their picks are guesses. They go by class, or by the distances after a linear
discriminant analysis. For each weight of the grids' rows the metric is learned with four penalties. Printed is the
share of 3,000 random odd-one-out answers without guesses (*can't tell* left out) that it predicts, with the penalty
that is best on average over the draws, and in brackets that penalty. Behind ± is the standard error of the difference
to the weight 1/2. The other answers matter: if all rows have one weight, it only changes what the penalty means.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import StandardScaler

from oddkernel import SKLR, Comparisons, datasets
from oddkernel.questions import ByLabels, ByMetric

PER_CLASS = {"vehicle": 60, "scene": 35, "usps": 30}
N, K = 8, 2
WEIGHTS = {"1": 1.0, "1/2": 1 / 2, "1/4": 1 / 4, "1/(n-k)": 1 / (N - K), "1/(k(n-k))": 1 / (K * (N - K))}
PENALTIES = (0.03, 0.1, 0.3, 1.0)
GRIDS, ODD, TESTED, GUESSES = 50, 150, 3000, 0.2

Person = ByLabels | ByMetric


def shares(X: NDArray[Any], person: Callable[[float, int], Person], draw: int) -> list[list[float]]:
    """The share of answers predicted, by weight and penalty."""
    rng = np.random.default_rng(draw)
    guessing, sure = person(GUESSES, draw), person(0.0, draw)
    shown = np.array([rng.choice(len(X), N + 1, replace=False) for _ in range(GRIDS)])
    picked = [guessing.grid(row[0], row[1:], K) for row in shown]
    grids = Comparisons.grid(shown[:, 0], list(shown[:, 1:]), picked)
    others, tested = (
        Comparisons.odd_one_out(triples, [who(row) for row in triples])
        for who, m in ((guessing, ODD), (sure, TESTED))
        for triples in [np.array([rng.choice(len(X), 3, replace=False) for _ in range(m)])]
    )
    tested = tested[tested.decided]
    return [
        [
            SKLR("adaptive", loss="logistic", penalty=penalty, random_state=0, verbose=False)
            .fit(X, grids.with_weight(weight) + others)
            .score(X, tested)
            for penalty in PENALTIES
        ]
        for weight in WEIGHTS.values()
    ]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--datasets", nargs="+", default=list(PER_CLASS))
    given = parser.parse_args()
    for name in given.datasets:
        data = getattr(datasets, f"load_{name}")()
        rows = datasets.sample_per_class(data.target, PER_CLASS[name], 0)
        X, y = data.data[rows], np.unique(data.target[rows], return_inverse=True)[1]
        scaled = StandardScaler().fit_transform(X)
        hidden = LinearDiscriminantAnalysis().fit(scaled, y).transform(scaled)
        people: dict[str, Callable[[float, int], Person]] = {
            "class": lambda noise, seed, y=y: ByLabels(y, noise=noise, random_state=seed),  # type: ignore[misc]
            "metric": lambda noise, seed, Z=hidden: ByMetric(Z, noise=noise, random_state=seed),  # type: ignore[misc]
        }
        for who, person in people.items():
            found = np.array([shares(X, person, draw) for draw in range(given.draws)])
            best = found.mean(axis=0).argmax(axis=1)
            chosen = found[:, np.arange(len(WEIGHTS)), best]
            apart = chosen - chosen[:, [1]]
            error = (
                apart.std(axis=0, ddof=1) / np.sqrt(given.draws) if given.draws > 1 else np.full(len(WEIGHTS), np.nan)
            )
            columns = zip(WEIGHTS, chosen.mean(axis=0), error, best, strict=True)
            told = [f"{weight}: {mean:.4f} ± {off:.4f} ({PENALTIES[at]})" for weight, mean, off, at in columns]
            print(name, who, *told, sep="  ", flush=True)


if __name__ == "__main__":
    main()
