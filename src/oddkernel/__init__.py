"""oddkernel learns what "similar" means from people's odd-one-out answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
    # Where each name is. It is loaded when first asked for: scikit-learn and Numba take seconds, and `oddkernel --help`
    # needs neither.
    _HOMES = {
        "SKLR": "learning",
        "Comparisons": "comparisons",
        "ContradictionError": "learning",
        "KernelKMeans": "cluster",
        "KernelMeanShift": "cluster",
        "SearchCV": "learning",
        "models": "learning",
    }

    def __getattr__(name: str) -> Any:
        from importlib import import_module, util

        if name in _HOMES:
            value = globals()[name] = getattr(import_module(f".{_HOMES[name]}", __name__), name)
            return value
        if not name.startswith("_") and util.find_spec(f"{__name__}.{name}"):
            return import_module(f".{name}", __name__)  # oddkernel.kernels, whatever was imported before
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
