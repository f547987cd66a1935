"""The items: tables of features, folders of images, texts, and the encoders that compute features from them."""

from __future__ import annotations

from .gist import gist
from .images import from_images
from .sources import Source, read_source
from .tables import Items, read, write
from .texts import from_texts

__all__ = ["Items", "Source", "from_images", "from_texts", "gist", "read", "read_source", "write"]
