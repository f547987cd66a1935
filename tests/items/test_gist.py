"""The GIST descriptor: what it must see, and what it must not."""

from __future__ import annotations

import numpy as np
import pytest

from oddkernel.items import gist


def texture(seed: int = 0) -> np.ndarray:
    """Noise that is smooth at several scales."""
    random = np.random.RandomState(seed)
    frequency = np.fft.fftfreq(256)
    falling = 1.0 / (0.01 + np.hypot(*np.meshgrid(frequency, frequency)))
    return np.fft.ifft2(np.fft.fft2(random.randn(256, 256)) * falling).real


def energies(image: np.ndarray) -> np.ndarray:
    return gist(image).reshape(4, 8, 4, 4)


def waves(cycles_a_pixel: float, angle: float) -> np.ndarray:
    down, across = np.mgrid[:256, :256]
    return np.sin(2 * np.pi * cycles_a_pixel * (across * np.cos(angle) + down * np.sin(angle)))


def assert_alike(one: np.ndarray, other: np.ndarray, tolerance: float = 3e-3) -> None:
    assert np.abs(one - other).max() < tolerance * np.abs(other).max()


@pytest.mark.parametrize("scale", range(4))
@pytest.mark.parametrize("orientation", [0, 3, 4, 7])
def test_waves_are_seen_at_their_scale_and_orientation(scale: int, orientation: int) -> None:
    energy = energies(waves(0.3 / 1.85**scale, -np.pi / 8 * orientation)).mean(axis=(2, 3))
    assert np.unravel_index(energy.argmax(), energy.shape) == (scale, orientation)


def test_a_turned_image_has_turned_energies() -> None:
    image = texture()
    turned = np.rot90(np.roll(energies(image), 4, axis=1), axes=(2, 3))
    assert_alike(energies(np.rot90(image)), turned)


def test_a_mirrored_image_has_mirrored_energies() -> None:
    image = texture()
    mirrored = energies(image)[:, [0, 7, 6, 5, 4, 3, 2, 1]][..., ::-1]
    assert_alike(energies(image[:, ::-1]), mirrored)


def test_moving_by_a_block_moves_the_energies() -> None:
    image = np.zeros((256, 256))
    image[90:102, 90:102] = texture()[:12, :12]
    moved = np.roll(image, 64, axis=1)
    before, after = energies(image)[:2], energies(moved)[:2]  # coarse filters reach into other blocks
    assert before.sum(axis=(0, 1)).argmax() == 5
    assert after.sum(axis=(0, 1)).argmax() == 6
    np.testing.assert_allclose(after[:, :, 1, 2], before[:, :, 1, 1], rtol=0.02)


def test_brightness_and_its_unit_do_not_matter() -> None:
    image = texture()
    assert_alike(gist(3.0 * image + 50.0), gist(image), 1e-9)


@pytest.mark.parametrize("level", [0.0, 7.0, 255.0])
def test_a_constant_image_has_no_energy(level: float) -> None:
    np.testing.assert_array_equal(gist(np.full((256, 256), level)), np.zeros(512))


def test_other_input_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shape \(128, 256\); expected \(256, 256\)"):
        gist(np.zeros((128, 256)))
    with pytest.raises(ValueError, match="NaN or infinite"):
        gist(np.full((256, 256), np.nan))
