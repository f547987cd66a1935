"""The optimisation problem: constraints, losses and their conjugates, the dual, its solution."""

from __future__ import annotations

from .constraints import Constraints
from .dual import Dual
from .losses import LOSSES, Conjugate, Hinge, Logistic, Loss, Softmax, Squared
from .point import Point
from .solution import Solution, Status

__all__ = [
    "LOSSES",
    "Conjugate",
    "Constraints",
    "Dual",
    "Hinge",
    "Logistic",
    "Loss",
    "Point",
    "Softmax",
    "Solution",
    "Squared",
    "Status",
]
