"""A word on stderr during long work."""

from __future__ import annotations

import io
import re
import threading

from oddkernel.support.progress import Heartbeat, Progress


def test_nothing_is_said_at_first() -> None:
    stream = io.StringIO()
    Progress(stream=stream, first=60.0)("working")
    assert stream.getvalue() == ""


def test_the_seconds_so_far_are_said() -> None:
    stream = io.StringIO()
    Progress(stream=stream, first=0.0)("working")
    assert re.fullmatch(r"oddkernel: working \(\d+ s\)\n", stream.getvalue())


class Heard(io.StringIO):
    """A stream that tells when it was written to."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = threading.Event()

    def flush(self) -> None:
        self.heard.set()


def test_a_heartbeat_repeats_the_last_sentence_during_one_long_step() -> None:
    stream = Heard()
    with Heartbeat("starting", stream=stream, every=0.01) as progress:
        progress("step 1 of 3")
        stream.heard.clear()
        assert stream.heard.wait(60.0)  # nothing is called meanwhile
    assert re.search(r"^oddkernel: step 1 of 3 \(\d+ s\)$", stream.getvalue(), re.MULTILINE)


def test_a_heartbeat_says_nothing_about_short_work() -> None:
    stream = Heard()
    with Heartbeat("starting", stream=stream, every=60.0):
        pass
    assert stream.getvalue() == ""
