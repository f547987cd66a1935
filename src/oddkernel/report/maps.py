"""Maps: items in the plane, placed by their distances or by who their neighbours are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import orthogonal_procrustes

from ..kernels.distances import squared_distances
from ..support.types import Array

# Squared distance, the longest being 1, below which two items are one point of the map: ratios then stay finite.
COINCIDENT = 1e-12
# Neighbours hardly change beyond so many principal components, and finding them takes time in proportion.
COMPONENTS = 50
# Fewer items than this have no neighbourhoods to speak of: distances place them better.
FEWEST = 12
# From so many items on openTSNE, which interpolates on a grid, is the faster of the two.
MANY = 5000


@dataclass(frozen=True, eq=False)
class Maps:
    """The same items before and after learning.

    Attributes
    ----------
    method : str
        What placed them, as a person would call it.
    before, after : ndarray of shape (n, 2)
        Each fills the square from 0 to 1; the second is turned so that items stay close to where they were.
    """

    method: str
    before: Array
    after: Array


def draw_maps(before: Array, after: Array, method: str = "tsne", *, random_state: int = 0) -> Maps:
    """Map items by their coordinates before and after learning.

    Parameters
    ----------
    before, after : ndarray of shape (n, r)
        Coordinates whose Euclidean distances are the initial and the learned ones.
    method : {"tsne", "umap", "mds", "pca"}, default="tsne"
        What places the items.
    random_state : int, default=0
        Seed of what is drawn at random.

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
    if len(before) < FEWEST and method in ("tsne", "umap"):
        method = "mds"
    words, place = METHODS[method]
    first, then = (place(points, random_state) for points in (before, after))
    return Maps(words, _fill_square(first), _fill_square(_turned(then, first)))


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
    """The coordinates (n, count) along the directions in which items differ most; zeros where there are fewer."""
    centred = points - points.mean(axis=0)
    # The scatter matrix of the shorter side: items are many, or coordinates are.
    if centred.shape[0] >= centred.shape[1]:
        _, axes = np.linalg.eigh(centred.T @ centred)
        flat = centred @ axes[:, ::-1][:, :count]
    else:
        values, vectors = np.linalg.eigh(centred @ centred.T)
        flat = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, ::-1][:, :count]
    # The sign of an axis is arbitrary; a fixed one makes maps of the same items look alike.
    largest = np.take_along_axis(flat, np.argmax(np.abs(flat), axis=0)[None, :], axis=0)
    return np.pad(flat * np.where(largest < 0, -1.0, 1.0), ((0, 0), (0, count - flat.shape[1])))


def _tsne(points: Array, random_state: int) -> Array:
    points = principal_components(points, min(COMPONENTS, points.shape[1]))
    perplexity = min(30.0, (len(points) - 1) / 3)
    if len(points) >= MANY:
        try:
            from openTSNE import TSNE as FastTSNE
        except ImportError:
            pass
        else:
            return np.asarray(FastTSNE(perplexity=perplexity, random_state=random_state).fit(points))
    from sklearn.manifold import TSNE

    # Half of the customary 1000 iterations: the rest moves no item by as much as a dot's width.
    placed: Array = TSNE(perplexity=perplexity, max_iter=500, random_state=random_state).fit_transform(points)
    return placed.astype(np.float64)


def _umap(points: Array, random_state: int) -> Array:
    try:
        from umap import UMAP
    except ImportError:
        raise ImportError('map="umap" needs umap-learn: pip install umap-learn') from None
    points = principal_components(points, min(COMPONENTS, points.shape[1]))
    neighbors = min(15, len(points) - 1)
    return np.asarray(UMAP(n_neighbors=neighbors, random_state=random_state).fit_transform(points), dtype=np.float64)


METHODS: dict[str, tuple[str, Callable[[Array, int], Array]]] = {
    "tsne": ("t-SNE", _tsne),
    "umap": ("UMAP", _umap),
    "mds": ("multidimensional scaling", lambda points, _: flat_map(points)),
    "pca": ("the two principal components", lambda points, _: principal_components(points, 2)),
}
"""What places items on a map: its name in words, and a function of coordinates and a seed."""


def _turned(flat: Array, reference: Array) -> Array:
    """The same map turned, and mirrored if need be, so that items lie close to where they are in another."""
    centred = flat - flat.mean(axis=0)
    rotation, _ = orthogonal_procrustes(centred, reference - reference.mean(axis=0))
    return np.asarray(centred @ rotation)


def _fill_square(flat: Array) -> Array:
    low, high = flat.min(axis=0), flat.max(axis=0)
    return np.asarray(0.5 + (flat - (low + high) / 2) / max(float((high - low).max()), np.finfo(float).tiny))
