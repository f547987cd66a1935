"""What a public project consists of beside its code: metadata, workflows, templates, recipe and containers agree."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

import oddkernel
from oddkernel.cli import _parser

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
YAML = [
    *(ROOT / ".github").rglob("*.yml"),
    *(ROOT / "deploy").glob("*.yaml"),
    *(ROOT / "recipe").glob("*.yaml"),
    ROOT / ".pre-commit-config.yaml",
    ROOT / "CITATION.cff",
]
DEVELOPERS = {"test", "docs", "dist", "check", "dev"}
GPU = {"torch", "cupy"}


def load(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def commands(value: Any) -> Iterator[str]:
    """The shell commands of a workflow or of hooks, wherever they stand."""
    if isinstance(value, dict):
        yield from (each for key, each in value.items() if key in ("run", "entry") and isinstance(each, str))
        for each in value.values():
            yield from commands(each)
    elif isinstance(value, list):
        for each in value:
            yield from commands(each)


def minor_versions() -> set[str]:
    """The versions of Python that the classifiers name."""
    return {found[1] for each in PROJECT["classifiers"] if (found := re.fullmatch(r".*Python :: (3\.\d+)", each))}


@pytest.mark.parametrize("file", YAML, ids=lambda file: str(file.relative_to(ROOT)))
def test_yaml_parses(file: Path) -> None:
    assert isinstance(yaml.safe_load(file.read_text(encoding="utf-8")), dict)


class TestVersions:
    def test_the_version_is_written_in_the_package_and_repeated_correctly(self) -> None:
        assert "version" in PROJECT["dynamic"]
        assert load("CITATION.cff")["version"] == oddkernel.__version__
        assert load("recipe/recipe.yaml")["context"]["version"] == oddkernel.__version__
        assert re.findall(r"^## \[(\S+)\]", text("CHANGELOG.md"), re.MULTILINE)[0] == oddkernel.__version__

    def test_python_versions_agree(self) -> None:
        named = minor_versions()
        oldest = min(named, key=lambda version: int(version.split(".")[1]))
        assert PROJECT["requires-python"] == f">={oldest}"
        assert load("recipe/recipe.yaml")["context"]["python_min"] == oldest
        jobs = load(".github/workflows/ci.yml")["jobs"]
        assert set(jobs["test"]["strategy"]["matrix"]["python"]) == named
        assert f"'python-version': '{oldest}'" in str(jobs["lowest"])
        assert "make lowest PYTHON=python" in commands(jobs["lowest"])

    def test_the_recipe_needs_what_the_package_needs(self) -> None:
        recipe = load("recipe/recipe.yaml")
        needed = {each.replace(" ", "") for each in recipe["requirements"]["run"] if not each.startswith("python ")}
        assert needed == set(PROJECT["dependencies"])
        entry = recipe["build"]["python"]["entry_points"]
        assert entry == [f"{name} = {target}" for name, target in PROJECT["scripts"].items()]


class TestExtras:
    def test_all_has_every_extra_for_users_but_those_for_gpus(self) -> None:
        (all_,) = EXTRAS["all"]
        named = set(all_.removeprefix("oddkernel[").removesuffix("]").split(","))
        assert named == set(EXTRAS) - DEVELOPERS - GPU - {"all"}

    def test_each_is_used_in_an_environment_that_has_no_other(self) -> None:
        tried = {found[1] for found in re.finditer(r'^    Use\(\s*"(\w+)"', text(".ci/try_wheel.py"), re.MULTILINE)}
        assert tried | {"postgresql", "all"} == set(EXTRAS) - DEVELOPERS - GPU

    @pytest.mark.parametrize("folder", ["src", "docs", "deploy"])
    def test_extras_are_named_as_they_are_called(self, folder: str) -> None:
        files = [file for kind in ("*.py", "*.md", "Dockerfile") for file in (ROOT / folder).rglob(kind)]
        for file in files:
            if {"_build", "gallery"} & set(file.parts):
                continue
            for found in re.findall(r"(?:oddkernel|/source)\[([a-z,]+)\]", file.read_text(encoding="utf-8")):
                assert set(found.split(",")) <= set(EXTRAS), f"{file}: {found}"

    def test_what_is_to_be_pasted_has_quotes_that_every_shell_knows(self) -> None:
        # cmd.exe hands single quotes on to pip; zsh takes brackets without quotes for a pattern.
        files = [*(ROOT / "src").rglob("*.py"), *(ROOT / "docs").glob("*.md"), ROOT / "README.md"]
        wrong = [file for file in files if re.search(r"pip install '?oddkernel\[", file.read_text(encoding="utf-8"))]
        assert not wrong


class TestWorkflows:
    @pytest.mark.parametrize(
        "file", [".pre-commit-config.yaml", *(f".github/workflows/{name}.yml" for name in ("ci", "docs", "release"))]
    )
    def test_make_targets_exist(self, file: str) -> None:
        targets = set(re.findall(r"^([a-z-]+):", text("Makefile"), re.MULTILINE))
        called = [shlex.split(each)[1:] for each in commands(load(file)) if each.startswith("make ")]
        assert called
        for words in called:
            assert {word for word in words if "=" not in word} <= targets

    def test_pull_requests_meet_what_ci_runs(self) -> None:
        called = {word for each in commands(load(".github/workflows/ci.yml")) for word in shlex.split(each)}
        called |= {"lint", "docs"} if "check" in called else set()
        here = {word for line in re.findall(r"^make (.*)$", text(".ci/run"), re.MULTILINE) for word in line.split()}
        targets = {word for word in here if re.fullmatch("[a-z]+", word)}
        assert {"lint", "docs", "test", "dist"} <= targets
        assert targets <= called

    def test_nothing_is_published_with_placeholders_or_a_stored_password(self) -> None:
        release = load(".github/workflows/release.yml")
        assert "make placeholders" in commands(release["jobs"]["build"])
        assert release["jobs"]["publish"]["needs"] == "build"
        assert release["jobs"]["publish"]["permissions"] == {"id-token": "write"}
        assert "secrets." not in text(".github/workflows/release.yml")

    def test_documents_named_in_templates_exist(self) -> None:
        for file in (ROOT / ".github").rglob("*.*"):
            for name in re.findall(r"\b[A-Z_]+\.md\b", file.read_text(encoding="utf-8")):
                assert (ROOT / name).is_file(), f"{file}: {name}"


class TestContainers:
    """Docker doesn't run in the tests; the commands that it would run are parsed by the command line itself."""

    @staticmethod
    def instruction(name: str) -> Any:
        (found,) = re.findall(rf"^{name} (\[.*\])$", text("deploy/Dockerfile"), re.MULTILINE)
        return json.loads(found)

    def test_the_image_starts_the_judge(self) -> None:
        program, *entry = self.instruction("ENTRYPOINT")
        assert program in PROJECT["scripts"]
        services = load("deploy/compose.yaml")["services"]
        for options in (self.instruction("CMD"), services["judge"]["command"]):
            arguments = _parser().parse_args([*entry, *options])
            assert arguments.no_browser
            assert f"reverse_proxy {arguments.host}:{arguments.port}" in text("deploy/Caddyfile")
            (study,) = arguments.studies
            assert any(volume.endswith(f":{study}") for volume in services["judge"]["volumes"])

    def test_what_is_copied_is_there(self) -> None:
        for words in re.findall(r"^COPY (.*) \S+$", text("deploy/Dockerfile"), re.MULTILINE):
            for name in words.split():
                assert (ROOT / name).exists()

    def test_services_fit_together(self) -> None:
        compose = load("deploy/compose.yaml")
        services = compose["services"]
        judge, database = services["judge"], services["database"]
        # The judge believes a proxy's headers only from its own address: the two have to share one.
        assert judge["network_mode"] == "service:caddy"
        assert "ports" not in judge
        assert "ports" not in database
        assert (ROOT / "deploy" / judge["build"]["context"] / judge["build"]["dockerfile"]).is_file()
        url = (
            f"postgresql://{database['environment']['POSTGRES_USER']}@database/{database['environment']['POSTGRES_DB']}"
        )
        assert url in judge["command"]
        assert set(judge["depends_on"]) <= set(services)
        named = {each.split(":")[0] for service in services.values() for each in service["volumes"]}
        assert set(compose["volumes"]) <= named


