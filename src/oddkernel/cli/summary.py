"""What a command has to say: progress while it works, a summary when it is done."""

from __future__ import annotations

import json
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# Seconds until the first word about something that takes long, and between later ones.
PATIENCE = 2.0


@dataclass(frozen=True)
class Summary:
    """The outcome of a command: sentences for a person, and the same facts for a program."""

    sentences: list[str]
    facts: dict[str, Any]

    def text(self) -> str:
        """The sentences, one a line."""
        return "\n".join(self.sentences)

    def json(self) -> str:
        """The facts as a JSON object."""
        return json.dumps(self.facts, allow_nan=False, ensure_ascii=False, indent=2)


@contextmanager
def working(on: str) -> Iterator[None]:
    """Say on stderr every two seconds what is being worked on, for as long as that takes."""
    done = threading.Event()
    started = time.monotonic()

    def tell() -> None:
        while not done.wait(PATIENCE):
            print(f"oddkernel: {on}, {time.monotonic() - started:.0f} s so far", file=sys.stderr, flush=True)

    teller = threading.Thread(target=tell, daemon=True)
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def command_name() -> str:
    """What to type for this program: its name, or its path where the shell would not find it by name."""
    typed = Path(sys.argv[0])
    found = shutil.which("oddkernel")
    if typed.name != "oddkernel" or (found is not None and Path(found).resolve() == typed.resolve()):
        return "oddkernel"
    return str(typed)


def number(value: float) -> float | str:
    """A number that JSON can hold; the others, such as an infinite penalty, by name."""
    return value if abs(value) < float("inf") else str(value)
