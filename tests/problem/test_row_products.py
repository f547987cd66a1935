"""Products of rows under kernels are the traces that they stand for."""

from __future__ import annotations

import numpy as np
from problems import outweighed

from oddkernel.problem.row_products import mixed_products


def test_products_of_rows_under_two_kernels() -> None:
    rng = np.random.default_rng(0)
    problem = outweighed("squared", 1.0)
    one, other = (half @ half.T for half in rng.normal(size=(2, 30, 5)))
    first, second = problem.first.astype(np.uint64), problem.second.astype(np.uint64)
    ends = [(first[pair], second[pair]) for pair in (problem.near, problem.far)]
    products = mixed_products(one, other, *ends, problem.near_factor, problem.far_factor)
    matrices = np.zeros((len(problem), 30, 30))
    for c in range(len(problem)):
        for pair, factor in ((problem.near, problem.near_factor), (problem.far, -problem.far_factor)):
            apart = np.zeros(30)
            apart[[problem.first[pair[c]], problem.second[pair[c]]]] = 1.0, -1.0
            matrices[c] += factor[c] * np.outer(apart, apart)
    written = np.einsum("ij,cjk,kl,dli->cd", one, matrices, other, matrices, optimize=True)
    upper = np.triu_indices(len(problem))
    np.testing.assert_allclose(products[upper], written[upper], rtol=1e-9, atol=1e-9)
