"""What a command has to say: progress while it works, a summary when it is done."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..support.progress import Heartbeat

working = Heartbeat
"""``with working("reading"):`` says on stderr every two seconds what is being worked on."""


@dataclass(frozen=True)
class Summary:
    """The outcome of a command: sentences for a person, and the same facts for a program."""

    sentences: list[str]
    facts: dict[str, Any]

    def text(self) -> str:
        """The sentences, one a line."""
        return "\n".join(self.sentences)

    def json(self, encoding: str = "utf-8") -> str:
        """The facts as a JSON object, which an encoding other than UTF-8 can hold as well."""
        escaped = not encoding.lower().startswith("utf")
        return json.dumps(self.facts, allow_nan=False, ensure_ascii=escaped, indent=2)


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
