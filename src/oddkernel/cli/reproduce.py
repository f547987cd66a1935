"""``oddkernel reproduce``: the experiments of the paper, run anew."""

from __future__ import annotations

import argparse
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from ..support.progress import Progress
from .outputs import add_output
from .summary import Summary, working

PAPER = ("table1", "curves", "generalization", "noise", "equalities", "map", "running_time")
PEOPLE = ("things", "cars60", "encoders", "unseen")
OURS = ("next_question", "forms", "things_dimensions")
PAGE = "page"
NEEDED = ("matplotlib", "pandas", "pyarrow")


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "reproduce",
        help="run an experiment of the paper anew, and hold the results against the paper's",
        description="Runs an experiment of the paper and writes its tables and figures, the paper's own beside ours.\n"
        "Results are kept as they come: an interrupted run goes on where it ended, and more draws add to\n"
        "those there are. 'page' measures nothing and writes one page with all that has been measured.",
        epilog="example:\n  oddkernel reproduce table1 --draws 30 --jobs 2",
    )
    parser.add_argument("experiment", choices=(*PAPER, *PEOPLE, *OURS, PAGE), help="which one, or page")
    parser.add_argument("--draws", type=int, default=30, metavar="N", help="repetitions (30)")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="processes at work (1)")
    add_output(
        parser,
        "--out",
        folder=True,
        metavar="DIR",
        default=Path("oddkernel-paper"),
        help="folder to write to (oddkernel-paper)",
    )
    add_output(
        parser, "--results", folder=True, metavar="DIR", help="folder that holds the results (results, in --out)"
    )
    parser.add_argument(
        "--again", metavar="METHOD", action="append", default=[], help="measure this method or policy anew"
    )
    parser.add_argument("--answers", type=int, metavar="N", help="unseen: learn from at most this many answers (all)")
    parser.add_argument(
        "--with",
        dest="encoder",
        metavar="ENCODER",
        help="encoders: measure this one, as in oddkernel features: clip, an .onnx file, or a file of features",
    )
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Measure what is missing, then write what all results show."""
    for name in ("draws", "jobs", "answers"):
        if getattr(arguments, name) is not None and getattr(arguments, name) < 1:
            raise ValueError(f"--{name} {getattr(arguments, name)}; expected a number of at least 1")
    absent = [name for name in NEEDED if find_spec(name) is None]
    if absent:
        raise ImportError(f'the experiments need {" and ".join(absent)}: pip install "oddkernel[paper]"')
    if find_spec("oddkernel_experiments") is None:
        raise ImportError("the experiments are not installed: install oddkernel anew (make demo, or pip install -e .)")
    with working("starting"):
        import oddkernel_experiments as experiments

    results = arguments.results or arguments.out / "results"
    if arguments.experiment == PAGE and not results.is_dir():
        raise ValueError(
            f"{results}: no results are there; measure some first, such as oddkernel reproduce table1, or name their "
            "folder with --results"
        )
    names = PAPER if arguments.experiment == PAGE else (arguments.experiment,)
    chosen = {name: experiments.with_options(name, arguments.answers, arguments.encoder) for name in names}
    measured = 0
    if arguments.experiment != PAGE:
        experiments.forget(results, arguments.again)
        measured = chosen[arguments.experiment].compute(
            results, draws=arguments.draws, jobs=arguments.jobs, tell=Progress(every=5.0)
        )
    with working("drawing"):
        outcomes = {name: each.show(results, draws=arguments.draws) for name, each in chosen.items()}
        name = "paper" if arguments.experiment == PAGE else arguments.experiment
        page = experiments.write(arguments.out, name, outcomes)
    sentences = [
        text
        for outcome in outcomes.values()
        for text in [*(f"{table.text()}\n" for table in outcome.tables), *outcome.remarks]
    ]
    return Summary(
        [*(sentences if arguments.experiment != PAGE else []), f"{measured} trials measured now.", f"Page: {page}"],
        {
            "experiment": arguments.experiment,
            "draws": arguments.draws,
            "measured": measured,
            "results": str(results),
            "page": str(page),
            **{name: outcome.facts for name, outcome in outcomes.items()},
        },
    )
