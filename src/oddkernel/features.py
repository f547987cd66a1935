"""Features for those who have none: of images by their shapes and colours, of texts by their words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SIDE = 128
"""Images are looked at as squares of so many points a side."""

GRID = 4
"""Shapes and colours are told apart in so many by so many cells of an image."""

SCALES, ORIENTATIONS = 4, 8
"""How many sizes and directions of edges are told apart."""

MOST_TEXT_FEATURES = 100


def of_images(paths: Iterable[Path]) -> Array:
    """Describe images by their shapes and colours.

    Shapes: how strong edges of 4 sizes and 8 directions are in each of 4 × 4 cells, which is the GIST descriptor of
    Oliva and Torralba (2001), with log-Gabor filters. Colours: mean and spread of the CIELAB coordinates in each cell.
    The two parts are scaled to weigh the same.

    Parameters
    ----------
    paths : iterable of Path
        Files that Pillow can open; of an animated one, the first picture counts.

    Returns
    -------
    ndarray of shape (n, 608)
    """
    described = [_describe(path) for path in paths]
    parts = (np.array([row[part] for row in described]) for part in (0, 1))
    return np.hstack([_of_equal_weight(part) for part in parts])


def of_texts(texts: Sequence[str]) -> Array:
    """Describe texts by their words and by pieces of words: TF-IDF, brought down to 100 dimensions at most.

    Parameters
    ----------
    texts : sequence of str
        At least two, with something in them.

    Returns
    -------
    ndarray of shape (n, d)
        d is at most 100, and less than the number of texts.

    Examples
    --------
    >>> X = of_texts(["a small dog", "small dogs", "rain and snow", "snow and ice"])
    >>> apart = np.linalg.norm(X[:, None] - X[None], axis=-1)
    >>> bool(apart[0, 1] < apart[0, 2]), bool(apart[2, 3] < apart[1, 3])
    (True, True)
    """
    from scipy.sparse import hstack
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    if len(texts) < 2:
        raise ValueError(f"{len(texts)} texts; expected at least 2")
    words = TfidfVectorizer(token_pattern=r"(?u)\b\w+\b", sublinear_tf=True)
    pieces = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4), sublinear_tf=True)
    try:
        counts = hstack([words.fit_transform(texts), pieces.fit_transform(texts)]).tocsr()
    except ValueError:
        raise ValueError("the texts have no words; expected some letters or digits in them") from None
    n_features = max(1, min(MOST_TEXT_FEATURES, len(texts) - 1, counts.shape[1] - 1))
    with np.errstate(invalid="ignore"):  # of equal texts, it would like to know which share of no variance it explains
        described: Array = TruncatedSVD(n_features, random_state=0).fit_transform(counts)
    return described


def by_model(model: str, things: Sequence[Path] | Sequence[str]) -> Array:
    """Describe images or texts with a model of sentence-transformers that is on this machine; CLIP is one for images.

    Parameters
    ----------
    model : str
        The folder that it is in, or its name if it was downloaded before. Nothing is downloaded.
    things : sequence of Path or of str
        Paths of images, or texts.

    Returns
    -------
    ndarray of shape (n, d)
    """
    try:
        from sentence_transformers import SentenceTransformer  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        raise ImportError('--model needs sentence-transformers: pip install "oddkernel[embeddings]"') from None
    learned: Any = SentenceTransformer(model, local_files_only=True)
    shown = [_opened(thing) if isinstance(thing, Path) else thing for thing in things]
    described = np.asarray(learned.encode(shown, show_progress_bar=False), dtype=np.float64)
    if described.ndim != 2 or len(described) != len(things) or not np.isfinite(described).all():
        raise ValueError(f"the model {model} gave {described.shape}; expected finite numbers, a row for each item")
    return described


def check_pillow() -> None:
    """Raise an ImportError that says how to get Pillow, unless it is there."""
    try:
        import PIL  # noqa: F401
    except ImportError:
        raise ImportError('features of images need Pillow: pip install "oddkernel[images]"') from None


def _opened(path: Path) -> Any:
    """The image in red, green and blue, upright, on white where it is transparent."""
    check_pillow()
    from PIL import Image, ImageOps

    try:
        with Image.open(path) as file:
            upright = ImageOps.exif_transpose(file).convert("RGBA")
    except (OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise ValueError(f"{path}: not an image that can be read ({error})") from None
    white = Image.new("RGBA", upright.size, "white")
    return Image.alpha_composite(white, upright).convert("RGB")


def _describe(path: Path) -> tuple[Array, Array]:
    from PIL import Image

    square = _opened(path).resize((SIDE, SIDE), Image.Resampling.LANCZOS)
    lab = _lab(np.asarray(square, dtype=np.float64) / 255)
    return _shapes(lab[..., 0]), _colours(lab)


def _lab(rgb: Array) -> Array:
    """CIELAB from sRGB, both with values of the order of 1: L is divided by 100, a and b too."""
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = linear @ np.array([[0.4124, 0.2126, 0.0193], [0.3576, 0.7152, 0.1192], [0.1805, 0.0722, 0.9505]])
    xyz /= np.array([0.9505, 1.0, 1.089])  # the white of daylight, D65
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.stack([1.16 * f[..., 1] - 0.16, 5 * (f[..., 0] - f[..., 1]), 2 * (f[..., 1] - f[..., 2])], axis=-1)


def _cells(values: Array) -> Array:
    """The values by cell: shape (..., side, side) becomes (..., 16, points in a cell)."""
    step = SIDE // GRID
    split = values.reshape(*values.shape[:-2], GRID, step, GRID, step)
    return np.moveaxis(split, -3, -2).reshape(*values.shape[:-2], GRID * GRID, step * step)


def _shapes(lightness: Array) -> Array:
    contrast = lightness - lightness.mean()
    contrast = contrast / (contrast.std() + 0.02)  # an evenly lit wall stays without shape
    edges = np.abs(np.fft.ifft2(np.fft.fft2(contrast) * _filters()))
    strength: Array = np.sqrt(_cells(edges).mean(axis=-1)).ravel()
    return strength


@cache
def _filters() -> Array:
    """Log-Gabor filters, shape (32, side, side), by frequency as `numpy.fft` orders them."""
    fy, fx = np.meshgrid(np.fft.fftfreq(SIDE), np.fft.fftfreq(SIDE), indexing="ij")
    radius = np.hypot(fx, fy)
    radius[0, 0] = 1.0  # no filter lets the mean pass
    filters = []
    for scale in range(SCALES):
        band = np.exp(-(np.log(radius / (0.3 / 2**scale)) ** 2) / (2 * np.log(0.65) ** 2))
        band[0, 0] = 0.0
        for turn in range(ORIENTATIONS):
            angle = np.arctan2(fy, fx) - np.pi * turn / ORIENTATIONS
            apart = np.abs(np.arctan2(np.sin(angle), np.cos(angle)))
            filters.append(band * np.exp(-(apart**2) / (2 * (np.pi / ORIENTATIONS / 1.2) ** 2)))
    return np.array(filters)


def _colours(lab: Array) -> Array:
    cells = _cells(np.moveaxis(lab, -1, 0))
    return np.concatenate([cells.mean(axis=-1).ravel(), cells.std(axis=-1).ravel()])


def _of_equal_weight(part: Array) -> Array:
    """The part, scaled so that items are 1 away from their middle on the average (root mean square)."""
    spread = float(np.sqrt(((part - part.mean(axis=0)) ** 2).sum(axis=1).mean()))
    return part / spread if spread > 0 else part
