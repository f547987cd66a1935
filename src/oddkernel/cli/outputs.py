"""What a command writes: checked before any work, and never the only copy of what it reads."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..support.files import check_file_place, check_folder_place
from .items import streams

TEXTS = ("encoder", "queries")
"""Arguments that are text, and may be the name of a file."""


def add_output(
    parser: argparse._ActionsContainer, *names: str, folder: bool = False, over: str | None = None, **options: Any
) -> None:
    """Describe an argument that names a file to write.

    Parameters
    ----------
    parser : argument parser or group of arguments
        Where to describe it.
    *names : str
        What it is called.
    folder : bool
        Whether it is a folder instead, which is made if it isn't there.
    over : str, optional
        An argument whose file this one may replace.
    **options
        Everything else that argparse takes.
    """
    options.setdefault("type", Path if folder else output_file)
    added = parser.add_argument(*names, **options)
    flag = names[0] if names[0].startswith("-") else str(options["metavar"])
    parser.set_defaults(outputs={**(parser.get_default("outputs") or {}), added.dest: (flag, folder, over)})


def output_file(text: str) -> Path:
    """The name of a file, as it was typed; one that ends like a folder's is refused."""
    if text.endswith(tuple(filter(None, (os.sep, os.altsep)))):
        raise argparse.ArgumentTypeError(f"{text} is a folder; expected the name of a file in it")
    return Path(text)


def check_outputs(arguments: argparse.Namespace) -> None:
    """Raise unless every file that the command was told to write can be written, and is none that it reads."""
    outputs = getattr(arguments, "outputs", {})
    for argument, (flag, is_folder, over) in outputs.items():
        out = getattr(arguments, argument)
        if out is None or out == "":
            continue
        (check_folder_place if is_folder else check_file_place)(out)
        check_not_read(arguments, out, flag, over)


def check_output(arguments: argparse.Namespace, out: Path) -> None:
    """The same for one file that the command writes without being told its name."""
    check_file_place(out)
    check_not_read(arguments, out)


def check_not_read(arguments: argparse.Namespace, out: Path, flag: str = "", over: str | None = None) -> None:
    """Raise if a file to write is one of those that the command reads, or would be taken for one of its items."""
    named = f"{flag} {out}" if flag.startswith("-") else str(out)
    for read in _inputs(arguments, over):
        if out.exists() and read.exists() and out.samefile(read):
            typed = "" if out == read else f" as {read}"
            raise ValueError(
                f"{named}: this is what the command reads{typed}, and would be overwritten; expected another name"
            )
        if read.is_dir() and out.resolve().parent == read.resolve() and _is_item(out, read):
            raise ValueError(f"{named}: would be taken for an item in {read}; expected a name in another folder")


def _inputs(arguments: argparse.Namespace, over: str | None) -> Iterator[Path]:
    """The files and folders that a command was told to read."""
    outputs = getattr(arguments, "outputs", {})
    for argument, value in vars(arguments).items():
        if argument in outputs or argument == over:
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, Path) or (argument in TEXTS and isinstance(each, str)):
                yield Path(each)


def _is_item(out: Path, folder: Path) -> bool:
    """Whether a file in a folder of items is, or would become, one of them."""
    from ..items.image_files import IMAGES

    suffix = out.suffix.lower()
    return suffix in IMAGES or (suffix == ".parquet" and streams(folder))
