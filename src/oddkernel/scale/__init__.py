"""Large collections: learned coordinates, groups, neighbours and a search index of more items than memory holds.

Everything works through items in blocks, from arrays, ``.npy`` and Parquet files into such, or on Dask collections.
"""

from __future__ import annotations

from .clustering import Clustering, cluster
from .coordinates import count, transform
from .index import Found, Index
from .nearest import Neighbors, nearest

__all__ = ["Clustering", "Found", "Index", "Neighbors", "cluster", "count", "nearest", "transform"]
