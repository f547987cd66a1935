"""The same mathematics on arrays of other libraries, and devices that aren't there."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest
from problems import random_problem

from oddkernel import SKLR, Comparisons
from oddkernel.problem import arrays
from oddkernel.problem.arrays import (
    Device,
    cholesky,
    device_named,
    eigen,
    eigenvalues,
    inverse_lower,
    largest_by,
    namespace,
    plus_diagonal,
    sum_by,
    times_inverse,
    to_numpy,
)
from oddkernel.problem.losses import LOSSES
from oddkernel.solvers import SOLVERS, solve

STRICT, TORCH = "array-api-strict", "torch:cpu"
LIBRARIES = {STRICT: "array_api_strict", TORCH: "torch"}
KINDS = [("squared", np.inf), *((loss, 10.0) for loss in LOSSES)]

X = np.random.default_rng(0).normal(size=(30, 4))
SAID = Comparisons.from_labels(np.arange(30) % 3, 40, random_state=0)


@pytest.fixture(params=LIBRARIES)
def device(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a device of another library; array-api-strict takes the place of CuPy."""
    library = pytest.importorskip(LIBRARIES[request.param])
    pytest.importorskip("array_api_compat")
    if request.param == TORCH:
        return TORCH
    strict = Device(library, None)
    monkeypatch.setattr(
        "oddkernel.solvers.solving.device_named", lambda name: strict if name == STRICT else device_named(name)
    )
    return STRICT


def put(device: str) -> Device:
    if device == STRICT:
        return Device(pytest.importorskip(LIBRARIES[STRICT]), None)
    found = device_named(device)
    assert found is not None
    return found


