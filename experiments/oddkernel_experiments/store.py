"""Results on disk: a folder of Parquet files."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from oddkernel.items import tables


class Store:
    """Rows of results in a folder.

    Each call of `append` atomically adds one file, so that an interrupted run loses nothing and several runs can write
    at once; `merge` joins the files. A file that can't be read, for example an incomplete copy, is renamed with a
    warning, and its results are computed again.

    Parameters
    ----------
    folder : path-like
        Created with the first result.
    columns : mapping of str to str
        The columns and their types.
    identity : sequence of str
        The columns that identify a row. Of rows with equal values in them, the newest counts.
    """

    def __init__(self, folder: str | os.PathLike[str], columns: Mapping[str, str], identity: Sequence[str]) -> None:
        self.folder = Path(folder)
        self.columns = dict(columns)
        self.identity = list(identity)

    def read(self) -> pd.DataFrame:
        """All rows, oldest first."""
        frames = [frame for file in self._files() if (frame := self._frame(file)) is not None]
        if not frames:
            return pd.DataFrame({name: pd.Series(dtype=kind) for name, kind in self.columns.items()})
        return pd.concat(frames, ignore_index=True).drop_duplicates(self.identity, keep="last", ignore_index=True)

    def append(self, rows: Sequence[Mapping[str, Any]]) -> None:
        """Keep rows."""
        if rows:
            self._write(pd.DataFrame(rows, columns=list(self.columns)))

    def merge(self) -> None:
        """Join all files into one."""
        files = self._files()
        if len(files) > 1:
            self._write(self.read())
            for file in files:
                file.unlink(missing_ok=True)

    def drop(self, rows: pd.Series[bool]) -> None:
        """Delete the marked rows of `read`."""
        files, frame = self._files(), self.read()
        self._write(frame[~rows])
        for file in files:
            file.unlink(missing_ok=True)

    def _files(self) -> list[Path]:
        return sorted(self.folder.glob("part-*.parquet"))

    def _write(self, frame: pd.DataFrame) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        frame = frame.astype(self.columns)
        path = self.folder / f"part-{time.time_ns()}.parquet"
        tables.write(path, {name: frame[name].to_numpy() for name in self.columns})

    def _frame(self, file: Path) -> pd.DataFrame | None:
        try:
            return pd.read_parquet(file, columns=list(self.columns)).astype(self.columns)
        except FileNotFoundError:
            return None  # another run has just merged the files
        except (OSError, ValueError, KeyError) as error:
            aside = file.with_suffix(".damaged")
            file.rename(aside)
            reason = str(error).splitlines()[0]
            warnings.warn(
                f"{file} is no complete file of results ({reason}). It is kept as {aside.name}; what it held is "
                "computed again, all else stays.",
                UserWarning,
                stacklevel=3,
            )
            return None
