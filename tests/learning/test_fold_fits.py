"""Fits for folds, and where they start."""

from __future__ import annotations

import numpy as np
import pytest

from oddkernel import SKLR, Comparisons
from oddkernel.learning import fold_fits, learn, paths


def test_fits_start_at_the_nearest_penalty(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    said = Comparisons.from_labels((X[:, 0] > 0).astype(int), 200, noise=0.1, random_state=0)
    solved: dict[tuple[bytes, float], np.ndarray] = {}
    checked = 0

    def watched(phi, rows, recipe, penalties, *, starts, like, **options):
        nonlocal checked
        key, [start] = rows.answer.tobytes() + str(recipe.ratio).encode(), starts
        known = [penalty for rows, penalty in solved if rows == key]
        if known:
            nearest = min(known, key=lambda penalty: abs(np.log(penalty / penalties[0])))
            assert start == pytest.approx(solved[key, nearest], abs=1e-12)
            assert like is not None
            checked += 1
        learned = learn(phi, rows, recipe, penalties, starts=starts, like=like, **options)
        solved[key, penalties[0]] = learned.point.alpha
        return learned

    monkeypatch.setattr(fold_fits, "learn", watched)
    monkeypatch.setattr(paths, "SECOND", ())
    SKLR("linear", loss="squared").fit(X, said)
    assert checked >= 3