@pytest.mark.parametrize(("loss", "penalty"), KINDS)
@pytest.mark.parametrize("seed", range(4))
def test_a_point_is_the_same_everywhere(seed: int, loss: str, penalty: float, device: str) -> None:
    problem = random_problem(seed, noisy=True).dual(penalty, loss)
    other = problem.on(put(device))
    alpha = np.minimum(0.02, 0.3 * problem.loss.upper) * np.ones(len(problem))
    one, two = problem.at(alpha), other.at(other.put(alpha))
    assert one is not None
    assert two is not None
    for name in ("violation", "scale", "gradient", "metric", "hessian_diagonal"):
        assert not isinstance(getattr(two, name), np.ndarray)
        np.testing.assert_allclose(to_numpy(getattr(two, name)), getattr(one, name), rtol=1e-9, atol=1e-9)
    for name in ("objective", "divergence", "residual", "gap"):
        assert getattr(two, name) == pytest.approx(getattr(one, name), rel=1e-9, abs=1e-9)
    some, x = np.arange(len(problem))[::2], np.random.default_rng(seed).normal(size=len(problem))
    np.testing.assert_allclose(to_numpy(two.hessian(other.put(some))), one.hessian(some), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(to_numpy(two.hessian_product(other.put(x))), one.hessian_product(x), atol=1e-8)
    assert (to_numpy(two.free) == one.free).all()
    np.testing.assert_allclose(two.host.images, one.images, atol=1e-9)


@pytest.mark.parametrize(("loss", "penalty"), KINDS)
@pytest.mark.parametrize("solver", ["auto", "newton"])
@pytest.mark.parametrize("seed", range(2))
def test_the_optimum_is_the_same_everywhere(seed: int, solver: str, loss: str, penalty: float, device: str) -> None:
    problem = random_problem(seed, noisy=np.isfinite(penalty)).dual(penalty, loss)
    here, _ = solve(problem, SOLVERS[solver](), tol=1e-10)
    there, point = solve(problem, SOLVERS[solver](), tol=1e-10, device=device)
    assert there.status is here.status
    assert there.divergence == pytest.approx(here.divergence, rel=1e-8, abs=1e-8)
    assert isinstance(there.multipliers, np.ndarray)
    assert isinstance(point.whole_metric()[0], np.ndarray)


@pytest.mark.parametrize("loss", ["squared", "softmax"])
def test_conjugate_gradients_run_everywhere(loss: str, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("oddkernel.solvers.newton.DENSE", 5)
    problem = random_problem(3, noisy=True).dual(1.0, loss)
    here, there = (solve(problem, SOLVERS["newton"](), tol=1e-8, device=d)[0] for d in (None, device))
    assert there.divergence == pytest.approx(here.divergence, rel=1e-6)


def test_the_model_is_the_same_everywhere(device: str) -> None:
    if device == STRICT:
        pytest.skip("a name for tests only: the learner refuses it")
    here, there = (SKLR(device=d, tol=1e-10).fit(X, SAID) for d in (None, device))
    np.testing.assert_allclose(there.transform(X), here.transform(X), atol=1e-7)


@pytest.mark.parametrize("solver", ["ascent", "projection"])
def test_solvers_of_the_cpu_say_so(solver: str) -> None:
    pytest.importorskip("torch")
    with pytest.raises(ValueError, match=f"solver='{solver}' works on the CPU only; set device=None"):
        SKLR(device=TORCH, solver=solver).fit(X, SAID)


@pytest.mark.parametrize("name", ["gpu", "torch", "cuda:", "cuda:x", "cupy:-1", "torch:cuda", "", 0, True])
def test_a_device_that_means_nothing_is_refused(name: object) -> None:
    with pytest.raises(ValueError, match=r"device=.*; expected None \(NumPy\), 'cuda'"):
        SKLR(device=name).fit(X, SAID)


@pytest.mark.parametrize(("name", "extra"), [("cuda", "torch"), ("torch:cpu", "torch"), ("cupy", "cupy")])
def test_a_missing_library_is_named_with_what_to_install(name, extra, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "find_spec", lambda module: None)
    with pytest.raises(ValueError, match=rf"device='{name}' needs {extra}.*pip install \"oddkernel\[{extra}\]\""):
        SKLR(device=name).fit(X, SAID)


def test_no_gpu_is_a_sentence() -> None:
    torch = pytest.importorskip("torch")
    pytest.importorskip("array_api_compat")
    if torch.cuda.is_available():
        pytest.skip("there is one")
    with pytest.raises(ValueError, match=r"device='cuda': PyTorch finds no CUDA device here .*; set device=None"):
        SKLR(device="cuda").fit(X, SAID)


def test_too_little_memory_is_found_before_the_work() -> None:
    class Small(Device):
        def free_memory(self) -> int:
            return 10_000

    problem = random_problem(0).dual()
    problem.features, full = np.zeros((0, 0)), Small(np, None)
    assert problem.memory < 10_000
    problem.rank = 1_000
    with pytest.raises(MemoryError, match=r"the device has 0.0 GiB of memory free and the problem needs about .* GiB"):
        problem.on(full)


def test_the_helpers(device: str) -> None:
    where = put(device)
    index, values = where.put(np.array([0, 2, 2])), where.put(np.array([1.0, -2.0, 5.0]))
    assert to_numpy(sum_by(index, values, 4)).tolist() == [1.0, 0.0, 3.0, 0.0]
    assert to_numpy(largest_by(index, values, 4)).tolist() == [1.0, 0.0, 5.0, 0.0]
    matrix = where.put(np.array([[4.0, 2.0], [2.0, 3.0]]))
    factor = cholesky(matrix)
    np.testing.assert_allclose(to_numpy(factor @ factor.T), to_numpy(matrix))
    np.testing.assert_allclose(to_numpy(inverse_lower(factor) @ factor), np.eye(2), atol=1e-15)
    rows = where.put(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    np.testing.assert_allclose(to_numpy(times_inverse(rows, factor) @ factor.T), to_numpy(rows))
    np.testing.assert_allclose(to_numpy(plus_diagonal(rows[:2, :] + 0, rows[2, :])), [[6.0, 2.0], [3.0, 10.0]])
    assert cholesky(-matrix) is None
    values_of, vectors = eigen(matrix)
    np.testing.assert_allclose(to_numpy((vectors * values_of) @ vectors.T), to_numpy(matrix), atol=1e-14)
    np.testing.assert_allclose(to_numpy(eigenvalues(matrix)), to_numpy(values_of), atol=1e-14)
    assert namespace(values) is not np


@pytest.mark.parametrize("size", [0, 1, 64, 65, 200])
def test_triangular_systems_are_solved_block_by_block(size: int) -> None:
    rng = np.random.default_rng(size)
    factor = np.tril(rng.normal(size=(size, size))) / max(size, 1) + np.eye(size)
    rows = rng.normal(size=(7, size))
    np.testing.assert_allclose(times_inverse(rows, factor) @ factor.T, rows, atol=1e-12)


def test_nothing_of_it_is_needed_for_numpy() -> None:
    assert importlib.util.find_spec("numpy") is not None
    assert namespace(np.zeros(1)) is np
    assert device_named(None) is None


def test_a_product_with_a_triangle_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "WIDE", 3)
    rng = np.random.default_rng(0)
    rows, factor = rng.normal(size=(5, 8)), np.tril(rng.normal(size=(8, 8)))
    np.testing.assert_allclose(arrays.times_lower(rows, factor), rows @ factor)
