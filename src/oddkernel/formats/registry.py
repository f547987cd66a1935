"""The formats that files of answers may have; a further one is a module in `formats.peers` and a line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from . import own
from .peers import cblearn, central, jspsych, meadows, metric_learn, psiz, salmon, spose, triplettools
from .rows import Rows


class Format(NamedTuple):
    """How to read and write one format.

    Attributes
    ----------
    read : callable
        Turns the bytes of a file into `Rows`.
    write : callable or None
        Turns `Comparisons` into bytes; None where the format can only be read. A writer of our own formats takes the
        details of the answers as well.
    own : bool
        Whether it is one of ours: it leaves no doubt about what is meant, and is what a file's name ends with.
    """

    read: Callable[[bytes], Rows]
    write: Callable[..., bytes] | None = None
    own: bool = False


FORMATS = {
    "csv": Format(own.csv_rows, own.write_csv, own=True),
    "jsonl": Format(own.jsonl_rows, own.write_jsonl, own=True),
    "parquet": Format(own.parquet_rows, own.write_parquet, own=True),
    "cblearn-list-order": Format(cblearn.read_order, cblearn.write_order),
    "cblearn-list-count": Format(cblearn.read_count, cblearn.write_count),
    "cblearn-list-boolean": Format(cblearn.read_boolean, cblearn.write_boolean),
    "metric-learn-triplets": Format(metric_learn.read_triplets, metric_learn.write_triplets),
    "metric-learn-quadruplets": Format(metric_learn.read_quadruplets, metric_learn.write_quadruplets),
    "spose": Format(spose.read, spose.write),
    "salmon": Format(salmon.read, salmon.write),
    "triplettools": Format(triplettools.read, triplettools.write),
    "jspsych": Format(jspsych.read, jspsych.write),
    "meadows": Format(meadows.read, meadows.write),
    "central": Format(central.read),
    "psiz": Format(psiz.read, psiz.write),
}
"""Every format by its name."""

OWN = tuple(name for name, format in FORMATS.items() if format.own)
"""The names of our own formats; each is also what a file's name ends with."""
