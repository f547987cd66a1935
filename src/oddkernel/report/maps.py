"""Maps: items in the plane, by distances (MDS, PCA) or by neighbours (t-SNE, UMAP)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import orthogonal_procrustes

from ..kernels.distances import squared_distances
from ..support.types import Array

# Squared distances below this share of the largest one count as this share, so that ratios stay finite. Derived: the
# precision of float32 squared is 1e-14.
COINCIDENT = 1e-12
# t-SNE and UMAP use this many principal components, as scikit-learn's documentation of t-SNE recommends. Time is
# proportional to it.
COMPONENTS = 50
# With fewer items than this, MDS places them: too few for neighbourhoods. Chosen by hand.
FEWEST = 12
# From this many items on, openTSNE, which interpolates on a grid, replaces scikit-learn's t-SNE if it is installed: it
# is then faster. Chosen by hand.
MANY = 5000


@dataclass(frozen=True, eq=False)
class Maps:
    """The same items before and after learning.

    Attributes
    ----------
    method : str
        Name of the method, for display.
    before, after : ndarray of shape (n, 2)
        Each fills the unit square; the second is rotated to lie close to the first (Procrustes).
    local : bool
        Whether the method keeps neighbours together at the expense of long distances.
    """

    method: str
    before: Array
    after: Array
    local: bool = False


def draw_maps(before: Array, after: Array, method: str = "tsne", *, random_state: int = 0) -> Maps:
    """Map items by their coordinates before and after learning.

    Parameters
    ----------
    before, after : ndarray of shape (n, r)
        Coordinates whose Euclidean distances are the initial and the learned ones.
    method : {"tsne", "umap", "mds", "pca"}, default="tsne"
        The method.
    random_state : int, default=0
        Random seed.

    Examples
    --------
    >>> import numpy as np
    >>> points = np.random.default_rng(0).normal(size=(20, 3))
    >>> maps = draw_maps(points, 2 * points, "pca")
    >>> bool(np.allclose(maps.before, maps.after))
    True
    """
    if method not in METHODS:
        raise ValueError(f"map={method!r}; expected one of {', '.join(map(repr, METHODS))}")
    if len(before) < FEWEST and method in LOCAL:
        method = "mds"
    words, place = METHODS[method]
    first, then = (
        # Items that all coincide have no neighbourhoods to draw.
        place(points, random_state) if np.ptp(points, axis=0).any() else np.zeros((len(points), 2))
        for points in (before, after)
    )
    return Maps(words, _fill_square(first), _fill_square(_turned(then, first)), method in LOCAL)


def flat_map(coordinates: ArrayLike, *, n_iter: int = 100) -> Array:
    """Metric multidimensional scaling to the plane.

    Lowers the stress ``Σ (‖z_i − z_j‖ − d_ij)²`` by Guttman transforms (SMACOF), starting from the two principal
    components, so that equal coordinates always give the same map. Takes O(n²) time and memory.

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
    # Single precision is enough for a picture and takes half the time.
    wanted = (distances / scale).astype(np.float32)
    flat = (principal_components(points, 2) / scale).astype(np.float32)
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


def principal_components(points: Array, count: int) -> Array:
    """(n, count): the principal components; zeros where there are fewer."""
    centred = points - points.mean(axis=0)
    # Eigendecomposition of the smaller of the two scatter matrices.
    if centred.shape[0] >= centred.shape[1]:
        _, axes = np.linalg.eigh(centred.T @ centred)
        flat = centred @ axes[:, ::-1][:, :count]
    else:
        values, vectors = np.linalg.eigh(centred @ centred.T)
        flat = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1][:, :count]
    # The sign of a component is arbitrary; a fixed sign makes maps of the same items look alike.
    largest = np.take_along_axis(flat, np.argmax(np.abs(flat), axis=0)[None, :], axis=0)
    return np.pad(flat * np.where(largest < 0, -1.0, 1.0), ((0, 0), (0, count - flat.shape[1])))


def _leading(points: Array) -> Array:
    """The leading principal components, two at least: t-SNE begins with the first two."""
    return principal_components(points, max(2, min(COMPONENTS, points.shape[1])))


def _tsne(points: Array, random_state: int) -> Array:
    points = _leading(points)
    perplexity = min(30.0, (len(points) - 1) / 3)
    if len(points) >= MANY:
        try:
            from openTSNE import TSNE as FastTSNE
        except ImportError:
            pass
        else:
            return np.asarray(FastTSNE(perplexity=perplexity, random_state=random_state).fit(points))
    from sklearn.manifold import TSNE

    # Half of scikit-learn's default of 1000 iterations, which halves the time. Chosen by hand.
    placed: Array = TSNE(perplexity=perplexity, max_iter=500, random_state=random_state).fit_transform(points)
    return placed.astype(np.float64)


def _umap(points: Array, random_state: int) -> Array:
    try:
        from umap import UMAP
    except ImportError:
        raise ImportError('map="umap" needs umap-learn: pip install umap-learn') from None
    points = _leading(points)
    neighbors = min(15, len(points) - 1)
    return np.asarray(UMAP(n_neighbors=neighbors, random_state=random_state).fit_transform(points), dtype=np.float64)


METHODS: dict[str, tuple[str, Callable[[Array, int], Array]]] = {
    "tsne": ("t-SNE", _tsne),
    "umap": ("UMAP", _umap),
    "mds": ("multidimensional scaling", lambda points, _: flat_map(points)),
    "pca": ("the two principal components", lambda points, _: principal_components(points, 2)),
}
"""The methods: name for display, and a function of coordinates and a seed."""

LOCAL = ("tsne", "umap")
"""The methods that keep neighbours together, at the expense of long distances."""


def _turned(flat: Array, reference: Array) -> Array:
    """Orthogonal Procrustes: the map rotated, and mirrored if necessary, to lie close to another one."""
    centred = flat - flat.mean(axis=0)
    rotation, _ = orthogonal_procrustes(centred, reference - reference.mean(axis=0))
    return np.asarray(centred @ rotation)


def _fill_square(flat: Array) -> Array:
    low, high = flat.min(axis=0), flat.max(axis=0)
    return np.asarray(0.5 + (flat - (low + high) / 2) / max(float((high - low).max()), np.finfo(float).tiny))
