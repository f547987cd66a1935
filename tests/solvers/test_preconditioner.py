"""The preconditioner of the primal's Newton steps."""

from __future__ import annotations

import numpy as np
import pytest

from oddkernel import Comparisons
from oddkernel.problem.constraints import Constraints
from oddkernel.problem.dual import Dual
from oddkernel.problem.losses import LOSSES
from oddkernel.solvers.preconditioner import LEADING, Preconditioner


def normal(variances: np.ndarray) -> tuple[Dual, np.ndarray, np.ndarray]:
    """A problem, images whose ZᵀZ/s has these eigenvalues, and its eigenvectors."""
    rng, q = np.random.default_rng(0), len(variances)
    rows = Constraints.from_comparisons(Comparisons.odd_one_out([[0, 1, 2]], [2]))
    dual = Dual(rng.normal(size=(3, 2)), rows, LOSSES["squared"].conjugate(rows.weight, rows.equality, 1.0))
    axes = np.linalg.qr(rng.normal(size=(q, q)))[0]
    places = np.linalg.qr(rng.normal(size=(2 * q, q)))[0]
    return dual, places * np.sqrt(2 * q * variances) @ axes.T, axes


@pytest.mark.parametrize(
    "variances",
    [
        np.geomspace(10.0, 1e-3, 30),
        np.r_[np.geomspace(1e3, 1e2, LEADING), np.full(40, 0.5)],  # equal along all axes that are not told apart
    ],
    ids=["few axes", "many axes"],
)
def test_it_divides_by_what_normal_items_would_make(variances: np.ndarray) -> None:
    dual, images, axes = normal(variances)
    matrix = np.random.default_rng(1).normal(size=(len(variances),) * 2)
    matrix = matrix + matrix.T
    found = Preconditioner(dual, images, 1.5, 0.3, np.float64).divide(matrix)
    wanted = axes @ (axes.T @ matrix @ axes / (1.5 + 0.3 * np.outer(variances, variances))) @ axes.T
    np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-3)


def test_it_is_symmetric_and_positive_definite_where_axes_are_not_told_apart() -> None:
    dual, images, _ = normal(np.geomspace(10.0, 1e-3, LEADING + 60))
    rough, rng = Preconditioner(dual, images, 1.0, 2.0, np.float64), np.random.default_rng(1)
    one, other = (matrix + matrix.T for matrix in rng.normal(size=(2, LEADING + 60, LEADING + 60)))
    assert np.sum(one * rough.divide(other)) == pytest.approx(np.sum(rough.divide(one) * other), rel=1e-9)
    assert np.sum(one * rough.divide(one)) > 0
