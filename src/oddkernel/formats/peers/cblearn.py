"""cblearn's arrays of triplets: is the anchor more like the second item or like the third?

Items are counted from 0. cblearn defines arrays and no files; these forms are files of its arrays:

- **list-order**: an array of shape (m, 3) as ``.npy`` or text: anchor, near, far;
- **list-count**: an ``.npz`` file with `triplets` of shape (m, 3) and `responses` of shape (m,): 1 where the second
  item is the near one, -1 where the third is, n or -n where n people said so, 0 where they were undecided;
- **list-boolean**: the same with responses True and False in place of 1 and -1.

A count becomes a weight. An undecided triplet is not read: it compares two pairs, whereas *can't tell* says that all
three pairs are equal.
"""

from __future__ import annotations

import io
from reprlib import repr as brief
from typing import Any

import numpy as np

from ...comparisons import Comparisons
from ...comparisons.rows import Rows
from ...support.types import Array, Indices
from ..omissions import triplets_of, warn_of_losses
from ..peer_arrays import Grid, whole_numbers, write_grid

_ARRAYS = ("triplets", "responses")


def read_order(data: bytes) -> Rows:
    """Read list-order."""
    grid = Grid.read(data, 3)
    return Rows.of_triples("closer", grid.rows, grid.places, first=0)


def read_count(data: bytes) -> Rows:
    """Read list-count."""
    grid, responses = _load(data)
    if responses.dtype.kind == "b":
        raise ValueError("responses are True and False, as in cblearn-list-boolean; expected whole numbers")
    counts = whole_numbers(responses).tolist()
    rows = [row for row, count in enumerate(counts) if count]
    n_undecided = len(counts) - len(rows)
    return Rows.of_triples(
        "closer",
        [_ordered(grid.rows[row], counts[row] > 0) for row in rows],
        [grid.places[row] for row in rows],
        first=0,
        weight=[abs(counts[row]) for row in rows],
        notes=[f"Undecided triplets (response 0) left out: {n_undecided}."] if n_undecided else [],
    )


def read_boolean(data: bytes) -> Rows:
    """Read list-boolean."""
    grid, responses = _load(data)
    if responses.dtype.kind != "b":
        raise ValueError(f"responses are {responses.dtype}, as in cblearn-list-count; expected True and False")
    triplets = [_ordered(row, near) for row, near in zip(grid.rows, responses.tolist(), strict=True)]
    return Rows.of_triples("closer", triplets, grid.places, first=0)


def _load(data: bytes) -> tuple[Grid, Array]:
    try:
        with np.load(io.BytesIO(data), allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except Exception:  # whatever it trips over in a damaged archive, or in what is none
        raise ValueError(f"not a readable .npz file; expected one with arrays {' and '.join(_ARRAYS)}") from None
    if set(arrays) != set(_ARRAYS):
        raise ValueError(f"arrays {brief(sorted(arrays))}; expected {' and '.join(_ARRAYS)}")
    grid, responses = Grid.of(arrays["triplets"], 3), arrays["responses"]
    if responses.shape != (len(grid.rows),):
        raise ValueError(f"responses have shape {responses.shape}; expected ({len(grid.rows)},), one for each triplet")
    return grid, responses


def _ordered(triplet: Any, second_is_near: bool) -> tuple[int, int, int]:
    anchor, second, third = triplet
    return (anchor, second, third) if second_is_near else (anchor, third, second)


def write_order(said: Comparisons) -> bytes:
    """Write list-order as text."""
    triplets = triplets_of(said)
    warn_of_losses(said, triplets.source)
    return write_grid(triplets.shown)


def write_count(said: Comparisons) -> bytes:
    """Write list-count; weights that are whole numbers become counts."""
    triplets = triplets_of(said)
    weight = said.weight[triplets.source]
    countable = bool(((weight == np.floor(weight)) & (weight < 2**31)).all())
    warn_of_losses(said, triplets.source, ["weight"] if countable else [])
    return _save(triplets.shown, weight.astype(np.int64) if countable else np.ones(len(weight), dtype=np.int64))


def write_boolean(said: Comparisons) -> bytes:
    """Write list-boolean; all responses are True."""
    triplets = triplets_of(said)
    warn_of_losses(said, triplets.source)
    return _save(triplets.shown, np.ones(len(triplets.shown), dtype=bool))


def _save(triplets: Indices, responses: Array) -> bytes:
    file = io.BytesIO()
    np.savez(file, triplets=triplets, responses=responses)
    return file.getvalue()
