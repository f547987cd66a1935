"""One pass over a source, block by block, with several threads."""

from __future__ import annotations

import warnings
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

from joblib import cpu_count
from threadpoolctl import threadpool_limits

from ..kernels.distances import BLOCK_ENTRIES
from ..support.checks import is_count, named, require
from ..support.types import Array
from .learned_map import LearnedMap
from .source import Block, Source

# Numbers in a block of items and their images: 32 MiB of float64. Chosen by hand; the results don't depend on it.
BLOCK_NUMBERS = 2**22
# Temporary matrices of the size of a cache that one thread holds at a time. Counted by hand; used to check the memory.
WORKSPACES = 6


class Mapped(NamedTuple):
    """A block of items and its images."""

    block: Block
    images: Array


class Plan(NamedTuple):
    """Size of a block, number of threads, and memory needed."""

    rows: int
    n_jobs: int
    n_bytes: int

    @classmethod
    def of(cls, source: Source, apply: LearnedMap, n_features: int, block: int | None, n_jobs: int | None) -> Plan:
        """Plan a pass over a source."""
        require(is_count(block), "block", block, "a whole number of at least 1, or None")
        require(is_count(n_jobs), "n_jobs", n_jobs, "a whole number of at least 1, or None")
        width = n_features + apply.n_out
        rows = min(block or max(1, BLOCK_NUMBERS // width), source.n_items)
        threads = min(n_jobs or int(cpu_count()), -(-source.n_items // rows))
        in_flight = threads + 2  # one block for each thread, one being read and one being written
        workspace = WORKSPACES * 8 * BLOCK_ENTRIES
        return cls(rows, threads, apply.n_bytes + in_flight * rows * width * 8 + threads * workspace)


def mapped(
    source: Source, apply: LearnedMap, plan: Plan, progress: Callable[[str], None] | None = None
) -> Iterator[Mapped]:
    """The images of all blocks in order; warns at the end about items that φ hardly represents."""
    far: list[int] = []
    n_far = 0
    # Parallel over blocks, with one BLAS thread for each product. The blocks don't depend on the number of threads.
    with threadpool_limits(1, "blas"), ThreadPoolExecutor(plan.n_jobs) as pool:
        waiting: deque[tuple[Block, Future[Any]]] = deque()

        def finished() -> Mapped:
            nonlocal n_far
            block, future = waiting.popleft()
            images, unreached = future.result()
            n_far += len(unreached)
            far.extend((block.start + unreached[: 10 - len(far)]).tolist())
            if progress:
                progress(f"{block.start + len(images)} of {source.n_items} items")
            return Mapped(block, images)

        try:
            for block in source.blocks(plan.rows):
                waiting.append((block, pool.submit(apply, block.X)))
                if len(waiting) > plan.n_jobs:
                    yield finished()
            while waiting:
                yield finished()
        finally:
            for _, future in waiting:
                future.cancel()
    if n_far:
        more = f" ({n_far} in all)" if n_far > len(far) else ""
        warnings.warn(
            f"{named(far)}{more}: so far from everything seen in fit that the learned kernel says next to nothing "
            "about these items.",
            UserWarning,
            stacklevel=3,
        )
