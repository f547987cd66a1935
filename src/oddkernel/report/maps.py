"""Maps: items in the plane, as far from one another as their distances say."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..kernels.distances import squared_distances

Array = NDArray[np.float64]

# Squared distance, the longest being 1, below which two items are one point of the map: ratios then stay finite.
COINCIDENT = 1e-12


def flat_map(coordinates: ArrayLike, *, n_iter: int = 100) -> Array:
    """Put items into the plane so that distances there are close to the true ones.

    Metric multidimensional scaling: lowers the stress ``Σ (‖z_i − z_j‖ − d_ij)²`` by Guttman transforms, starting from
    the two principal components, so that equal coordinates always give the same map. Takes O(n²) time and memory.

    Parameters
    ----------
    coordinates : array-like of shape (n, r)
        Coordinates whose Euclidean distances d are to be shown, for example ``SKLR.transform(X)``.
    n_iter : int, default=100
        Number of transforms.

    Returns
    -------
    ndarray of shape (n, 2)

    Examples
    --------
    >>> import numpy as np
    >>> square = np.array([[0.0, 0.0, 5.0], [0.0, 1.0, 5.0], [1.0, 1.0, 5.0], [1.0, 0.0, 5.0]])
    >>> flat = flat_map(square)
    >>> np.linalg.norm(flat[0] - flat[[1, 2, 3]], axis=1).round(2)
    array([1.  , 1.41, 1.  ])
    """
    points = np.asarray(coordinates, dtype=np.float64)
    n = len(points)
    distances = np.sqrt(squared_distances(points, points))
    scale = float(distances.max(initial=0.0)) or 1.0
    # Pictures don't need double precision, and single takes half the time.
    wanted = (distances / scale).astype(np.float32)
    flat = (_principal_plane(points) / scale).astype(np.float32)
    ratio = np.empty_like(wanted)
    for _ in range(n_iter):
        norms = np.einsum("ij,ij->i", flat, flat)
        np.matmul(flat, -2 * flat.T, out=ratio)
        ratio += norms[:, None]
        ratio += norms
        np.maximum(ratio, COINCIDENT, out=ratio)
        np.sqrt(ratio, out=ratio)
        np.divide(wanted, ratio, out=ratio)
        np.fill_diagonal(ratio, 0)
        flat = (ratio.sum(axis=1)[:, None] * flat - ratio @ flat) / n
    return scale * flat.astype(np.float64)


def _principal_plane(points: Array) -> Array:
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    # The sign of an axis is arbitrary; a fixed one makes maps of the same items look alike.
    axes = axes[:2] * np.sign(axes[:2, np.argmax(np.abs(axes[:2]), axis=1)].diagonal())[:, None]
    flat: Array = centred @ axes.T
    return np.pad(flat, ((0, 0), (0, 2 - flat.shape[1])))
