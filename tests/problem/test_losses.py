"""Every loss, through its conjugate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oddkernel.problem.losses import LOSSES, Conjugate

# Two answers of two rows and one of one row, then a can't tell with its three equalities.
ANSWER = np.array([0, 0, 1, 1, 2, 3, 3, 3])
EQUALITY = ANSWER == 3
WEIGHT = np.array([0.5, 0.5, 2.0, 2.0, 1.0, 3.0, 3.0, 3.0])
SCALE = 0.3

losses = pytest.mark.parametrize("loss", LOSSES)
penalties = st.sampled_from([0.1, 10.0])
shares = st.lists(st.floats(0.01, 0.99), min_size=8, max_size=8).map(np.array)
violations = st.lists(st.floats(-3, 3), min_size=8, max_size=8).map(np.array)


def conjugate(loss: str, penalty: float, weight: np.ndarray = WEIGHT) -> Conjugate:
    return LOSSES[loss].conjugate(weight, EQUALITY, penalty, temperature=SCALE, answer=ANSWER)


def inside(of: Conjugate, share: np.ndarray) -> np.ndarray:
    """Multipliers inside their intervals, which are cut at ±50; those of an answer sum to less than the cap."""
    lower, upper = np.maximum(of.lower, -50.0), np.minimum(of.upper, 50.0)
    return lower + share * (upper - lower) / np.where(of.temperature > 0, np.bincount(of.group)[of.group], 1)


def written_out(loss: str, penalty: float, t: np.ndarray) -> float:
    """Σψ(t), as the losses are defined."""
    strength = penalty * WEIGHT
    if loss == "squared":
        return float(0.5 * strength @ np.where(EQUALITY, t, np.maximum(t, 0)) ** 2)
    if loss == "hinge":
        return float(strength @ np.where(EQUALITY, np.abs(t), np.maximum(t, 0)))
    equal = strength @ np.where(EQUALITY, t, 0.0) ** 2 / (8 * SCALE)
    if loss == "logistic":
        return float(equal + SCALE * strength @ np.where(EQUALITY, 0.0, np.log1p(np.exp(t / SCALE))))
    together = [np.log(1 + np.exp(t[answer == ANSWER] / SCALE).sum()) for answer in range(3)]
    return float(equal + SCALE * strength[[0, 2, 4]] @ together)


def slopes(function, at: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Central differences of a function along each coordinate, one row for each."""
    return np.array([(function(at + step) - function(at - step)) / (2 * step.sum()) for step in np.diag(h)])


def test_hard_rows_cost_nothing_on_their_side() -> None:
    hard = Conjugate.hard(np.array([False, True]))
    assert hard.lower.tolist() == [0.0, -np.inf]
    assert hard.upper.tolist() == [np.inf, np.inf]
    assert hard.value(np.array([3.0, -4.0])) == 0.0


@losses
def test_an_infinite_penalty_is_hard(loss: str) -> None:
    soft, hard = conjugate(loss, np.inf), Conjugate.hard(EQUALITY)
    for column in ("curvature", "lower", "upper", "temperature"):
        assert np.array_equal(getattr(soft, column), getattr(hard, column))


@losses
@given(violation=violations, penalty=penalties)
def test_the_loss_is_what_it_says(loss: str, violation: np.ndarray, penalty: float) -> None:
    assert conjugate(loss, penalty).primal(violation).sum() == pytest.approx(written_out(loss, penalty, violation))


@losses
@given(violation=violations, share=shares, penalty=penalties)
def test_the_gap_is_fenchels_and_never_negative(loss, violation, share, penalty) -> None:
    of = conjugate(loss, penalty)
    alpha = inside(of, share)
    gap = of.primal(violation).sum() + of.value(alpha) - alpha @ violation
    assert of.fenchel_gap(alpha, violation) == pytest.approx(gap, abs=1e-9, rel=1e-9)
    assert of.fenchel_gap(alpha, violation) >= 0


@losses
@given(violation=violations, penalty=penalties)
def test_the_gap_closes_at_the_multipliers_that_a_violation_asks_for(loss, violation, penalty) -> None:
    """With the gap never negative, ψ* is the conjugate of ψ and not just below it."""
    of = conjugate(loss, penalty)
    wanted = of.wanted(violation)
    assert ((of.lower <= wanted) & (wanted <= of.upper)).all()
    assert of.fenchel_gap(wanted, violation) == pytest.approx(0.0, abs=1e-9)


@losses
@given(share=shares, penalty=penalties)
def test_slope_and_bend_are_derivatives_of_the_conjugate(loss, share, penalty) -> None:
    of = conjugate(loss, penalty)
    alpha = inside(of, share)
    h = 1e-5 * np.where(of.temperature > 0, of.upper, 1.0)
    assert slopes(of.value, alpha, h) == pytest.approx(of.slope(alpha), abs=1e-5, rel=1e-4)
    own, shared = of.bend(alpha)
    bend = np.diag(own) + np.where(of.group[:, None] == of.group, shared, 0.0)
    assert slopes(of.slope, alpha, h) == pytest.approx(bend, abs=1e-5, rel=1e-4)


