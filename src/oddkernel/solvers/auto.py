"""First ascent, then Newton: fast from a cold start."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..dual import Dual, Point
from ..solution import Status
from .ascent import Ascent
from .newton import Newton

Array = npt.NDArray[Any]

# Passes of ascent before Newton's method takes over, unless the rows that pull settle sooner.
PASSES = 4


class Auto:
    """A few passes of ascent find out which rows pull; Newton's method then settles how hard."""

    exact = True
    default_max_iter = 1_000

    def __init__(self) -> None:
        self._ascent, self._newton = Ascent(), Newton()
        self._problem: Dual | None = None
        self._passes = 0
        self._pulling: Array | None = None

    def step(self, point: Point) -> Array | Point:
        """Where one pass or one Newton step leads, whichever is due."""
        if point.problem is not self._problem:
            # A start that already pulls is a warm one.
            self._problem, self._passes = point.problem, PASSES if point.alpha.any() else 0
            self._pulling = None
        settled = self._pulling is not None and np.array_equal(self._pulling, point.free)
        self._pulling = point.free
        if self._passes < PASSES and not settled:
            self._passes += 1
            return self._ascent.step(point)
        return self._newton.step(point)

    def finished(self, before: Point, after: Point, tol: float) -> Status | None:
        """Never: the loop stops an exact solver."""
        return None
