"""Initial kernels: similarity before learning."""

from __future__ import annotations

from sklearn.base import clone

from .adaptive import AdaptiveGaussian
from .base import Kernel
from .columns import Columns
from .diffusion import Diffusion
from .gaussian import Gaussian
from .identity import Identity
from .linear import Linear
from .lowrank import LowRank
from .precomputed import Precomputed
from .standardised import Standardised
from .sums import KernelSum

KERNELS: dict[str, type[Kernel]] = {
    "adaptive": AdaptiveGaussian,
    "gaussian": Gaussian,
    "linear": Linear,
    "identity": Identity,
    "precomputed": Precomputed,
    "diffusion": Diffusion,
}
"""The kernels that ``kernel=`` accepts by name."""


def resolve(kernel: str | Kernel) -> Kernel:
    """Return an unfitted kernel: the one with this name, or a copy of the one given.

    Examples
    --------
    >>> resolve("linear")
    Linear()
    >>> resolve(AdaptiveGaussian(neighbors=20))
    AdaptiveGaussian(neighbors=20)
    """
    if isinstance(kernel, Kernel):
        copy: Kernel = clone(kernel)
        return copy
    if isinstance(kernel, str) and kernel in KERNELS:
        return KERNELS[kernel]()
    names = ", ".join(f'"{name}"' for name in KERNELS)
    raise ValueError(f"kernel={kernel!r}; give one of {names}, or a kernel object such as AdaptiveGaussian()")


__all__ = [
    "KERNELS",
    "AdaptiveGaussian",
    "Columns",
    "Diffusion",
    "Gaussian",
    "Identity",
    "Kernel",
    "KernelSum",
    "Linear",
    "LowRank",
    "Precomputed",
    "Standardised",
    "resolve",
]
