"""Problems of real size, with an independent check of the optimum.

``draw(seed)`` makes a problem, and ``NAMED`` holds those that failed in the past. ``problem.check()`` solves it and
raises unless the solver finds the optimum, or a contradiction that an independent check confirms. ``python -m
oddkernel_benchmarks.problems`` runs new seeds for a given time.
"""

from __future__ import annotations

from .drawing import draw
from .named import NAMED, digits
from .problem import Outcome, Problem

__all__ = ["NAMED", "Outcome", "Problem", "digits", "draw"]
