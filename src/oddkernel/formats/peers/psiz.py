"""PsiZ's ``stimulus_set`` of ranked trials, as an array in an ``.npy`` or text file; items are counted from 1.

Each row is a trial: the query, the reference that was chosen as most like it, then the references that were not. A 0
is padding: short rows end with zeros, and an empty row has zeros only. A trial of k references says k - 1
things: the query is closer to the chosen one than to each of the others. If people chose several references, only the
first choice is used.
"""

from __future__ import annotations

from ...comparisons import Comparisons
from ...comparisons.rows import Rows
from ..omissions import triplets_of, warn_of_losses
from ..peer_arrays import Grid, write_grid

MASK = 0


def read(data: bytes) -> Rows:
    """Read trials with one chosen reference."""
    grid = Grid.read(data)
    triplets, places = [], []
    n_trials = 0
    for row, place in zip(grid.rows, grid.places, strict=True):
        stimuli = [stimulus for stimulus in row if stimulus != MASK]
        if not stimuli:
            continue
        if len(stimuli) < 3 or MASK in row[: len(stimuli)]:
            wanted = "a query, the chosen reference and at least one more, zeros at the end only"
            raise ValueError(f"{place}: {list(row)}; expected {wanted}")
        query, chosen, *others = stimuli
        triplets += [(query, chosen, other) for other in others]
        places += [place] * len(others)
        n_trials += 1
    note = f"{n_trials} trials: the query is closer to the reference after it than to each later one."
    return Rows.of_triples("closer", triplets, places, first=1, notes=[note])


def write(said: Comparisons) -> bytes:
    """Write trials of two references as text."""
    triplets = triplets_of(said)
    warn_of_losses(said, triplets.source)
    return write_grid(triplets.shown + 1)
