"""Learning in a separate process, so that a server has neither its work nor its memory."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from ..comparisons import Comparisons
from .adaptive import prepare
from .belief import Belief, Space

MOST_ANSWERS = 20_000
"""Largest number of answers that are learned from. Chosen by hand: it bounds time and memory."""


class LearningProcess:
    """A process that learns from answers; it starts when it is first needed.

    Parent and child exchange pickles over the child's standard input and output, which no other process can write to.

    Parameters
    ----------
    features : ndarray of shape (n_items, d)
        The items' features.
    prepared : bool, default=False
        Whether to compute with each belief what the first choice of `informative` or `diverse` needs.
    """

    def __init__(self, features: NDArray[np.float64], *, prepared: bool = False) -> None:
        self._task = features, prepared
        self._process: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._space: Space | None = None

    def learn(self, said: Comparisons) -> Belief:
        """Learn from the answers; waits for the process. If it has ended, the next call starts another."""
        process, is_new = self._running()
        try:
            if is_new:
                pickle.dump(self._task, cast(BinaryIO, process.stdin), protocol=5)
            pickle.dump(said.with_names(None), cast(BinaryIO, process.stdin), protocol=5)
            cast(BinaryIO, process.stdin).flush()
            reply: dict[str, Any] = pickle.load(cast(BinaryIO, process.stdout))
        except (OSError, EOFError, pickle.UnpicklingError) as error:
            self._end()
            raise RuntimeError("the process that learns was ended") from error
        if "problem" in reply:
            raise RuntimeError(reply["problem"])
        self._space = reply.pop("space") or self._space
        return Belief(space=cast(Space, self._space), **reply)

    def close(self) -> None:
        """End the process, also in the middle of learning."""
        with self._lock:
            self._closed = True
        self._end()

    def _running(self) -> tuple[subprocess.Popen[bytes], bool]:
        """The process, and whether it was started just now, so that it has no task yet."""
        with self._lock:
            if self._closed:
                raise RuntimeError("closed")
            is_new = self._process is None
            if self._process is None:
                one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
                self._process = subprocess.Popen(
                    [sys.executable, "-m", __name__],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    env={**os.environ, **one_thread},
                    # A terminal sends Ctrl-C to the whole group of a program. The parent hears it and ends this one.
                    process_group=0,
                    creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
                )
            return self._process, is_new

    def _end(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):  # what was still to be written has no reader
                        pipe.close()


def bounded(said: Comparisons, most: int = MOST_ANSWERS) -> Comparisons:
    """At most `most` of the answers, drawn at random such that one more answer changes at most one of them.

    Examples
    --------
    >>> said = Comparisons.odd_one_out([[0, 1, 2]] * 100, [0] * 100)
    >>> len(bounded(said, 10)), len(bounded(said, 1000))
    (10, 100)
    """
    if len(said) <= most:
        return said
    drawn = np.random.default_rng(0).random(len(said))  # the same numbers for the answers that were there before
    return said[np.sort(np.argpartition(drawn, most)[:most])]


def main() -> None:
    """Read tasks from stdin until it ends, and write what was learned to stdout."""
    with suppress(EOFError, pickle.UnpicklingError, OSError):  # the parent has ended, perhaps within a sentence
        _learn_what_comes()


def _learn_what_comes() -> None:
    if hasattr(os, "nice"):
        os.nice(19)  # the lowest priority: people's answers come first
    replies, sys.stdout = sys.stdout.buffer, sys.stderr
    features, prepared = pickle.load(sys.stdin.buffer)
    rng = np.random.default_rng()
    last: Belief | None = None
    while True:
        said: Comparisons = pickle.load(sys.stdin.buffer)
        try:
            is_first = last is None
            last = Belief.learn(features, bounded(said), last=last)
            if prepared:
                prepare(last, rng)
            reply = {**last.known(), "space": last.space if is_first else None}
        except Exception as error:
            reply = {"problem": f"{type(error).__name__}: {error}"}
        pickle.dump(reply, replies, protocol=5)
        replies.flush()


if __name__ == "__main__":
    main()
