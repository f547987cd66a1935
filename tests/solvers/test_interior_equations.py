"""The equations of the interior-point method have the same solution in every form."""

from __future__ import annotations

import numpy as np
import pytest
from problems import outweighed

from oddkernel.problem.arrays import Array
from oddkernel.solvers import interior_equations
from oddkernel.solvers.interior import Inside
from oddkernel.solvers.interior_equations import over_rows, over_unknowns
from oddkernel.solvers.threads import one_thread


def newton_matrix(at: Inside) -> Array:
    """tr(W C_c Z⁻¹ C_d) + ψ*'' + Gᵀ·diag(slack/room)·G, by the written-out products."""
    problem, loss, every = at.problem, at.problem.loss, np.eye(len(at.problem))
    images = at.primal.images  # in which W is the identity
    middle = [problem.spread(images, row) for row in every]
    moved = [each @ np.linalg.inv(at.bent) for each in middle]
    matrix = np.array([problem.sandwich(images, 0.5 * (each + each.T)) for each in moved])
    own, shared = loss.bend(at.alpha)
    together = (loss.group[:, None] == loss.group) & loss.entropic
    walls = at.intervals.matrix.toarray()
    return matrix + np.diag(own) + together * shared + walls.T @ np.diag(at.slack / at.room) @ walls


@pytest.mark.parametrize("loss", ["squared", "hinge", "logistic", "softmax"])
@pytest.mark.parametrize(
    ("penalty", "dimensions", "margin", "ratio"),
    [(1e-2, 12, 4.0, 2.0), (1e5, 12, 4.0, 2.0), (1e4, 4, 1e5, 2.0), (1e4, 4, 1e5, 1.0), (1e8, 3, 1e2, 1.0)],
)
def test_rows_and_unknowns_of_w_give_the_same_steps(
    loss: str, penalty: float, dimensions: int, margin: float, ratio: float
) -> None:
    """Also at the end of the path, where what rows are divided by ranges over 1e17, and some are held by W alone."""
    at: Inside | None = Inside.start(outweighed(loss, penalty, dimensions, margin, ratio))
    with one_thread():  # sums in the same order on every machine: at the end of the path they decide the last digits
        while at is not None and not at.arrived:
            matrix, right = newton_matrix(at), at.problem.offset - at.problem.loss.slope(at.alpha)
            scale = np.sqrt(np.diagonal(matrix))
            by_rows = over_rows(at.primal, np.linalg.inv(at.bent), at.diagonal)
            by_unknowns = over_unknowns(at.primal, at.bent, at.diagonal)
            assert by_unknowns is not None
            for solved in (by_rows or by_unknowns, by_unknowns):  # rounding may leave the larger matrix singular
                alpha = solved(right)
                error = np.abs(matrix @ alpha - right) / scale
                assert error.max() <= 1e-7 * (scale * np.abs(alpha) + np.abs(right) / scale).max()
            at = at.moved()
    assert at is not None


@pytest.mark.parametrize("products", [0, 30])
def test_a_factor_in_single_precision_solves_the_same_equations(products: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where conjugate gradients don't arrive, and a factor in double precision takes its place."""
    monkeypatch.setattr("oddkernel.solvers.interior_equations.SINGLE", 0)
    monkeypatch.setattr("oddkernel.solvers.interior_equations.DIMENSIONS", np.inf)
    monkeypatch.setattr("oddkernel.solvers.interior_equations.PRODUCTS", products)
    factored = interior_equations._factored
    in_double: list[int] = []
    monkeypatch.setattr(
        interior_equations, "_factored", lambda matrix: (in_double.append(len(matrix)), factored(matrix))[1]
    )
    at: Inside | None = Inside.start(outweighed("softmax", 1e4))
    while at is not None and not at.arrived:
        solved = over_rows(at.primal, np.linalg.inv(at.bent), at.diagonal)
        matrix, right = newton_matrix(at), at.problem.offset
        assert solved is not None
        scale = np.sqrt(np.diagonal(matrix))
        alpha = solved(right)
        error = np.abs(matrix @ alpha - right) / scale
        assert error.max() <= 1e-8 * (scale * np.abs(alpha) + np.abs(right) / scale).max()
        at = at.moved()
    assert at is not None
    assert bool(in_double) == (products == 0)


def test_conjugate_gradients_end_where_rounding_leaves_the_preconditioner_indefinite() -> None:
    diagonal, rough = np.array([1.0, 2.0, 3.0]), np.array([-1.0, 0.1, 0.1])
    found = interior_equations._conjugate_gradients(lambda x: diagonal * x, lambda x: rough * x, np.ones(3))
    assert found is None