@pytest.mark.skipif(os.name == "nt", reason="the check is a bash script")
@pytest.mark.slow  # starts programs
class TestPlaceholders:
    @staticmethod
    def check(folder: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([ROOT / ".ci/placeholders", folder], capture_output=True, text=True, check=False)

    def test_each_is_listed_with_file_and_line(self, tmp_path: Path) -> None:
        (tmp_path / "README.md").write_text("one\nwrite to me@oddkernel.invalid\n", encoding="utf-8")
        (tmp_path / ".github").mkdir()
        (tmp_path / ".github" / "x.yml").write_text("name: PLACEHOLDER\n", encoding="utf-8")
        done = self.check(tmp_path)
        assert done.returncode == 1
        assert "README.md:2:" in done.stdout
        assert ".github/x.yml:1:" in done.stdout

    def test_none_is_success(self, tmp_path: Path) -> None:
        (tmp_path / "README.md").write_text("a placeholder in a sentence\n", encoding="utf-8")
        assert self.check(tmp_path).returncode == 0

    def test_those_of_this_project_are_found(self) -> None:
        listed = self.check(ROOT).stdout
        addresses = [
            file for file in ("SECURITY.md", "CODE_OF_CONDUCT.md", "pyproject.toml") if ".invalid" in text(file)
        ]
        assert all(f"{file}:" in listed for file in addresses)


@pytest.mark.slow  # starts programs
class TestForeignAddresses:
    @staticmethod
    def check(folder: Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, ROOT / ".ci/foreign.py", folder]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    @pytest.mark.parametrize(
        "loads",
        [
            '<script src="https://cdn.example/mathjax.js"></script>',
            '<link rel="stylesheet" href="//cdn.example/a.css">',
            '<img src="a.png" srcset="a.png 1x, http://cdn.example/b.png 2x">',
            '<p style="background: url(https://cdn.example/c.png)">',
        ],
    )
    def test_what_a_page_loads_from_elsewhere_is_named(self, loads: str, tmp_path: Path) -> None:
        (tmp_path / "page.html").write_text(f"<html><body>{loads}</body></html>", encoding="utf-8")
        done = self.check(tmp_path)
        assert done.returncode == 1
        assert "page.html: loads " in done.stdout
        assert "cdn.example" in done.stdout

    def test_style_sheets_are_read_too(self, tmp_path: Path) -> None:
        (tmp_path / "a.css").write_text('@import "https://cdn.example/font.css";', encoding="utf-8")
        assert self.check(tmp_path).returncode == 1

    def test_links_and_own_files_are_fine(self, tmp_path: Path) -> None:
        page = '<a href="https://example.org">x</a><img src="a.png"><link rel="canonical" href="https://example.org">'
        (tmp_path / "page.html").write_text(page, encoding="utf-8")
        assert self.check(tmp_path).returncode == 0

    def test_the_docs_are_built_with_this_check(self) -> None:
        (build,) = re.findall(r"^SPHINX := (.*?[^\\])$", text("Makefile"), re.MULTILINE | re.DOTALL)
        assert ".ci/foreign.py docs/_build/html" in build
        assert "mathjax" not in text("docs/conf.py").replace("MathJax would come from another server", "")


def test_limits_in_the_security_page_are_those_of_the_code() -> None:
    page, running = " ".join(text("SECURITY.md").split()), text("src/oddkernel/judge/running_study.py")
    assert "token_tries = Rate(per_second=1, burst=20)" in running
    assert "20 guesses at once, then one a second" in page
    assert "per_sitting = Rate(per_second=20, burst=100)" in running
    assert "Rate(per_second=1000, burst=5000)" in text("src/oddkernel/judge/app.py")
    assert "LARGEST_BODY = 16 * 1024" in text("src/oddkernel/judge/middleware.py")
    limits = "16 KiB for a body; 5,000 requests at once and 1,000 a second for an address, 100 and 20 for a sitting"
    assert limits in page


class TestClaims:
    """Numbers that README and paper state stand on the page that they name, which a command writes or a test checks."""

    def test_readme(self) -> None:
        section = text("README.md").split("## What it shows")[1].split("\n\nIt accepts")[0]
        claims = section.split("\n- ")[1:]
        assert claims
        for claim in claims:
            pages = re.findall(r"\]\((docs/\w+\.md)\)", claim)
            numbers = re.findall(r"\*\*([\d.,]+)\*\*", claim)
            assert numbers, claim
            for number in numbers:
                assert any(stands(number, page) for page in pages), f"README.md: {number} is not in {pages}"

    def test_paper(self) -> None:
        paper = text("joss/paper.md")
        sources = re.findall(r"([^\n]+(?:\n[^\n]+)*)\n\n<!-- (docs/\w+\.md): ([^(]+) \(oddkernel [^)]+\) -->", paper)
        assert len(sources) == paper.count("<!--")
        for paragraph, page, numbers in sources:
            for number in re.findall(r"[\d.,]+", numbers):
                assert stands(number, page), f"joss/paper.md: {number} is not in {page}"
                assert number in paragraph

    def test_the_paper_has_the_form_that_joss_asks_for(self) -> None:
        _, head, body = text("joss/paper.md").split("---\n", 2)
        assert {"title", "tags", "authors", "affiliations", "date", "bibliography"} <= set(yaml.safe_load(head))
        assert 250 <= len(re.sub(r"<!--.*?-->", "", body, flags=re.DOTALL).split()) <= 1000
        assert {"Summary", "Statement of need", "References"} <= set(re.findall(r"^# (.*)$", body, re.MULTILINE))
        cited = set(re.findall(r"@([A-Z]\w+:\d{4})", body))
        assert cited == set(re.findall(r"^@\w+\{(.+),$", text("joss/paper.bib"), re.MULTILINE))


def stands(number: str, page: str) -> bool:
    """Whether a page has the number, and not as a part of a longer one."""
    return re.search(rf"(?<![\d.]){re.escape(number)}(?!\d)", text(page)) is not None
