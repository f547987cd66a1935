"""The numbers printed in the paper, for comparison."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

_PRINTED = json.loads(files(__package__).joinpath("paper.json").read_text(encoding="utf-8"))

TABLE1: dict[str, dict[str, dict[str, float]]] = _PRINTED["table1"]
"""Adjusted Rand index by data set, resolution and method."""

RUNNING_TIME: dict[str, Any] = _PRINTED["running_time"]
"""Seconds that the paper's code took, and its number of passes."""


def printed_as(method: str) -> str:
    """The name in the paper's table that a method of ours is compared with; SKLR for every form of SKLR."""
    return method.split("_")[0]
