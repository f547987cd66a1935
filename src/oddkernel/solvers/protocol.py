"""What a solver is: something that proposes the next multipliers."""

from __future__ import annotations

from typing import Protocol

from ..problem.arrays import Array
from ..problem.point import Point
from ..problem.solution import Status


class Solver(Protocol):
    """A solver proposes the next α; the loop does the rest.

    Attributes
    ----------
    exact : bool
        Whether it aims at the optimum; an inexact one decides itself when it is done.
    default_max_iter : int
        The most steps, where ``max_iter`` is None.
    second_order : bool
        Optional, False by default: whether its steps converge quadratically, so that a start near the optimum saves
        most of them.
    host_only : bool
        Optional, False by default: whether it works on NumPy arrays only.
    """

    exact: bool
    default_max_iter: int

    def step(self, point: Point) -> Array | Point:
        """The next α, or the point there if it is known. It need not keep S(α) ≻ 0: the loop shortens a long step."""
        ...

    def finished(self, before: Point, after: Point, tol: float) -> Status | None:
        """For an inexact solver: whether it is done."""
        ...


def declares(solver: Solver, fact: str) -> bool:
    """Whether a solver declares an optional fact of itself."""
    return bool(getattr(solver, fact, False))
