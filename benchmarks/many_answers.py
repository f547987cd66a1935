"""145,177 answers about 1854 objects (THINGS): seconds, memory and residual of a fit, on the CPU or a GPU.

    ODDKERNEL_DATA=... python benchmarks/many_answers.py [--device cuda] [--penalty 0.1] [--tol 1e-4]

The second fit is a warm one: libraries are loaded and kernels compiled.
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from pathlib import Path

import numpy as np

from oddkernel import SKLR, Comparisons

# The linear kernel's mean squared distance between two items: the unit of margins and penalties.
UNIT = 2.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", help="as SKLR's")
    parser.add_argument(
        "--penalty", type=float, default=0.1, help="in units of the kernel (held-out answers choose 0.1)"
    )
    parser.add_argument("--margin", type=float, default=0.6, help="likewise")
    parser.add_argument("--tol", type=float, default=1e-4)
    chosen = parser.parse_args()
    folder = os.environ.get("ODDKERNEL_DATA")
    if folder is None:
        parser.error("set ODDKERNEL_DATA to the folder that holds things.npz")
    things = np.load(Path(folder) / "things.npz")
    judged = things["judgements"]
    said = Comparisons.odd_one_out(judged, np.full(len(judged), 2))
    model = SKLR(
        kernel="linear",
        rank=None,
        ratio=1.0,
        margin=chosen.margin * UNIT,
        loss="squared",
        penalty=chosen.penalty / UNIT**2,
        tol=chosen.tol,
        device=chosen.device,
    )
    for turn in ("first", "second"):
        wall, cpu = time.perf_counter(), time.process_time()
        solution = model.fit(things["features"], said).solution_
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        print(
            f"{turn} fit: {wall:.1f} s ({cpu:.1f} s of CPU), {solution.n_iter} steps, "
            f"residual {solution.residual:.1e}, divergence {solution.divergence:.6f}, {solution.status.name}",
            flush=True,
        )
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB")


if __name__ == "__main__":
    main()
