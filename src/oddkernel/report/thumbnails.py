"""Thumbnails of items, packed on sheets."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..items.image_files import IMAGES, open_image, upright

if TYPE_CHECKING:
    from PIL.Image import Image

LARGEST, SMALLEST = 96, 24
"""Pixels along a thumbnail's side, fewer for more items. Chosen by hand."""
PIXELS = 20_000_000  # of all thumbnails together, about 5 MB of photographs; chosen by hand
SHEET = 2048  # pixels along a sheet's side; chosen by hand
TINY = 32  # pictures up to this size are kept pixel by pixel; chosen by hand


@dataclass(frozen=True, eq=False)
class Thumbnails:
    """Sheets of thumbnails, row by row in the items' order.

    Attributes
    ----------
    side : int
        Pixels along a thumbnail's side.
    columns : int
        Thumbnails in a row; a sheet has at most as many rows.
    sheets : list of bytes
        WebP images.
    exact : bool
        Whether the thumbnails are the original pictures, pixel by pixel.
    """

    side: int
    columns: int
    sheets: list[bytes]
    exact: bool


def make_thumbnails(images: Sequence[Any] | np.ndarray[Any, Any]) -> Thumbnails:
    """Shrink pictures and pack them on sheets.

    Parameters
    ----------
    images : sequence of n files, PIL images or arrays
        Arrays have shape (height, width), with 3 or 4 channels as a third axis where there is colour; uint8, or numbers
        that are stretched to the range from black to white over all images together. The place of a file that can't be
        read stays empty, and a warning names it.

    Examples
    --------
    >>> import numpy as np
    >>> small = make_thumbnails(np.random.default_rng(0).random((30, 8, 8)))
    >>> small.side, small.columns, len(small.sheets), small.exact
    (8, 6, 1, True)
    """
    require_pillow()
    from PIL import Image

    stretch = _range_of(images)
    n = len(images)
    side = max(SMALLEST, min(LARGEST, int((PIXELS / max(n, 1)) ** 0.5)))
    damaged: dict[int, str] = {}
    first = [_opened(images[row], row, stretch, side, damaged) for row in range(min(n, 50))]
    exact = all(max(image.size) <= TINY for image in first)
    if exact:
        side = max(max(image.size) for image in first)
    columns = min(SHEET // side, int(np.ceil(n**0.5)))
    sheets = []
    for start in range(0, n, columns**2):
        rows = range(start, min(n, start + columns**2))
        sheet = Image.new("RGBA", (side * columns, side * -(-len(rows) // columns)))
        for place, row in enumerate(rows):
            image = _opened(images[row], row, stretch, side, damaged)
            if max(image.size) > side:
                image.thumbnail((side, side), Image.Resampling.LANCZOS, reducing_gap=2)
            left, top = (side - image.width) // 2, (side - image.height) // 2
            sheet.paste(image.convert("RGBA"), (side * (place % columns) + left, side * (place // columns) + top))
        file = io.BytesIO()
        sheet.save(file, "WEBP", quality=78, lossless=exact)
        sheets.append(file.getvalue())
    if damaged:
        told = "; ".join(damaged.values())
        if len(damaged) == n:
            raise ValueError(f"{told}; expected at least one image that can be read")
        warnings.warn(f"left out, {len(damaged)} of {n} images: {told}", UserWarning, stacklevel=2)
    return Thumbnails(side, columns, sheets, exact)


def images_in(folder: str | os.PathLike[str], names: Sequence[str]) -> list[Path]:
    """The image files of items in a folder: named like the items, with or without an ending.

    Raises a ValueError that says which item has none.
    """
    there = sorted(path for path in Path(folder).iterdir() if path.suffix.lower() in IMAGES)
    by_name = {path.stem: path for path in there} | {path.name: path for path in there}
    missing = [name for name in names if name not in by_name]
    if missing:
        raise ValueError(
            f"{os.fspath(folder)}: no image for {len(missing)} of {len(names)} items, the first being {missing[0]!r}; "
            f"expected files called like the items, ending with {', '.join(IMAGES)}"
        )
    return [by_name[name] for name in names]


def require_pillow() -> None:
    """Raise an ImportError that says what to install, unless pictures can be read."""
    if find_spec("PIL") is None:
        raise ImportError('thumbnails need Pillow: pip install "oddkernel[report]"')


def _opened(source: Any, row: int, stretch: tuple[float, float], side: int, damaged: dict[int, str]) -> Image:
    from PIL import Image

    if isinstance(source, Image.Image):
        return source.copy()
    if isinstance(source, (str, os.PathLike)):
        try:
            with open_image(source) as file:
                file.draft("RGB", (2 * side, 2 * side))  # a JPEG is then decoded at a fraction of its size
                return upright(file).convert("RGBA")
        except ValueError as error:
            damaged[row] = f"image {row}, {os.fspath(source)}: can't be read ({error})"
            return Image.new("RGBA", (1, 1))
    array = np.asarray(source)
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (3, 4)) or array.dtype.kind not in "fiub":
        raise ValueError(
            f"image {row} is {array.dtype} of shape {array.shape}; expected (height, width), or 3 or 4 channels in "
            "addition, or a file"
        )
    if array.dtype != np.uint8:
        low, high = stretch
        array = np.round(255 * (array - low) / ((high - low) or 1.0)).astype(np.uint8)
    return Image.fromarray(array)


def _range_of(images: Sequence[Any] | np.ndarray[Any, Any]) -> tuple[float, float]:
    numbers = [image for image in images if isinstance(image, np.ndarray) and image.dtype.kind in "fiub" and image.size]
    if not numbers:
        return 0.0, 1.0
    return float(min(image.min() for image in numbers)), float(max(image.max() for image in numbers))
