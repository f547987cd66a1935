"""Costs for more items than were measured, extrapolated from the measurements."""

from __future__ import annotations

from .items import COORDINATES, FLOAT32, GROUPED, GROUPS
from .results import Case, Row

# Numbers of items to extrapolate to.
MORE = (10_000_000, 100_000_000, 1_000_000_000)
DAY = 24 * 3600
FEATURES = 64  # features of an item in the case `items`


def costs(cases: list[Case]) -> str:
    """A section of the page; empty if the items weren't measured."""
    by_name = {case.name: case for case in cases}
    if "items" not in by_name:
        return ""
    rows = by_name["items"].rows
    coordinates, groups = _row(rows, COORDINATES, FLOAT32), _row(rows, GROUPS, GROUPED)
    n, rank = int(coordinates.facts["n_items"]), int(coordinates.facts["rank"])
    slopes = [each for each in by_name["growth"].growth if each.over == "items"] if "growth" in by_name else []
    measured = "; ".join(f"{each.of} grows as items^{each.last_exponent:.2f} at the end" for each in slopes)
    lines = [
        "## What more items would cost",
        "",
        "Every item is processed independently, so that time is proportional to the number of items"
        f"{f' ({measured})' if measured else ''}. Of {n:,} items with {FEATURES} features, coordinates ({rank} of "
        f"them, in float32) took {coordinates.cpu_seconds:.3g} CPU seconds and groups {groups.cpu_seconds:.3g}, and so",
        "",
        "| items | features, file | coordinates, file | coordinates, CPU time | groups, CPU time |"
        " two-core machines, for both in a day | index, 4 bytes a number | 1 byte |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for size in (n, *(more for more in MORE if more > n)):
        times = size / n
        seconds = [times * coordinates.cpu_seconds, times * groups.cpu_seconds]
        cells = [
            f"{size:,}",
            _bytes(4 * size * FEATURES),
            _bytes(4 * size * rank),
            *map(_duration, seconds),
            f"{max(1, -(-sum(seconds) // (2 * DAY))):.0f}",
            _bytes(4 * size * rank),
            _bytes(size * rank),
        ]
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        "The first row is measured, the others are multiples of it. Memory doesn't grow: it stays at "
        f"{max(coordinates.peak_mib, groups.peak_mib):.0f} MiB. Groups don't need the file of coordinates; an index "
        "holds coordinates in memory, with 4 bytes or 1 byte for each number. Fewer dimensions (`rank=`) make "
        "coordinates and index proportionally smaller.",
        "",
    ]
    return "\n".join(lines)


def _row(rows: list[Row], task: str, way: str) -> Row:
    return next(row for row in rows if (row.task, row.way) == (task, way))


def _bytes(number: float) -> str:
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} TB"


def _duration(seconds: float) -> str:
    for unit, length in (("days", DAY), ("h", 3600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds / length:.3g} {unit}"
    return f"{seconds:.3g} s"
