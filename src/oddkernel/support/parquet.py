"""Parquet files, the only ones that need pyarrow."""

from __future__ import annotations

from typing import Any


def pyarrow() -> Any:
    """The module, or an error that says how to get it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError('Parquet files need pyarrow: pip install "oddkernel[parquet]"') from None
    return pyarrow


def read_table(data: bytes) -> Any:
    """The table in a Parquet file, or a ValueError if there is none."""
    arrow = pyarrow()
    try:
        return arrow.parquet.ParquetFile(arrow.BufferReader(data)).read()
    except (arrow.ArrowException, OSError) as error:
        raise ValueError(f"not a readable Parquet file ({error})") from None


def table_to_bytes(table: Any) -> bytes:
    """A table as the content of a Parquet file."""
    arrow = pyarrow()
    sink = arrow.BufferOutputStream()
    arrow.parquet.write_table(table, sink)
    return bytes(sink.getvalue())
