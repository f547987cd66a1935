"""What held-out answers prove."""

from __future__ import annotations

import numpy as np
import pytest

from oddkernel import Comparisons
from oddkernel.learning import evidence
from oddkernel.learning.evidence import LEVEL, gain_p_values, optimism, score_p_value, suffices


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
    passed = sum((gain_p_values(gains_by_chance(rng, trials, 150), random) <= LEVEL).any() for _ in range(300))
    assert 1 <= passed <= 15


def test_the_same_trial_many_times_counts_once() -> None:
    gain = np.random.default_rng(0).normal(0.035, 0.2, size=(1, 200))
    gain *= 2.0 / gain.sum()  # two units of log-likelihood: enough for one trial, not for twenty
    assert (gain_p_values(np.repeat(gain, 20, axis=0), np.random.RandomState(0)) <= LEVEL).all()
    others = np.random.default_rng(1).normal(0.0, 0.2, size=(40, 200))
    gains = np.concatenate([gain, others - others.mean(axis=1, keepdims=True)])
    assert gain_p_values(gains, np.random.RandomState(0))[0] > LEVEL


def test_more_questions_than_signs_are_put_into_blocks() -> None:
    gains = np.random.default_rng(0).normal(0.01, 0.1, size=(3, 5001))
    assert (gain_p_values(gains, np.random.RandomState(0)) <= 0.01).all()
    assert (gain_p_values(-gains, np.random.RandomState(0)) == 1.0).all()


def test_of_nothing_tried_nothing_passes() -> None:
    assert gain_p_values(np.empty((0, 10)), np.random.RandomState(0)).shape == (0,)


def test_a_trial_that_changes_nothing_passes_at_no_level() -> None:
    assert gain_p_values(np.zeros((2, 10)), np.random.RandomState(0)).tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("gain", "score", "enough"),
    [
        (0.01, 1.0, True),
        (1.0, 0.01, True),
        (0.02, 0.5, False),
        (0.5, 0.02, False),
        (0.33, 0.2, True),
        (0.05, None, True),
        (0.06, None, False),
    ],
)
def test_one_clear_test_or_two_that_agree_suffice(gain: float, score: float | None, enough: bool) -> None:
    assert suffices(gain, score) is enough


def contradicts(phi: np.ndarray, said: Comparisons, question: np.ndarray, random: np.random.RandomState) -> bool:
    """Whether the score test says so at a level of 1%."""
    p = score_p_value(phi, said, question, random)
    assert p is not None
    return p <= 0.01


def by_direction(rng: np.random.Generator, sharpness: float, n: int = 200) -> tuple[np.ndarray, Comparisons]:
    """40 items in six dimensions, and answers by the first one alone; at a sharpness of 0 they are random."""
    X = rng.normal(size=(40, 6))
    shown = rng.permuted(np.tile(np.arange(40), (n, 1)), axis=1)[:, :3]
    sides = [np.square(X[shown[:, p - 1], 0] - X[shown[:, p - 2], 0]) for p in range(3)]
    return X, Comparisons.odd_one_out(
        shown, (sharpness * np.stack(sides, axis=1) + rng.gumbel(size=(n, 3))).argmin(axis=1)
    )


def test_the_score_test_holds_its_level_and_has_power() -> None:
    rng, random = np.random.default_rng(0), np.random.RandomState(0)
    by_chance, by_metric = (
        sum(contradicts(X, said, np.arange(len(said)), random) for X, said in (by_direction(rng, s) for _ in range(60)))
        for s in (0.0, 1.0)
    )
    assert by_chance <= 3
    assert by_metric >= 50


def test_answers_to_one_question_are_no_evidence_for_one_another() -> None:
    """Ten people who follow the first of them say no more than one person."""
    rng, random = np.random.default_rng(1), np.random.RandomState(0)
    found = 0
    for _ in range(30):
        X, said = by_direction(rng, 0.0, 40)
        tenfold = said[np.repeat(np.arange(40), 10)]
        found += contradicts(X, tenfold, np.repeat(np.arange(40), 10), random)
    assert found <= 2


def test_the_score_test_reads_every_kind_of_answer() -> None:
    rng, random = np.random.default_rng(2), np.random.RandomState(0)
    X = rng.normal(size=(40, 6))
    shown = rng.permuted(np.tile(np.arange(40), (300, 1)), axis=1)[:, :3]
    order = np.argsort(X[shown, 0], axis=1)
    central = np.take_along_axis(shown, order[:, [1, 0, 2]], axis=1)
    assert contradicts(X, Comparisons.most_central(central[:, 0], central[:, 1:]), np.arange(300), random)
    apart = np.abs(X[shown[:, 1:], 0] - X[shown[:, :1], 0])
    near = np.where((apart[:, 0] < apart[:, 1])[:, None], shown, shown[:, [0, 2, 1]])
    assert contradicts(X, Comparisons.closer(*near.T), np.arange(300), random)


def test_the_score_test_joins_kinds_of_answers_that_name_near_and_far_pairs() -> None:
    rng, random = np.random.default_rng(3), np.random.RandomState(0)
    X, odd = by_direction(rng, 1.0)
    shown = rng.permuted(np.tile(np.arange(40), (200, 1)), axis=1)[:, :3]
    order = np.argsort(X[shown, 0], axis=1)
    central = np.take_along_axis(shown, order[:, [1, 0, 2]], axis=1)
    said = odd + Comparisons.most_central(central[:, 0], central[:, 1:])
    assert contradicts(X, said, np.arange(400), random)


@pytest.mark.parametrize("unit", [1e-12, 1e9])
def test_the_score_test_is_free_of_the_unit(unit: float) -> None:
    found = [by_direction(np.random.default_rng(seed), sharpness) for seed in range(8) for sharpness in (0.0, 0.4)]
    plain, scaled = (
        [contradicts(scale * X, said, np.arange(200), np.random.RandomState(0)) for X, said in found]
        for scale in (1.0, unit)
    )
    assert plain == scaled
    assert {True, False} == set(plain)


def test_the_score_test_finds_nothing_in_a_few_questions_or_in_none() -> None:
    """Of five questions all signs agree in one case of sixteen."""
    X, said = by_direction(np.random.default_rng(0), 50.0)
    for n in range(6):
        assert not contradicts(X, said[:n], np.arange(n), np.random.RandomState(0))


def test_the_score_test_leaves_many_pairs_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    X, said = by_direction(np.random.default_rng(0), 5.0)
    assert contradicts(X, said, np.arange(200), np.random.RandomState(0))
    monkeypatch.setattr(evidence, "MOST_PAIRS", 599)  # three for each question
    assert score_p_value(X, said, np.arange(200), np.random.RandomState(0)) is None


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


def test_the_score_test_counts_weights() -> None:
    """Answers by the metric count, and as many at random don't."""
    rng = np.random.default_rng(5)
    X, by_metric = by_direction(rng, 2.0, 60)
    shown = rng.permuted(np.tile(np.arange(40), (240, 1)), axis=1)[:, :3]
    both = by_metric + Comparisons.odd_one_out(shown, rng.integers(0, 3, 240))
    light = both.with_weight(np.repeat([1.0, 1e-3], [60, 240]))
    plain, weighted = (score_p_value(X, said, np.arange(300), np.random.RandomState(0)) for said in (both, light))
    assert plain is not None
    assert weighted is not None
    assert weighted < 0.01 < plain
