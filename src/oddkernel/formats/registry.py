"""The formats that files of answers may have; a further one is a module in `formats.peers` and a line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from ..comparisons.rows import Rows
from . import csv_tables, jsonl_parquet
from .peers import cblearn, central, jspsych, meadows, metric_learn, psiz, salmon, spose, triplettools


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
        Whether it is one of ours, and what a file's name ends with.
    table : bool
        Whether it is a plain table, whose columns may be called otherwise: `read` takes `columns` as well.
    first : int or None
        The number of the first item, where items that have names are written by number.
    """

    read: Callable[..., Rows]
    write: Callable[..., bytes] | None = None
    own: bool = False
    table: bool = False
    first: int | None = None


FORMATS = {
    "csv": Format(csv_tables.csv_rows, csv_tables.write_csv, own=True, table=True),
    "jsonl": Format(jsonl_parquet.jsonl_rows, jsonl_parquet.write_jsonl, own=True),
    "parquet": Format(jsonl_parquet.parquet_rows, jsonl_parquet.write_parquet, own=True),
    "xlsx": Format(csv_tables.excel_rows, table=True),
    "cblearn-list-order": Format(cblearn.read_order, cblearn.write_order, first=0),
    "cblearn-list-count": Format(cblearn.read_count, cblearn.write_count, first=0),
    "cblearn-list-boolean": Format(cblearn.read_boolean, cblearn.write_boolean, first=0),
    "metric-learn-triplets": Format(metric_learn.read_triplets, metric_learn.write_triplets, first=0),
    "metric-learn-quadruplets": Format(metric_learn.read_quadruplets, metric_learn.write_quadruplets, first=0),
    "spose": Format(spose.read, spose.write, first=0),
    "salmon": Format(salmon.read, salmon.write),
    "triplettools": Format(triplettools.read, triplettools.write),
    "jspsych": Format(jspsych.read, jspsych.write),
    "meadows": Format(meadows.read, meadows.write),
    "central": Format(central.read),
    "psiz": Format(psiz.read, psiz.write, first=1),
}
"""Every format by its name."""

OWN = tuple(name for name, format in FORMATS.items() if format.own)
"""The names of our own formats; each is also what a file's name ends with."""

ENDINGS = {**{name: name for name in OWN}, "tsv": "csv", "txt": "csv", "xlsx": "xlsx", "ndjson": "jsonl"}
"""What a file's name may end with, if its format isn't given, and the format to take it for."""
