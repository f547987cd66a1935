"""What choosing costs and how well it chooses: `SKLR()` beside one fit, on answers drawn from classes.

    python benchmarks/choosing.py --out before.json
    python benchmarks/choosing.py --out after.json --against before.json

Prints, for each data set and share of wrong answers, the agreement and the log-likelihood of 2,000 fresh answers, and
the processor seconds of one fit and of choosing. With ``--against``, also the mean paired differences to an earlier run
on the same draws with their standard errors.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

from oddkernel import SKLR, Comparisons

# Answers to learn from, and how many draws for each share of wrong ones.
SETS = {"wine": (150, 6), "iris": (150, 6), "blobs": (200, 6), "breast_cancer": (200, 4), "digits": (300, 2)}
NOISE = (0.0, 0.2, 0.4)
FRESH = 2000
MEASURES = ("agreement", "log_likelihood", "seconds")


def data(name: str, draw: int) -> tuple[np.ndarray, np.ndarray]:
    """Features in comparable units, and classes."""
    if name == "blobs":
        rng = np.random.default_rng(draw)
        y = np.arange(120) % 4
        return np.c_[rng.normal(size=(4, 3))[y] + 0.6 * rng.normal(size=(120, 3)), rng.normal(size=(120, 5))], y
    loaded = getattr(datasets, f"load_{name}")()
    return loaded.data if name == "digits" else StandardScaler().fit_transform(loaded.data), loaded.target


def measure(name: str, noise: float, draw: int) -> dict[str, float]:
    """One draw of answers."""
    X, y = data(name, draw)
    said = Comparisons.from_labels(y, SETS[name][0], noise=noise, random_state=100 + draw)
    fresh = Comparisons.from_labels(y, FRESH, noise=noise, random_state=900 + draw)
    start = time.process_time()
    SKLR("adaptive", penalty=10.0, random_state=0).fit(X, said)
    fitted = time.process_time()
    model = SKLR(random_state=0).fit(X, said)
    chosen = time.process_time()
    scores = model.evaluate(X, fresh)
    return {
        "agreement": scores.agreement,
        "log_likelihood": scores.log_likelihood,
        "seconds": chosen - fitted,
        "one_fit": fitted - start,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--against", type=Path)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    earlier = json.loads(arguments.against.read_text()) if arguments.against else {}
    found: dict[str, dict[str, float]] = {}
    for name, (_, draws) in SETS.items():
        for noise in NOISE:
            keys = [f"{name} {noise} {draw}" for draw in range(draws)]
            for draw, key in enumerate(keys):
                found[key] = measure(name, noise, draw)
            print(f"{name}, noise {noise}: {_means(found, keys)}", flush=True)
            if arguments.out:
                arguments.out.write_text(json.dumps(found))
    both = [key for key in found if key in earlier]
    for noise in NOISE if both else ():
        for measured in MEASURES:
            apart = np.array([found[k][measured] - earlier[k][measured] for k in both if f" {noise} " in k])
            error = apart.std(ddof=1) / len(apart) ** 0.5
            print(f"noise {noise}, {measured}: {apart.mean():+.4f} ± {error:.4f} over {len(apart)} draws")


def _means(found: dict[str, dict[str, float]], keys: list[str]) -> str:
    return ", ".join(f"{m} {np.mean([found[key][m] for key in keys]):.3f}" for m in (*MEASURES, "one_fit"))


if __name__ == "__main__":
    main()
