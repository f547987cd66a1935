"""Arrays of NumPy, PyTorch or CuPy: operations that the array API standard lacks.

`dual`, `losses` and Newton's method use only the standard, through ``namespace(array)``, and therefore run where their
arrays are. This module adds the few operations that the standard lacks: sums by index, Cholesky factors that may not
exist.
"""

from __future__ import annotations

from importlib.util import find_spec
from types import ModuleType
from typing import Any

import numpy as np
from scipy import linalg, sparse

Array = Any
"""An array of NumPy, PyTorch, CuPy or another library that follows the array API standard."""

# Columns of a block in `times_inverse` and in `times_lower`. Chosen by hand; only speed depends on them.
COLUMNS, WIDE = 64, 256
# Rows from which NumPy makes a Cholesky factor: its BLAS may have threads (`solvers.threads`). By hand, likewise. In
# single precision NumPy is no faster than in double, and SciPy three times as fast (3,000 rows: 0.59 and 0.18 seconds).
SEVERAL = 1000

ACCEPTED = "None (NumPy), 'cuda' or 'cuda:0' (PyTorch on a GPU), 'torch:cpu' (PyTorch), or 'cupy' or 'cupy:0' (CuPy)"


def namespace(array: Array) -> Any:
    """The functions of the array API standard for this kind of array."""
    if isinstance(array, np.ndarray):
        return np
    from array_api_compat import array_namespace

    return array_namespace(array)


def to_numpy(array: Array) -> np.ndarray[Any, Any]:
    """The same numbers as a NumPy array."""
    if isinstance(array, np.ndarray):
        return array
    if _library(array) == "torch":
        return np.asarray(array.cpu())
    return np.asarray(array.get() if _library(array) == "cupy" else array)


class Device:
    """Where arrays are put: a library and one of its devices."""

    def __init__(self, xp: Any, handle: Any) -> None:
        self.xp, self.handle = xp, handle

    def put(self, array: Array) -> Array:
        """Copy a NumPy array to the device; floats become float64, integers int64."""
        array = np.asarray(array)
        if array.dtype.kind in "iu":
            array = array.astype(np.int64)
        return self.xp.asarray(np.ascontiguousarray(array), device=self.handle)

    def free_memory(self) -> int | None:
        """Free bytes on the device; None if it doesn't report them."""
        kind = str(self.handle)
        if self.xp.__name__.endswith("torch") and kind.startswith("cuda"):
            import torch

            return int(torch.cuda.mem_get_info(self.handle)[0])
        if self.xp.__name__.endswith("cupy"):
            with self.handle:
                import cupy

                return int(cupy.cuda.runtime.memGetInfo()[0])
        return None


def device_named(name: str | None) -> Device | None:
    """The device that ``device=`` names, or a ValueError that says what is missing; None stands for NumPy.

    Examples
    --------
    >>> device_named(None) is None
    True
    >>> device_named("gpu")
    Traceback (most recent call last):
        ...
    ValueError: device='gpu'; expected None (NumPy), 'cuda' or 'cuda:0' (PyTorch on a GPU), 'torch:cpu' ...
    """
    if name is None:
        return None
    library, _, number = name.partition(":") if isinstance(name, str) else ("", "", "")
    known = (library in ("cuda", "cupy") and (number.isdigit() or name == library)) or name == "torch:cpu"
    if not known:
        raise ValueError(f"device={name!r}; expected {ACCEPTED}")
    extra = "cupy" if library == "cupy" else "torch"
    for module in (extra, "array_api_compat"):
        if find_spec(module) is None:
            raise ValueError(f'device={name!r} needs {module}, which is missing: pip install "oddkernel[{extra}]"')
    return _cupy(name, int(number or 0)) if library == "cupy" else _torch(name)


