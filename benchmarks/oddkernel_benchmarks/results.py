"""Results as tables, stored in files."""

from __future__ import annotations

import json
import os
import platform
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np

from .measure import Measured


@dataclass(frozen=True)
class Row:
    """One measured method for a task.

    Attributes
    ----------
    task : str
        The task; ratios are to the first row of the same task.
    way : str
        The method.
    scaled : bool
        Whether the time was measured on a part of the work and scaled up.
    """

    task: str
    way: str
    seconds: float
    cpu_seconds: float
    peak_mib: float
    facts: dict[str, Any] = field(default_factory=dict)
    scaled: bool = False

    @classmethod
    def of(cls, task: str, way: str, measured: Measured) -> Self:
        """A row from a measurement."""
        return cls(task, way, measured.seconds, measured.cpu_seconds, measured.peak_mib, measured.facts)


@dataclass(frozen=True)
class Growth:
    """How time grows with a size.

    Attributes
    ----------
    of, over : str
        What is timed, and the size that grows.
    sizes : list of float
    seconds : list of float
        CPU time, which hardly depends on threads and other load.
    """

    of: str
    over: str
    sizes: list[float]
    seconds: list[float]

    @property
    def exponent(self) -> float:
        """p of the fit ``seconds ∝ size^p``, by least squares over the logarithms."""
        return float(np.polyfit(np.log(self.sizes), np.log(self.seconds), 1)[0])

    @property
    def last_exponent(self) -> float:
        """p between the two largest sizes, where constant costs matter least."""
        return float(np.diff(np.log(self.seconds[-2:]))[0] / np.diff(np.log(self.sizes[-2:]))[0])


@dataclass(frozen=True)
class Case:
    """The results of one case."""

    name: str
    title: str
    size: str
    rows: list[Row] = field(default_factory=list)
    growth: list[Growth] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    machine: dict[str, Any] = field(default_factory=lambda: machine())

    def ratio(self, row: Row) -> float:
        """Ratio of the time to that of the first row of the same task."""
        return row.seconds / next(other for other in self.rows if other.task == row.task).seconds

    def facts(self) -> dict[str, Any]:
        """All results, for JSON."""
        told = asdict(self)
        for entry, row in zip(told["rows"], self.rows, strict=True):
            entry["ratio"] = self.ratio(row)
        for entry, growth in zip(told["growth"], self.growth, strict=True):
            entry |= {"exponent": growth.exponent, "last_exponent": growth.last_exponent}
        return told

    def save(self, folder: Path) -> Path:
        """Write the case to a file named after it."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{self.name}.json"
        draft = path.with_suffix(".tmp")
        draft.write_text(json.dumps(_rounded(self.facts()), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        draft.replace(path)
        return path

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read what `save` wrote."""
        told = json.loads(path.read_text(encoding="utf-8"))
        rows = [Row(**{k: v for k, v in row.items() if k != "ratio"}) for row in told.pop("rows")]
        growth = [Growth(*(entry[k] for k in ("of", "over", "sizes", "seconds"))) for entry in told.pop("growth")]
        return cls(rows=rows, growth=growth, **told)


def machine() -> dict[str, Any]:
    """Processor, cores, threads and versions."""
    return {
        "date": date.today().isoformat(),
        "cores": os.cpu_count(),
        "threads": os.environ.get("OMP_NUM_THREADS", "as many as cores"),
        "processor": _processor(),
        "python": platform.python_version(),
        **{name: version(name) for name in ("oddkernel", "numpy", "scipy", "scikit-learn", "numba")},
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def _rounded(value: Any) -> Any:
    match value:
        case float():
            return float(f"{value:.4g}")
        case dict():
            return {key: _rounded(entry) for key, entry in value.items()}
        case list():
            return [_rounded(entry) for entry in value]
    return value
