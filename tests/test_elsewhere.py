"""What Windows and macOS do otherwise, simulated: other encodings by default, and calls that aren't there."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

STEPS = [
    "fit items.csv answers.csv --out model.oddkernel",
    "cluster items.csv --model model.oddkernel -k 2 --out groups.csv",
    "query items.csv 犬 --model model.oddkernel -k 2",
    "convert answers.csv answers.jsonl",
    "report items.csv answers.csv --out report.html",
    "judge texts.csv --simulate 2 --questions 5",
    "judge texts.csv --export said.csv",
    "report texts.csv",
]
PROGRAM = f"""
from oddkernel.cli import main
for step in {STEPS!r}:
    assert main(step.split()) == 0, step
"""
ENCODINGS = """
import warnings
warnings.filterwarnings("error", category=EncodingWarning, module=r"oddkernel(\\.|_|$)")
"""
# Windows lacks most of these; macOS has no TCP_DEFER_ACCEPT; a file system of either may lack links.
LACKING = """
import os, select, signal, socket, sys
for name in ("fork", "nice", "sysconf", "getuid", "geteuid", "killpg", "setsid"):
    delattr(os, name)
for name in ("SIGHUP", "SIGKILL", "SIGUSR1", "SIGALRM"):
    delattr(signal, name)
for module, name in ((socket, "TCP_DEFER_ACCEPT"), (select, "poll"), (select, "epoll")):
    delattr(module, name)
def no_links(*names):
    raise OSError("FAT has none")
os.link = os.symlink = no_links
for name in ("resource", "fcntl", "pwd", "grp", "termios"):
    sys.modules[name] = None
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Items with names in several scripts, answers about them, and texts."""
    names = ["犬", "猫", "ä", "oak", "élan", "🐝"]
    features = [f"{name},{n // 3},{n % 3}" for n, name in enumerate(names)]
    (tmp_path / "items.csv").write_text("\n".join(["item,x,y", *features]), encoding="utf-8")
    answers = ["犬,猫,oak,c", "ä,猫,élan,c", "犬,🐝,ä,b"]
    (tmp_path / "answers.csv").write_text("\n".join(["a,b,c,answer", *answers]), encoding="utf-8")
    texts = [f"{name},the {name} and {n}" for n, name in enumerate(names)]
    (tmp_path / "texts.csv").write_text("\n".join(["item,text", *texts]), encoding="utf-8")
    return tmp_path


def run(folder: Path, *arguments: str, **variables: str) -> bytes:
    done = subprocess.run(
        [sys.executable, *arguments], cwd=folder, env={**os.environ, **variables}, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode(errors="replace")
    return done.stdout


@pytest.mark.slow  # each program takes seconds, so that two things are simulated at once: a system and its console
@pytest.mark.parametrize(
    ("system", "encoding", "options"),
    [(ENCODINGS, "cp1252", ["-X", "warn_default_encoding"]), (LACKING, "ascii", [])],
    ids=["no file is opened in the encoding of the locale", "what other systems lack is not needed"],
)
def test_on_a_console_that_cannot_show_the_names(system: str, encoding: str, options: list[str], folder: Path) -> None:
    query = f"{system}{PROGRAM}\nmain({STEPS[2].split()!r} + ['--json'])"
    said = run(folder, *options, "-c", query, PYTHONIOENCODING=encoding, PYTHONUTF8="0").decode(encoding)
    assert "\\u72ac" in said
    assert "犬" in json.dumps(json.loads(said[said.index("\n{") :]), ensure_ascii=False)
