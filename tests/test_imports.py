"""Imports point one way (see CONTRIBUTING.md, "Layout"); this walks them and says which one does not."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import oddkernel

ROOT = Path(__file__).parents[1]
PACKAGE = "oddkernel"

# A module reaches, directly or through others, only modules of its own rank or below.
RANK = {
    "comparisons": 0,
    "kernels": 0,
    "losses": 0,
    "progress": 0,
    "formats": 1,
    "peers": 1,
    "tables": 1,
    "datasets": 1,
    "features": 1,
    "constraints": 1,
    "dual": 2,
    "solution": 3,
    "solvers": 3,
    "cluster": 3,
    "raters": 3,
    "rounds": 3,
    "learner": 4,
    "models": 4,
    "baselines": 4,
    PACKAGE: 4,  # the top package's names are the learner's: using them means importing the learner
    "selection": 5,
    "questions": 5,
    "report": 5,
    "judge": 5,
    "scale": 5,
    "retrieval": 5,
    "cli": 5,
}
STRANGERS = ("kernels", "losses", "constraints", "solvers")
WEB = {"aiohttp", "bottle", "django", "fastapi", "flask", "http", "litestar", "starlette", "tornado", "uvicorn"}
SQL = {"duckdb", "psycopg", "sqlalchemy", "sqlite3"}
MAY_PRINT = {"cli"}

Imports = Mapping[str, set[str]]


def dotted(file: Path, source_root: Path) -> str:
    """The module's name: src/oddkernel/judge/store.py is oddkernel.judge.store."""
    return ".".join(file.relative_to(source_root).with_suffix("").parts).removesuffix(".__init__")


def imported(file: Path, module: str) -> Iterator[str]:
    """Absolute dotted names that a file imports, inside functions too; `from a import b` yields a.b."""
    package = module if file.stem == "__init__" else module.rpartition(".")[0]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*parents, *([node.module] if node.module else [])])
            yield from (f"{base}.{alias.name}" for alias in node.names)


def part(name: str, parts: set[str]) -> str:
    """The part of the package that a dotted name belongs to: oddkernel.judge.store -> judge."""
    second = name.split(".")[1] if "." in name else ""
    return second if second in parts else PACKAGE


def package_imports() -> Imports:
    source = ROOT / "src"
    return {dotted(file, source): set(imported(file, dotted(file, source))) for file in source.rglob("*.py")}


def broken_rules(imports: Imports) -> list[str]:
    """One sentence for each import that breaks a rule."""
    parts = {module.split(".")[1] for module in imports if "." in module}
    graph: dict[str, dict[str, str]] = {}  # part -> {part it imports: the module that does so}
    broken = []
    for module, names in sorted(imports.items()):
        here = part(module, parts)
        for name in sorted(names):
            outside = name.split(".")[0]
            if outside == PACKAGE:
                there = part(name, parts)
                graph.setdefault(here, {}).setdefault(there, module)
                if here != there and here in STRANGERS and there in STRANGERS:
                    broken.append(f"{module} imports {name}, but {', '.join(STRANGERS)} don't know one another")
                if here == "dual" and there in {"kernels", "baselines", "cluster"}:
                    broken.append(f"{module} imports {name}, but dual sees arrays, not estimators")
            elif outside == "sklearn" and here == "dual":
                broken.append(f"{module} imports {name}, but dual sees arrays, not estimators")
            elif outside in WEB and here != "judge":
                broken.append(f"{module} imports {name}, but the web framework appears only under judge/")
            elif outside in SQL and not module.startswith(f"{PACKAGE}.judge.store"):
                broken.append(f"{module} imports {name}, but SQL appears only in judge/store")
    for start in sorted(RANK.keys() - {PACKAGE}):
        for path in paths_from(start, graph):
            if RANK.get(path[-1], 0) > RANK[start]:
                culprit = graph[path[-2]][path[-1]]
                broken.append(
                    f"{' -> '.join(path)}: {culprit} imports {path[-1]}, but imports point one way, "
                    f"and {start} stands before {path[-1]}"
                )
    return broken


def paths_from(start: str, graph: Mapping[str, Mapping[str, str]]) -> Iterator[list[str]]:
    """A shortest import path from one part to each part it reaches."""
    seen, waiting = {start}, deque([[start]])
    while waiting:
        path = waiting.popleft()
        for there in sorted(graph.get(path[-1], {})):
            if there not in seen:
                seen.add(there)
                waiting.append([*path, there])
                yield [*path, there]


