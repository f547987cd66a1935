"""Search by the learned similarity: a FAISS index of items."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from reprlib import repr as brief
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from ..learning import models
from ..learning.sklr import SKLR
from ..support.checks import is_count, require
from ..support.files import check_new_folder, draft_folder
from ..support.types import Indices
from . import memory
from .coordinates import source_for, transform
from .learned_map import LearnedMap
from .passes import Plan, mapped

VERSION = 1
"""Of the format of the folder; it goes up when older programs could no longer read it."""
EXACT = 100_000
"""Up to this many items, a new index is exact; above, it compares a query with the items in the nearest of √n cells.
Chosen by hand, as the two constants below."""

# Training items for each cell centre; FAISS recommends at least 39.
_SAMPLE_PER_CELL = 64
# The share of the cells that a query searches.
_PROBED = 1 / 32
_FILES = ("index.faiss", "model.oddkernel", "names.jsonl")


@dataclass(frozen=True)
class Found:
    """The items nearest to each query, nearest first.

    Attributes
    ----------
    rows : ndarray of shape (q, k)
        Row numbers of the items, from 0; -1 where an approximate search found fewer than k.
    distance : ndarray of shape (q, k)
        Their learned distances, to float32's precision; inf where ``rows`` is -1.
    names : list of lists, or None
        Their names, if the index has names.
    """

    rows: Indices
    distance: NDArray[np.float32]
    names: list[list[str | None]] | None


class Index:
    """An index of items by their learned coordinates, with the model that computes the coordinates of a query.

    Make one with `build` or `load`. Distances are those of the coordinates, which lack what `SKLR.distance` adds for
    items that were not in `fit`.

    Examples
    --------
    >>> import numpy as np
    >>> from oddkernel import SKLR, Comparisons
    >>> X = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]])
    >>> model = SKLR("linear").fit(X, Comparisons.odd_one_out([[0, 1, 2]], [2]))
    >>> index = Index.build(model, X)
    >>> index.query([[4.9, 5.0]], k=2).rows
    array([[2, 3]])
    """

    def __init__(self, model: SKLR, searcher: Any, names: list[str] | None) -> None:
        self.model = model
        self.names = names
        self._searcher = searcher

    @classmethod
    def build(
        cls,
        model: SKLR,
        items: str | os.PathLike[str] | ArrayLike,
        *,
        factory: str | None = None,
        names: str | None = None,
        random_state: int | np.random.RandomState | None = 0,
        progress: Callable[[str], None] | None = None,
    ) -> Self:
        """Index the items of an array or a file.

        Parameters
        ----------
        model : SKLR
            A fitted model.
        items : path-like or array-like of shape (n, d)
            As in `scale.transform`.
        factory : str, optional
            FAISS's factory string, such as ``"IVF1000,SQ8"``, which needs a quarter of the memory. The default is exact
            up to 100,000 items (``"Flat"``); above, it has cells (``"IVF…,Flat"``), and a query searches 1/32 of them.
        names : str, optional
            The column of the items' names, where it isn't called item or name.
        random_state : int, RandomState or None, default=0
            Draws the items from which the cells are computed.
        progress : callable, optional
            Called with a sentence after every block.
        """
        faiss = _faiss()
        source = source_for(model, items, names)
        apply = LearnedMap.of(model, dtype=np.float32)
        plan = Plan.of(source, apply, model.n_features_in_, None, None)
        n, rank = source.n_items, apply.n_out
        n_cells = max(1, round(n**0.5))
        kind = factory or ("Flat" if n <= EXACT else f"IVF{n_cells},Flat")
        try:
            searcher = faiss.index_factory(rank, kind)
        except RuntimeError:
            raise ValueError(f"factory={kind!r}; expected a description that FAISS knows, such as 'Flat'") from None
        if factory is None:
            memory.require(
                plan.n_bytes + 4 * n * rank,
                f"an index of {n} items with {rank} coordinates",
                f'give factory="IVF{n_cells},SQ8" for a quarter of it, or fit the model with a smaller rank=',
            )
        if not searcher.is_trained:
            wanted = min(n, _SAMPLE_PER_CELL * max(n_cells, getattr(searcher, "nlist", 0)))
            drawn = np.sort(check_random_state(random_state).choice(n, wanted, replace=False))
            searcher.train(apply.images(source.take(drawn)))
        kept: list[str] | None = [] if source.has_names else None
        for done in mapped(source, apply, plan, progress):
            searcher.add(done.images)
            if kept is not None:
                kept.extend(done.block.names or [])
        if hasattr(searcher, "nprobe"):
            searcher.nprobe = max(1, min(searcher.nlist, max(8, round(searcher.nlist * _PROBED))))
        return cls(model, searcher, kept)

    def __len__(self) -> int:
        return int(self._searcher.ntotal)

    def query(self, X: ArrayLike | str | os.PathLike[str], k: int = 10) -> Found:
        """The k nearest items of each query.

        Parameters
        ----------
        X : array-like of shape (q, d), or path-like
            Features of items, known or new.
        k : int, default=10
            Number of items for each query.

        Returns
        -------
        Found
        """
        require(k is not None and is_count(k) and k <= len(self), "k", k, f"a number from 1 to {len(self)}")
        return self._search(transform(self.model, X, dtype=np.float32), int(k))

    def like(self, rows: ArrayLike, k: int = 10) -> Found:
        """The k items most like items of the index, which are themselves left out.

        Parameters
        ----------
        rows : array-like of shape (q,)
            Row numbers of the items.
        k : int, default=10
            Number of items for each of them.
        """
        most = len(self) - 1
        require(k is not None and is_count(k) and k <= most, "k", k, f"a number from 1 to {most}")
        asked = np.asarray(rows, dtype=np.intp)
        if hasattr(self._searcher, "make_direct_map"):
            self._searcher.make_direct_map()
        coordinates = np.stack([self._searcher.reconstruct(int(row)) for row in asked])
        found = self._search(coordinates, int(k) + 1)
        # A copy of the item may come before it; where a search that isn't exact misses it, the last one goes.
        own = found.rows == asked[:, None]
        drop = np.where(own.any(axis=1), own.argmax(axis=1), k)
        keep = np.arange(k + 1) != drop[:, None]
        names = found.names and [
            [name for name, kept in zip(*each, strict=True) if kept] for each in zip(found.names, keep, strict=True)
        ]
        return Found(found.rows[keep].reshape(-1, k), found.distance[keep].reshape(-1, k), names)

    def _search(self, coordinates: NDArray[np.float32], k: int) -> Found:
        squared, rows = self._searcher.search(coordinates, k)
        distance = np.sqrt(np.maximum(squared, 0), where=rows >= 0, out=np.full_like(squared, np.inf))
        names = None
        if self.names is not None:
            names = [[self.names[row] if row >= 0 else None for row in found] for found in rows.tolist()]
        return Found(rows.astype(np.intp), distance, names)

    def save(self, folder: str | os.PathLike[str]) -> None:
        """Write the index to a new folder, atomically.

        The folder holds the model, FAISS's own file, the names as JSON Lines, and ``index.json``, which describes them.
        """
        faiss = _faiss()
        with draft_folder(folder) as draft:
            faiss.write_index(self._searcher, str(draft / "index.faiss"))
            models.save(self.model, draft / "model.oddkernel")
            if self.names is not None:
                with (draft / "names.jsonl").open("w", encoding="utf-8") as file:
                    file.writelines(json.dumps(name) + "\n" for name in self.names)
            description = {
                "oddkernel": "index",
                "version": VERSION,
                "n_items": len(self),
                "n_coordinates": int(self._searcher.d),
                "sha256": {name: _digest(draft / name) for name in _FILES if (draft / name).exists()},
            }
            (draft / "index.json").write_text(json.dumps(description, indent=2) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: str | os.PathLike[str]) -> Self:
        """Read an index that `save` wrote.

        Checksums are verified before anything is read. The model and the names are safe to read from any source.
        FAISS's own file is not: FAISS trusts its content. Open only indexes from people whose programs you would run.
        """
        faiss = _faiss()
        path = Path(folder)
        try:
            about = json.loads((path / "index.json").read_text(encoding="utf-8"))
            if about["oddkernel"] != "index" or about["version"] != VERSION:
                raise ValueError(f"{brief(about)}; expected an index of version {VERSION}")
            digests = dict(about["sha256"])
            for name in _FILES:
                there = (path / name).exists()
                if there != (name in digests) or (there and _digest(path / name) != digests[name]):
                    raise ValueError(f"{name} isn't the file that was written")
            searcher = faiss.read_index(str(path / "index.faiss"))
            names = None
            if "names.jsonl" in digests:
                lines = (path / "names.jsonl").read_text(encoding="utf-8").splitlines()
                names = [str(json.loads(line)) for line in lines]
        except (KeyError, TypeError, ValueError, RuntimeError) as error:
            raise ValueError(f"{path}: not a usable index: {error}") from error
        model = models.load(path / "model.oddkernel")
        if searcher.d != model.rank_ or (names is not None and len(names) != searcher.ntotal):
            raise ValueError(f"{path}: not a usable index: its files don't fit together")
        return cls(model, searcher, names)


def check_installed(out: str | os.PathLike[str]) -> None:
    """Raise an error, before the work starts, if FAISS is missing or the index can't be written there."""
    _faiss()
    check_new_folder(out)


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        raise ImportError('an index needs FAISS: pip install "oddkernel[faiss]"') from None
    return faiss
