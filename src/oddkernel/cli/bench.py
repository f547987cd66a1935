"""``oddkernel bench``: speed and memory, beside what a person would use instead."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .outputs import add_output
from .summary import Summary, working

if TYPE_CHECKING:
    from oddkernel_benchmarks.results import Case

CASES = ("paper", "answers", "items", "clustering", "first_call", "growth")
PAGE = "page"


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "bench",
        help="measure speed and memory beside the alternatives",
        description="Measures speed and memory, each in a process of its own, beside what a person would use instead:\n"
        "  paper       the paper's workload, beside the published code, its way in NumPy and CVXPY\n"
        "  answers     145,177 answers, and part of them beside cblearn\n"
        "  items       a million items, beside scikit-learn's Nystroem and MiniBatchKMeans\n"
        "  clustering  kernel k-means beside scikit-learn's k-means\n"
        "  first_call  a fresh process, with and without compiled code\n"
        "  growth      how time grows with items, answers and dimensions\n"
        "Without CASE all of them, for which an hour is little. Real data are taken from the folder that\n"
        "ODDKERNEL_DATA names, and stand-ins where there are none. 'page' measures nothing: it writes a page of the\n"
        "results that --out holds.",
        epilog="examples:\n"
        "  oddkernel bench paper\n"
        "  oddkernel bench answers growth --out results\n"
        "  oddkernel bench --out results\n"
        "  oddkernel bench page --out results --page benchmarks.md",
    )
    parser.add_argument("case", metavar="CASE", nargs="*", type=_case, help="which ones; by default all")
    add_output(parser, "--out", folder=True, metavar="DIR", help="folder that keeps the results, a JSON file a case")
    add_output(parser, "--page", metavar="FILE", help="where to write the page (benchmarks.md, in --out)")
    parser.add_argument("--size", choices=("full", "tiny"), default="full", help="tiny: only to see that it works")
    parser.set_defaults(run=run)
    return parser


def _case(name: str) -> str:
    if name not in (*CASES, PAGE):
        raise argparse.ArgumentTypeError(f"{name!r} is no case; choose from {', '.join((*CASES, PAGE))}")
    return name


def run(arguments: argparse.Namespace) -> Summary:
    """Measure, keep, show."""
    if find_spec("oddkernel_benchmarks") is None:
        raise ImportError("the benchmarks are not installed: install oddkernel anew (make demo, or pip install -e .)")
    if PAGE in arguments.case:
        if len(arguments.case) > 1:
            raise ValueError("'page' stands alone: first measure, then write the page of what was measured")
        return _page(arguments)
    with working("starting"):
        import oddkernel_benchmarks as benchmarks

        from ..support.progress import Progress
    tell = Progress(first=0.0, every=0.0)
    cases = []
    for name in arguments.case or CASES:
        tell(f"measuring {name}")
        case = benchmarks.CASES[name](arguments.size, tell)
        if arguments.out is not None:
            case.save(arguments.out)
        cases.append(case)
    kept = [] if arguments.out is None else [f"Results: {arguments.out}"]
    sentences = [line for case in cases for line in _lines(case)]
    return Summary(sentences + kept, {"cases": [case.facts() for case in cases]})


def _page(arguments: argparse.Namespace) -> Summary:
    with working("writing the page"):
        from oddkernel_benchmarks import page

        written = page.write(arguments.out or Path(), arguments.page)
    return Summary([f"Page: {written}"], {"page": str(written)})


def _lines(case: Case) -> list[str]:
    lines = ["", case.title]
    for row in case.rows:
        mark = "~" if row.scaled else " "
        residual = f", residual {row.facts['residual']:.0e}" if "residual" in row.facts else ""
        lines.append(
            f"  {row.task}: {row.way}\n    {mark}{row.seconds:.4g} s, {case.ratio(row):.3g} times the first, "
            f"{row.peak_mib:.0f} MiB{residual}"
        )
    lines += [f"  {each.of}: time grows as {each.over}^{each.exponent:.2f}" for each in case.growth]
    return lines
