"""Features for those who have none: from images, and from texts."""

from __future__ import annotations

from .gist import gist
from .images import from_images
from .sources import Source, read_source
from .texts import from_texts

__all__ = ["Source", "from_images", "from_texts", "gist", "read_source"]
