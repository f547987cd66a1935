"""Install a wheel into an empty environment outside the checkout and use it there.

``python .ci/try_wheel.py dist/oddkernel-*.whl`` prints what each step took and stops at the first that fails.
"""

from __future__ import annotations

import base64
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import venv
import zlib
from pathlib import Path
from typing import NamedTuple

IMPORT = "import time; t = time.perf_counter(); import oddkernel; print(time.perf_counter() - t, oddkernel.__file__)"


class Use(NamedTuple):
    """Something that needs an extra."""

    extra: str
    command: tuple[str, ...]
    refused: bool = True
    """Whether it ends without the extra, and names it in a line that can be pasted into a shell."""
    status: int = 0
    """Its exit status with the extra."""


USES = (
    Use("plot", ("oddkernel", "demo")),
    Use("report", ("oddkernel", "report", "items.csv", "answers.csv", "--out", "report.html", "--figures", "figures")),
    Use("parquet", ("oddkernel", "convert", "answers.csv", "answers.parquet")),
    Use("pandas", ("python", "-c", "from oddkernel import formats; print(formats.read('answers.csv').to_frame())")),
    Use("excel", ("oddkernel", "convert", "empty.xlsx", "copy.csv"), status=2),
    Use("faiss", ("oddkernel", "index", "items.csv", "--model", "model.oddkernel", "--out", "items.index")),
    Use(
        "dask",
        (
            "python",
            "-c",
            "import dask.array; from oddkernel import models, scale\n"
            "print(scale.transform(models.load('model.oddkernel'), dask.array.ones((9, 2))).compute())",
        ),
        refused=False,  # without Dask there is no collection of Dask either
    ),
    Use("images", ("oddkernel", "features", "photos", "--with", "gist")),
    Use("encoders", ("oddkernel", "features", "photos", "--with", "mean.onnx")),
    Use("judge", ("oddkernel", "judge", "photos", "--simulate", "2", "--questions", "6")),
    Use("paper", ("oddkernel", "reproduce", "page", "--results", "photos")),
)
ON_POSTGRESQL = ("oddkernel", "judge", "photos", "--simulate", "1", "--database", "postgresql://a@127.0.0.1:1/a")
MEAN_OF_COLOURS = (  # an ONNX network
    "CAo6oQEKPwoMcGl4ZWxfdmFsdWVzCgRheGVzEgxpbWFnZV9lbWJlZHMiClJlZHVjZU1lYW4qDwoIa2VlcGRpbXMYAKABAhIEdGlueSoOCAIQBzoC"
    "AgNCBGF4ZXNaJwoMcGl4ZWxfdmFsdWVzEhcKFQgBEhEKAxIBbgoCCAMKAggICgIICGIfCgxpbWFnZV9lbWJlZHMSDwoNCAESCQoDEgFuCgIIA0IE"
    "CgAQEg=="
)


class Trial:
    """An environment of its own, at work in a folder."""

    def __init__(self, folder: Path, name: str = "env") -> None:
        self.folder, self.environment = folder, folder / name
        # As strangers have it: nothing from the caller's environment leads back to the checkout.
        self.variables = {
            name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))
        }
        self.programs = self.environment / ("Scripts" if os.name == "nt" else "bin")

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

    def use(self, use: Use) -> None:
        """Do what an extra is for."""
        said = self.run(*use.command, status=use.status)
        if f"oddkernel[{use.extra}]" in said:
            sys.exit(f"{said}\nexpected that oddkernel[{use.extra}] is enough")

    def refuse(self, command: tuple[str, ...], extra: str) -> None:
        """Meet what lacks an extra: an error that names it."""
        said = self.run(*command, status=1 if command[0] == "python" else 2)
        if f'pip install "oddkernel[{extra}]"' not in said:
            sys.exit(f'{said}\nexpected it to name pip install "oddkernel[{extra}]"')

    def install(self, wanted: str) -> None:
        """Install with pip, which takes what the wheel depends on from the registry that pip is set up for.

        Python compiles what is imported, a small part of all that is installed.
        """
        if not self.environment.is_dir():
            venv.create(self.environment, with_pip=True)
        self.run("python", "-m", "pip", "install", "--quiet", "--no-compile", "--disable-pip-version-check", wanted)

    def copy(self, name: str) -> Trial:
        """Another trial with the same packages, and with what Python and Numba have compiled of them."""
        other = Trial(self.folder, name)
        shutil.copytree(self.environment, other.environment, symlinks=True, copy_function=os.link)
        program = other.programs / "oddkernel"
        text = program.read_text(encoding="utf-8")
        program.unlink()  # a link to the file of the first environment, whose Python it names
        program.write_text(text.replace(str(self.environment), str(other.environment)), encoding="utf-8")
        program.chmod(0o755)
        return other

    def add(self, wanted: str) -> None:
        """Install more with uv, which links what it has installed before."""
        command = [
            sys.executable,
            "-m",
            "uv",
            "pip",
            "install",
            "--quiet",
            "--python",
            self.programs / "python",
            wanted,
        ]
        subprocess.run(command, check=True, env=self.variables)


