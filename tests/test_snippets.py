"""Whatever README and docs show runs: each page top to bottom, in one namespace and one empty folder.

Run are ```python blocks, and in ```console blocks the lines that start with ``$ oddkernel``; a line that ends with a
backslash goes on. What should be shown but not run is marked ```text.
"""

from __future__ import annotations

import io
import re
import shlex
import subprocess
import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import oddkernel
from oddkernel.cli import main

pytestmark = pytest.mark.slow  # fits what the pages fit

ROOT = Path(__file__).parents[1]
BUILT = {"_build", "gallery", "api"}
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if not BUILT & set(page.relative_to(ROOT / "docs").parts)),
]
FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,}|~{3,})(?P<language>[^\s`]*)[^`]*$")


class Block(NamedTuple):
    language: str
    line: int  # of the first line within the fence, counted from 1
    text: str


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a Markdown page."""
    lines = page.splitlines()
    start: re.Match[str] | None = None
    first = 0
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if start is None:
            start, first = fence, number + 1
        elif fence and not fence["language"] and fence["fence"].startswith(start["fence"]):
            inside = (text.removeprefix(start["indent"]) for text in lines[first - 1 : number - 1])
            yield Block(start["language"], first, "\n".join(inside) + "\n")
            start = None


def commands(block: Block) -> Iterator[tuple[int, str]]:
    """Line number and text of each ``$ oddkernel`` command in a console block."""
    joined = block.text.replace("\\\n", "\\\0")  # keeps one entry per command, and its lines countable
    line = block.line
    for entry in joined.splitlines():
        if entry.startswith("$ oddkernel"):
            yield line, entry.removeprefix("$ ").replace("\\\0", " ")
        line += 1 + entry.count("\0")


def run_python(block: Block, page: str, names: dict[str, Any]) -> None:
    # Blank lines before the code make every traceback and warning point into the page itself.
    code = compile("\n" * (block.line - 1) + block.text, page, "exec")
    exec(code, names)


def run_command(command: str) -> None:
    # In this process: another would import everything anew, which takes longer than most commands.
    told = io.StringIO()
    with redirect_stdout(told), redirect_stderr(told):
        try:
            status = main(shlex.split(command)[1:])
        except SystemExit as end:  # argparse's way
            status = int(end.code or 0)
    if status:
        raise RuntimeError(f"`{command}` ended with {status}:\n{told.getvalue()}")


def run_page(page: Path) -> None:
    """Run all that a page shows; the failure names page and line."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page.read_text(encoding="utf-8")):
        line = block.line
        try:
            if block.language == "python":
                run_python(block, str(page), names)
            elif block.language == "console":
                for line, command in commands(block):  # noqa: B007 (the failure below names it)
                    run_command(command)
        except Exception as error:
            if isinstance(error, SyntaxError) and error.filename == str(page):
                line = error.lineno or line
            for frame in traceback.extract_tb(error.__traceback__):
                if frame.filename == str(page):
                    line = frame.lineno or line
            failure = f"{page}:{line}: {type(error).__name__}: {error}"
        else:
            continue
        pytest.fail(failure, pytrace=False)


@pytest.mark.parametrize("page", PAGES, ids=[str(page.relative_to(ROOT)) for page in PAGES])
def test_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    run_page(page)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("```python\na = 1\n```\n\n```python\na += 1\nassert a == 3\n```\n", 7),
        ("Words\n\n```python\nimport warnings\nwarnings.warn('no')\n```\n", 5),
        ("```python\nx = 1\ny = = 2\n```\n", 3),
        ("```console\n$ ls\n$ oddkernel \\\n    no-such-command\n```\n", 3),
    ],
    ids=["one namespace", "warning", "syntax", "command"],
)
def test_failure_names_page_and_line(text: str, line: int, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(text)
    with pytest.raises(pytest.fail.Exception, match=rf"page\.md:{line}: "):
        run_page(page)


def test_the_command_is_installed() -> None:
    program = Path(sysconfig.get_path("scripts"), "oddkernel")
    done = subprocess.run([program, "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"oddkernel {oddkernel.__version__}\n")


def test_only_what_is_meant_to_run_runs(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    directive, text, session = "```{note}\nraise\n```\n", "```text\nraise\n```\n", "```pycon\n>>> raise\n```\n"
    page.write_text(directive + text + session + "````md\n```python\nraise\n```\n````\n")
    run_page(page)
