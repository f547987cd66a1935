"""Exact coordinate ascent on the dual: Bregman projections that remember their multipliers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..problem.point import Point
from ..problem.solution import Status
from .newton import climb
from .sweep import sweep

Array = npt.NDArray[Any]


# A pass that leaves more than this share of the residual is slow.
SLOW = 0.9
# Rows that are moved jointly after a slow pass.
BLOCK = 64


class Ascent:
    """One step is one pass over the rows that pull or are violated; each row's step is exact.

    It differs from the paper's algorithm in one respect: a row's multiplier so far is part of its equation, and may
    shrink again. That is what makes the passes end at the closest kernel and not just at some kernel.

    Rows that say nearly the same make such passes slow: what one gains the next takes back. After a slow pass, blocks
    of rows are therefore moved jointly as well, each along the Newton direction of the block.
    """

    exact = True
    host_only = True  # its passes are compiled for the CPU
    default_max_iter = 2_000

    def step(self, point: Point) -> Point:
        """The point after one pass."""
        passed = point.problem.at(sweep(point, np.flatnonzero(point.free), remember=True)) or point
        if passed.residual <= SLOW * point.residual:
            return passed
        rows = np.flatnonzero(passed.free)
        for start in range(0, len(rows), BLOCK):
            passed = climb(passed, rows[start : start + BLOCK]) or passed
        return passed

    def finished(self, before: Point, after: Point, tol: float) -> Status | None:
        """Never: the loop stops an exact solver."""
        return None
