"""Problems of real size, with an independent check of the optimum.

``draw(seed)`` makes one, ``NAMED`` holds those that once failed; ``problem.check()`` solves it and raises unless the
optimum was found, or a contradiction that a separate check confirms. ``python -m oddkernel_benchmarks.problems`` runs
new seeds for as long as asked.
"""

from __future__ import annotations

from .drawing import draw
from .named import NAMED, digits
from .problem import Outcome, Problem

__all__ = ["NAMED", "Outcome", "Problem", "digits", "draw"]
