"""The figures printed in the paper, to stand beside ours."""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any

_PRINTED = json.loads(files(__package__).joinpath("paper.json").read_text(encoding="utf-8"))

TABLE1: dict[str, dict[str, dict[str, float]]] = _PRINTED["table1"]
"""Adjusted Rand index by data set, resolution and method."""

RUNNING_TIME: dict[str, Any] = _PRINTED["running_time"]
"""Seconds that the paper's code took for so many passes."""


def printed_as(method: str) -> str:
    """Under which name of the paper's table a method of ours belongs: every SKLR stands beside the paper's one."""
    return method.split("_")[0]
