"""metric-learn's tuples of items, as an array of numbers in an ``.npy`` or text file; items are counted from 0.

- **triplets**, shape (m, 3): the first item is closer to the second than to the third;
- **quadruplets**, shape (m, 4): the first two are closer together than the last two. Only those that share an item say
  something about an anchor, and only they are taken: (a, b, a, c) says that a is closer to b than to c.

Arrays of features in place of numbers, which metric-learn takes as well, don't say which items were compared.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...comparisons import Comparisons
from ...comparisons.rows import Rows
from ..omissions import triplets_of, warn_of_losses
from ..peer_arrays import Grid, write_grid
from .cblearn import read_order as read_triplets
from .cblearn import write_order as write_triplets

__all__ = ["read_quadruplets", "read_triplets", "write_quadruplets", "write_triplets"]


def read_quadruplets(data: bytes) -> Rows:
    """Read quadruplets that share an item."""
    grid = Grid.read(data, 4)
    triplets = [_triplet(row, place) for row, place in zip(grid.rows, grid.places, strict=True)]
    return Rows.of_triples("closer", triplets, grid.places, first=0)


def _triplet(row: Sequence[int], place: str) -> tuple[int, int, int]:
    near_pair, far_pair = set(row[:2]), set(row[2:])
    shared = near_pair & far_pair
    if len(near_pair | far_pair) != 3 or len(shared) != 1:
        raise ValueError(
            f"{place}: {list(row)} compares the pairs {list(row[:2])} and {list(row[2:])}; expected two pairs of "
            "different items that share exactly one, as answers are about one anchor"
        )
    (anchor,), (near,), (far,) = shared, near_pair - shared, far_pair - shared
    return anchor, near, far


def write_quadruplets(said: Comparisons) -> bytes:
    """Write (anchor, near, anchor, far) as text."""
    triplets = triplets_of(said)
    warn_of_losses(said, triplets.source)
    return write_grid(triplets.shown[:, [0, 1, 0, 2]])
