"""Reading and writing files of answers, in our own formats and in those of others."""

from __future__ import annotations

from .formats import PEERS, READERS, WRITERS, Understood, details, dump, examine, read, write

__all__ = ["PEERS", "READERS", "WRITERS", "Understood", "details", "dump", "examine", "read", "write"]
