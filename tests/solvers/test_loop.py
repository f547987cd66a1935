"""The loop's own decisions."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from oddkernel.solvers.loop import PROGRESS, better


def at(objective: float, residual: float) -> Any:
    return SimpleNamespace(objective=objective, residual=residual)


def test_a_higher_dual_is_better_whatever_the_residual() -> None:
    assert better(at(2.0, 0.5), at(1.0, 0.1))
    assert better(at(2.0, 0.5), at(1.0, 0.1), by=PROGRESS)
    assert not better(at(1.0, 0.1), at(2.0, 0.5))


def test_where_rounding_hides_the_rise_the_residual_decides() -> None:
    here = at(98.7, 1.5e-10)
    creeping, falling = at(98.7, 1.4999e-10), at(98.7, 1.4e-10)
    assert better(creeping, here)
    assert not better(creeping, here, by=PROGRESS)
    assert better(falling, here, by=PROGRESS)
