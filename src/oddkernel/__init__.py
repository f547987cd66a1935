"""oddkernel learns what "similar" means from people's odd-one-out answers."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = [
    "SKLR",
    "Comparisons",
    "ContradictionError",
    "KernelKMeans",
    "KernelMeanShift",
    "SearchCV",
    "__version__",
    "models",
]
__version__ = "0.1.0"

if TYPE_CHECKING:
    from .cluster import KernelKMeans, KernelMeanShift
    from .comparisons import Comparisons
    from .learning import SKLR, ContradictionError, SearchCV, models
else:
    from .support.lazy_names import load_lazily

    # scikit-learn and Numba take seconds to load, and `oddkernel --help` needs neither.
    __getattr__, __dir__ = load_lazily(
        __name__,
        {
            "SKLR": "learning",
            "Comparisons": "comparisons",
            "ContradictionError": "learning",
            "KernelKMeans": "cluster",
            "KernelMeanShift": "cluster",
            "SearchCV": "learning",
            "models": "learning",
        },
    )
