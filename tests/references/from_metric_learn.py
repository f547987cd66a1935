"""Prints the metrics that metric-learn finds on data made from a seed; from_metric_learn.json holds them.

metric-learn 0.7 needs an older scikit-learn (1.3), so it lives in an environment of its own, with whose Python:

    python tests/references/from_metric_learn.py > tests/references/from_metric_learn.json
"""

from __future__ import annotations

import json

import numpy as np

N, D, N_PAIRS, N_QUADRUPLETS = 30, 4, 25, 40


def made() -> dict[str, np.ndarray]:
    """Items, pairs with y = ±1 and bounds on their squared distances, and quadruplets; the first pair is the nearer."""
    random = np.random.RandomState(7)
    X = random.randn(N, D) * [1.0, 2.0, 0.5, 1.0]
    X = (X - X.mean(axis=0)) / np.sqrt(np.square(X - X.mean(axis=0)).sum(axis=1).mean())
    label = X[:, 0] + 0.3 * random.randn(N) > 0
    pairs = np.array([random.choice(N, 2, replace=False) for _ in range(N_PAIRS)])
    triples = np.array([random.choice(N, 3, replace=False) for _ in range(N_QUADRUPLETS)])
    near_first = np.abs(X[triples[:, 0], 0] - X[triples[:, 1], 0]) < np.abs(X[triples[:, 0], 0] - X[triples[:, 2], 0])
    anchor, near, far = (
        triples[:, 0],
        np.where(near_first, triples[:, 1], triples[:, 2]),
        np.where(near_first, triples[:, 2], triples[:, 1]),
    )
    return {
        "X": X,
        "pairs": pairs,
        "y": np.where(label[pairs[:, 0]] == label[pairs[:, 1]], 1, -1),
        "bounds": np.array([0.4, 3.5]),
        "quadruplets": np.column_stack([anchor, near, anchor, far]),
    }


def learned() -> dict[str, object]:
    """What metric-learn makes of it."""
    import metric_learn

    data = made()
    X = data["X"]
    itml = metric_learn.ITML(gamma=1.0, max_iter=100_000, tol=1e-12)
    itml.fit(X[data["pairs"]], data["y"], bounds=data["bounds"])
    lsml = metric_learn.LSML(tol=1e-12, max_iter=10_000).fit(X[data["quadruplets"]])
    return {
        "version": metric_learn.__version__,
        "itml": itml.get_mahalanobis_matrix().tolist(),
        "lsml": lsml.get_mahalanobis_matrix().tolist(),
    }


if __name__ == "__main__":
    print(json.dumps(learned(), indent=1))
