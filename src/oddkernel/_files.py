"""Files that appear complete or not at all."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def replace(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file; an interrupted write leaves an older file of that name as it was."""
    target = Path(path).resolve()  # a link keeps pointing to the file that it points to
    draft = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        with draft.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
