"""The page of results: tables and plots, generated from the stored measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from .costs import costs
from .results import Case, Growth, Row

ORDER = ("paper", "answers", "items", "clustering", "first_call", "growth")
SHOWN = {"residual": "residual", "divergence": "divergence", "right": "right", "rand": "rand", "inertia": "inertia"}
INTRODUCTION = """\
# Benchmarks

Time and memory of oddkernel compared with the alternatives, measured in one run on one machine. `oddkernel bench page`
generates this page from the results that `oddkernel bench` stores.

```text
$ oddkernel bench --out benchmarks/results
$ oddkernel bench page --out benchmarks/results --page docs/benchmarks.md
```

Every row is measured in a separate process. Times are wall-clock seconds, the fastest of several runs. *times* is the
ratio to the first row of the same task. *CPU seconds* add up over threads. *memory* is the peak memory of the process,
libraries and preparation included. A time marked with ~ was measured on a part of the work and scaled up. Missing
libraries are left out, and missing data are replaced by synthetic data of the same size; titles say what was used. The
code published with the paper is run if Octave is installed and `ODDKERNEL_SKLR_OCTAVE` names a folder with
[its files](https://github.com/eamid/sklr).
"""


def write(results: Path, page: Path | None = None) -> Path:
    """Write ``benchmarks.md`` and its plots from a folder of results.

    Parameters
    ----------
    results : path
        The folder that `oddkernel bench --out` wrote.
    page : path, optional
        The page; by default ``benchmarks.md`` in the folder of results. Plots go into ``_static`` beside it.
    """
    cases = load(results)
    path = page or results / "benchmarks.md"
    growth = [each for case in cases for each in case.growth]
    if growth:
        plots = path.parent / "_static"
        plots.mkdir(exist_ok=True)
        draw_growth(growth, plots / "growth.svg")
    draft = path.with_suffix(".tmp")
    draft.write_text(text(cases), encoding="utf-8")
    draft.replace(path)
    return path


def load(results: Path) -> list[Case]:
    """The cases of a folder, in the order of the page."""
    found = [results / f"{name}.json" for name in ORDER]
    cases = [Case.load(path) for path in found if path.exists()]
    if not cases:
        raise ValueError(
            f"{results}: no results there; expected files such as {found[0].name} of oddkernel bench --out"
        )
    return cases


def text(cases: list[Case]) -> str:
    """The page, in Markdown."""
    parts = [INTRODUCTION]
    for case in cases:
        parts.append(f"## {case.title}\n")
        for task in dict.fromkeys(row.task for row in case.rows):
            parts.append(_table(case, [row for row in case.rows if row.task == task]))
        if case.growth:
            parts.append(_growth_table(case.growth))
            parts.append("![Time over size, on logarithmic scales](_static/growth.svg)\n")
        parts += [f"{note}\n" for note in case.notes]
        parts.append(_machine(case.machine))
    parts.append(costs(cases))
    return "\n".join(parts)


def draw_growth(growth: list[Growth], path: Path) -> None:
    """Plot time against size on logarithmic scales, a panel for each kind of size."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    with rc_context({"svg.hashsalt": "oddkernel", "svg.fonttype": "none"}):
        figure = Figure(figsize=(9, 3.6), layout="constrained")
        sizes = list(dict.fromkeys(each.over for each in growth))
        for over, axes in zip(sizes, figure.subplots(1, len(sizes), squeeze=False)[0], strict=True):
            for each in growth:
                if each.over == over:
                    axes.loglog(each.sizes, each.seconds, "o-", label=f"{each.of}\n∝ {over}^{each.exponent:.2f}")
            axes.set(xlabel=over, ylabel="CPU seconds")
            axes.legend(fontsize=7, loc="lower left", bbox_to_anchor=(0, 1), frameon=False)
        figure.savefig(path, metadata={"Date": None})


def _table(case: Case, rows: list[Row]) -> str:
    shown = [name for name in SHOWN if any(name in row.facts for row in rows)]
    header = [rows[0].task, "seconds", "times", "CPU seconds", "memory, MiB", *(SHOWN[name] for name in shown)]
    lines = [_line(header), _line(["---"] + ["---:"] * (len(header) - 1))]
    for row in rows:
        mark = "~" if row.scaled else ""
        seconds, cpu_seconds = f"{mark}{_number(row.seconds)}", f"{mark}{_number(row.cpu_seconds)}"
        facts = [_number(row.facts.get(name)) for name in shown]
        lines.append(_line([row.way, seconds, _number(case.ratio(row)), cpu_seconds, f"{row.peak_mib:.0f}", *facts]))
    return "\n".join(lines) + "\n"


def _growth_table(growth: list[Growth]) -> str:
    lines = [_line(["what", "sizes", "CPU seconds", "exponent", "at the end"]), _line(["---"] * 3 + ["---:"] * 2)]
    for each in growth:
        sizes = f"{each.sizes[0]:,.0f} to {each.sizes[-1]:,.0f} {each.over}"
        seconds = f"{each.seconds[0]:.3g} to {each.seconds[-1]:.3g}"
        lines.append(_line([each.of, sizes, seconds, f"{each.exponent:.2f}", f"{each.last_exponent:.2f}"]))
    return "\n".join(lines) + "\n"


def _machine(machine: dict[str, Any]) -> str:
    versions = ", ".join(f"{name} {machine[name]}" for name in ("python", "numpy", "scipy", "scikit-learn", "numba"))
    return f"*{machine['processor']}, {machine['cores']} cores, threads: {machine['threads']}; {versions}.*\n"


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3g}" if value < 1000 else f"{value:,.0f}"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"
