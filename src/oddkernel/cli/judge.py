"""``oddkernel judge``: a page where people answer, from a folder of items."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from .summary import Summary, working


def add(commands: Any) -> argparse.ArgumentParser:
    """Describe the command."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "judge",
        help="open a page where people answer, or export what they answered",
        description="Opens a page where people say which of three items is least like the other two.\n\n"
        "STUDY is a folder of images, sounds or videos, or a CSV or Parquet table with a column called text or path.\n"
        "Its settings are in study.toml, which is written at the first start.",
        epilog="examples:\n  oddkernel judge photos/\n  oddkernel judge photos/ --export answers.parquet",
    )
    parser.add_argument("study", metavar="STUDY", type=Path, help="a folder of items, or a table of texts or paths")
    parser.add_argument("--features", metavar="FILE", type=Path, help="features of the items, with their names")
    parser.add_argument("--database", metavar="URL", help="postgresql://user:password@host/name, in place of a file")
    serving = parser.add_argument_group("serving")
    serving.add_argument("--host", default="127.0.0.1", help="address to listen on (127.0.0.1: this machine only)")
    serving.add_argument("--port", type=int, default=8000, help="port to listen on (8000); 0 takes any that is free")
    serving.add_argument("--no-browser", action="store_true", help="don't open the browser")
    parser.set_defaults(run=run)
    return parser


def run(arguments: argparse.Namespace) -> Summary:
    """Serve until Ctrl-C."""
    with working("opening the study"):
        from ..judge.server import LOOPBACK, Server
        from ..judge.study import Study

        study = Study.open(arguments.study, arguments.features)
        server = Server(study, database=arguments.database, host=arguments.host, port=arguments.port)

    def tell() -> None:
        print(f"{len(study.items)} items. The page: {server.url}", file=sys.stderr)
        print(f"For the experimenter alone: {server.experimenter_url}", file=sys.stderr, flush=True)
        if not arguments.no_browser:
            import webbrowser

            webbrowser.open(server.url)

    if arguments.host not in LOOPBACK:
        print(f"oddkernel: warning: {arguments.host} can be reached by others", file=sys.stderr)
    started = time.monotonic()
    server.run(tell)
    return Summary(["Stopped."], {"seconds": round(time.monotonic() - started)})
