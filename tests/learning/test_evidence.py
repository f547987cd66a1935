"""What held-out answers prove."""

from __future__ import annotations

import numpy as np
import pytest

from oddkernel.learning.evidence import beat, optimism


def gains_by_chance(rng: np.random.Generator, trials: int, questions: int) -> np.ndarray:
    """Log-likelihood gains of metrics that say nothing, at the inverse temperature that suits each best.

    A metric offers each question a bet x; at the inverse temperature b it gains bx - (bx)²/2.
    """
    x = rng.normal(size=(trials, questions))
    b = np.maximum(x.sum(axis=1) / np.square(x).sum(axis=1), 1e-3)[:, None]
    return b * x - 0.5 * np.square(b * x)


@pytest.mark.parametrize("trials", [1, 20])
def test_chance_passes_in_at_most_one_case_of_twenty_however_much_is_tried(trials: int) -> None:
    rng, random = np.random.default_rng(0), np.random.RandomState(0)
    passed = sum(beat(gains_by_chance(rng, trials, 150), random).any() for _ in range(300))
    assert 1 <= passed <= 15


def test_the_same_trial_many_times_counts_once() -> None:
    gain = np.random.default_rng(0).normal(0.035, 0.2, size=(1, 200))
    gain *= 2.0 / gain.sum()  # two units of log-likelihood: enough for one trial, not for twenty
    assert beat(np.repeat(gain, 20, axis=0), np.random.RandomState(0)).all()
    others = np.random.default_rng(1).normal(0.0, 0.2, size=(40, 200))
    assert not beat(np.concatenate([gain, others - others.mean(axis=1, keepdims=True)]), np.random.RandomState(0))[0]


def test_more_questions_than_signs_are_put_into_blocks() -> None:
    gains = np.random.default_rng(0).normal(0.01, 0.1, size=(3, 5001))
    assert beat(gains, np.random.RandomState(0)).all()
    assert not beat(-gains, np.random.RandomState(0)).any()


def best_of(means: np.ndarray) -> np.ndarray:
    return means.argmax(axis=1)


def test_the_best_of_many_equal_trials_looks_better_than_it_is() -> None:
    rng, n = np.random.default_rng(0), 200
    excess, estimated = [], []
    for _ in range(40):
        agreement = rng.choice([-1.0, 0.0, 1.0], p=[0.2, 0.6, 0.2], size=(10, n))  # no trial gains anything
        winner = int(agreement.sum(axis=1).argmax())
        excess.append(agreement[winner].mean())
        estimated.append(optimism(agreement, agreement, np.ones(n), best_of, winner, np.random.RandomState(0)))
    assert np.mean(excess) > 0.03
    assert np.mean(estimated) == pytest.approx(np.mean(excess), rel=0.5)


def test_a_trial_without_rivals_is_not_overestimated() -> None:
    agreement = np.random.default_rng(0).normal(0.1, 1.0, size=(1, 100))
    assert optimism(agreement, agreement, np.ones(100), best_of, 0, np.random.RandomState(0)) == 0.0
