"""Imports point one way (see CONTRIBUTING.md, "Layout"); this walks them and says which one does not."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = "oddkernel"

# The list of folders in CONTRIBUTING.md: each imports only from those above it.
LISTED = re.findall(r"^  (\w+)(?:/|\.py)  ", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"), re.MULTILINE)
RANK = {name: rank for rank, name in enumerate(LISTED)}
# The names of the top package are the learner's: using them means importing the learner.
RANK[PACKAGE] = RANK["learning"]
RANK["__main__"] = RANK["cli"]
# Those of one line don't know one another, wherever they stand in the list.
STRANGERS = ("kernels", "problem.losses", "problem.constraints", "solvers")
FORBIDDEN = {"problem": {"kernels"}, "solvers": {"kernels"}, "cluster": {"learning", "baselines", PACKAGE}}
NO_ESTIMATORS = {"problem", "solvers"}
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


def part(name: str) -> str:
    """The part of the package that a dotted name belongs to: oddkernel.judge.store -> judge."""
    second = name.split(".")[1] if "." in name else ""
    return second if second in RANK else PACKAGE


def stranger(name: str) -> str | None:
    """Which of the strangers a dotted name belongs to, if any."""
    return next((each for each in STRANGERS if f"{name}.".startswith(f"{PACKAGE}.{each}.")), None)


def package_imports() -> Imports:
    source = ROOT / "src"
    return {dotted(file, source): set(imported(file, dotted(file, source))) for file in source.rglob("*.py")}


def broken_rules(imports: Imports) -> list[str]:
    """One sentence for each import that breaks a rule."""
    broken = []
    for module, names in sorted(imports.items()):
        here = part(module)
        for name in sorted(names):
            outside = name.split(".")[0]
            if outside == PACKAGE:
                there = part(name)
                if module != PACKAGE and RANK[there] > RANK[here]:
                    broken.append(f"{module} imports {name}, but {here} stands above {there}")
                if there in FORBIDDEN.get(here, set()):
                    broken.append(f"{module} imports {name}, but {here} doesn't know {there}")
                if stranger(module) and stranger(name) and stranger(module) != stranger(name):
                    broken.append(f"{module} imports {name}, but {', '.join(STRANGERS)} don't know one another")
            elif outside == "sklearn" and here in NO_ESTIMATORS:
                broken.append(f"{module} imports {name}, but {here} sees arrays, not estimators")
            elif outside in WEB and here != "judge":
                broken.append(f"{module} imports {name}, but the web framework appears only under judge/")
            elif outside in SQL and not module.startswith(f"{PACKAGE}.judge.store"):
                broken.append(f"{module} imports {name}, but SQL appears only in judge/store")
    return broken


def test_the_list_of_folders_is_what_is_there() -> None:
    there = {entry.stem for entry in (ROOT / "src" / PACKAGE).iterdir() if entry.is_dir() or entry.suffix == ".py"}
    assert set(LISTED) == there - {"__init__", "__main__", "__pycache__"}
    assert len(LISTED) == len(set(LISTED))


def test_the_api_docs_follow_the_list() -> None:
    sections = re.findall(r"^## (\w+)$", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert [title.lower() for title in sections] == [name for name in LISTED if name not in ("support", "judge", "cli")]


def test_the_tests_follow_the_list() -> None:
    folders = {file.parent.relative_to(ROOT / "tests").parts[0] for file in (ROOT / "tests").glob("*/test_*.py")}
    assert folders <= set(LISTED)


def test_files_that_contributing_names_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(rf"`((?:{'|'.join(LISTED)})/[\w/]*(?:\.py)?)`", text)
    assert len(named) > 10
    assert not [path for path in named if not (ROOT / "src" / PACKAGE / path).exists() and not (ROOT / path).exists()]


def test_no_file_has_a_private_name() -> None:
    assert not [file for file in (ROOT / "src").rglob("_*.py") if file.name not in ("__init__.py", "__main__.py")]


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
        if "print" in file.read_text(encoding="utf-8")  # few files: parsing all of them takes half a second
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"), str(file)))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    ]
    assert not prints, "\n".join(prints)


@pytest.mark.parametrize(
    ("imports", "sentence"),
    [
        ({"comparisons.columns": {"problem.constraints.Row"}}, "comparisons stands above problem"),
        ({"kernels.sums": {"learning.SKLR"}}, "kernels stands above learning"),
        ({"solvers.newton": {"problem.losses.Squared"}}, "don't know one another"),
        ({"problem.losses": {"problem.constraints"}}, "don't know one another"),
        ({"solvers.newton": {"SKLR"}}, "solvers stands above oddkernel"),
        ({"problem.dual": {"kernels.Linear"}}, "problem doesn't know kernels"),
        ({"problem.dual": {"/sklearn.base"}}, "arrays, not estimators"),
        ({"cluster.kmeans": {"learning.SKLR"}}, "cluster doesn't know learning"),
        ({"cluster.kmeans": {"SKLR"}}, "cluster doesn't know oddkernel"),
        ({"report.page": {"/starlette.routing"}}, "only under judge/"),
        ({"judge.app": {"/sqlite3"}}, "only in judge/store"),
        ({"cli": {"SKLR", "judge.app"}, "judge.store": {"/sqlite3"}, "solvers.newton": {"problem.dual.Dual"}}, None),
    ],
)
def test_the_walk_sees_what_breaks_a_rule(imports: Imports, sentence: str | None) -> None:
    broken = broken_rules(
        {
            f"{PACKAGE}.{module}": {n[1:] if n.startswith("/") else f"{PACKAGE}.{n}" for n in names}
            for module, names in imports.items()
        }
    )
    assert broken == [] if sentence is None else any(sentence in rule for rule in broken), broken


@pytest.mark.parametrize(
    ("module", "heavy"),
    [
        ("oddkernel.cli", {"numpy", "scipy", "sklearn", "numba", "matplotlib", "pandas", "pyarrow"}),
        ("oddkernel.formats", {"sklearn", "numba", "matplotlib", "pandas", "pyarrow"}),
    ],
)
def test_nothing_heavy_is_loaded_before_it_is_needed(module: str, heavy: set[str]) -> None:
    program = f"import sys, {module}; print(*{{name.split('.')[0] for name in sys.modules}})"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "oddkernel" in loaded
    assert not heavy & set(loaded)


def test_converting_answers_loads_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,b,c,answer\napple,pear,nail,c\n")
    program = "import sys; from oddkernel.cli import main; main(['convert', 'a.csv', 'b.jsonl']); print(*sys.modules)"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert (tmp_path / "b.jsonl").exists()
    assert not {"sklearn", "numba", "matplotlib", "pandas"} & set(told.stdout.split())


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
