"""Install a wheel into an empty environment outside the checkout and use it there.

``python .ci/try_wheel.py dist/oddkernel-*.whl`` prints what each step took and stops at the first that fails.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import venv
from pathlib import Path

IMPORT = "import time; t = time.perf_counter(); import oddkernel; print(time.perf_counter() - t, oddkernel.__file__)"
LACKING = {
    ("demo",): "plot",
    ("reproduce", "table1"): "paper",
    ("judge", "."): "judge",
}
"""Commands that need an extra, and the one that they have to name in a line that can be pasted into a shell."""


class Trial:
    """An environment of its own, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        # As strangers have it: nothing from the caller's environment leads back to the checkout.
        self.variables = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))
        }
        venv.create(folder / "env", with_pip=True)
        self.programs = folder / "env" / ("Scripts" if os.name == "nt" else "bin")

    def run(self, program: str, *arguments: str, status: int = 0) -> str:
        """What a program of the environment prints, both streams; an exit with another status ends the trial."""
        started = time.perf_counter()
        done = subprocess.run(
            [str(self.programs / program), *arguments],
            cwd=self.folder,
            env=self.variables,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            check=False,
        )
        print(f"{time.perf_counter() - started:6.1f} s  {program} {' '.join(arguments)[:90]}", flush=True)
        if done.returncode != status:
            sys.exit(f"{done.stdout}\nexit status {done.returncode}; expected {status}")
        return done.stdout

    def install(self, wanted: str) -> None:
        """Install with pip, which takes what the wheel depends on from the registry that pip is set up for.

        Python compiles what is imported, a small part of all that is installed.
        """
        self.run("python", "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", wanted)


def try_wheel(wheel: Path, folder: Path) -> None:
    """Import it, ask for help, meet the missing extras, and run the demo."""
    trial = Trial(folder)
    trial.install(str(wheel))
    trial.run("python", "-c", IMPORT)  # the first import also compiles to bytecode
    seconds, where = trial.run("python", "-c", IMPORT).split(maxsplit=1)
    if not Path(where.strip()).resolve().is_relative_to(folder):
        sys.exit(f"imported {where.strip()}; expected a file below {folder}")
    print(f"import oddkernel: {float(seconds):.3f} s")
    print(trial.run("oddkernel", "--help"))
    for command, extra in LACKING.items():
        said = trial.run("oddkernel", *command, status=2)
        if f'pip install "oddkernel[{extra}]"' not in said:
            sys.exit(f'{said}\nexpected it to name pip install "oddkernel[{extra}]"')
    trial.install(f"{wheel}[plot]")
    print(trial.run("oddkernel", "demo"))
    trial.run("python", "-m", "pip", "check")


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_file():
        sys.exit(f"expected the name of one wheel; got {sys.argv[1:]}")
    with tempfile.TemporaryDirectory(prefix="oddkernel-wheel-") as name:
        try_wheel(Path(sys.argv[1]).resolve(), Path(name).resolve())
