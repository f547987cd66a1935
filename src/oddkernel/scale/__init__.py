"""Large collections: learned coordinates, clusters, nearest neighbours and a search index for out-of-core data.

Items are processed in blocks, from arrays, ``.npy`` and Parquet files to arrays or files, or as Dask collections.
"""

from __future__ import annotations

from .clustering import Clustering, cluster
from .coordinates import count, transform
from .index import Found, Index
from .nearest import Neighbors, nearest

__all__ = ["Clustering", "Found", "Index", "Neighbors", "cluster", "count", "nearest", "transform"]
