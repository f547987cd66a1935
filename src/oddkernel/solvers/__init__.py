"""Solvers of the dual problem, by name."""

from __future__ import annotations

from collections.abc import Callable

from .ascent import Ascent
from .auto import Auto
from .contradiction import contradiction
from .newton import Newton
from .projection import Projection
from .protocol import Solver
from .solving import check_device, solve

SOLVERS: dict[str, Callable[[], Solver]] = {
    "auto": Auto,
    "newton": Newton,
    "ascent": Ascent,
    "projection": Projection,
}
"""The solvers that have a name."""

__all__ = ["SOLVERS", "Ascent", "Auto", "Newton", "Projection", "Solver", "check_device", "contradiction", "solve"]
