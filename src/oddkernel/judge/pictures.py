"""Pictures, scaled to fit the screen and cached in memory."""

from __future__ import annotations

import asyncio
import hashlib
import io
import os
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

from ..items.image_files import open_image, upright
from ..support.files import replace

FOLDER = ".scaled"
"""Where scaled pictures are kept, in the study's folder; it may be deleted at any time."""

SIDES = (320, 640, 1280, 2560)
"""Widths and heights in screen pixels that pictures are scaled to; a page gets the next larger size. Chosen by hand:
only four, so that few scaled files are kept."""

WORTH_IT = 0.8
"""A picture is scaled only if its sides and its file become smaller than 0.8 of what they were. Chosen by hand."""

SCALED = ("JPEG", "PNG", "WEBP")
"""Formats that are scaled. Other formats are rare, or hold vector drawings, which need no scaling."""

CONVERTED: dict[str, tuple[str, str]] = {".tif": ("PNG", "image/png"), ".tiff": ("PNG", "image/png")}
"""Formats that hardly any browser shows, by ending: what is sent in their place, and its media type."""

QUALITY = 90
"""Quality of scaled JPEG and WebP files, on Pillow's scale up to 100. Chosen by hand."""

MOST_BYTES = 64 * 1024 * 1024
LARGEST = 1024 * 1024
"""Memory for pictures, and the largest picture that is kept in it, in bytes. Chosen by hand."""


class Box(NamedTuple):
    """The room that a page has for a picture, in pixels of the screen."""

    width: int
    height: int

    @classmethod
    def around(cls, width: int, height: int) -> Box:
        """The smallest box with sides from `SIDES` that is at least this large, or the largest one.

        Examples
        --------
        >>> Box.around(400, 5000)
        Box(width=640, height=2560)
        """
        return cls(*(next((side for side in SIDES if side >= wanted), SIDES[-1]) for wanted in (width, height)))


class Pictures:
    """Scales pictures, each size once, and keeps them in a folder and the latest of them in memory.

    Parameters
    ----------
    home : Path
        The study's folder.
    """

    def __init__(self, home: Path) -> None:
        self._folder = home / FOLDER
        self._is_possible = find_spec("PIL") is not None
        self._kept: OrderedDict[str, bytes] = OrderedDict()
        self._n_bytes = 0
        self._making: dict[str, asyncio.Future[bytes | None]] = {}
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="oddkernel-pictures")  # one at a time bounds the memory

    async def get(self, path: Path, box: Box | None) -> bytes | None:
        """The picture as it should be sent; None if the file itself should be sent."""
        if path.suffix.lower() in CONVERTED:
            box = box or Box(SIDES[-1], SIDES[-1])
        there = path.stat()
        text = f"{path}\0{there.st_mtime_ns}\0{there.st_size}\0{box}"
        key = hashlib.sha256(text.encode(errors="surrogateescape")).hexdigest()[:32]
        if key in self._kept:
            self._kept.move_to_end(key)
            return self._kept[key]
        if key not in self._making:
            making = asyncio.get_running_loop().run_in_executor(self._worker, self._make, path, key, box)
            self._making[key] = making
            making.add_done_callback(lambda _: self._making.pop(key, None))
        content = await asyncio.shield(self._making[key])
        if content is not None and len(content) <= LARGEST and key not in self._kept:
            self._kept[key] = content
            self._n_bytes += len(content)
            while self._n_bytes > MOST_BYTES:
                self._n_bytes -= len(self._kept.popitem(last=False)[1])
        return content

    def close(self) -> None:
        """Scale nothing more."""
        self._worker.shutdown(cancel_futures=True)

    def _make(self, path: Path, key: str, box: Box | None) -> bytes | None:
        scaled = None
        if box is not None and self._is_possible:
            kept = self._folder / key
            with suppress(OSError):
                return kept.read_bytes() or self._small(path)  # an empty file: not worth it
            scaled = scale(path, box)
            with suppress(OSError):  # a folder that can't be written to
                self._folder.mkdir(exist_ok=True, mode=0o700)
                replace(kept, scaled or b"")
        return scaled or self._small(path)

    def _small(self, path: Path) -> bytes | None:
        if path.suffix.lower() in CONVERTED:
            return None
        return path.read_bytes() if path.stat().st_size <= LARGEST else None


def scale(path: Path, box: Box) -> bytes | None:
    """The picture, upright, scaled to fit into the box; None if the file should be sent as it is.

    It keeps its format, unless that is one that browsers don't show.
    """
    from PIL import Image

    converted = path.suffix.lower() in CONVERTED
    try:
        with open_image(path) as file:
            format = "JPEG" if file.format == "MPO" else file.format
            if converted:
                format = CONVERTED[path.suffix.lower()][0]
            elif format not in SCALED or (getattr(file, "is_animated", False) and file.format != "MPO"):
                return None
            turned = file.getexif().get(0x0112, 1) >= 5  # its width is shown as its height
            width, height = (file.height, file.width) if turned else file.size
            share = min(box.width / width, box.height / height)
            if converted:
                share = min(share, 1.0)
            elif share > WORTH_IT:
                return None
            size = max(1, round(share * width)), max(1, round(share * height))
            file.draft(None, (2 * max(size), 2 * max(size)))  # a JPEG is decoded at a fraction of its size
            whole = upright(file)
            if whole.mode not in ("L", "RGB", "RGBA", "LA", *(() if format == "PNG" else ("CMYK",))):
                whole = whole.convert("RGBA" if whole.has_transparency_data else "RGB")
            profile: dict[str, Any] = {"icc_profile": file.info["icc_profile"]} if file.info.get("icc_profile") else {}
            small = whole.resize(size, Image.Resampling.LANCZOS, reducing_gap=3.0)
            out = io.BytesIO()
            small.save(out, format, quality=QUALITY, **profile)
    except (ValueError, OSError, MemoryError):
        return None  # the browser may be able to show it
    content = out.getvalue()
    return content if converted or len(content) < WORTH_IT * os.path.getsize(path) else None
