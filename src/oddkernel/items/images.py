"""Features of images: their GIST descriptor, and their colours."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..comparisons.names import as_items
from ..support.types import Array
from .gist import BLOCKS, LENGTH, SIZE, gist
from .opening import open_image
from .tables import Items

if TYPE_CHECKING:
    import PIL.Image

# Chosen by hand: on photographs, the mean colours of blocks then vary about as much as the GIST descriptor does.
COLOUR_WEIGHT = 0.5
COLUMNS = (
    *(f"gist{k}" for k in range(LENGTH)),
    *(f"{colour}{k}" for k in range(BLOCKS * BLOCKS) for colour in ("red", "green", "blue")),
)


def from_images(paths: Sequence[Path], names: Sequence[str], *, progress: Callable[[str], None] | None = None) -> Items:
    """Features of image files: 512 numbers of `gist`, then the mean red, green and blue of 4 × 4 blocks.

    An image is turned as its camera says, put on white where it is transparent, and cut to its middle square. A file
    that can't be read, is of a format other than PNG, JPEG, GIF, BMP, WebP, TIFF and AVIF, or has more than 64 million
    pixels is left out, and a warning names it.

    Parameters
    ----------
    paths : sequence of Path
        The files.
    names : sequence of str
        The items' names, as many and all different.
    progress : callable, optional
        Told a sentence before each image.

    Returns
    -------
    Items
        ``X`` of shape (n, 560), ``names`` and ``columns``; rows and names of files left out are missing.

    Raises
    ------
    ValueError
        If no file is left.
    """
    called = as_items(names) or ()
    if len(called) != len(paths):
        raise ValueError(f"{len(called)} names for {len(paths)} images; expected one for each")
    require_pillow()
    rows, kept, damaged = [], [], []
    for number, (path, name) in enumerate(zip(paths, called, strict=True), start=1):
        if progress is not None:
            progress(f"image {number} of {len(paths)}")
        try:
            rows.append(_features(_pixels(path)))
            kept.append(name)
        except ValueError as error:
            damaged.append(f"{path} ({error})")
    if damaged:
        told = f"{len(damaged)} of {len(paths)} images can't be read: {'; '.join(damaged)}"
        if not rows:
            raise ValueError(f"{told}; expected at least one")
        warnings.warn(f"left out, {told}", UserWarning, stacklevel=2)
    return Items(np.array(rows).reshape(-1, len(COLUMNS)), tuple(kept), COLUMNS)


def require_pillow() -> None:
    """Raise an ImportError that says what to install, unless images can be read."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        raise ImportError('features of images need Pillow: pip install "oddkernel[images]"') from None


def _features(pixels: Array) -> Array:
    side = SIZE // BLOCKS
    colour = pixels.reshape(BLOCKS, side, BLOCKS, side, 3).mean(axis=(1, 3)) / 255.0
    return np.concatenate([gist(pixels.mean(axis=2)), COLOUR_WEIGHT * colour.ravel()])


def _pixels(path: Path) -> Array:
    """(256, 256, 3): the middle square of an image, 0 to 255."""
    from PIL import Image, ImageOps

    with open_image(path) as image:
        upright = ImageOps.exif_transpose(image)
        square = ImageOps.fit(_opaque(upright), (SIZE, SIZE), Image.Resampling.BICUBIC)
        return np.asarray(square, dtype=np.float64)


def _opaque(image: PIL.Image.Image) -> PIL.Image.Image:
    from PIL import Image

    if not image.has_transparency_data:
        return image.convert("RGB")
    layer = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert("RGB")
