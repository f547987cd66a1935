"""Numbers, arrays and kernels as JSON and .npy files, the form in which `learning.models` keeps them."""

from __future__ import annotations

import hashlib
import inspect
import math
from collections.abc import Mapping
from numbers import Integral, Real
from reprlib import repr as brief
from typing import Any

import numpy as np

from ..kernels import KERNELS, Columns, Kernel, KernelSum, Standardised
from ..support.archive import array_from_bytes, array_to_bytes
from ..support.types import Array

_SAVABLE: list[type[Kernel]] = [*KERNELS.values(), KernelSum, Columns, Standardised]
_KERNELS = {kernel.__name__: kernel for kernel in _SAVABLE}


class Encoder:
    """Turns values into what JSON can hold, and sets arrays aside as parts of the archive.

    An array becomes ``{"array": name}``, a kernel ``{"kernel": class, "parameters": …, "fitted": …}`` and a number that
    JSON doesn't know ``{"number": "inf"}``.
    """

    def __init__(self) -> None:
        self.parts: dict[str, bytes] = {}
        self._part_of: dict[tuple[str, bytes], str] = {}

    def mapping(self, values: Mapping[str, Any], place: str) -> dict[str, Any]:
        """Every value, by its name; ``place`` begins the names of the parts."""
        return {name: self.value(value, f"{place}.{name}") for name, value in values.items()}

    def value(self, value: Any, place: str) -> Any:
        """One value; ``place`` is what a part, or an error, calls it."""
        match value:
            case None | bool() | str():
                return value
            case Integral():
                return int(value)
            case Real():
                return float(value) if math.isfinite(value) else {"number": str(float(value))}
            case np.ndarray() if value.dtype.kind in "fib" and value.ndim:
                return {"array": self._array(value, place)}
            case list() | tuple() | range():
                return [self.value(entry, f"{place}.{number}") for number, entry in enumerate(value)]
            case dict():
                return self.mapping(value, place)
            case Kernel():
                return self._kernel(value, place)
        raise ValueError(
            f"{place} is {brief(value)}, which can't be saved; expected a number, text, an array or a kernel of "
            "oddkernel.kernels"
        )

    def _array(self, array: Array, place: str) -> str:
        data = array_to_bytes(array)
        # The parts of a sum all hold the training items; one copy of them will do.
        key = (place.rpartition(".")[2], hashlib.sha256(data).digest())
        name = self._part_of.setdefault(key, f"arrays/{place}.npy")
        self.parts[name] = data
        return name

    def _kernel(self, kernel: Kernel, place: str) -> dict[str, Any]:
        name = type(kernel).__name__
        if _KERNELS.get(name) is not type(kernel):
            raise ValueError(f"{place}: a {name} can't be saved; expected one of {', '.join(_KERNELS)}")
        fitted = {key: getattr(kernel, key) for key in sorted(_fitted_names(type(kernel))) if hasattr(kernel, key)}
        described = {"kernel": name, "parameters": self.mapping(kernel.get_params(deep=False), f"{place}.parameters")}
        return described | ({"fitted": self.mapping(fitted, place)} if fitted else {})


class Decoder:
    """The reverse of `Encoder`."""

    def __init__(self, parts: Mapping[str, bytes]) -> None:
        self._parts = parts
        self._arrays: dict[str, Array] = {}

    def mapping(self, described: Mapping[str, Any]) -> dict[str, Any]:
        """Every value, by its name."""
        return {name: self.value(value) for name, value in described.items()}

    def value(self, described: Any) -> Any:
        """One value."""
        match described:
            case None | bool() | int() | float() | str():
                return described
            case list():
                return [self.value(entry) for entry in described]
            case {"array": str(name)}:
                return self._array(name)
            case {"number": "inf" | "-inf" | "nan" as number}:
                return float(number)
            case {"kernel": _}:
                return self._kernel(described)
        raise ValueError(f"{brief(described)} describes nothing known")

    def kernel(self, described: Any, n_features: int) -> Kernel:
        """A fitted kernel on items with this many features."""
        kernel = self._kernel(described)
        if getattr(kernel, "n_features_in_", None) != n_features:
            raise ValueError(f"the kernel isn't fitted to items with {n_features} features")
        return kernel

    def _array(self, name: str) -> Array:
        if name not in self._arrays:
            self._arrays[name] = array_from_bytes(self._parts[name])
        return self._arrays[name]

    def _kernel(self, described: Mapping[str, Any]) -> Kernel:
        name = described["kernel"]
        if name not in _KERNELS:
            raise ValueError(f"kernel {brief(name)} is unknown; expected one of {', '.join(_KERNELS)}")
        kernel = _KERNELS[name](**self.mapping(described["parameters"]))
        for key, value in self.mapping(described.get("fitted", {})).items():
            if key not in _fitted_names(type(kernel)):
                raise ValueError(f"{brief(key)} is nothing that a {name} learns")
            if isinstance(value, np.ndarray):
                check_array(value, key, value.shape, "f")
            setattr(kernel, key, value)
        return kernel


def _fitted_names(kernel: type[Kernel]) -> set[str]:
    """What a kernel learns in ``fit``: the attributes that its class and those above declare, by scikit-learn's habit
    with an underscore at the end."""
    declared = {name for base in kernel.__mro__ for name in inspect.get_annotations(base)}
    return {name for name in declared if name.endswith("_") and not name.startswith("_")}


def check_array(array: Any, name: str, shape: tuple[int, ...], kind: str, *, below: int | None = None) -> Array:
    """The array, if it has this shape and kind of numbers, all finite and, where asked for, from 0 to ``below`` − 1."""
    if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype.kind != kind:
        seen = f"{array.dtype} of shape {array.shape}" if isinstance(array, np.ndarray) else brief(array)
        raise ValueError(f"{name} is {seen}; expected an array of shape {shape} and kind {kind!r}")
    if not np.isfinite(array).all():
        raise ValueError(f"{name} holds values that aren't finite")
    if below is not None and array.size and not (array.min() >= 0 and array.max() < below):
        raise ValueError(f"{name} holds {array.min()} to {array.max()}; expected 0 to {below - 1}")
    return array
