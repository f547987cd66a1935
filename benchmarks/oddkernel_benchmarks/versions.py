"""This version beside an older one, measured in one run: nothing may have become slower.

python -m oddkernel_benchmarks.versions ../older        a checkout of the older version
python -m oddkernel_benchmarks.versions ../older paper  the paper's workload only
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from . import answers, items, paper
from .measure import Measured, measure

Task = tuple[str, Callable[..., Any], dict[str, Any]]

# Each version is measured this many times, in turn, and the fastest counts: other programs only slow down.
TURNS = {"paper": 5, "answers": 2, "items": 1}


def tasks(case: str, size: str, folder: str) -> list[Task]:
    """What is measured of a case. The folder keeps what a version writes."""
    if case == "paper":
        workload = paper.SIZES[size]
        return [
            ("the minimum, auto", paper.solving, {"solver": "auto"} | workload),
            ("the paper's ten passes", paper.solving, {"solver": "projection"} | workload),
            ("everything in SKLR.fit", paper.fitting, workload),
        ]
    if case == "answers":
        held_out = answers.HELD_OUT[size]
        sizes = {"n_answers": answers.ALL[size] - held_out, "held_out": held_out}
        return [("all answers of THINGS, squared loss", answers.learning, sizes)]
    here = {"folder": folder}
    return [
        ("learning from the items asked about", items.preparing, here | items.SIZES[size]),
        ("coordinates of all items, float64", items.transforming, here | {"dtype": "float64"}),
        ("ten groups of all items", items.grouping, here),
    ]


def compare(case: str, older: Path, size: str = "full") -> list[tuple[str, Measured, Measured]]:
    """The fastest time of the older version and of this one for each task of a case."""
    with tempfile.TemporaryDirectory() as before, tempfile.TemporaryDirectory() as now:
        found = []
        for one, other in zip(tasks(case, size, before), tasks(case, size, now), strict=True):
            turns = [(measure(*one[1:], checkout=older), measure(*other[1:])) for _ in range(TURNS[case])]
            fastest = [min(times, key=lambda each: each.seconds) for times in zip(*turns, strict=True)]
            found.append((one[0], fastest[0], fastest[1]))
        return found


def main(arguments: list[str] | None = None) -> int:
    """Print a line for each task."""
    parser = argparse.ArgumentParser(
        prog="python -m oddkernel_benchmarks.versions",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("older", type=Path, help="folder of a checkout of the older version")
    parser.add_argument("case", nargs="*", metavar="CASE", help="paper, answers, items; by default all")
    parser.add_argument("--size", choices=("full", "tiny"), default="full", help="tiny: only to see that it works")
    chosen = parser.parse_args(arguments)
    for folder in ("src/oddkernel", "benchmarks/oddkernel_benchmarks"):
        if not (chosen.older / folder).is_dir():
            parser.error(f"{chosen.older} is no checkout of the project: it has no folder {folder}")
    for case in chosen.case or list(TURNS):
        if case not in TURNS:
            parser.error(f"no case {case!r}; there are {', '.join(TURNS)}")
        for task, before, now in compare(case, chosen.older.resolve(), chosen.size):
            times = f"{before.seconds:8.3g} s before {now.seconds:8.3g} s now, {now.seconds / before.seconds:.2f} times"
            memory = f"{before.peak_mib:6.0f} and {now.peak_mib:6.0f} MiB"
            print(f"{task:38s}{times}; {memory}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
