"""Newton's method, after passes of ascent where these are cheap: fast from a cold start."""

from __future__ import annotations

import numpy as np

from ..problem.arrays import Array, to_numpy
from ..problem.dual import Dual
from ..problem.point import Point
from ..problem.solution import Status
from .ascent import Ascent
from .costs import PASSES, passes_first
from .newton import Newton


class Auto:
    """Newton's method; where that is cheaper, a few passes of ascent first find out which rows pull.

    Passes come first if all of them together cost less than one Newton step.
    """

    exact = True
    second_order = True
    default_max_iter = 1_000

    def __init__(self) -> None:
        self._ascent, self._newton = Ascent(), Newton()
        self._problem: Dual | None = None
        self._passes = 0
        self._pulling: Array | None = None

    def step(self, point: Point) -> Array | Point:
        """Where one pass or one Newton step leads, whichever is due."""
        free = to_numpy(point.free)
        if point.problem is not self._problem:
            # A start that already pulls is a warm one, and passes are compiled for the CPU.
            cold = point.problem.host is point.problem and not point.alpha.any()
            self._problem = point.problem
            self._passes = PASSES if cold and passes_first(point) else 0
            self._pulling = None
        settled = self._pulling is not None and np.array_equal(self._pulling, free)
        self._pulling = free
        if self._passes > 0 and not settled:
            self._passes -= 1
            return self._ascent.step(point)
        return self._newton.step(point)

    def finished(self, before: Point, after: Point, tol: float) -> Status | None:
        """Never: the loop stops an exact solver."""
        return None
