"""Check new random problems for a given time: which fail, and which take far longer than similar ones.

python -m oddkernel_benchmarks.problems --minutes 30          new seeds on two processes
python -m oddkernel_benchmarks.problems --seed 1000 --minutes 1
python -m oddkernel_benchmarks.problems --json run.json       the outcomes, in a file
"""

from __future__ import annotations

import argparse
import itertools
import json
import multiprocessing
import os
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from .drawing import draw
from .named import digits
from .problem import Outcome

# Fits this many times slower than the median of their bin are listed. Chosen by hand.
SLOW = 10.0
# Seconds after which a running problem is named in the progress, and seconds between progress lines. Chosen by hand.
LONG, EVERY = 30.0, 10.0


@dataclass(frozen=True)
class Bin:
    """Fits with the same loss and a similar number of rows: from ``rows`` to twice that.

    Attributes
    ----------
    seconds : list of float
        CPU time of each fit.
    slow : list of Outcome
        Fits that took more than ten times the median.
    """

    loss: str
    rows: int
    seconds: list[float]
    slow: list[Outcome]

    @property
    def median(self) -> float:
        """Of the seconds."""
        return float(np.median(self.seconds))


def bins(outcomes: Iterable[Outcome]) -> list[Bin]:
    """Outcomes by loss and number of rows, by factors of two."""
    together: dict[tuple[str, int], list[Outcome]] = {}
    for outcome in outcomes:
        rows = 2 ** int(np.log2(max(outcome.rows, 1)))
        together.setdefault((outcome.loss, rows), []).append(outcome)
    table = []
    for (loss, rows), some in sorted(together.items()):
        seconds = [outcome.seconds for outcome in some]
        limit = SLOW * float(np.median(seconds))
        table.append(Bin(loss, rows, seconds, [outcome for outcome in some if outcome.seconds > limit]))
    return table


def one(seed: int) -> Outcome:
    """Draw, solve and check one problem; an exception is a failure, too."""
    try:
        return draw(seed).run()
    except Exception:
        code = f"from oddkernel_benchmarks.problems import draw; draw({seed}).check()"
        error = traceback.format_exc(limit=-3)
        return Outcome(code, "ERROR", np.nan, np.nan, "none", 0, 0, 0, failures=(error,))


def warm_up() -> None:
    """Compile everything first, so that no fit includes the time of compilation."""
    problem = digits(0)
    said = problem.said[(problem.said.shown < len(problem.X) // 2).all(axis=1)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # three steps are too few to converge
        for loss, solver in itertools.product(("squared", "hinge", "softmax"), ("auto", "ascent")):
            problem.model(loss=loss, solver=solver, max_iter=3).fit(problem.X[: len(problem.X) // 2], said)


def outcomes(first: int, seconds: float, jobs: int, tell: Callable[[str], None]) -> Iterator[Outcome]:
    """The outcomes of consecutive seeds until the time is up; problems in progress are completed."""
    end, told = time.monotonic() + seconds, time.monotonic()
    # One thread for each process: more would compete for the cores.
    os.environ |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    seeds, count = itertools.count(first), 0
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn"), warm_up) as pool:
        waiting: dict[Future[Outcome], tuple[int, float]] = {}
        while waiting or time.monotonic() < end:
            while len(waiting) < jobs and time.monotonic() < end:
                seed = next(seeds)
                waiting[pool.submit(one, seed)] = seed, time.monotonic()
            for ready in wait(waiting, EVERY, FIRST_COMPLETED).done:
                del waiting[ready]
                count += 1
                yield ready.result()
            now = time.monotonic()
            if now - told > EVERY:
                told = now
                slow = [
                    f"draw({seed}) for {now - start:.0f} s" for seed, start in waiting.values() if now - start > LONG
                ]
                tell(", ".join([f"{count} problems", *slow]))


def report(found: list[Outcome]) -> Iterator[str]:
    """The run as text: counts, times, slow fits, notes, failures."""
    failed = [outcome for outcome in found if outcome.failures]
    yield f"{len(found)} problems, {len(failed)} failures"
    for (loss, status), count in sorted(Counter((each.loss, each.status) for each in found).items()):
        yield f"  {loss:9s}{status:15s}{count:5d}"
    yield "CPU seconds of fit"
    yield "  loss      rows from   fits   median  longest"
    table = bins(each for each in found if each.status != "ERROR")
    for each in table:
        yield f"  {each.loss:9s}{each.rows:10d}{len(each.seconds):7d}{each.median:9.3f}{max(each.seconds):9.2f}"
    slow = [(outcome.seconds / each.median, outcome) for each in table for outcome in each.slow]
    kernel = sum(outcome.seconds - outcome.kernel_seconds <= outcome.seconds / times * SLOW for times, outcome in slow)
    yield (
        f"{len(slow)} fits took more than {SLOW:g} times the median of their bin; {kernel} of them would not have "
        "without the initial kernel"
    )
    for times, outcome in sorted(slow, key=lambda pair: -pair[0]):
        yield f"{outcome.code}\n    # {times:.0f} times the median: {outcome}"
    noted = [outcome for outcome in found if outcome.notes]
    yield f"{len(noted)} notes"
    yield from (f"{outcome.code}\n    # {'; '.join(outcome.notes)}" for outcome in noted)
    yield f"{len(failed)} failures"
    yield from (f"{outcome.code}\n    # {outcome}" for outcome in failed)


def main(arguments: list[str] | None = None) -> int:
    """Run, with progress on stderr, and print the report."""
    parser = argparse.ArgumentParser(
        prog="python -m oddkernel_benchmarks.problems",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--seed", type=int, help="the first one; by default a new one each second")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--json", metavar="FILE", type=Path, help="where to write the outcomes")
    chosen = parser.parse_args(arguments)
    first = int(time.time()) * 1000 if chosen.seed is None else chosen.seed

    def tell(line: str) -> None:
        print(line, file=sys.stderr, flush=True)

    tell(f"seeds from {first}")
    found: list[Outcome] = []
    for outcome in outcomes(first, 60.0 * chosen.minutes, chosen.jobs, tell):
        found.append(outcome)
        if outcome.failures or outcome.seconds > LONG:
            tell(f"{outcome.code}\n    # {outcome}")
    print(*report(found), sep="\n")
    if chosen.json is not None:
        chosen.json.write_text(json.dumps({"first": first, "outcomes": [asdict(each) for each in found]}, indent=1))
    return 1 if any(outcome.failures for outcome in found) else 0
