"""Excel workbooks, the only files that need openpyxl."""

from __future__ import annotations

import io
import warnings
from datetime import date, datetime, time
from typing import Any

from .text import Records


def workbook_records(data: bytes) -> Records:
    """Place and cells, as text, of each row of the one sheet of an .xlsx file that isn't empty."""
    sheets = {name: records for name, records in _sheets(data) if records}
    if len(sheets) > 1:
        names = ", ".join(map(repr, sheets))
        raise ValueError(
            f"sheets {names} all hold something; expected one sheet: save the one that is meant as a file of its own"
        )
    return next(iter(sheets.values()), [])


def _sheets(data: bytes) -> list[tuple[str, Records]]:
    try:
        import openpyxl
    except ImportError:
        raise ImportError('Excel files need openpyxl: pip install "oddkernel[excel]"') from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about styles and rules, which play no part
            book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
            values = [(sheet.title, list(sheet.iter_rows(values_only=True))) for sheet in book.worksheets]
    except Exception as error:  # whatever it trips over in a damaged file
        raise ValueError(f"not a readable .xlsx file ({error})") from None
    return [(title, _filled(rows)) for title, rows in values]


def _filled(rows: list[tuple[Any, ...]]) -> Records:
    """The rows without empty ones at the end."""
    records = [(f"row {number}", [_text(value) for value in values]) for number, values in enumerate(rows, 1)]
    while records and not any(records[-1][1]):
        records.pop()
    return records


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, (datetime, date, time)):
        return value.isoformat()
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)
