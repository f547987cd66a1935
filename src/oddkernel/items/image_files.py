"""Image files from outside, opened with care."""

from __future__ import annotations

import os
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import PIL.Image

FORMATS = ("PNG", "JPEG", "MPO", "GIF", "BMP", "WEBP", "TIFF", "AVIF")
"""What a file may hold, whatever its name says: some other formats, PostScript above all, are programs that are run."""

MOST_PIXELS = 64_000_000
"""Chosen by hand: more than most cameras take. Decoded and rotated, such an image takes most of a gigabyte."""


@contextmanager
def open_image(path: str | os.PathLike[str]) -> Iterator[PIL.Image.Image]:
    """An image that is closed in the end; whatever is wrong with the file becomes a ValueError that says it."""
    from PIL import Image, UnidentifiedImageError

    Image.init()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)  # the limit here is lower
            image = Image.open(path, formats=[name for name in FORMATS if name in Image.OPEN])
        with image:
            if image.width * image.height > MOST_PIXELS:
                raise ValueError(
                    f"{image.width} × {image.height} pixels; expected at most {MOST_PIXELS // 1_000_000} million"
                )
            yield image
    except UnidentifiedImageError:
        raise ValueError(f"no image in any of the formats {', '.join(FORMATS)}") from None
    except (
        OSError,
        SyntaxError,
        EOFError,
        LookupError,
        TypeError,
        struct.error,
        Image.DecompressionBombError,
    ) as error:
        raise ValueError(" ".join(str(error).split()) or type(error).__name__) from None