def _torch(name: str) -> Device:
    import torch
    from array_api_compat import torch as xp

    if name == "torch:cpu":
        return Device(xp, torch.device("cpu"))
    if not torch.cuda.is_available():
        raise ValueError(
            f"device={name!r}: PyTorch finds no CUDA device here (no GPU, no driver, or a PyTorch built without CUDA); "
            "set device=None to compute on the CPU"
        )
    handle = torch.device(name)
    _check_number(name, handle.index or 0, torch.cuda.device_count())
    return Device(xp, torch.device("cuda", handle.index or 0))


def _cupy(name: str, number: int) -> Device:
    import cupy
    from array_api_compat import cupy as xp

    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise ValueError(f"device={name!r}: CuPy finds no GPU here ({error}); set device=None") from None
    _check_number(name, number, count)
    return Device(xp, cupy.cuda.Device(number))


def _check_number(name: str, number: int, count: int) -> None:
    if number >= count:
        raise ValueError(f"device={name!r}: there are {count} GPUs here, counted from 0")


def sum_by(index: Array, values: Array, size: int) -> Array:
    """(size,): the sum of the values with each index."""
    library = _library(index)
    if library in ("numpy", "torch", "cupy"):
        return _module(library).bincount(index, values, minlength=size)
    summed = np.bincount(np.asarray(index), np.asarray(values), minlength=size)
    return namespace(index).asarray(summed)


def placed(place: Array, values: Array, size: int, dtype: Any) -> Array:
    """(size,): the values at these distinct places, and 0 elsewhere."""
    if isinstance(values, np.ndarray):
        whole = np.zeros(size, dtype)
        whole[place] = values
        return whole
    return namespace(values).astype(sum_by(place, values, size), dtype)


def largest_by(index: Array, values: Array, size: int) -> Array:
    """(size,): for each index, the maximum of 0 and its values."""
    library = _library(index)
    if library == "torch":
        return values.new_zeros(size).scatter_reduce(0, index, values, "amax")
    if library == "cupy":
        import cupyx

        top = _module("cupy").zeros(size)
        cupyx.scatter_max(top, index, values)
        return top
    top = np.zeros(size)
    np.maximum.at(top, np.asarray(index), np.asarray(values))
    return top if library == "numpy" else namespace(index).asarray(top)


def entries(matrix: Array, place: Array) -> Array:
    """The entries of a matrix at these indices of its flattened form (rows laid end to end)."""
    xp = namespace(matrix)
    return xp.take(xp.reshape(matrix, (-1,)), place, axis=0)


def combined(matrix: Array, plus: Array, factor: Array, minus: Array, other: Array) -> Array:
    """For each row: ``factor`` times row ``plus`` of the matrix, minus ``other`` times row ``minus``."""
    if isinstance(matrix, np.ndarray):  # a sparse product reads each row once
        m = len(plus)
        places = (np.r_[:m, :m], np.r_[plus, minus])
        return sparse.csr_array((np.r_[factor, -other], places), shape=(m, len(matrix))) @ matrix
    xp = namespace(matrix)
    return factor[:, None] * xp.take(matrix, plus, axis=0) - other[:, None] * xp.take(matrix, minus, axis=0)


def dot(one: Array, other: Array) -> float:
    """The sum of the products of their entries."""
    if isinstance(one, np.ndarray) and one.dtype == np.float64:
        return float(np.vdot(one, other))
    return float(namespace(one).sum(one * other))  # with fewer rounding errors than BLAS makes in single precision


def largest_entry(array: Array) -> Array:
    """The size of its largest entry, 1 if all are 0."""
    xp = namespace(array)
    largest = xp.max(xp.abs(array))
    return xp.where(largest > 0, largest, 1.0)


def plus_diagonal(matrix: Array, values: Array) -> Array:
    """The matrix with these values added to its diagonal; it may be changed in place."""
    if isinstance(matrix, np.ndarray):
        matrix[np.diag_indices(len(matrix))] += values
        return matrix
    xp = namespace(matrix)
    return matrix + values[:, None] * xp.eye(matrix.shape[0], dtype=matrix.dtype, device=matrix.device)


def symmetrised(matrix: Array) -> Array:
    """The mean of the matrix and its transpose."""
    return 0.5 * (matrix + matrix.T)


