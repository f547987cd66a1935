"""The command line: parses, calls, prints."""

from __future__ import annotations

import argparse
import os
import sys
import traceback
import warnings
from collections.abc import Sequence
from pathlib import Path

from ..support.interruptible import INTERRUPTED, hearing_ctrl_c
from . import (
    bench,
    cluster,
    convert,
    demo,
    dimensions,
    features,
    fit,
    index,
    judge,
    plan,
    query,
    questions,
    report,
    reproduce,
    transform,
)
from .items import MODEL_SUFFIX
from .outputs import check_outputs

COMMANDS = (
    demo,
    plan,
    judge,
    questions,
    features,
    fit,
    transform,
    cluster,
    dimensions,
    index,
    query,
    report,
    convert,
    reproduce,
    bench,
)
"""Modules with a function ``add``, which describes a command to the parser and sets ``run`` to what it does."""

FAILED = 2

PATIENT_THREADS = {"OMP_WAIT_POLICY": "passive", "OPENBLAS_THREAD_TIMEOUT": "4"}
"""With these, threads of OpenMP and OpenBLAS sleep while they wait. By default they spin: on two cores that other
programs kept busy, the demo took 113 seconds without these settings and 28 with them."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status: 0, 2 for what the user can mend, 130 after Ctrl-C."""
    if argv is None:  # a program of its own, which has loaded neither library yet
        for name, value in PATIENT_THREADS.items():
            os.environ.setdefault(name, value)
    parser = _parser()
    arguments, unknown = parser.parse_known_args(argv)
    if len(unknown) == 1 and not unknown[0].startswith("-") and getattr(arguments, "answers", "") is None:
        # argparse takes an argument that may be missing for missing if options stand before it.
        arguments.answers = Path(unknown.pop())
    if unknown:
        model = getattr(arguments, "items", None)
        if model is not None and model.suffix == MODEL_SUFFIX:
            return _stop(arguments, f"error: expected the items first, then --model {model}", FAILED)
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if not hasattr(arguments, "run"):
        parser.print_help()
        return 0
    with hearing_ctrl_c() as pressed:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("always", UserWarning)
                # scikit-learn checks the names of features in data frames only; commands check those of their files.
                warnings.filterwarnings("ignore", "X does not have valid feature names", UserWarning)
                warnings.showwarning = _show_warning
                check_outputs(arguments)
                summary = arguments.run(arguments)
        except (KeyboardInterrupt, Exception) as error:
            if isinstance(error, KeyboardInterrupt) or pressed.is_set():
                status = _stop(arguments, "stopped; nothing was left half-written", INTERRUPTED)
                if argv is None:
                    os._exit(status)  # the usual way out waits for a computation that was given up; people don't
                return status
            if isinstance(error, MemoryError):
                return _stop(arguments, f"error: not enough memory for this many items: {_one_line(error)}", FAILED)
            if isinstance(error, (ValueError, OSError, ImportError)):
                return _stop(arguments, f"error: {_one_line(error)}", FAILED)
            raise
    try:
        # A code page of Windows, or LC_ALL=C, has few of the characters that names may hold.
        encoding = sys.stdout.encoding or "utf-8"
        said = summary.json(encoding) if arguments.json else summary.text()
        print(said.encode(encoding, "backslashreplace").decode(encoding), flush=True)
    except BrokenPipeError:  # whoever reads it has seen enough, as in oddkernel fit ... | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="oddkernel",
        description='Learns what "similar" means from people\'s odd-one-out answers.',
        epilog="Each command explains itself: oddkernel fit --help. To see it work: oddkernel demo",
    )
    parser.add_argument("--version", action=_Version, help="say which version this is and stop")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND")
    for command in COMMANDS:
        described = command.add(commands)
        described.formatter_class = argparse.RawDescriptionHelpFormatter
        described.add_argument("--json", action="store_true", help="print the summary as JSON")
        described.add_argument("--debug", action="store_true", help="show where in the code an error arose")
    return parser


class _Version(argparse.Action):
    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest=argparse.SUPPRESS, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from oddkernel import __version__

        print(f"oddkernel {__version__}")
        parser.exit()


def _show_warning(message: Warning | str, *_: object, **__: object) -> None:
    print(f"oddkernel: warning: {_one_line(message)}", file=sys.stderr)


def _stop(arguments: argparse.Namespace, sentence: str, status: int) -> int:
    if arguments.debug:
        traceback.print_exc()
    print(f"oddkernel: {sentence}", file=sys.stderr)
    return status


def _one_line(problem: object) -> str:
    if isinstance(problem, OSError) and problem.strerror:
        problem = f"{problem.filename}: {problem.strerror}" if problem.filename else problem.strerror
    return " ".join(str(problem).split())
