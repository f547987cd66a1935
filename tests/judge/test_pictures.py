"""Pictures are sent in sizes that fit the screen."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from judge_studies import make_folder, running
from PIL import Image

from oddkernel.judge.pictures import FOLDER, SIDES, Box, scale

RNG = np.random.default_rng(0)


def photo(path: Path, width: int, height: int, mode: str = "RGB", **options: Any) -> Path:
    coarse = RNG.integers(0, 256, (height // 100 + 1, width // 100 + 1, len(mode)), dtype=np.uint8)
    Image.fromarray(coarse.squeeze(), mode).resize((width, height)).save(path, **options)
    return path


def opened(content: bytes | None) -> Image.Image:
    assert content is not None
    return Image.open(io.BytesIO(content))


@pytest.mark.parametrize(("ending", "width"), [("jpg", 3000), ("png", 900), ("webp", 1500)])
def test_a_large_picture_fits_into_the_box_in_its_own_format(ending: str, width: int, tmp_path: Path) -> None:
    path = photo(tmp_path / f"large.{ending}", width, width * 2 // 3)
    small = opened(scale(path, Box(640, 1280)))
    assert small.size == (640, 427)
    with Image.open(path) as large:
        assert small.format == large.format
        before = np.asarray(large.convert("RGB").resize(small.size), dtype=float)
    assert np.abs(before - np.asarray(small.convert("RGB"), dtype=float)).mean() < 6


def test_a_small_picture_and_one_that_would_not_shrink_stay_as_they_are(tmp_path: Path) -> None:
    assert scale(photo(tmp_path / "small.png", 600, 400), Box(640, 640)) is None
    assert scale(photo(tmp_path / "nearly.png", 700, 400), Box(640, 640)) is None
    frames = [Image.new("RGB", (2000, 2000), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "moving.webp", save_all=True, append_images=frames[1:])
    assert scale(tmp_path / "moving.webp", Box(320, 320)) is None
    (tmp_path / "broken.png").write_bytes(b"no picture")
    assert scale(tmp_path / "broken.png", Box(320, 320)) is None
    (tmp_path / "drawing.png").write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 4000 4000\n")
    assert scale(tmp_path / "drawing.png", Box(320, 320)) is None


def test_a_picture_is_sent_upright_with_its_colours_and_transparency(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # to be turned by a quarter
    exif[0x010F] = "a camera"
    path = photo(tmp_path / "turned.jpg", 3000, 2000, exif=exif, icc_profile=b"a profile")
    small = opened(scale(path, Box(640, 1280)))
    assert small.size == (640, 960)
    assert small.info["icc_profile"] == b"a profile"
    assert not small.getexif()  # neither turned twice, nor does it say what took it
    assert opened(scale(photo(tmp_path / "see-through.png", 1200, 800, "RGBA"), Box(640, 640))).mode == "RGBA"
    assert opened(scale(photo(tmp_path / "grey.png", 1200, 800, "L"), Box(640, 640))).mode == "L"


def test_the_page_gets_what_it_has_room_for(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "birds", 5)
    path = photo(folder / "large.jpg", 3000, 2000)
    with running(folder) as run:
        url = next(f"/media/{id}" for id, name in run.judge.media.items() if name == "large.jpg")
        client = run.client()
        whole = client.get(url)
        assert whole.content == path.read_bytes()
        small = client.get(f"{url}?w=500&h=900")
        assert small.headers["content-type"] == "image/jpeg"
        assert small.headers["content-security-policy"].endswith("sandbox")
        assert opened(small.content).size == (640, 427)
        assert client.get(f"{url}?w=640&h=1280").content == small.content
        assert client.get(f"{url}?w=9999&h=9999").content == client.get(f"{url}?w=2560&h=2560").content
        assert client.get(f"{url}?w=0&h=10").status_code == 422
        photo(path, 2000, 3000)  # another one of the same name
        assert opened(client.get(f"{url}?w=500&h=900").content).size == (640, 960)
    assert 2 <= len(list((folder / FOLDER).iterdir())) <= 4
    with running(folder) as again:  # and no item comes of them
        assert len(again.study.items) == 6
        url = next(f"/media/{id}" for id, name in again.judge.media.items() if name == "large.jpg")
        before = list((folder / FOLDER).iterdir())
        assert opened(again.client().get(f"{url}?w=500&h=900").content).size == (640, 960)
        assert list((folder / FOLDER).iterdir()) == before


def test_a_box_has_at_least_the_room_that_was_asked_for() -> None:
    assert Box.around(1, 321) == (320, 640)
    assert Box.around(10_000, 2560) == (SIDES[-1], 2560)


def test_the_page_loads_three_questions_at_once_in_the_servers_sizes() -> None:
    media = Path(__file__).parents[2] / "src/oddkernel/judge/static/participant/media.js"
    assert f"const SIDES = {list(SIDES)};" in media.read_text()
