"""Odd-one-out answers as SPoSE and VICE take them: three whole numbers a line, the odd one last.

Items are counted from 0; the first two are the items that were not chosen as odd. The file is text
(``train_90.txt``) or an ``.npy`` array of shape (m, 3). The form has no place for *can't tell*, nor for the order in
which the items were shown.
"""

from __future__ import annotations

import numpy as np

from ...comparisons import Comparisons
from ...comparisons.rows import Rows
from ..omissions import odd_last, warn_of_losses
from ..peer_arrays import Grid, write_grid


def read(data: bytes) -> Rows:
    """Read answers, the odd one last."""
    grid = Grid.read(data, 3)
    note = "The third number of each line is the odd one; in which order the three were shown is not known."
    return Rows.of_triples("odd_one_out", grid.rows, grid.places, first=0, answer=["c"] * len(grid.rows), notes=[note])


def write(said: Comparisons) -> bytes:
    """Write decided odd-one-out answers as text."""
    rows = np.flatnonzero(said.odd >= 0)
    warn_of_losses(said, rows)
    return write_grid(odd_last(said[rows]))
