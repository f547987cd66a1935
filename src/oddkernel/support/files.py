"""Files and folders that appear complete or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def draft(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A name beside the file to write to; what stands there in the end becomes the file, unless something is raised."""
    target = Path(path).resolve()  # a link keeps pointing to the file that it points to
    name = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        yield name
        name.replace(target)
    except BaseException:
        name.unlink(missing_ok=True)
        raise


def replace(path: str | os.PathLike[str], data: bytes, *, private: bool = False) -> None:
    """Write a file, a private one only for its owner's eyes; an interrupted write leaves an older one as it was."""
    with draft(path) as name:
        _write(name, data, private)


def create(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file for its owner's eyes, unless there is one of that name: of several writers the first wins."""
    target = Path(path).resolve()
    name = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        _write(name, data, private=True)
        try:
            os.link(name, target)
        except FileExistsError:
            pass
        except OSError:  # a file system without links, where two writers at once are not told apart
            if not target.exists():
                name.replace(target)
    finally:
        name.unlink(missing_ok=True)


def is_read_only(folder: Path) -> bool:
    """Whether no file can be made in a folder that is there."""
    return folder.is_dir() and not os.access(folder, os.W_OK)


def check_file_place(path: str | os.PathLike[str]) -> None:
    """Raise unless a file of this name can be written: before the work, not after it."""
    target = Path(path)
    if target.is_dir():
        raise ValueError(f"{target} is a folder; expected the name of a file in it")
    folder = target.resolve().parent
    if not folder.is_dir():
        raise ValueError(f"{target}: the folder {_shown(target)} doesn't exist; make it, or name another one")
    if is_read_only(folder):
        raise ValueError(f"{target}: the folder {_shown(target)} can't be written to; expected a name in another one")


def check_folder_place(path: str | os.PathLike[str]) -> None:
    """Raise unless a folder of this name is there or can be made, with those that hold it."""
    target = Path(path)
    there = next(each for each in (target, *target.absolute().parents) if each.exists())
    if not there.is_dir():
        raise ValueError(f"{there} is a file; expected the name of a folder")
    if is_read_only(there):
        raise ValueError(f"{target}: the folder {there} can't be written to; expected another one")


def _shown(target: Path) -> Path:
    """The folder of a file: as it was typed, but for a link's the one that it points to."""
    return target.resolve().parent if target.is_symlink() else target.parent


def _write(path: Path, data: bytes, private: bool) -> None:
    with open(path, "xb", opener=_open_private if private else None) as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


@contextmanager
def draft_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """An empty folder to write to, which in the end becomes the one of this name, unless something is raised."""
    target = Path(path).resolve()
    check_new_folder(target)
    folder = target.with_name(f".{secrets.token_hex(8)}.tmp")
    try:
        folder.mkdir()
        yield folder
        folder.rename(target)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def check_new_folder(path: str | os.PathLike[str]) -> None:
    """Raise unless a folder of this name can be made."""
    target = Path(path)
    if target.exists():
        raise ValueError(f"{target}: already there; expected the name of a new folder")
    if not target.resolve().parent.is_dir():
        raise ValueError(f"{target}: the folder that should hold it doesn't exist")