@losses
@given(violation=violations, change=violations, penalty=penalties)
def test_wanted_and_stiffness_are_derivatives_of_the_loss(loss, violation, change, penalty) -> None:
    of, h = conjugate(loss, penalty), 1e-6
    violation = np.where(np.abs(violation) < 1e-3, 0.1, violation)  # away from the kinks
    found = slopes(lambda t: of.primal(t).sum(), violation, np.full(8, h))
    assert found == pytest.approx(of.wanted(violation), abs=1e-5, rel=1e-5)
    along = (of.wanted(violation + h * change) - of.wanted(violation - h * change)) / (2 * h)
    own, p = of.stiffness(violation)
    assert along == pytest.approx(own * change - own * of.by_group(p * change), abs=1e-5, rel=1e-5)


@losses
@given(share=shares, factor=st.floats(0.1, 10))
def test_a_weight_scales_the_loss(loss: str, share: np.ndarray, factor: float) -> None:
    """w·ψ has the conjugate w·ψ*(α/w)."""
    plain, weighted = conjugate(loss, 10.0), conjugate(loss, 10.0, factor * WEIGHT)
    alpha = inside(plain, share)
    assert weighted.value(factor * alpha) == pytest.approx(factor * plain.value(alpha))
    assert weighted.lower.tolist() == pytest.approx((factor * plain.lower).tolist())
    assert weighted.upper.tolist() == pytest.approx((factor * plain.upper).tolist())


@losses
@given(share=shares, step=violations, length=st.sampled_from([1.0, 1e3, 1e6]))
def test_steps_stay_in_the_interval(loss: str, share: np.ndarray, step: np.ndarray, length: float) -> None:
    of = conjugate(loss, 10.0)
    alpha = inside(of, share)
    for target in (of.moved(alpha, length * step), of.inside(alpha + length * step)):
        assert ((of.lower <= target) & (target <= of.upper)).all()
        assert np.isfinite(of.value(target))
        assert np.isfinite(of.slope(target)).all()
        assert np.isfinite(of.bend(target)).all()
    tiny = 1e-7 * step
    assert of.moved(alpha, tiny) - alpha == pytest.approx(tiny, abs=1e-10)


@losses
def test_rows_are_held_at_the_end_they_would_leave(loss: str) -> None:
    of, up, down = conjugate(loss, 10.0), np.ones(8), -np.ones(8)
    low, high = np.maximum(of.lower, -50.0), np.minimum(of.upper, 50.0)
    assert np.array_equal(of.held(low, down), np.isfinite(of.lower))
    assert np.array_equal(of.held(high, up), np.isfinite(of.upper))
    assert not of.held(low, up)[of.temperature == 0].any()
    assert not of.held(high, down).any()


@pytest.mark.parametrize("loss", ["logistic", "softmax"])
def test_an_entropy_starts_where_the_violations_ask(loss: str) -> None:
    of, violation = conjugate(loss, 10.0), np.linspace(-1, 1, 8)
    start = of.start(violation)
    assert np.array_equal(start, np.where(EQUALITY, 0.0, of.wanted(violation)))
    assert of.slope(start)[~EQUALITY] == pytest.approx(violation[~EQUALITY])


def test_the_squared_loss_is_the_papers() -> None:
    squared = LOSSES["squared"].conjugate(np.array([2.0]), np.array([False]), 10.0)
    assert squared.value(np.array([3.0])) == pytest.approx(3.0**2 / (2 * 10 * 2))
    assert squared.fenchel_gap(np.zeros(1), np.array([0.5])) == pytest.approx(0.5 * 10 * 2 * 0.5**2)
    assert squared.fenchel_gap(np.zeros(1), np.array([-0.5])) == 0.0


def test_a_softmax_of_single_rows_is_the_logistic() -> None:
    violation, alone = np.linspace(-1, 1, 8), np.arange(8)
    soft, logistic = (
        LOSSES[loss].conjugate(WEIGHT, EQUALITY, 10.0, temperature=SCALE, answer=alone)
        for loss in ("softmax", "logistic")
    )
    assert soft.primal(violation) == pytest.approx(logistic.primal(violation))


def test_two_rows_that_exclude_each_other_share_one_answer() -> None:
    """Both of a softmax's rows can't be certain at once; two logistic ones can."""
    violation = np.where(ANSWER == 0, 5.0, -5.0)
    assert conjugate("softmax", 10.0).wanted(violation)[:2] == pytest.approx([2.5, 2.5], rel=1e-4)
    assert conjugate("logistic", 10.0).wanted(violation)[:2] == pytest.approx([5.0, 5.0], rel=1e-4)
