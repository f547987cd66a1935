"""Reading and writing files of answers, in our own formats and in those of others."""

from __future__ import annotations

from .formats import Understood, details, dump, examine, read, write
from .listing import listing_of
from .registry import FORMATS, OWN, Format

__all__ = ["FORMATS", "OWN", "Format", "Understood", "details", "dump", "examine", "listing_of", "read", "write"]