def test_imports_point_one_way() -> None:
    broken = broken_rules(package_imports())
    assert not broken, "\n".join(broken)


@pytest.mark.parametrize("folder", ["experiments", "benchmarks", "examples"])
def test_outsiders_use_public_names_only(folder: str) -> None:
    private = [
        f"{file.relative_to(ROOT)} imports {name}, but {folder} use public names only"
        for file in sorted((ROOT / folder).rglob("*.py"))
        for name in imported(file, f"{folder}.{file.stem}")
        if name.split(".")[0] == PACKAGE and any(p.startswith("_") for p in name.split("."))
    ]
    assert not private, "\n".join(private)


def test_nothing_prints_outside_the_command_line() -> None:
    source = ROOT / "src"
    prints = [
        f"{file.relative_to(ROOT)}:{node.lineno} prints, but only {', '.join(sorted(MAY_PRINT))} may"
        for file in sorted(source.rglob("*.py"))
        if not MAY_PRINT & set(dotted(file, source).split("."))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not prints, "\n".join(prints)


@pytest.mark.parametrize(
    ("imports", "sentence"),
    [
        ({"comparisons": {"constraints.Row"}}, "comparisons -> constraints"),
        ({"kernels.sum": {"features.load"}, "features": {"learner.SKLR"}}, "kernels -> features -> learner"),
        ({"solvers.newton": {"losses.Squared"}}, "don't know one another"),
        ({"solvers.newton": {"SKLR"}}, "solvers -> oddkernel"),
        ({"dual": {"kernels.Linear"}}, "arrays, not estimators"),
        ({"dual": {"/sklearn.base"}}, "arrays, not estimators"),
        ({"cluster.kmeans": {"learner.SKLR"}}, "cluster -> learner"),
        ({"report.page": {"/starlette.routing"}}, "only under judge/"),
        ({"judge.app": {"/sqlite3"}}, "only in judge/store"),
        ({"cli": {"learner.SKLR", "judge.app"}, "judge.store": {"/sqlite3"}, "solvers.newton": {"dual.Dual"}}, None),
    ],
)
def test_the_walk_sees_what_breaks_a_rule(imports: Imports, sentence: str | None) -> None:
    every = {f"{PACKAGE}.{name}": set[str]() for name in (*RANK, "features")}
    for module, names in imports.items():
        every[f"{PACKAGE}.{module}"] = {n[1:] if n.startswith("/") else f"{PACKAGE}.{n}" for n in names}
    broken = broken_rules(every)
    assert broken == [] if sentence is None else any(sentence in rule for rule in broken), broken


def test_every_public_name_is_there_and_typed() -> None:
    init = ROOT / "src" / PACKAGE / "__init__.py"
    declared = {name.rpartition(".")[2] for name in imported(init, PACKAGE) if name.startswith(f"{PACKAGE}.")}
    assert declared | {"__version__"} == set(oddkernel.__all__)
    assert set(oddkernel.__all__) <= set(dir(oddkernel))
    assert all(hasattr(oddkernel, name) for name in oddkernel.__all__)
    with pytest.raises(AttributeError, match="no attribute 'SKRL'"):
        _ = oddkernel.SKRL  # type: ignore[attr-defined]


def test_nothing_heavy_is_loaded_before_it_is_needed() -> None:
    program = "import sys, oddkernel.cli; print(*{name.split('.')[0] for name in sys.modules})"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "oddkernel" in loaded
    assert not {"numpy", "scipy", "sklearn", "numba", "matplotlib", "pandas", "pyarrow"} & set(loaded)


@pytest.mark.slow
def test_modules_are_attributes_whatever_was_imported_before() -> None:
    program = "import oddkernel; print(oddkernel.kernels.Linear())"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert told == "Linear()\n"


def test_relative_imports_are_understood(tmp_path: Path) -> None:
    file = tmp_path / "newton.py"
    file.write_text("from . import base\nfrom ..dual import Dual\nfrom .. import losses\n")
    assert list(imported(file, f"{PACKAGE}.solvers.newton")) == [
        f"{PACKAGE}.solvers.base",
        f"{PACKAGE}.dual.Dual",
        f"{PACKAGE}.losses",
    ]
