"""The primal problem at one metric."""

import numpy as np
import pytest

from oddkernel import Comparisons
from oddkernel.problem.constraints import Constraints
from oddkernel.problem.dual import Dual
from oddkernel.problem.losses import Conjugate
from oddkernel.problem.point import Point
from oddkernel.solvers.primal import Primal


def known(missed: float, rounding: float) -> Point | None:
    """The point where S(α)W − I has the norm ``missed`` and its rounding is this large; None if it is refused.

    The three equalities of *can't tell* cancel in S, and leave nothing but rounding. Three items at equal distances
    satisfy them under every multiple of the identity.
    """
    rows = Constraints.from_comparisons(Comparisons.odd_one_out([[0, 1, 2]], [-1]), ratio=1.0, margin=0.0)
    problem = Dual(np.eye(3), rows, Conjugate.hard(rows.equality))
    found = Primal.of(problem.origin).turned((1.0 + missed / np.sqrt(problem.rank)) ** 0.5 * problem.unit)
    signs = np.array([1.0, -1.0, 1.0])
    return found.known(rounding / found.rounding(signs) * signs)


def test_what_rounding_does_not_explain_counts_in_the_gap() -> None:
    explained, beyond = known(0.009, rounding=0.01), known(0.013, rounding=0.01)
    assert explained is not None
    assert beyond is not None
    assert explained.gap < 1e-9
    assert beyond.gap * (1.0 + abs(beyond.objective)) == pytest.approx(0.003**2, rel=1e-3)
    assert known(0.013, rounding=0.001) is None


def test_a_point_is_refused_where_rounding_hides_whether_s_is_positive_definite() -> None:
    assert known(1.9, rounding=2.0) is not None
    assert known(2.6, rounding=2.0) is None
