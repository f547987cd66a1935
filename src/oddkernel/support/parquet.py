"""pyarrow, which only Parquet files need."""

from __future__ import annotations

from typing import Any


def pyarrow() -> Any:
    """The module, or an error that says how to get it."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError("Parquet files need pyarrow: pip install oddkernel[parquet]") from None
    return pyarrow
