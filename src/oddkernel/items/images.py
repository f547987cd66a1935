"""Features of images: their GIST descriptor, and their colours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..comparisons.names import as_items
from .gist import BLOCKS, LENGTH, SIZE, gist
from .tables import Items

if TYPE_CHECKING:
    import PIL.Image

Array = NDArray[Any]

# On photographs, the mean colours of blocks then vary about as much as the GIST descriptor does.
COLOUR_WEIGHT = 0.5
COLUMNS = (
    *(f"gist{k}" for k in range(LENGTH)),
    *(f"{colour}{k}" for k in range(BLOCKS * BLOCKS) for colour in ("red", "green", "blue")),
)


def from_images(paths: Sequence[Path], names: Sequence[str], *, progress: Callable[[str], None] | None = None) -> Items:
    """Features of image files: 512 numbers of `gist`, then the mean red, green and blue of 4 × 4 blocks.

    An image is turned as its camera says, put on white where it is transparent, and cut to its middle square.

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
        ``X`` of shape (n, 560), ``names`` and ``columns``.

    Raises
    ------
    ValueError
        If some files are no readable images; it names them, before any features are computed.
    """
    called = as_items(names) or ()
    if len(called) != len(paths):
        raise ValueError(f"{len(called)} names for {len(paths)} images; expected one for each")
    require_pillow()
    damaged = []
    for number, path in enumerate(paths, start=1):
        if progress is not None:
            progress(f"checking image {number} of {len(paths)}")
        try:
            _pixels(path)
        except (OSError, ValueError, SyntaxError, _bomb()) as error:
            damaged.append(f"{path} ({' '.join(str(error).split())})")
    if damaged:
        more = f" and {len(damaged) - 5} more" if len(damaged) > 5 else ""
        raise ValueError(
            f"{'; '.join(damaged[:5])}{more}: expected images that can be read; repair or remove "
            f"{'it' if len(damaged) == 1 else 'them'}"
        )
    X = np.empty((len(paths), len(COLUMNS)))
    for row, path in enumerate(paths):
        if progress is not None:
            progress(f"image {row + 1} of {len(paths)}")
        X[row] = _features(_pixels(path))
    return Items(X, called, COLUMNS)


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

    with Image.open(path) as image:
        upright = ImageOps.exif_transpose(image)
        square = ImageOps.fit(_opaque(upright), (SIZE, SIZE), Image.Resampling.BICUBIC)
        return np.asarray(square, dtype=np.float64)


def _opaque(image: PIL.Image.Image) -> PIL.Image.Image:
    from PIL import Image

    if not image.has_transparency_data:
        return image.convert("RGB")
    layer = image.convert("RGBA")
    return Image.alpha_composite(Image.new("RGBA", layer.size, "white"), layer).convert("RGB")


def _bomb() -> type[Exception]:
    from PIL import Image

    return Image.DecompressionBombError
