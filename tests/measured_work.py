"""Work that tests have measured in a process of its own, which imports nothing else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from oddkernel_benchmarks.measure import Clock


def sum_twice(clock: Clock, *, n: int) -> dict[str, Any]:
    return {"total": clock.time(lambda: sum(range(n)), 2)}


def fail(clock: Clock) -> dict[str, Any]:
    raise ValueError("no such thing")


def say_where(clock: Clock) -> dict[str, Any]:
    """Of a module that only the other checkout has."""
    clock.time(dict)
    import somewhere

    return {"where": somewhere.WHERE}
