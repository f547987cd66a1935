"""Archives of texts and arrays: zip files that anyone can open and that can do no harm when they are opened.

Nothing is compressed, so that no archive grows when it is read, and arrays are plain numbers, never pickled objects.
"""

from __future__ import annotations

import io
import math
import zipfile
from collections.abc import Mapping
from reprlib import repr as brief

import numpy as np
from numpy.lib import format as npy

from .types import Array

# What arrays may hold: floats, whole numbers and truth values, as this package writes them.
_TYPES = {"<f8", "<i8", "|b1"}
# The same archive for the same content, whenever it is written.
_NO_DATE = (1980, 1, 1, 0, 0, 0)


def pack(parts: Mapping[str, bytes]) -> bytes:
    """An archive of named parts."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
        for name, data in parts.items():
            archive.writestr(zipfile.ZipInfo(name, _NO_DATE), data)
    return file.getvalue()


def unpack(data: bytes) -> dict[str, bytes]:
    """The named parts of an archive; raises a ValueError unless it is whole and was written by `pack`."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = archive.infolist()
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries):
                raise ValueError("the archive holds compressed parts; expected all of them stored as they are")
            if sum(entry.file_size for entry in entries) > len(data):
                raise ValueError("the archive declares more content than it has bytes")
            if len({entry.filename for entry in entries}) < len(entries):
                raise ValueError("the archive holds two parts of one name")
            return {entry.filename: archive.read(entry) for entry in entries}
    # Besides BadZipFile, zipfile raises these on damaged headers, encrypted parts and parts that end too soon.
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, EOFError, OSError) as error:
        raise ValueError(f"not a readable zip archive ({error})") from None


def array_to_bytes(array: Array) -> bytes:
    """An array as the content of an .npy file."""
    file = io.BytesIO()
    kind = {"f": "<f8", "i": "<i8", "b": "|b1"}[array.dtype.kind]
    npy.write_array(file, array.astype(kind, copy=False), version=(1, 0), allow_pickle=False)
    return file.getvalue()


def array_from_bytes(data: bytes) -> Array:
    """The array in an .npy file of `array_to_bytes`; raises a ValueError on anything else."""
    file = io.BytesIO(data)
    if npy.read_magic(file) != (1, 0):
        raise ValueError("the array is in an unknown version of the .npy format; expected 1.0")
    shape, column_major, dtype = npy.read_array_header_1_0(file)
    if dtype.str not in _TYPES:
        raise ValueError(f"the array holds {brief(dtype.str)}; expected one of {', '.join(sorted(_TYPES))}")
    content = data[file.tell() :]
    # NumPy's own reader would set memory aside for whatever shape the header declares.
    if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != len(content):
        raise ValueError(f"the array declares shape {brief(shape)}, which doesn't fit its {len(content)} bytes")
    array = np.frombuffer(content, dtype).reshape(shape, order="F" if column_major else "C")
    return array.copy(order="K").astype(dtype.newbyteorder("="), copy=False)