def try_wheel(wheel: Path, folder: Path) -> None:
    """Import it, ask for help, meet the missing extras, run the demo; then use each extra where it is the only one."""
    trial = Trial(folder)
    trial.install(str(wheel))
    trial.run("python", "-c", IMPORT)  # the first import also compiles to bytecode
    seconds, where = trial.run("python", "-c", IMPORT).split(maxsplit=1)
    if not Path(where.strip()).resolve().is_relative_to(folder):
        sys.exit(f"imported {where.strip()}; expected a file below {folder}")
    print(f"import oddkernel: {float(seconds):.3f} s")
    if float(seconds) > 0.5:
        sys.exit("expected half a second at most")
    print(trial.run("oddkernel", "--help"))
    write_examples(folder)
    trial.run("oddkernel", "fit", "items.csv", "answers.csv", "--out", "model.oddkernel")
    for use in USES:
        if use.refused:
            trial.refuse(use.command, use.extra)
    names = [*(use.extra for use in USES[1:]), "postgresql", "all"]
    alone = {name: trial.copy(name) for name in names}  # each without any extra so far
    trial.install(f"{wheel}[plot]")
    print(trial.run("oddkernel", "demo"))
    trial.run("python", "-m", "pip", "check")
    for use in USES[1:]:
        alone[use.extra].add(f"{wheel}[{use.extra}]")
        alone[use.extra].use(use)
        if use.extra == "judge":
            alone["judge"].refuse(ON_POSTGRESQL, "postgresql")
    alone["postgresql"].add(f"{wheel}[judge,postgresql]")
    alone["postgresql"].use(Use("postgresql", ON_POSTGRESQL, status=2))  # nothing answers at that address
    alone["all"].add(f"{wheel}[all]")
    alone["all"].use(USES[1])


def write_examples(folder: Path) -> None:
    """A few items, answers about them, pictures and an encoder, without any package."""
    names = [f"{number}.png" for number in range(6)]
    lines = [f"{name},{number // 3},{number % 3}" for number, name in enumerate(names)]
    (folder / "items.csv").write_text("\n".join(["item,x,y", *lines]), encoding="utf-8")
    lines = [f"{a},{b},5.png,c" for a, b in (("0.png", "1.png"), ("1.png", "2.png"), ("0.png", "2.png"))]
    (folder / "answers.csv").write_text("\n".join(["a,b,c,answer", *lines]), encoding="utf-8")
    (folder / "empty.xlsx").touch()
    (folder / "mean.onnx").write_bytes(base64.b64decode(MEAN_OF_COLOURS))
    (folder / "photos").mkdir()
    for number, name in enumerate(names):
        (folder / "photos" / name).write_bytes(picture(40 * number))


def picture(grey: int) -> bytes:
    """A PNG file, 16 pixels wide and high."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    rows = b"".join(bytes([0, *range(grey, grey + 16)]) for _ in range(16))
    head = struct.pack(">IIBBBBB", 16, 16, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


if __name__ == "__main__":
    if len(sys.argv) != 2 or not Path(sys.argv[1]).is_file():
        sys.exit(f"expected the name of one wheel; got {sys.argv[1:]}")
    with tempfile.TemporaryDirectory(prefix="oddkernel-wheel-") as name:
        try_wheel(Path(sys.argv[1]).resolve(), Path(name).resolve())
