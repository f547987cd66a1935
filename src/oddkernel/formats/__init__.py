"""Reading and writing files of answers, in our own formats and in those of others."""

from __future__ import annotations

from .formats import Understood, details, dump, examine, read, write
from .registry import FORMATS, OWN, Format

__all__ = ["FORMATS", "OWN", "Format", "Understood", "details", "dump", "examine", "read", "write"]
