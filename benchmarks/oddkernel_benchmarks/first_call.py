"""The first call in a fresh process: imports, compilation and a first model."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

from .measure import Clock, measure
from .results import Case, Row

TASK = "a process that starts, learns and ends"
LEARN = """
from sklearn.datasets import load_digits
from oddkernel import SKLR, Comparisons
X, y = load_digits(return_X_y=True)
SKLR({settings}).fit(X[:{n}], Comparisons.from_labels(y[:{n}], {m}, random_state=0))
"""
INSTEAD = """
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
X, y = load_digits(return_X_y=True)
KMeans(10, n_init=20, random_state=0).fit(X[:{n}])
"""
SIZES = {"full": {"n": 500, "m": 200}, "tiny": {"n": 50, "m": 10}}


def run(size: str, tell: Callable[[str], None]) -> Case:
    """Measure the case."""
    given = 'kernel="adaptive", penalty=10.0'
    programs = {
        "oddkernel, compiled before": (LEARN, given, False),
        "oddkernel, compiled for the first time": (LEARN, given, True),
        "oddkernel, held-out answers choose penalty and loss": (LEARN, "", False),
        "scikit-learn, KMeans": (INSTEAD, "", False),
    }
    rows = []
    for way, (program, settings, compile_anew) in programs.items():
        tell(way)
        text = program.format(settings=settings, **SIZES[size])
        rows.append(Row.of(TASK, way, measure(starting, {"program": text, "compile_anew": compile_anew})))
    return Case("first_call", "The first call in a fresh process", size, rows)


def starting(clock: Clock, *, program: str, compile_anew: bool) -> dict[str, Any]:
    """Run a program in another process, with Numba's cache of compiled code, or with an empty one."""
    with tempfile.TemporaryDirectory() as empty:
        environment = os.environ | ({"NUMBA_CACHE_DIR": empty} if compile_anew else {})

        def work() -> None:
            subprocess.run([sys.executable, "-c", program], env=environment, check=True)

        if not compile_anew:
            work()  # compiles, and loads the libraries into the file cache
        clock.time(work, 1 if compile_anew else 3)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    return {"peak_mib": peak / 1024}
