"""One-row steps: each exact, and many at once the same as one after another."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from problems import random_problem
from scipy import optimize

from oddkernel.problem.dual import Dual
from oddkernel.problem.losses import LOSSES
from oddkernel.problem.point import Point
from oddkernel.solvers import sweep as module
from oddkernel.solvers.sweep import one_row, sweep, two_by_two, woodbury

sizes = st.floats(0.01, 10.0)


@given(
    near=sizes | st.just(0.0),
    far=sizes,
    cosine=st.floats(-1, 1) | st.sampled_from([-1.0, 0.0, 1.0]),
    offset=st.sampled_from([-1.0, -0.01, 0.0, 0.01, 0.3]),
    curvature=st.sampled_from([0.01, 0.1, 1.0]),
    lower=st.sampled_from([0.0, -np.inf]),
    upper=st.sampled_from([0.5, np.inf]),
    alpha=st.floats(0.0, 0.5),
)
def test_a_step_maximises_the_dual_along_its_row(near, far, cosine, offset, curvature, lower, upper, alpha) -> None:
    """Against a search by function values; |cosine| = 1 is a row of rank one, θ = 0."""
    trace, determinant = near - far, -near * far * max(1 - cosine**2, 0.0)

    def dual(step: float) -> float:
        inside = 1 + step * trace + step**2 * determinant
        return np.log(inside) + offset * step - 0.5 * curvature * (alpha + step) ** 2 if inside > 0 else -np.inf

    root = np.sqrt(trace**2 - 4 * determinant)
    high, low = (trace + root) / 2, (trace - root) / 2
    left = max(-1 / high if high > 1e-12 else -1e5, lower - alpha)
    right = min(-1 / low if low < -1e-12 else 1e5, upper - alpha)
    step = one_row(trace, determinant, offset, curvature, 0.0, lower, upper, alpha)
    assert left - 1e-12 <= step <= right + 1e-12
    grid = np.linspace(left, right, 2001)[1:-1]
    best = grid[np.argmax([dual(s) for s in grid])]
    width = (right - left) / 1000
    found = optimize.minimize_scalar(
        lambda s: -dual(s), bounds=(max(best - width, left), min(best + width, right)), method="bounded"
    )
    assert dual(step) >= -found.fun - 1e-9 * (1 + abs(found.fun))


def test_the_hard_step_without_offset_is_the_papers() -> None:
    near, far, cross = 2.0, 3.0, 0.5
    trace, determinant = two_by_two(2.0, 1.0, near, cross, far)
    assert (trace, determinant) == (2 * near - far, -(2 * near * far - 2 * cross**2))
    step = one_row(trace, determinant, 0.0, 0.0, 0.0, 0.0, np.inf, 0.0)
    assert step == pytest.approx(-trace / (2 * determinant))


def test_a_satisfied_row_gives_back_what_it_pulled() -> None:
    trace, determinant = two_by_two(1.0, 1.0, 1.0, 0.0, 4.0)
    assert one_row(trace, determinant, 0.0, 0.0, 0.0, 0.0, np.inf, 0.0) == 0.0
    assert one_row(trace, determinant, 0.0, 0.0, 0.0, 0.0, np.inf, 0.1) == -0.1


def test_a_row_that_compares_nothing_takes_no_step() -> None:
    assert one_row(0.0, 0.0, -1.0, 0.0, 0.0, 0.0, np.inf, 0.0) == 0.0


@given(near=sizes, far=sizes, offset=st.floats(-2, 2), temperature=st.floats(0.05, 2), share=st.floats(0.01, 0.99))
def test_a_step_under_an_entropy_stays_inside_and_is_where_the_slope_vanishes(
    near, far, offset, temperature, share
) -> None:
    upper = 3.0
    alpha = share * upper
    step = one_row(near - far, -near * far, offset, 0.0, temperature, 0.0, upper, alpha)
    assert 0 < alpha + step < upper

    def slope(step: float) -> float:
        beta = alpha + step
        if beta <= 0 or 1 + step * near <= 0:
            return np.inf
        if beta >= upper or 1 - step * far <= 0:
            return -np.inf
        pull = near / (1 + step * near) - far / (1 - step * far)
        return offset + pull - temperature * np.log(beta / (upper - beta))

    rounding = 1e-14 * upper
    assert slope(step - rounding) >= 0 >= slope(step + rounding)


def test_woodbury_inverts_the_step() -> None:
    rng = np.random.default_rng(0)
    u, v = rng.normal(size=(2, 4))
    metric = np.linalg.inv(np.cov(rng.normal(size=(4, 20))))
    step, ratio = 0.02, 2.0
    uu, uv, vv = woodbury(step, ratio, 1.0, u @ metric @ u, u @ metric @ v, v @ metric @ v)
    sides = metric @ np.column_stack([u, v])
    stepped = np.linalg.inv(np.linalg.inv(metric) + step * (ratio * np.outer(u, u) - np.outer(v, v)))
    assert metric - sides @ np.array([[uu, uv], [uv, vv]]) @ sides.T == pytest.approx(stepped)


KINDS = [("squared", np.inf), *((loss, 10.0) for loss in LOSSES)]
PASSES = [*((True, *kind) for kind in KINDS), (False, "squared", np.inf), (False, "squared", 10.0)]


def first(dual: Dual) -> Point:
    point = dual.at(dual.loss.inside(np.zeros(len(dual))))
    assert point is not None
    return point


@pytest.mark.parametrize(("remember", "loss", "penalty"), PASSES)
@pytest.mark.parametrize("seed", range(8))
def test_a_block_is_its_rows_one_after_another(monkeypatch, seed: int, remember: bool, loss: str, penalty: float):
    dual = random_problem(seed, noisy=np.isfinite(penalty)).dual(penalty, loss)
    start = first(dual)
    order = np.random.default_rng(seed).permutation(len(dual))
    together = sweep(start, order, remember=remember)
    monkeypatch.setattr(module, "BLOCK", 1)
    assert sweep(start, order, remember=remember) == pytest.approx(together, rel=1e-8, abs=1e-10)


@pytest.mark.parametrize(("loss", "penalty"), KINDS)
@pytest.mark.parametrize("seed", range(8))
def test_a_pass_lifts_the_dual(seed: int, loss: str, penalty: float) -> None:
    dual = random_problem(seed, noisy=np.isfinite(penalty)).dual(penalty, loss)
    point = first(dual)
    for _ in range(3):
        after = dual.at(sweep(point, np.arange(len(dual)), remember=True))
        assert after is not None
        assert after.objective >= point.objective - 1e-12
        point = after


@pytest.mark.parametrize("seed", range(40))
def test_a_pass_survives_contradictions(seed: int) -> None:
    dual = random_problem(seed, noisy=True).dual()
    point = first(dual)
    for _ in range(10):
        alpha = sweep(point, np.flatnonzero(point.free), remember=True)
        assert np.isfinite(alpha).all()
        point = dual.at(alpha) or point


def test_steps_that_leave_nothing_of_a_dimension_are_not_applied() -> None:
    metric, one = np.eye(1), np.ones((1, 1))
    assert not module._apply(metric, one, one, np.array([-1.0]))
    np.testing.assert_array_equal(metric, 1.0)
