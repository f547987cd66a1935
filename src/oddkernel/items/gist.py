"""The GIST descriptor: how much of each scale and orientation there is in each part of an image."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import ArrayLike

from ..support.types import Array

# All constants below are those of the authors' MATLAB code, LMgist.m.
SIZE = 256
SCALES, ORIENTATIONS, BLOCKS = 4, 8, 4
LENGTH = SCALES * ORIENTATIONS * BLOCKS * BLOCKS

# The finest scale's frequency, in cycles a pixel, and by how much each further one is coarser.
FINEST, STEP = 0.3, 1.85
# How sharply a filter is tuned to its frequency and to its orientation.
FREQUENCY_TUNING, ORIENTATION_TUNING = 3.5, 2.0 * np.pi
# Local contrast is computed with a Gaussian filter of CYCLES cycles an image. LEAST_CONTRAST is added to it before the
# division by it, so that areas without contrast stay so.
CYCLES, LEAST_CONTRAST = 4, 0.2
# Pixels by which an image is extended with its mirror image, so that the filters see no edge at its border.
EVENING_MARGIN, FILTER_MARGIN = 5, 32


def gist(grey: ArrayLike) -> Array:
    """GIST descriptor of a grey image (Oliva and Torralba 2001).

    The image's local contrast is evened out; the energy of 32 Gabor filters, 4 scales × 8 orientations, is averaged
    over 4 × 4 blocks.

    Parameters
    ----------
    grey : array-like of shape (256, 256)
        Brightness, in any unit.

    Returns
    -------
    ndarray of shape (512,)
        ``reshape(4, 8, 4, 4)`` is scale, from fine to coarse, orientation, in steps of 22.5°, row and column of blocks.

    Examples
    --------
    >>> import numpy as np
    >>> stripes = np.tile(np.sin(np.arange(256) * 2 * np.pi * 0.3), (256, 1))
    >>> energy = gist(stripes).reshape(4, 8, 16).mean(axis=2)
    >>> [int(i) for i in np.unravel_index(energy.argmax(), energy.shape)]  # the finest scale, the first orientation
    [0, 0]
    """
    from scipy import fft  # it takes longer to load than the rest of this folder

    image = np.asarray(grey, dtype=np.float64)
    if image.shape != (SIZE, SIZE):
        raise ValueError(f"an image of shape {image.shape}; expected ({SIZE}, {SIZE})")
    if not np.isfinite(image).all():
        raise ValueError("the image holds NaN or infinite values; expected brightness")
    image = image - image.min()
    largest = image.max()
    even = _even_contrast(255.0 * image / largest if largest > 0 else image)
    spectrum = fft.fft2(np.pad(even, FILTER_MARGIN, mode="symmetric"))
    inside = slice(FILTER_MARGIN, -FILTER_MARGIN)
    side = SIZE // BLOCKS
    parts = [
        np.abs(fft.ifft2(spectrum * filters, overwrite_x=True))[:, inside, inside]
        .reshape(ORIENTATIONS, BLOCKS, side, BLOCKS, side)
        .mean(axis=(2, 4))
        for filters in _filters()
    ]
    return np.stack(parts).ravel()


def _even_contrast(image: Array) -> Array:
    """The image without its slow changes of brightness, over how strongly it varies around each place."""
    from scipy import fft

    padded = np.pad(np.log1p(image), EVENING_MARGIN, mode="symmetric")
    frequency = np.fft.fftfreq(len(padded), 1.0 / len(padded))
    width = CYCLES / np.sqrt(np.log(2.0))
    low_pass = np.exp(-(np.square(frequency)[:, None] + np.square(frequency)) / width**2)

    def smooth(values: Array) -> Array:
        return np.asarray(fft.ifft2(fft.fft2(values) * low_pass).real)

    detail = padded - smooth(padded)
    contrast = np.sqrt(np.abs(smooth(np.square(detail))))
    even = detail / (LEAST_CONTRAST + contrast)
    return np.asarray(even[EVENING_MARGIN:-EVENING_MARGIN, EVENING_MARGIN:-EVENING_MARGIN])


@cache
def _filters() -> Array:
    """(scales, orientations, side, side): Gabor filters in the frequency domain."""
    frequency = np.fft.fftfreq(SIZE + 2 * FILTER_MARGIN)
    across, down = np.meshgrid(frequency, frequency)
    radius, angle = np.hypot(across, down), np.arctan2(down, across)
    scale = FINEST / STEP ** np.arange(SCALES)
    turn = np.pi / ORIENTATIONS * np.arange(ORIENTATIONS)
    off = (angle + turn[:, None, None] + np.pi) % (2.0 * np.pi) - np.pi
    tuned = np.exp(-FREQUENCY_TUNING * np.square(radius / scale[:, None, None] - 1.0))
    return np.asarray(tuned[:, None] * np.exp(-ORIENTATION_TUNING * np.square(off)))
