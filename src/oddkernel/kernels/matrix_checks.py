"""Checks of a kernel matrix: symmetric, positive semidefinite."""

from __future__ import annotations

import numpy as np

from ..support.interruptible import interruptible
from ..support.types import Array

ROUNDING = 1e-6
"""Largest asymmetry, relative to the largest entry, and largest negative eigenvalue, relative to the largest one, that
count as rounding. About ten times float32's precision, so that matrices computed in float32 pass."""


def check_symmetric(K: Array) -> None:
    """Raise a ValueError that names the worst entry unless K is square and symmetric up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> check_symmetric(np.array([[1.0, 0.5], [0.2, 1.0]]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: a kernel matrix must be symmetric; entry (0, 1) is 0.5 but entry (1, 0) is 0.2. ...
    """
    if K.shape[0] != K.shape[1]:
        raise ValueError(f"a kernel matrix must be square, n × n over the training items; got shape {K.shape}")
    asymmetry = np.abs(K - K.T)
    i, j = np.unravel_index(np.argmax(asymmetry), K.shape)
    if asymmetry[i, j] > ROUNDING * np.abs(K).max():
        raise ValueError(
            f"a kernel matrix must be symmetric; entry ({i}, {j}) is {K[i, j]:g} but entry ({j}, {i}) is {K[j, i]:g}. "
            "If the difference means nothing, give (K + K.T) / 2."
        )


def check_semidefinite(K: Array) -> None:
    """Raise a ValueError unless the symmetric matrix K is positive semidefinite up to rounding.

    Examples
    --------
    >>> import numpy as np
    >>> check_semidefinite(np.diag([2.0, -1.0]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: a kernel matrix must be positive semidefinite; its smallest eigenvalue is -1 (its largest 2). ...
    """
    # A Cholesky factor is far cheaper than the eigenvalues. No diagonal entry exceeds the largest eigenvalue, so the
    # factor of this matrix exists only if the check passes. If it doesn't exist, the eigenvalues decide.
    shifted = K + np.diag(np.full(len(K), ROUNDING * max(K.diagonal().max(), 0.0)))
    try:
        interruptible(lambda: np.linalg.cholesky(shifted))
    except np.linalg.LinAlgError:
        eigenvalues = interruptible(lambda: np.linalg.eigvalsh(K))
        smallest, largest = eigenvalues[0], eigenvalues[-1]
        if smallest < -ROUNDING * max(largest, 0.0):
            raise ValueError(
                f"a kernel matrix must be positive semidefinite; its smallest eigenvalue is {smallest:g} (its largest "
                f"{largest:g}). Set the negative eigenvalues to zero, or add {-smallest:g} or more to the diagonal."
            ) from None