def cholesky(matrix: Array, *, overwrite: bool = False) -> Array | None:
    """The lower Cholesky factor, or None if the matrix is not positive definite.

    ``overwrite``: the matrix may be overwritten, which saves memory in NumPy.
    """
    library = _library(matrix)
    if library == "torch":
        factor, failed = _module("torch").linalg.cholesky_ex(matrix)
        return None if bool(failed) else factor
    if library == "numpy" and (len(matrix) < SEVERAL or matrix.dtype == np.float32):
        # The matrix is symmetric, so that its transpose, in LAPACK's memory order, can be passed without a copy.
        factor, failed = (
            lapack("potrf", matrix)(matrix.T, lower=1, overwrite_a=overwrite) if len(matrix) else (matrix, 0)
        )
        # A number that is not finite would make the pivot of its row so.
        return None if failed or not np.isfinite(np.diagonal(factor)).all() else factor
    xp = namespace(matrix)
    try:
        factor = xp.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return None
    return factor if bool(xp.all(xp.isfinite(factor))) else None


def eigen(matrix: Array) -> tuple[Array, Array]:
    """The ascending eigenvalues and the eigenvectors of a symmetric matrix, in its own precision."""
    if isinstance(matrix, np.ndarray):  # NumPy would compute in double precision, which takes twice as long
        found: tuple[Array, Array] = linalg.eigh(matrix, driver="evd", check_finite=False)
        return found
    values, vectors = namespace(matrix).linalg.eigh(matrix)
    return values, vectors


def eigenvalues(matrix: Array) -> Array:
    """The ascending eigenvalues alone, in half the time."""
    if isinstance(matrix, np.ndarray):
        return linalg.eigvalsh(matrix, driver="evd", check_finite=False)
    return namespace(matrix).linalg.eigvalsh(matrix)


def inverse_lower(factor: Array) -> Array:
    """The inverse of a lower triangular matrix."""
    library, q = _library(factor), factor.shape[0]
    if library == "numpy":
        return lapack("trtri", factor)(factor, lower=1)[0] if q else factor
    xp = namespace(factor)
    if library == "torch":
        unit = xp.eye(q, dtype=factor.dtype, device=factor.device)
        return xp.linalg.solve_triangular(factor, unit, upper=False)
    if library == "cupy":
        from cupyx.scipy.linalg import solve_triangular

        return solve_triangular(factor, xp.eye(q), lower=True)
    return xp.linalg.inv(factor)


def times_inverse(rows: Array, factor: Array) -> Array:
    """rows · L⁻ᵀ for a lower triangular matrix L."""
    if not isinstance(factor, np.ndarray):
        return rows @ inverse_lower(factor).T
    # In blocks of columns nearly all work is matrix products, which are several times faster than LAPACK's solve.
    solved = np.empty_like(rows)
    for a in range(0, len(factor), COLUMNS):
        here = slice(a, a + COLUMNS)
        known = rows[:, here] - solved[:, :a] @ factor[here, :a].T
        solved[:, here] = known @ inverse_lower(factor[here, here]).T
    return solved


def times_lower(rows: Array, factor: Array) -> Array:
    """rows · L for a lower triangular matrix L, in half the time in NumPy."""
    if not isinstance(rows, np.ndarray):
        return rows @ factor
    # By NumPy's BLAS, which may have threads where SciPy's has none (`solvers.threads`).
    product = np.empty_like(rows)
    for a in range(0, len(factor), WIDE):
        here = slice(a, a + WIDE)
        product[:, here] = rows[:, a:] @ factor[a:, here]
    return product


def lapack(name: str, matrix: Array) -> Any:
    """LAPACK's routine for the precision of this NumPy array."""
    return linalg.get_lapack_funcs(name, (matrix,))


def _library(array: Array) -> str:
    return type(array).__module__.partition(".")[0]


def _module(name: str) -> ModuleType | Any:
    from importlib import import_module

    return np if name == "numpy" else import_module(name)
