"""Features of images: their GIST descriptor, and their colours."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ..comparisons.names import as_items
from ..support.types import Array
from .encoders import Row, encode
from .gist import BLOCKS, LENGTH, SIZE, gist
from .image_files import open_image, upright
from .sources import Source
from .tables import Items

if TYPE_CHECKING:
    import PIL.Image

# Chosen by hand: on photographs, the mean colours of blocks then vary about as much as the GIST descriptor does.
COLOUR_WEIGHT = 0.5
COLUMNS = (
    *(f"gist{k}" for k in range(LENGTH)),
    *(f"{colour}{k}" for k in range(BLOCKS * BLOCKS) for colour in ("red", "green", "blue")),
)


class Gist:
    """The encoder that needs no weights: 512 numbers of `gist`, then the mean red, green and blue of 4 × 4 blocks."""

    name = option = prefix = "gist"
    together = False
    columns = COLUMNS

    def rows(self, source: Source) -> Iterator[Row]:
        """The features of each image, or why it can't be read."""
        for index, (features, problem) in enumerate(prepared(source.paths, _describe)):
            yield Row(index, features, problem)


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
        Called with a sentence after each image.

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
    return encode(Gist(), Source("image", called, paths=tuple(paths)), progress).items


def prepared(paths: Iterable[Path], prepare: Callable[[PIL.Image.Image], Array]) -> Iterator[tuple[Array | None, str]]:
    """What `prepare` makes of each image, upright and without transparency, one in memory at a time; or its problem."""
    require_pillow()
    for path in paths:
        try:
            with open_image(path) as image:
                found = prepare(_opaque(upright(image)))
        except ValueError as error:
            yield None, str(error)
        else:
            yield found, ""


def require_pillow() -> None:
    """Raise an ImportError that says what to install, unless images can be read."""
    try:
        import PIL.Image  # noqa: F401
    except ImportError:
        raise ImportError('features of images need Pillow: pip install "oddkernel[images]"') from None


def _describe(image: PIL.Image.Image) -> Array:
    """Features of the middle square of an image."""
    from PIL import Image, ImageOps

    square = ImageOps.fit(image, (SIZE, SIZE), Image.Resampling.BICUBIC)
    pixels = np.asarray(square, dtype=np.float64)
    side = SIZE // BLOCKS
    colour = pixels.reshape(BLOCKS, side, BLOCKS, side, 3).mean(axis=(1, 3)) / 255.0
    return np.concatenate([gist(pixels.mean(axis=2)), COLOUR_WEIGHT * colour.ravel()])


def _opaque(image: PIL.Image.Image) -> PIL.Image.Image:
    from PIL import Image

    if not image.has_transparency_data:
        return image.convert("RGB")
    layer = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert("RGB")
