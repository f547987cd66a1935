"""The code published with the paper, run unchanged under Octave.

It has no licence and therefore isn't part of this package. Get it at https://github.com/eamid/sklr and set
ODDKERNEL_SKLR_OCTAVE to its folder.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]

FOLDER = "ODDKERNEL_SKLR_OCTAVE"
FILE = "bregmanProj.m"
# The share of the trace is a constant in the code, as are the ratio of 2 and the random order.
KEEPS, WANTED = "eig_rat>=0.99", "eig_rat>={share}"
# A toolbox function that Octave lacks: columns of the identity matrix.
UNIT_VECTORS = """\
function vectors = ind2vec(index, n)
  vectors = sparse(index, 1:numel(index), 1, n, numel(index));
end
"""
SCRIPT = """\
load('problem.mat'); rand('twister', 0); cpu = cputime(); tic;
[K, ~] = bregmanProj(K0, relative, [], passes, true);
seconds = toc; cpu_seconds = cputime() - cpu; peak_mib = NaN;
if exist('/proc/self/status', 'file')
  peak = regexp(fileread('/proc/self/status'), 'VmHWM:\\s+(\\d+)', 'tokens'){1}{1};
  peak_mib = str2double(peak) / 1024;
end
version = [version(), ' with ', version('-blas')];
save('-v7', 'found.mat', 'K', 'seconds', 'cpu_seconds', 'peak_mib', 'version');
"""


def missing() -> str | None:
    """What is missing to run the code, or None."""
    if not os.environ.get(FOLDER):
        return f"{FOLDER} names no folder with the code published with the paper"
    if not Path(os.environ[FOLDER], FILE).exists():
        return f"{os.environ[FOLDER]} holds no {FILE}"
    if shutil.which("octave-cli") is None:
        return "octave-cli isn't installed"
    return None


def project(kernel: Array, near: Array, odd: Array, passes: int, share: float) -> dict[str, Any]:
    """Run passes of the published code over answers, each with two similar items and an odd one.

    Returns the learned kernel ``K``, ``seconds``, ``cpu_seconds``, ``peak_mib`` (NaN if unknown) and Octave's
    ``version``.
    """
    from scipy.io import loadmat, savemat

    text = Path(os.environ[FOLDER], FILE).read_text(encoding="utf-8")
    if KEEPS not in text:
        raise ValueError(f"{FILE} doesn't say {KEEPS}; expected the code of https://github.com/eamid/sklr")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, FILE).write_text(text.replace(KEEPS, WANTED.format(share=share)), encoding="utf-8")
        Path(folder, "ind2vec.m").write_text(UNIT_VECTORS, encoding="utf-8")
        Path(folder, "run.m").write_text(SCRIPT, encoding="utf-8")
        relative = np.column_stack([near, odd]) + 1.0
        savemat(Path(folder, "problem.mat"), {"K0": kernel, "relative": relative, "passes": float(passes)})
        done = subprocess.run(["octave-cli", "--no-gui", "run.m"], cwd=folder, capture_output=True, text=True)
        if not Path(folder, "found.mat").exists():
            raise RuntimeError(f"Octave failed:\n{done.stderr}")
        found = loadmat(Path(folder, "found.mat"))
    numbers = {name: float(found[name].item()) for name in ("seconds", "cpu_seconds", "peak_mib")}
    return {"K": found["K"], "version": str(found["version"].item())} | numbers
