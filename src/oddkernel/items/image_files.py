"""Image files from outside, opened with care."""

from __future__ import annotations

import os
import struct
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import PurePath
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import PIL.Image

IMAGES: dict[str, str] = {
    ".apng": "image/apng",
    ".avif": "image/avif",
    ".bmp": "image/bmp",
    ".gif": "image/gif",
    ".jpeg": "image/jpeg",
    ".jpg": "image/jpeg",
    ".png": "image/png",
    ".tif": "image/tiff",
    ".tiff": "image/tiff",
    ".webp": "image/webp",
}
"""The media type of each file ending that features and judging pages take for an image."""

DRAWING = ".svg"
UNREAD = (
    *(".heic", ".heif", ".jxl", ".jp2", ".j2k", ".psd", ".xcf", ".eps", ".ico", ".tga", ".jfif", ".jpe", DRAWING),
    *(".arw", ".cr2", ".cr3", ".dng", ".nef", ".nrw", ".orf", ".pef", ".raf", ".rw2", ".srw"),
)
"""Endings of other pictures, raw ones of cameras last: who has such files should hear that nobody reads them."""

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
        said = getattr(error, "strerror", None) or str(error)  # without the path, which is named anyway
        raise ValueError(" ".join(said.split()) or type(error).__name__) from None


def upright(image: PIL.Image.Image) -> PIL.Image.Image:
    """An opened image as it is to be seen: turned as its camera says, with 8 bits for each colour.

    Pillow would show every grey above 255 of an image with more bits as white. Here the whole range becomes 0 to 255:
    that of 16 bits in PNG, as browsers show it; of the fewest of 8, 10, 12, 14 and 16 bits that hold the image in TIFF,
    which is how cameras and microscopes write 12 bits; of the image's own values if these are fractions.
    """
    from PIL import Image, ImageOps

    turned = ImageOps.exif_transpose(image)
    if turned.mode not in ("I", "F") and not turned.mode.startswith("I;16"):
        return turned
    values = np.nan_to_num(np.asarray(turned, dtype=np.float64))
    low, high = (float(value) for value in (values.min(), values.max()))
    if turned.mode != "F" and low >= 0 and high < 2**16:
        widths = (16,) if image.format == "PNG" else (8, 10, 12, 14, 16)
        low, high = 0.0, next(2.0**bits - 1.0 for bits in widths if high < 2**bits)
    return Image.fromarray(np.uint8(255.0 * (values - low) / max(high - low, 1e-300) + 0.5))


def problem_with(path: str | os.PathLike[str]) -> str:
    """Why an image can't be read to its end, as features need it; empty if it can."""
    try:
        with open_image(path) as image:
            image.draft(None, (1, 1))  # a JPEG is read to its end all the same, and decoded at an eighth of its size
            image.convert("RGB")
    except ValueError as error:
        return str(error)
    return ""


def warn_passed_over(files: Iterable[str | os.PathLike[str]], shown: Iterable[str] = ()) -> None:
    """Warn of pictures of kinds that nobody reads, by ending; `shown` are endings that are taken all the same."""
    told = passed_over(files, shown)
    if told:
        warnings.warn(told, UserWarning, stacklevel=3)


def passed_over(files: Iterable[str | os.PathLike[str]], shown: Iterable[str] = ()) -> str:
    """A sentence about pictures of kinds that nobody reads; empty if there are none.

    Examples
    --------
    >>> passed_over(["a.HEIC", "b.heic", "c.jpg"])
    '2 .heic files are not read; save them as JPEG or PNG'
    """
    unread = set(UNREAD) - set(shown)
    times = Counter(ending for file in files if (ending := PurePath(file).suffix.lower()) in unread)
    if not times:
        return ""
    listed = [f"{n} {ending} {'file' if n == 1 else 'files'}" for ending, n in sorted(times.items())]
    one = times.total() == 1
    return f"{' and '.join(listed)} {'is' if one else 'are'} not read; save {'it' if one else 'them'} as JPEG or PNG"
