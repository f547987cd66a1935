"""Rows of whole numbers, as a text file or as an array in an .npy file."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from reprlib import repr as brief
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..support.text import decode
from ..support.types import Array, Indices

_MAGIC = b"\x93NUMPY"
# np.savetxt writes whole numbers as 3.000000000000000000e+00.
_NUMBER = re.compile(r"-?\d{1,15}(\.\d*)?([eE][+-]?\d{1,2})?", re.ASCII)
# Derived: above 2⁵³, float64 can't represent all whole numbers.
_LARGEST = 2**53


class Grid(NamedTuple):
    """Rows of numbers, and where in the file each stands."""

    rows: Sequence[Sequence[int]]
    places: Sequence[str]

    @classmethod
    def read(cls, data: bytes, width: int | None = None) -> Self:
        """Read a grid with ``width`` columns; None: as many as the first row has."""
        if data.startswith(_MAGIC):
            try:
                array = np.load(io.BytesIO(data), allow_pickle=False)
            except Exception:  # whatever it trips over in a damaged header
                raise ValueError("not a readable .npy file of numbers") from None
            return cls.of(array, width)
        rows, places = [], []
        for number, line in enumerate(decode(data).splitlines(), 1):
            if entries := line.replace(",", " ").split():
                rows.append([_whole(entry, f"line {number}") for entry in entries])
                places.append(f"line {number}")
        for row, place in zip(rows, places, strict=True):
            wanted = width or len(rows[0])
            if len(row) != wanted:
                raise ValueError(f"{place}: {len(row)} numbers; expected {wanted} in every line")
        return cls(rows, places)

    @classmethod
    def of(cls, array: Array, width: int | None = None) -> Self:
        """Take the rows of an array with ``width`` columns; None: any number."""
        if array.ndim != 2 or width not in (None, array.shape[1]):
            wanted = "(m, k)" if width is None else f"(m, {width})"
            raise ValueError(f"an array of shape {array.shape}; expected {wanted}, items by their number")
        return cls(whole_numbers(array).tolist(), [f"row {row}" for row in range(len(array))])


def whole_numbers(array: Array) -> NDArray[np.int64]:
    """Whole numbers, also where they are kept as floats; never truth values or text."""
    if array.dtype.kind in "iuf":
        whole = (np.abs(array) <= _LARGEST) & (array == np.floor(array))
        if not whole.all():
            row = int(np.argwhere(~whole)[0, 0])
            raise ValueError(f"row {row}: {brief(array[row].tolist())}; expected whole numbers")
        return array.astype(np.int64)
    raise ValueError(f"an array of {array.dtype}; expected whole numbers")


def _whole(entry: str, place: str) -> int:
    if len(entry) < 16 and entry.isascii() and entry.isdigit():
        return int(entry)
    if _NUMBER.fullmatch(entry) and abs(number := float(entry)) <= _LARGEST and number.is_integer():
        return int(number)
    raise ValueError(f"{place}: {brief(entry)}; expected whole numbers only, separated by blanks or commas")


def write_grid(rows: Indices) -> bytes:
    """A text file with a line for each row, numbers separated by blanks."""
    return "".join(" ".join(map(str, row)) + "\n" for row in rows.tolist()).encode()
