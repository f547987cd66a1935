"""How often 95% intervals by `distance_std` and `odd_one_std` cover the truth, after few simulated answers and many.

Twenty items in four dimensions, people who go by a hidden metric and choose the odd one with softmax probabilities.

python benchmarks/error_bars.py
"""

from __future__ import annotations

import numpy as np
from scipy import linalg, special

from oddkernel import SKLR, Comparisons
from oddkernel.learning.recipe import SOFTNESS, unit_of

ITEMS, DIMENSIONS, DRAWS = 20, 4, 60


def coverage(seed: int, answers: int) -> tuple[float, float]:
    """The share of true distances and of true probabilities within 1.96 standard deviations."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(ITEMS, DIMENSIONS))
    turn = rng.normal(size=(DIMENSIONS, DIMENSIONS))
    hidden = X @ np.real(linalg.sqrtm(np.linalg.inv(np.eye(DIMENSIONS) + 0.5 * turn @ turn.T / DIMENSIONS)))
    squared = np.square(hidden[:, None] - hidden).sum(axis=-1)
    temperature = SOFTNESS * unit_of(X)
    shown = np.array([rng.choice(ITEMS, 3, replace=False) for _ in range(answers)])
    opposite = np.stack([squared[shown[:, (p + 1) % 3], shown[:, (p + 2) % 3]] for p in range(3)], axis=1)
    odd = np.argmax(-opposite / temperature + rng.gumbel(size=opposite.shape), axis=1)
    model = SKLR("linear", loss="softmax", penalty=1.0, ratio=1.0, scaling=None, rank=None)
    model.fit(X, Comparisons.odd_one_out(shown, odd))
    pair = np.triu_indices(ITEMS, 1)
    truth = np.sqrt(squared[pair] * model.temperature_ / temperature)  # in the kernel's unit
    distances = np.abs(model.distance(X)[pair] - truth) <= 1.96 * model.distance_std(X)[pair]
    true_odds = special.softmax(-opposite / temperature, axis=1)
    error = np.abs(model.odd_one_proba(X, shown)[:, :3] - true_odds)
    return float(distances.mean()), float((error <= 1.96 * model.odd_one_std(X, shown)[:, :3]).mean())


def main() -> None:
    """Print the mean coverage and its standard error."""
    for answers in (60, 300):
        covered = np.array([coverage(seed, answers) for seed in range(DRAWS)])
        mean, error = 100.0 * covered.mean(axis=0), 100.0 * covered.std(axis=0) / DRAWS**0.5
        parts = zip(("distances", "probabilities"), mean, error, strict=True)
        print(f"{answers} answers:", ", ".join(f"{name} {share:.0f} ± {off:.0f}%" for name, share, off in parts))


if __name__ == "__main__":
    main()
