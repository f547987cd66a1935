"""Versions of files: hashes of their contents."""

from __future__ import annotations

import hashlib
from pathlib import Path


class Versions:
    """A short hash of each file's content, computed again only when the file has changed.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file, versions = Path(folder, "a.txt"), Versions()
    ...     _ = file.write_bytes(b"one")
    ...     first, again = versions.of(file), versions.of(file)
    ...     _ = file.write_bytes(b"other")
    ...     first == again, first == versions.of(file)
    (True, False)
    """

    def __init__(self) -> None:
        self._known: dict[Path, tuple[tuple[int, int, int], str]] = {}

    def of(self, path: Path) -> str:
        """The hash of a file; empty if there is none."""
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_size, status.st_ino)
            if path not in self._known or self._known[path][0] != stamp:
                with path.open("rb") as file:
                    self._known[path] = stamp, hashlib.file_digest(file, "sha256").hexdigest()[:16]
        except OSError:
            return ""
        return self._known[path][1]
