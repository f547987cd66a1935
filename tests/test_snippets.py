"""Whatever README and docs show runs: each page top to bottom, in one namespace and one empty folder.

Run are ```python blocks, and in ```console blocks the lines that start with ``$ oddkernel``; a line that ends with a
backslash goes on. Output that a page quotes below a command has to be what the command tells, where ``...`` stands for
anything. What should be shown but not run is marked ```text.
"""

from __future__ import annotations

import io
import shlex
import subprocess
import sysconfig
import traceback
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from pages import ROOT, Block, Command, agrees, blocks, commands

import oddkernel
from oddkernel.cli import main

pytestmark = pytest.mark.slow  # fits what the pages fit

BUILT = {"_build", "gallery", "api"}
PAGES = [
    ROOT / "README.md",
    *sorted(page for page in (ROOT / "docs").rglob("*.md") if not BUILT & set(page.relative_to(ROOT / "docs").parts)),
]


def run_python(block: Block, page: str, names: dict[str, Any]) -> None:
    # Blank lines before the code make every traceback and warning point into the page itself.
    code = compile("\n" * (block.line - 1) + block.text, page, "exec")
    exec(code, names)


def run_command(command: Command) -> None:
    # In this process: another would import everything anew, which takes longer than most commands.
    told, progress = io.StringIO(), io.StringIO()
    with redirect_stdout(told), redirect_stderr(progress):
        try:
            status = main(shlex.split(command.text)[1:])
        except SystemExit as end:  # argparse's way
            status = int(end.code or 0)
    fails = command.quoted.startswith("oddkernel: error: ")
    if status != (2 if fails else 0):
        raise RuntimeError(f"`{command.text}` ended with {status}:\n{progress.getvalue()}{told.getvalue()}")
    said = (progress if fails else told).getvalue()
    if command.quoted and not agrees(command.quoted, said):
        raise RuntimeError(f"`{command.text}` told:\n{said}\nThe page quotes:\n{command.quoted}")


def run_page(page: Path) -> None:
    """Run all that a page shows; the failure names page and line."""
    names: dict[str, Any] = {"__name__": "__main__"}
    for block in blocks(page.read_text(encoding="utf-8")):
        line = block.line
        try:
            if block.language == "python":
                run_python(block, str(page), names)
            elif block.language == "console":
                for command in commands(block):
                    line = command.line
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
        ("```console\n$ ls\nfile\n$ oddkernel --version\noddkernel 0.0.0\n```\n", 4),
    ],
    ids=["one namespace", "warning", "syntax", "command", "quoted output"],
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


def test_quoted_output_may_leave_out_what_differs(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ oddkernel --version\noddkernel ...\n$ ls\nno command of ours\n```\n")
    run_page(page)


def test_only_what_is_meant_to_run_runs(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    directive, text, session = "```{note}\nraise\n```\n", "```text\nraise\n```\n", "```pycon\n>>> raise\n```\n"
    page.write_text(directive + text + session + "````md\n```python\nraise\n```\n````\n")
    run_page(page)
