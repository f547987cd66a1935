from __future__ import annotations

import ast
import pkgutil
from types import ModuleType

import pytest

import oddkernel
from oddkernel import questions

PACKAGES = pytest.mark.parametrize("package", [oddkernel, questions], ids=lambda package: package.__name__)


@PACKAGES
def test_every_name_is_there_listed_and_typed(package: ModuleType) -> None:
    assert set(package.__all__) <= set(dir(package))
    assert all(hasattr(package, name) for name in package.__all__)
    with open(str(package.__file__), encoding="utf-8") as file:
        tree = ast.parse(file.read())
    (typed,) = (node for node in tree.body if isinstance(node, ast.If))
    imports = {alias.name for node in typed.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert imports == set(package.__all__) - {"__version__"}


@PACKAGES
def test_no_module_hides_a_name(package: ModuleType) -> None:
    assert not set(package.__all__) & {module.name for module in pkgutil.iter_modules(package.__path__)}


@PACKAGES
def test_other_names_are_refused(package: ModuleType) -> None:
    with pytest.raises(AttributeError, match="has no attribute 'nobody'"):
        _ = package.nobody


def test_modules_are_attributes() -> None:
    assert questions.planning.plan is questions.plan
