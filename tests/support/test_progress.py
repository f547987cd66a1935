"""A word on stderr during long work."""

from __future__ import annotations

import io
import re

from oddkernel.support.progress import Progress


def test_nothing_is_said_at_first() -> None:
    stream = io.StringIO()
    Progress(stream=stream, first=60.0)("working")
    assert stream.getvalue() == ""


def test_the_seconds_so_far_are_said() -> None:
    stream = io.StringIO()
    Progress(stream=stream, first=0.0)("working")
    assert re.fullmatch(r"oddkernel: working \(\d+ s\)\n", stream.getvalue())
