"""Names of a package that are loaded when first asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from importlib import import_module, util
from typing import Any


def load_lazily(package: str, homes: Mapping[str, str]) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """A package's ``__getattr__`` and ``__dir__``; its modules are attributes too, whatever was imported before.

    No module may have the name of something else in the package: importing it would hide that.

    Parameters
    ----------
    package : str
        The package's ``__name__``.
    homes : dict of str to str
        Each name, and the module or package in it that has the name.
    """

    def find(name: str) -> Any:
        if name in homes:
            value = getattr(import_module(f".{homes[name]}", package), name)
            setattr(sys.modules[package], name, value)
            return value
        if not name.startswith("_") and util.find_spec(f"{package}.{name}"):
            return import_module(f".{name}", package)
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    def names() -> list[str]:
        return sorted({*vars(sys.modules[package]), *homes})

    return find, names
